//! Combinational groups of `if … with` and `while … with`: which copies there are, and who uses them.

use crate::control::StatementMut;
use crate::record::{self, Record};
use calyx_ir::{self as ir, RRC};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// One use of a combinational group: its `with` node and the par arms above it.
pub struct Site {
    pub node: usize,
    pub arms: Vec<(usize, usize)>,
}

/// Whether two sites lie in different arms of one par.
pub fn meet_in_par(sites: &[Site]) -> bool {
    let mut arm_of: HashMap<usize, usize> = HashMap::new();
    let mut arms = sites.iter().flat_map(|s| &s.arms);
    arms.any(|&(par, arm)| *arm_of.entry(par).or_insert(arm) != arm)
}

#[derive(Default)]
pub struct Conditions {
    /// `with` node to the group that it now uses.
    pub copies: HashMap<usize, RRC<ir::CombGroup>>,
    /// Original name to the copy that invokes use.
    pub for_invokes: HashMap<ir::Id, RRC<ir::CombGroup>>,
    pub originals: HashSet<ir::Id>,
}

/// Point ifs, whiles and invokes to the copies.
pub fn rename_conditions(record: &Record, control: &mut ir::Control, unique: &Conditions) {
    // The `with` node of a block is the node made right after it.
    let group_of = |attributes: &ir::Attributes| {
        let block = record::id_of(attributes).expect("every block has an id by now");
        debug_assert_eq!(record.nodes[block + 1].kind, "with");
        Rc::clone(&unique.copies[&(block + 1)])
    };
    StatementMut::Dynamic(control).walk(&mut |statement| match statement {
        StatementMut::Dynamic(ir::Control::If(branch)) => {
            if branch.cond.is_some() {
                branch.cond = Some(group_of(&branch.attributes));
            }
        }
        StatementMut::Dynamic(ir::Control::While(repeat)) => {
            if repeat.cond.is_some() {
                repeat.cond = Some(group_of(&repeat.attributes));
            }
        }
        StatementMut::Dynamic(ir::Control::Invoke(invoke)) => {
            rename(&mut invoke.comb_group, unique);
        }
        StatementMut::Static(ir::StaticControl::Invoke(invoke)) => {
            rename(&mut invoke.comb_group, unique);
        }
        _ => {}
    });
}

fn rename(group: &mut Option<RRC<ir::CombGroup>>, unique: &Conditions) {
    if let Some(old) = group {
        let name = old.borrow().name();
        if let Some(copy) = unique.for_invokes.get(&name) {
            *group = Some(Rc::clone(copy));
        }
    }
}

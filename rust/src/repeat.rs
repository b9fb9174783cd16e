//! The groups that compile-repeat makes to count iterations, and the repeat that each counts for.
//!
//! A repeat that is not promoted becomes a `while` with a counter: one group sets it up, one moves
//! it on. Neither is in the program, so without this the cycles that they take would belong
//! to nothing. Both write one probe, which says that the repeat itself is at work.

use crate::blocks::same_number;
use crate::control::Statement;
use crate::instrument::new_probe;
use crate::pass::{each_component, pass};
use crate::record::{self, id_of, RepeatRecord};
use calyx_ir as ir;
use calyx_utils::CalyxResult;
use std::collections::HashSet;

/// A component's repeats in the order in which they are compiled, and its groups before that.
#[derive(Default)]
pub struct Repeats {
    nodes: Vec<Option<usize>>,
    groups: HashSet<String>,
}

pass!(
    /// Before compile-repeat: list the repeats that will become loops.
    NoteRepeats,
    "note-repeats",
    "remember which repeats are about to be compiled",
    |ctx| each_component(ctx, note_repeats)
);

fn note_repeats(comp: &mut ir::Component, _: &ir::LibrarySignatures) -> CalyxResult<()> {
    let groups = comp.get_groups().iter().map(|g| g.borrow().name().to_string()).collect();
    let mut repeats = Repeats { nodes: Vec::new(), groups };
    repeats.note((&*comp.control.borrow()).into());
    record::with(|r| r.repeats.insert(comp.name.to_string(), repeats));
    Ok(())
}

impl Repeats {
    /// As compile-repeat itself: inner repeats first.
    fn note(&mut self, statement: Statement) {
        statement.children().into_iter().for_each(|child| self.note(child));
        if let Statement::Dynamic(ir::Control::Repeat(repeat)) = statement {
            // None or one iteration needs no counter.
            if repeat.num_repeats > 1 {
                self.nodes.push(id_of(&repeat.attributes));
            }
        }
    }
}

pass!(
    /// After compile-repeat: probe the groups that it made.
    ProbeRepeats,
    "probe-repeats",
    "add a probe to the groups that count a repeat's iterations",
    |ctx| each_component(ctx, probe_repeats)
);

fn probe_repeats(comp: &mut ir::Component, sigs: &ir::LibrarySignatures) -> CalyxResult<()> {
    let component = comp.name;
    let Some(Repeats { nodes, groups }) = record::with(|r| r.repeats.remove(component.id.as_str()))
    else {
        return Ok(());
    };
    let made = record::with(|r| r.made(comp, &groups));
    same_number(component.id.as_str(), "compile-repeat", made.len(), 2 * nodes.len())?;
    let mut builder = ir::Builder::new(comp, sigs);
    for (counting, node) in made.chunks(2).zip(nodes) {
        let Some(node) = node else { continue };
        let cell = new_probe(&mut builder);
        let one = builder.add_constant(1, 1);
        for group in counting {
            let (to, from) = (cell.borrow().get("in"), one.borrow().get("out"));
            let assignment = builder.build_assignment(to, from, ir::Guard::True);
            group.borrow_mut().assignments.push(assignment);
        }
        let probe = cell.borrow().name().to_string();
        let groups = counting.iter().map(|g| g.borrow().name().to_string()).collect();
        let entry = RepeatRecord { node, probe, groups };
        record::with(|r| r.component(component).repeats.push(entry));
    }
    Ok(())
}

//! *lengthen*: the groups of some statements take more cycles, and nothing else of the program
//! changes.
//!
//! It runs when groups are what they will be: split, shared, inlined, and invokes compiled; but
//! before static promotion decides when each of fixed length starts, so that what waits for a longer
//! group starts later. A static group is idle in the cycles that are added. Another one waits for a
//! delay first, and does then what it did.

use crate::blocks::written_probes;
use crate::control::{Statement, StatementMut};
use crate::pass::{each_component, pass};
use crate::record::{self, PROBE};
use calyx_frontend::{Attributes, Direction, PortDef, Primitive};
use calyx_ir::{self as ir, RRC};
use calyx_utils::{CalyxResult, Error};
use std::collections::HashSet;
use std::rc::Rc;

/// Name of the primitive that counts the cycles of a longer group.
const DELAY: &str = "cyclescope_delay";

/// A statement whose group takes more cycles.
#[derive(Clone, Copy)]
pub struct Longer {
    pub node: usize,
    /// Cycles to add.
    pub more: u64,
    /// Whether the compiler gives it a fixed length, which it is to do still.
    pub promoted: bool,
}

/// The delay as a primitive, to be added to a program's library before compilation.
///
/// `begun` rises `MORE` cycles after `active`. A group of unknown length is not active in the cycle
/// in which it is done; one of `LAST + 1` cycles may begin again in the next (`AGAIN`).
pub fn delay_primitive() -> Primitive {
    let bit = |name: &str, direction, attribute: Option<ir::BoolAttr>| {
        let mut attributes = Attributes::default();
        if let Some(attribute) = attribute {
            attributes.insert(attribute, 1);
        }
        PortDef::new(name, ir::Width::Const { value: 1 }, direction, attributes)
    };
    Primitive {
        name: DELAY.into(),
        params: vec!["MORE".into(), "LAST".into(), "AGAIN".into()],
        signature: vec![
            bit("active", Direction::Input, None),
            bit("clk", Direction::Input, Some(ir::BoolAttr::Clk)),
            bit("reset", Direction::Input, Some(ir::BoolAttr::Reset)),
            bit("begun", Direction::Output, None),
        ],
        attributes: Attributes::default(),
        is_comb: false,
        latency: None,
        body: Some(
            "  logic [63:0] count;
  always_ff @(posedge clk)
    if (reset || !active) count <= 64'd0;
    else if (count < 64'(LAST)) count <= count + 64'd1;
    else if (AGAIN != 0) count <= 64'd0;
  assign begun = count >= 64'(MORE);"
                .to_string(),
        ),
    }
}

pass!(Lengthen, "lengthen", "let the groups of some statements take more cycles", |ctx| {
    let mut missing: HashSet<usize> =
        record::with(|r| r.longer.iter().map(|longer| longer.node).collect());
    each_component(ctx, |comp, sigs| lengthen(comp, sigs, &mut missing))?;
    match missing.iter().min() {
        Some(node) => Err(Error::misc(format!("no group runs statement {node} any more"))),
        None => Ok(()),
    }
});

fn lengthen(
    comp: &mut ir::Component,
    sigs: &ir::LibrarySignatures,
    missing: &mut HashSet<usize>,
) -> CalyxResult<()> {
    let groups = first_groups(comp, missing);
    if groups.is_empty() {
        return Ok(());
    }
    let control = Rc::clone(&comp.control);
    for (name, longer) in groups {
        if let Some(group) = comp.find_static_group(name) {
            idle_afterwards(&group, longer.more);
        } else if let Some(group) = comp.find_group(name) {
            wait_first(&mut ir::Builder::new(comp, sigs), &group, longer);
        }
    }
    StatementMut::Dynamic(&mut control.borrow_mut()).walk(&mut |statement| {
        if let StatementMut::Static(control) = statement {
            fit(control);
        }
    });
    let length = control.borrow().get_latency();
    if comp.latency.is_some() && comp.latency.map(u64::from) != length {
        return Err(Error::misc(format!(
            "component {} promises its length (static<…>), so that no group of it can be longer",
            comp.name
        )));
    }
    Ok(())
}

/// The group of each wanted statement; of one that is several groups now, the first in the control.
fn first_groups(comp: &ir::Component, missing: &mut HashSet<usize>) -> Vec<(ir::Id, Longer)> {
    let mut found: Vec<(ir::Id, Longer)> = Vec::new();
    let component = comp.name.to_string();
    record::with(|record| {
        Statement::from(&*comp.control.borrow()).walk(&mut |statement| {
            let Some(group) = statement.enabled() else { return };
            let nodes: Vec<usize> = probes_of(comp, group)
                .into_iter()
                .filter_map(|probe| record.probe_nodes.get(&(component.clone(), probe)))
                .flatten()
                .copied()
                .collect();
            for longer in &record.longer {
                if nodes.contains(&longer.node) && missing.remove(&longer.node) {
                    // A group that stays one though several statements run it.
                    if !found.iter().any(|(known, _)| *known == group) {
                        found.push((group, *longer));
                    }
                }
            }
        });
    });
    found
}

fn probes_of(comp: &ir::Component, name: ir::Id) -> Vec<String> {
    let (probes, _) = match (comp.find_group(name), comp.find_static_group(name)) {
        (Some(group), _) => written_probes(&group.borrow().assignments),
        (_, Some(group)) => written_probes(&group.borrow().assignments),
        _ => return Vec::new(),
    };
    probes.into_iter().collect()
}

fn is_probe<T>(assignment: &ir::Assignment<T>) -> bool {
    let port = assignment.dst.borrow();
    !port.is_hole() && port.cell_parent().borrow().is_primitive(Some(PROBE))
}

fn idle_afterwards(group: &RRC<ir::StaticGroup>, more: u64) {
    let mut group = group.borrow_mut();
    let length = group.latency;
    for assignment in group.assignments.iter_mut().filter(|a| !is_probe(a)) {
        assignment.guard.add_interval(ir::StaticTiming::new((0, length)));
    }
    group.latency += more;
}

fn wait_first(builder: &mut ir::Builder, group: &RRC<ir::Group>, longer: Longer) {
    let known = group.borrow().attributes.get(ir::NumAttr::Promotable);
    let length = known.filter(|_| longer.promoted).map(|length| length + longer.more);
    match length {
        Some(length) => group.borrow_mut().attributes.insert(ir::NumAttr::Promotable, length),
        None => group.borrow_mut().attributes.remove(ir::NumAttr::Promotable),
    }
    let last = length.map_or(longer.more, |length| length - 1);
    let parameters = [longer.more, last, u64::from(length.is_some())];
    let delay = builder.add_primitive("cyclescope_delay_", DELAY, &parameters);
    let port = |name: &str| delay.borrow().get(name);
    let one = builder.add_constant(1, 1).borrow().get("out");
    let mut group = group.borrow_mut();
    let done = group.get("done");
    for assignment in group.assignments.iter_mut().filter(|a| !is_probe(a)) {
        if Rc::ptr_eq(&assignment.dst, &done) {
            // From a cell's `done` itself the compiler would tell how long the group takes.
            let ended = std::mem::replace(&mut assignment.src, port("begun"));
            assignment.guard.update(|guard| ir::Guard::port(ended).and(guard));
        } else {
            assignment.guard.update(|guard| ir::Guard::port(port("begun")).and(guard));
        }
    }
    let active = builder.build_assignment(port("active"), one, ir::Guard::True);
    group.assignments.push(active);
}

/// What a statement of fixed length takes is what the groups in it take.
fn fit(control: &mut ir::StaticControl) {
    match control {
        ir::StaticControl::Seq(s) => {
            s.stmts.iter_mut().for_each(fit);
            s.latency = s.stmts.iter().map(ir::StaticControl::get_latency).sum();
        }
        ir::StaticControl::Par(s) => {
            s.stmts.iter_mut().for_each(fit);
            s.latency = s.stmts.iter().map(ir::StaticControl::get_latency).max().unwrap_or(0);
        }
        ir::StaticControl::If(s) => {
            fit(&mut s.tbranch);
            fit(&mut s.fbranch);
            s.latency = s.tbranch.get_latency().max(s.fbranch.get_latency());
        }
        ir::StaticControl::Repeat(s) => {
            fit(&mut s.body);
            s.latency = s.num_repeats * s.body.get_latency();
        }
        ir::StaticControl::Enable(_)
        | ir::StaticControl::Invoke(_)
        | ir::StaticControl::Empty(_) => {}
    }
}

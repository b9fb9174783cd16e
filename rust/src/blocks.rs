//! Which original control block a promoted or compiled block implements, as data.
//!
//! Passes between the source and the FSM drop most ids of control blocks, but each enable's
//! probe survives. So a block is described by the probes inside it; the least common ancestor of
//! their nodes in the original tree then says which block it is (worked out in Python).

use crate::control::{Statement, StatementMut};
use crate::instrument::{new_probe, probe};
use crate::pass::{each_component, pass};
use crate::record::{self, CompiledRecord, Record, Register, StaticRecord, PROBE};
use calyx_ir::{self as ir, RRC};
use calyx_utils::{CalyxResult, Error};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

type Leaves = BTreeSet<String>;

/// The probes that each group of a component writes, through the groups that it starts.
struct LeafSets(BTreeMap<ir::Id, Leaves>);

impl LeafSets {
    fn of(comp: &ir::Component) -> Self {
        let mut own: BTreeMap<ir::Id, (Leaves, Vec<ir::Id>)> = BTreeMap::new();
        for group in comp.get_groups().iter() {
            let group = group.borrow();
            own.insert(group.name(), written_probes(&group.assignments));
        }
        for group in comp.get_static_groups().iter() {
            let group = group.borrow();
            own.insert(group.name(), written_probes(&group.assignments));
        }
        let closed = own.keys().map(|&name| {
            let mut seen = BTreeSet::from([name]);
            let mut open = vec![name];
            let mut leaves = Leaves::new();
            while let Some(name) = open.pop() {
                let Some((probes, starts)) = own.get(&name) else {
                    continue;
                };
                leaves.extend(probes.iter().cloned());
                open.extend(starts.iter().filter(|s| seen.insert(**s)));
            }
            (name, leaves)
        });
        LeafSets(closed.collect())
    }

    fn get(&self, group: ir::Id) -> Leaves {
        self.0.get(&group).cloned().unwrap_or_default()
    }

    fn forget(&mut self, group: ir::Id) {
        self.0.remove(&group);
    }

    fn below<'a>(&self, statement: impl Into<Statement<'a>>) -> Leaves {
        let mut leaves = Leaves::new();
        statement
            .into()
            .walk(&mut |s| leaves.extend(s.enabled().into_iter().flat_map(|g| self.get(g))));
        leaves
    }
}

/// The probes that these assignments write, and the groups that they start.
pub fn written_probes<T>(assignments: &[ir::Assignment<T>]) -> (Leaves, Vec<ir::Id>) {
    let mut leaves = Leaves::new();
    let mut starts = Vec::new();
    for assignment in assignments {
        let port = assignment.dst.borrow();
        if port.is_hole() {
            if port.name == "go" {
                starts.push(port.get_parent_name());
            }
        } else if port.cell_parent().borrow().is_primitive(Some(PROBE)) {
            leaves.insert(port.get_parent_name().to_string());
        }
    }
    (leaves, starts)
}

/// Keep the "group active" probes of a set, in order.
fn active_only(record: &Record, component: &str, leaves: Leaves) -> Vec<String> {
    let known =
        |probe: &String| record.probe_nodes.contains_key(&(component.to_string(), probe.clone()));
    leaves.into_iter().filter(known).collect()
}

pass!(
    /// Before static-inline: every static block runs beside a probe of the same length.
    ProbeStatic,
    "probe-static",
    "add a probe to every static control block",
    |ctx| each_component(ctx, probe_static)
);

fn probe_static(comp: &mut ir::Component, sigs: &ir::LibrarySignatures) -> CalyxResult<()> {
    let leaves = LeafSets::of(comp);
    let control = Rc::clone(&comp.control);
    let component = comp.name;
    let mut wrapper = Wrapper { builder: ir::Builder::new(comp, sigs), leaves, found: Vec::new() };
    wrapper.wrap(StatementMut::Dynamic(&mut control.borrow_mut()));
    let found = wrapper.found;
    record::with(|record| {
        for (kind, probe, latency, leaves) in found {
            let leaves = active_only(record, component.id.as_str(), leaves);
            let entry = StaticRecord { kind, probe, latency, leaves };
            record.component(component).statics.push(entry);
        }
    });
    Ok(())
}

struct Wrapper<'b> {
    builder: ir::Builder<'b>,
    leaves: LeafSets,
    found: Vec<(&'static str, String, u64, Leaves)>,
}

impl Wrapper<'_> {
    fn wrap(&mut self, mut statement: StatementMut) {
        let StatementMut::Static(control) = &mut statement else {
            return statement.each_child(&mut |child| self.wrap(child));
        };
        let leaves = self.leaves.below(&**control);
        let kind = match control {
            ir::StaticControl::Seq(_) => "seq",
            ir::StaticControl::Par(_) => "par",
            ir::StaticControl::If(_) => "if",
            ir::StaticControl::Repeat(_) => "repeat",
            ir::StaticControl::Enable(e) => {
                // Not a block; its length is worth knowing.
                let latency = e.group.borrow().latency;
                self.found.push(("enable", String::new(), latency, leaves));
                return;
            }
            ir::StaticControl::Invoke(_) | ir::StaticControl::Empty(_) => return,
        };
        statement.each_child(&mut |child| self.wrap(child));
        let StatementMut::Static(control) = statement else { unreachable!("it was one above") };
        let latency = control.get_latency();
        if latency == 0 {
            return;
        }
        let (name, assignment) = probe(&mut self.builder, ir::Guard::True);
        let group = self.builder.add_static_group("cyclescope_static", latency);
        group.borrow_mut().assignments.push(assignment);
        self.found.push((kind, name, latency, leaves));
        let block = control.take_static_control();
        let probe = ir::StaticControl::Enable(ir::StaticEnable {
            group,
            attributes: ir::Attributes::default(),
        });
        *control = ir::StaticControl::par(vec![block, probe], latency);
    }
}

/// A group that tdcc is about to make: its operator and the probes inside.
pub struct Expected {
    kind: &'static str,
    leaves: Leaves,
}

pass!(
    /// Before tdcc: list the groups that it will make, in the order in which it makes them.
    NoteBlocks,
    "note-blocks",
    "remember which control blocks are about to be compiled",
    |ctx| each_component(ctx, note_blocks)
);

fn note_blocks(comp: &mut ir::Component, _: &ir::LibrarySignatures) -> CalyxResult<()> {
    let control = comp.control.borrow();
    let mut expected = Vec::new();
    if !matches!(*control, ir::Control::Enable(_) | ir::Control::Empty(_)) {
        let leaves = LeafSets::of(comp);
        // A root that became a single group is wrapped by tdcc in one more.
        let single = upcoming((&*control).into(), &leaves, &mut expected);
        let kind = if single { "root" } else { operator((&*control).into()) };
        expected.push(Expected { kind, leaves: leaves.below(&*control) });
    }
    drop(control);
    let existing = comp.get_groups().iter().map(|g| g.borrow().name().to_string()).collect();
    record::with(|r| {
        r.expected.insert(comp.name.to_string(), (expected, existing));
    });
    Ok(())
}

fn operator(statement: Statement) -> &'static str {
    match statement {
        Statement::Static(_) => "static",
        Statement::Dynamic(control) => match control {
            ir::Control::Seq(_) => "seq",
            ir::Control::Par(_) => "par",
            ir::Control::If(_) => "if",
            ir::Control::While(_) => "while",
            ir::Control::Repeat(_) => "repeat",
            ir::Control::Enable(_) | ir::Control::Invoke(_) => "enable",
            ir::Control::Empty(_) => "empty",
            ir::Control::Static(_) => "static",
        },
    }
}

/// Append the groups made for what lies in a statement; true if it becomes one group itself.
fn upcoming(statement: Statement, leaves: &LeafSets, expected: &mut Vec<Expected>) -> bool {
    let entry = |s: Statement| Expected { kind: operator(s), leaves: leaves.below(s) };
    let Statement::Dynamic(control) = statement else { return false };
    let own_fsm = match control {
        ir::Control::Enable(_) => return true,
        ir::Control::Par(_) => {
            let arms = statement.children();
            let single: Vec<bool> =
                arms.iter().map(|&arm| upcoming(arm, leaves, expected)).collect();
            expected.push(entry(statement));
            let arms = arms.into_iter().zip(single);
            expected.extend(arms.filter(|(_, single)| !single).map(|(arm, _)| entry(arm)));
            return true;
        }
        ir::Control::Seq(_) | ir::Control::If(_) | ir::Control::While(_) => {
            for child in statement.children() {
                upcoming(child, leaves, expected);
            }
            statement.attributes().has(ir::BoolAttr::NewFSM)
        }
        _ => false,
    };
    if own_fsm {
        expected.push(entry(statement));
    }
    own_fsm
}

pass!(
    /// After tdcc: probe the groups that it made, and list their registers.
    ProbeBlocks,
    "probe-blocks",
    "add a probe to every group that control was compiled to",
    |ctx| each_component(ctx, probe_blocks)
);

fn probe_blocks(comp: &mut ir::Component, sigs: &ir::LibrarySignatures) -> CalyxResult<()> {
    record::with(|record| {
        probe_compiled(record, comp, sigs)?;
        probe_continuous(record, comp, sigs);
        Ok(())
    })
}

fn probe_compiled(
    record: &mut Record,
    comp: &mut ir::Component,
    sigs: &ir::LibrarySignatures,
) -> CalyxResult<()> {
    let component = comp.name.to_string();
    let Some((expected, existing)) = record.expected.remove(&component) else {
        return Ok(());
    };
    let made = record.made(comp, &existing);
    same_number(&component, "tdcc", made.len(), expected.len())?;
    let mut leaves = LeafSets::of(comp);
    // A compiled group answers for its own children: look no further down than them.
    made.iter().for_each(|g| leaves.forget(g.borrow().name()));
    let mut builder = ir::Builder::new(comp, sigs);
    for (group, expected) in made.iter().zip(expected) {
        let registers = registers(&group.borrow().assignments, expected.kind == "par");
        let final_state = final_state(&group.borrow());
        let children = written_probes(&group.borrow().assignments).1;
        let children = children.iter().map(ToString::to_string).collect();
        let calls_shared = calls_shared(record, &component, &mut builder, group, &leaves);
        let probe = probe_group(&mut builder, group);
        let name = group.borrow().name().to_string();
        let leaves = active_only(record, &component, expected.leaves);
        let entry = CompiledRecord {
            name,
            kind: expected.kind,
            probe,
            leaves,
            registers,
            final_state,
            children,
            calls_shared,
        };
        record.component(builder.component.name).compiled.push(entry);
    }
    Ok(())
}

/// What follows from the order in which a released pass makes groups needs all of them.
pub fn same_number(component: &str, pass: &str, made: usize, foreseen: usize) -> CalyxResult<()> {
    if made == foreseen {
        return Ok(());
    }
    Err(Error::misc(format!(
        "component {component}: this compiler's pass {pass} made {made} groups where release 0.7.1 \
         and main of June 2026 make {foreseen}; its control cannot be followed: use one of those"
    )))
}

fn probe_group(builder: &mut ir::Builder, group: &RRC<ir::Group>) -> String {
    let (name, assignment) = probe(builder, ir::Guard::True);
    group.borrow_mut().assignments.push(assignment);
    name
}

/// The registers that hold a compiled group's state.
fn registers(assignments: &[ir::Assignment<ir::Nothing>], of_par: bool) -> Vec<Register> {
    let mut found: Vec<Register> = Vec::new();
    for assignment in assignments {
        let port = assignment.dst.borrow();
        if port.is_hole() || port.name != "in" {
            continue;
        }
        let cell = port.cell_parent();
        if !cell.borrow().is_primitive(Some("std_reg")) {
            continue;
        }
        let name = cell.borrow().name().to_string();
        let kind = if of_par { "par done" } else { "fsm" };
        if !found.iter().any(|r| r.name == name) {
            found.push(Register { name, kind, width: port.width });
        }
    }
    found
}

/// The FSM state in which a compiled group is done; a par's group has none.
fn final_state(group: &ir::Group) -> Option<u64> {
    group.assignments.iter().find_map(|assignment| {
        let port = assignment.dst.borrow();
        let done = port.is_hole() && port.name == "done" && port.get_parent_name() == group.name();
        let ir::Guard::CompOp(ir::PortComp::Eq, _, state) = assignment.guard.as_ref() else {
            return None;
        };
        let cell = state.borrow().cell_parent();
        let value = match cell.borrow().prototype {
            ir::CellType::Constant { val, .. } => Some(val),
            _ => None,
        };
        value.filter(|_| done)
    })
}

/// A group that stands for several nodes: probe who calls it, to tell them apart.
fn calls_shared(
    record: &Record,
    component: &str,
    builder: &mut ir::Builder,
    caller: &RRC<ir::Group>,
    leaves: &LeafSets,
) -> Vec<(String, String)> {
    let ambiguous = |probe: &String| {
        let nodes = record.probe_nodes.get(&(component.to_string(), probe.clone()));
        nodes.is_some_and(|nodes| {
            nodes.len() > 1 || nodes.iter().any(|&n| record.nodes[n].kind == "shared")
        })
    };
    let starts: Vec<(ir::Id, ir::Guard<ir::Nothing>)> = caller
        .borrow()
        .assignments
        .iter()
        .filter(|a| a.dst.borrow().is_hole() && a.dst.borrow().name == "go")
        .map(|a| (a.dst.borrow().get_parent_name(), (*a.guard).clone()))
        .collect();
    let mut found = Vec::new();
    for (child, guard) in starts {
        for leaf in leaves.get(child).into_iter().filter(ambiguous) {
            let (name, assignment) = probe(builder, guard.clone());
            caller.borrow_mut().assignments.push(assignment);
            found.push((leaf, name));
        }
    }
    found
}

/// Cells that a continuous assignment starts.
fn probe_continuous(record: &mut Record, comp: &mut ir::Component, sigs: &ir::LibrarySignatures) {
    let starts: Vec<(String, ir::Guard<ir::Nothing>, RRC<ir::Port>)> = comp
        .continuous_assignments
        .iter()
        .filter(|a| {
            let port = a.dst.borrow();
            !port.is_hole()
                && port.has_attribute(ir::NumAttr::Go)
                && port.cell_parent().borrow().is_component()
        })
        .map(|a| {
            let cell = a.dst.borrow().get_parent_name().to_string();
            (cell, (*a.guard).clone(), Rc::clone(&a.src))
        })
        .collect();
    let component = comp.name;
    let mut builder = ir::Builder::new(comp, sigs);
    for (cell, guard, source) in starts {
        let probe = new_probe(&mut builder);
        let to = probe.borrow().get("in");
        let assignment = builder.build_assignment(to, source, guard);
        builder.component.continuous_assignments.push(assignment);
        let name = probe.borrow().name().to_string();
        record.component(component).continuous.push((cell, name));
    }
}

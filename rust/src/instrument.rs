//! *instrument* (Petal, section 5.1): probes for "group active" and "group calls group, cell or
//! primitive".
//!
//! A probe is the input of a primitive with no other port. It is stateful in the compiler's eyes,
//! so that no pass deletes writes to it, and external, so that no pass deletes or shares it. A
//! call that holds whenever its group is active needs no probe and gets none.
//!
//! Probes go in right before invokes are compiled: after the passes that count a group's writes
//! (group2seq, group2invoke, cell-share), before those that take groups apart (static promotion).

use crate::control::{Statement, StatementMut};
use crate::pass::{each_component, pass};
use crate::record::{self, id_of, Call, GroupRecord, Record, PROBE};
use calyx_frontend::{Attributes, Direction, PortDef, Primitive};
use calyx_ir::{self as ir, RRC};
use calyx_utils::CalyxResult;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// The probe as a primitive, to be added to a program's library before compilation.
pub fn probe_primitive() -> Primitive {
    Primitive {
        name: PROBE.into(),
        params: Vec::new(),
        signature: vec![PortDef::new(
            "in",
            ir::Width::Const { value: 1 },
            Direction::Input,
            Attributes::default(),
        )],
        attributes: Attributes::default(),
        is_comb: false,
        latency: None,
        body: Some(" ".to_string()),
    }
}

pass!(
    /// After group2invoke: it makes a combinational group for each group that it could turn into an
    /// invoke, even if no control enables that one, and the next pass refuses what nobody uses. Here
    /// that happens to groups that others call: their enables got copies of their own.
    DropUnused,
    "drop-unused",
    "remove combinational groups that no control uses",
    |ctx| each_component(ctx, drop_unused)
);

fn drop_unused(comp: &mut ir::Component, _: &ir::LibrarySignatures) -> CalyxResult<()> {
    let live = Live::of(comp);
    comp.comb_groups.retain(|g| live.conditions.contains(&g.borrow().name()));
    Ok(())
}

pass!(Instrument, "instrument", "add probes for active groups and their calls", |ctx| {
    each_component(ctx, instrument)
});

fn instrument(comp: &mut ir::Component, sigs: &ir::LibrarySignatures) -> CalyxResult<()> {
    record::with(|record| {
        let control = Rc::clone(&comp.control);
        let live = Live::of(comp);
        let names = live.close(comp);
        let mut probes = Prober::new(record, comp, sigs);
        probes.groups(&live, &names);
        probes.invokes(&mut control.borrow_mut());
    });
    Ok(())
}

/// The groups that control enables, with the nodes that say so.
#[derive(Default)]
struct Live {
    enabled: BTreeMap<ir::Id, Vec<Option<usize>>>,
    conditions: HashSet<ir::Id>,
}

impl Live {
    fn of(comp: &ir::Component) -> Self {
        let mut live = Live::default();
        Statement::from(&*comp.control.borrow()).walk(&mut |statement| {
            live.conditions.extend(statement.beside().map(|group| group.borrow().name()));
            if let Some(group) = statement.enabled() {
                live.enabled.entry(group).or_default().push(id_of(statement.attributes()));
            }
        });
        live
    }

    /// The names of all groups that can become active: the enabled and those that they start.
    fn close(&self, comp: &ir::Component) -> Vec<ir::Id> {
        let mut calls: BTreeMap<ir::Id, Vec<ir::Id>> = BTreeMap::new();
        for group in comp.get_groups().iter() {
            let group = group.borrow();
            calls.insert(group.name(), started(&group.assignments));
        }
        for group in comp.get_static_groups().iter() {
            let group = group.borrow();
            calls.insert(group.name(), started(&group.assignments));
        }
        let mut open: Vec<ir::Id> = self.enabled.keys().copied().collect();
        open.extend(started(&comp.continuous_assignments));
        let mut seen: HashSet<ir::Id> = HashSet::new();
        while let Some(name) = open.pop() {
            if seen.insert(name) {
                open.extend(calls.get(&name).into_iter().flatten());
            }
        }
        calls.into_keys().filter(|name| seen.contains(name)).collect()
    }
}

/// The groups that these assignments start.
fn started<T>(assignments: &[ir::Assignment<T>]) -> Vec<ir::Id> {
    let go = |assignment: &ir::Assignment<T>| {
        let port = assignment.dst.borrow();
        (port.is_hole() && port.name == "go").then(|| port.get_parent_name())
    };
    assignments.iter().filter_map(go).collect()
}

struct Prober<'a, 'b> {
    record: &'a mut Record,
    builder: ir::Builder<'b>,
    component: String,
    groups: Vec<GroupRecord>,
}

impl<'a, 'b> Prober<'a, 'b> {
    fn new(
        record: &'a mut Record,
        comp: &'b mut ir::Component,
        sigs: &'b ir::LibrarySignatures,
    ) -> Self {
        let component = comp.name.to_string();
        let builder = ir::Builder::new(comp, sigs);
        Prober { record, builder, component, groups: Vec::new() }
    }

    fn groups(&mut self, live: &Live, names: &[ir::Id]) {
        for &name in names {
            let tags = live.enabled.get(&name);
            let mut nodes: Vec<usize> = tags.into_iter().flatten().flatten().copied().collect();
            if nodes.is_empty() {
                nodes = self.record.nodes_of_group(&self.component, name.id.as_str());
            }
            nodes.dedup();
            if let Some(group) = self.builder.component.find_group(name) {
                let assignments = group.borrow().assignments.clone();
                let added = self.probes(name, nodes, &assignments, None);
                group.borrow_mut().assignments.extend(added);
            } else if let Some(group) = self.builder.component.find_static_group(name) {
                let assignments = group.borrow().assignments.clone();
                let added = self.probes(name, nodes, &assignments, None);
                group.borrow_mut().assignments.extend(added);
            }
        }
    }

    fn invokes(&mut self, control: &mut ir::Control) {
        StatementMut::Dynamic(control).walk(&mut |statement| match statement {
            StatementMut::Dynamic(ir::Control::Invoke(i)) => {
                i.comb_group =
                    Some(self.invoke(&i.attributes, &i.comp, &i.comb_group, &i.ref_cells));
            }
            StatementMut::Static(ir::StaticControl::Invoke(i)) => {
                i.comb_group =
                    Some(self.invoke(&i.attributes, &i.comp, &i.comb_group, &i.ref_cells));
            }
            _ => {}
        });
        let groups = std::mem::take(&mut self.groups);
        let name = ir::Id::from(self.component.as_str());
        self.record.component(name).groups.extend(groups);
    }

    /// A combinational group for an invoke: what it had, and its probes.
    fn invoke(
        &mut self,
        attributes: &ir::Attributes,
        cell: &RRC<ir::Cell>,
        with: &Option<RRC<ir::CombGroup>>,
        refs: &[(ir::Id, RRC<ir::Cell>)],
    ) -> RRC<ir::CombGroup> {
        let mut assignments = match with {
            Some(group) => group.borrow().assignments.clone(),
            None => Vec::new(),
        };
        let base = with.as_ref().map_or(ir::Id::from("invoke"), |g| g.borrow().name());
        let node = id_of(attributes);
        let actual = cell.borrow().name().to_string();
        let source = node.and_then(|n| self.record.invoked.get_mut(&n)?.pop_front());
        let call = Call {
            kind: if cell.borrow().is_component() { "cell" } else { "primitive" },
            name: source.unwrap_or_else(|| actual.clone()),
            actual,
            probe: None,
        };
        let added = self.probes(base, node.into_iter().collect(), &assignments, Some(call));
        assignments.extend(added);
        let given = |(name, cell): &(ir::Id, RRC<ir::Cell>)| {
            (name.to_string(), cell.borrow().name().to_string())
        };
        if let Some(entry) = self.groups.last_mut() {
            entry.refs = refs.iter().map(given).collect();
        }
        let group = self.builder.add_comb_group("invoke_probes");
        group.borrow_mut().assignments = assignments;
        group
    }

    /// Probe assignments for a group with these assignments; writes its record.
    fn probes<T: Clone + Eq>(
        &mut self,
        name: ir::Id,
        nodes: Vec<usize>,
        assignments: &[ir::Assignment<T>],
        invoked: Option<Call>,
    ) -> Vec<ir::Assignment<T>> {
        let (active, assignment) = probe(&mut self.builder, ir::Guard::True);
        let mut added = vec![assignment];
        let mut calls: Vec<Call> = invoked.into_iter().collect();
        for (mut call, guard) in self.calls(name, assignments) {
            if !guard.is_true() {
                let (probe, assignment) = probe(&mut self.builder, guard);
                call.probe = Some(probe);
                added.push(assignment);
            }
            calls.push(call);
        }
        let key = (self.component.clone(), active.clone());
        self.record.probe_nodes.insert(key, nodes.clone());
        let name = name.to_string();
        self.groups.push(GroupRecord { name, nodes, probe: active, calls, refs: Vec::new() });
        added
    }

    /// What the assignments call, each with the condition under which they do.
    fn calls<T: Clone + Eq>(
        &self,
        group: ir::Id,
        assignments: &[ir::Assignment<T>],
    ) -> Vec<(Call, ir::Guard<T>)> {
        let mut found: Vec<(Call, ir::Guard<T>)> = Vec::new();
        for (index, assignment) in assignments.iter().enumerate() {
            let Some((kind, actual)) = callee(&assignment.dst.borrow()) else {
                continue;
            };
            let name = match kind {
                "group" => actual.clone(),
                _ => {
                    let group = group.id.as_str();
                    self.record.source_name(&self.component, group, index, &actual)
                }
            };
            let mut guard = (*assignment.guard).clone();
            if starts(&assignment.dst.borrow()) {
                // A constant source adds nothing (1) or says "never" (0).
                if assignment.src.borrow().is_constant(0, 1) {
                    continue;
                }
                guard = guard.and(ir::Guard::port(Rc::clone(&assignment.src)));
            }
            match found.iter_mut().find(|(c, _)| c.kind == kind && c.name == name) {
                Some((_, known)) => {
                    let before = std::mem::replace(known, ir::Guard::True);
                    *known = before.or(guard);
                }
                None => found.push((Call { kind, name, actual, probe: None }, guard)),
            }
        }
        found
    }
}

/// A new probe that is high where `guard` holds: its name, and the assignment to add to a group.
pub fn probe<T>(builder: &mut ir::Builder, guard: ir::Guard<T>) -> (String, ir::Assignment<T>) {
    let cell = new_probe(builder);
    let one = builder.add_constant(1, 1);
    let (to, from) = (cell.borrow().get("in"), one.borrow().get("out"));
    let assignment = builder.build_assignment(to, from, guard);
    let name = cell.borrow().name().to_string();
    (name, assignment)
}

/// Add a probe cell to a component.
pub fn new_probe(builder: &mut ir::Builder) -> RRC<ir::Cell> {
    let cell = builder.add_primitive("cyclescope_probe_", PROBE, &[]);
    cell.borrow_mut().add_attribute(ir::BoolAttr::External, 1);
    cell.borrow_mut().add_attribute(ir::BoolAttr::Control, 1);
    cell
}

/// Whether writing this port starts its owner.
fn starts(port: &ir::Port) -> bool {
    if port.is_hole() {
        port.name == "go"
    } else {
        port.has_attribute(ir::NumAttr::Go)
    }
}

/// Who is called by a write to this port: a start of a group or cell, or any input of something
/// that has no start because it is combinational.
fn callee(port: &ir::Port) -> Option<(&'static str, String)> {
    if port.is_hole() {
        return starts(port).then(|| ("group", port.get_parent_name().to_string()));
    }
    let cell = port.cell_parent();
    let cell = cell.borrow();
    let name = cell.name().to_string();
    let has_start = cell.find_all_with_attr(ir::NumAttr::Go).next().is_some();
    match &cell.prototype {
        ir::CellType::Primitive { is_comb, .. } => {
            (starts(port) || (*is_comb && !has_start)).then_some(("primitive", name))
        }
        // A combinational component computes like a primitive.
        ir::CellType::Component { .. } if !has_start => Some(("primitive", name)),
        ir::CellType::Component { .. } => starts(port).then_some(("cell", name)),
        ir::CellType::ThisComponent | ir::CellType::Constant { .. } => None,
    }
}

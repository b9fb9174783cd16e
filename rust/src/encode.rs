//! *encode-control* (Petal, section 5.1): a unique group for every enable, an id for every
//! control block, and the control tree as data.
//!
//! A combinational group (`if`/`while … with`) is made unique too, unless it serves two arms of
//! one `par`: there the compiler gives both arms one condition register, and separate groups
//! would change the cycles.

use crate::conditions::{meet_in_par, rename_conditions, Conditions, Site};
use crate::pass::{each_component, pass};
use crate::record::{
    self, else_attribute, id_attribute, place_attribute, CellRecord, Node, Place, Record,
};
use calyx_ir::{self as ir, RRC};
use calyx_utils::CalyxResult;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

pass!(
    EncodeControl,
    "encode-control",
    "give every enable its own group and every control block an id",
    encode_control
);

fn encode_control(ctx: &mut ir::Context) -> CalyxResult<()> {
    // No name of the program may look like a unique group's.
    let mut marker = "__cs".to_string();
    let taken = |marker: &str| {
        ctx.components.iter().any(|comp| {
            let dynamic = comp.get_groups().iter().map(|g| g.borrow().name());
            let fixed = comp.get_static_groups().iter().map(|g| g.borrow().name());
            let comb = comp.comb_groups.iter().map(|g| g.borrow().name());
            let mut names = dynamic.chain(fixed).chain(comb);
            names.any(|name| name.id.as_str().contains(marker))
        })
    };
    while taken(&marker) {
        marker.push('x');
    }
    record::with(|record| record.marker = marker);
    each_component(ctx, |comp, sigs| {
        record::with(|record| {
            describe(record, comp);
            encode(record, comp, sigs);
        });
        Ok(())
    })
}

/// Write down a component's cells and groups as its author wrote them.
fn describe(record: &mut Record, comp: &ir::Component) {
    let cells = comp.cells.iter().filter_map(|cell| {
        let cell = cell.borrow();
        let (kind, params) = match &cell.prototype {
            ir::CellType::Primitive { param_binding, .. } => {
                ("primitive", param_binding.iter().map(|(_, v)| *v).collect())
            }
            ir::CellType::Component { .. } => ("component", Vec::new()),
            ir::CellType::ThisComponent | ir::CellType::Constant { .. } => return None,
        };
        Some(CellRecord {
            name: cell.name().to_string(),
            prototype: cell.type_name().map(|t| t.to_string()).unwrap_or_default(),
            kind,
            params,
            reference: cell.is_reference(),
            external: cell.get_attribute(ir::BoolAttr::External).is_some(),
        })
    });
    let cells = cells.collect();
    let position = |name: ir::Id, attributes: &ir::Attributes| {
        let (file, offset) = record.place_of_group(comp.name, name, attributes);
        (name.to_string(), file, offset)
    };
    let dynamic = comp.get_groups().iter().map(|g| {
        let g = g.borrow();
        position(g.name(), &g.attributes)
    });
    let fixed = comp.get_static_groups().iter().map(|g| {
        let g = g.borrow();
        position(g.name(), &g.attributes)
    });
    let comb = comp.comb_groups.iter().map(|g| {
        let g = g.borrow();
        position(g.name(), &g.attributes)
    });
    let positions = dynamic.chain(fixed).chain(comb).collect();
    let (file, offset) = record.place_of_component(comp);
    let entry = record.component(comp.name);
    entry.cells = cells;
    entry.group_positions = positions;
    entry.is_comb = comp.is_comb;
    entry.assigns = !comp.continuous_assignments.is_empty();
    entry.latency = comp.latency.map(u64::from);
    entry.file = file;
    entry.offset = offset;
}

#[derive(Default)]
struct Uses {
    /// Dynamic and static groups that were replaced by unique ones.
    replaced: HashSet<ir::Id>,
    conditions: BTreeMap<ir::Id, Vec<Site>>,
    /// Combinational groups that an invoke uses.
    by_invoke: HashSet<ir::Id>,
}

struct Encoder<'a, 'b> {
    record: &'a mut Record,
    builder: ir::Builder<'b>,
    component: ir::Id,
    /// Groups that must keep their name: their holes are read elsewhere.
    keep: HashSet<ir::Id>,
    uses: Uses,
}

fn encode(record: &mut Record, comp: &mut ir::Component, sigs: &ir::LibrarySignatures) {
    let (driven, keep) = structural(comp);
    let control = Rc::clone(&comp.control);
    let component = comp.name;
    let mut encoder = Encoder {
        record,
        builder: ir::Builder::new(comp, sigs),
        component,
        keep,
        uses: Uses::default(),
    };
    encoder.control(&mut control.borrow_mut(), None, &mut Vec::new());
    let unique = encoder.unique_conditions();
    rename_conditions(encoder.record, &mut control.borrow_mut(), &unique);
    let Encoder { uses, keep, .. } = encoder;

    let gone = |name: ir::Id, used: &HashSet<ir::Id>| {
        used.contains(&name) && !driven.contains(&name) && !keep.contains(&name)
    };
    comp.get_groups_mut().retain(|g| !gone(g.borrow().name(), &uses.replaced));
    comp.get_static_groups_mut().retain(|g| !gone(g.borrow().name(), &uses.replaced));
    comp.comb_groups.retain(|g| !unique.originals.contains(&g.borrow().name()));
}

/// Groups that other groups start, and groups whose holes are read where nobody starts them.
fn structural(comp: &ir::Component) -> (HashSet<ir::Id>, HashSet<ir::Id>) {
    let mut driven = HashSet::new();
    let mut keep = HashSet::new();
    let mut look = |own: Option<ir::Id>, holes: Vec<(ir::Id, ir::Id, bool)>| {
        let starts: HashSet<ir::Id> = holes
            .iter()
            .filter(|(_, port, written)| *written && port == "go")
            .map(|(group, _, _)| *group)
            .collect();
        for (group, _, _) in holes {
            if Some(group) == own {
                continue;
            }
            if starts.contains(&group) {
                driven.insert(group);
            } else {
                keep.insert(group);
            }
        }
    };
    for group in comp.get_groups().iter() {
        let group = group.borrow();
        look(Some(group.name()), holes(&group.assignments));
    }
    for group in comp.get_static_groups().iter() {
        let group = group.borrow();
        look(Some(group.name()), holes(&group.assignments));
    }
    look(None, holes(&comp.continuous_assignments));
    (driven, keep)
}

/// (group, hole, written?) for every hole that the assignments mention.
fn holes<T>(assignments: &[ir::Assignment<T>]) -> Vec<(ir::Id, ir::Id, bool)> {
    let mut found = Vec::new();
    for assignment in assignments {
        let mut note = |port: &RRC<ir::Port>, written: bool| {
            let port = port.borrow();
            if port.is_hole() {
                found.push((port.get_parent_name(), port.name, written));
            }
        };
        note(&assignment.dst, true);
        note(&assignment.src, false);
        for port in assignment.guard.all_ports() {
            note(&port, false);
        }
    }
    found
}

impl Encoder<'_, '_> {
    /// A node for a statement, whose attributes take its id.
    fn block(
        &mut self,
        kind: &'static str,
        parent: Option<usize>,
        attributes: &mut ir::Attributes,
    ) -> usize {
        let place = self.record.place(attributes);
        attributes.remove(place_attribute());
        let node = self.node(kind, parent, place);
        attributes.insert(id_attribute(), node as u64);
        node
    }

    fn node(&mut self, kind: &'static str, parent: Option<usize>, place: Place) -> usize {
        let (file, offset) = place;
        self.record.nodes.push(Node {
            component: self.component.to_string(),
            parent,
            kind,
            file,
            offset,
            group: None,
            cell: None,
            latency: None,
            origin: None,
            sites: Vec::new(),
        });
        self.record.nodes.len() - 1
    }

    fn unique_name(&self, name: ir::Id, node: usize) -> String {
        format!("{}{}{}_", name, self.record.marker, node)
    }

    fn alias(&mut self, group: ir::Id, node: usize) {
        let key = (self.component.to_string(), group.to_string());
        self.record.aliases.entry(key).or_default().push(node);
    }

    fn control(
        &mut self,
        control: &mut ir::Control,
        parent: Option<usize>,
        arms: &mut Vec<(usize, usize)>,
    ) {
        match control {
            ir::Control::Empty(_) => {}
            ir::Control::Enable(enable) => {
                let node = self.block("enable", parent, &mut enable.attributes);
                let name = enable.group.borrow().name();
                self.record.nodes[node].group = Some(name.to_string());
                if self.keep.contains(&name) {
                    self.alias(name, node);
                } else {
                    enable.group = self.unique_group(&Rc::clone(&enable.group), node);
                    self.uses.replaced.insert(name);
                }
            }
            ir::Control::Invoke(invoke) => {
                let node = self.block("invoke", parent, &mut invoke.attributes);
                let cell = invoke.comp.borrow().name().to_string();
                self.record.nodes[node].cell = Some(cell);
                if let Some(group) = &invoke.comb_group {
                    self.uses.by_invoke.insert(group.borrow().name());
                }
            }
            // There is nothing but a barrier in it.
            ir::Control::Seq(seq) if seq.attributes.get(else_attribute()).is_some() => {}
            ir::Control::Seq(seq) => {
                let node = self.block("seq", parent, &mut seq.attributes);
                for stmt in &mut seq.stmts {
                    self.control(stmt, Some(node), arms);
                }
            }
            ir::Control::Par(par) => {
                let node = self.block("par", parent, &mut par.attributes);
                for (arm, stmt) in par.stmts.iter_mut().enumerate() {
                    arms.push((node, arm));
                    self.control(stmt, Some(node), arms);
                    arms.pop();
                }
            }
            ir::Control::If(branch) => {
                let node = self.block("if", parent, &mut branch.attributes);
                self.condition(&branch.cond, node, arms);
                self.control(&mut branch.tbranch, Some(node), arms);
                self.control(&mut branch.fbranch, Some(node), arms);
            }
            ir::Control::While(repeat) => {
                let node = self.block("while", parent, &mut repeat.attributes);
                self.condition(&repeat.cond, node, arms);
                self.control(&mut repeat.body, Some(node), arms);
            }
            ir::Control::Repeat(repeat) => {
                let node = self.block("repeat", parent, &mut repeat.attributes);
                self.control(&mut repeat.body, Some(node), arms);
            }
            ir::Control::Static(inner) => self.static_control(inner, parent),
        }
    }

    fn static_control(&mut self, control: &mut ir::StaticControl, parent: Option<usize>) {
        match control {
            ir::StaticControl::Empty(_) => {}
            ir::StaticControl::Enable(enable) => {
                let node = self.block("enable", parent, &mut enable.attributes);
                let name = enable.group.borrow().name();
                let entry = &mut self.record.nodes[node];
                entry.group = Some(name.to_string());
                entry.latency = Some(enable.group.borrow().latency);
                if self.keep.contains(&name) {
                    self.alias(name, node);
                } else {
                    enable.group = self.unique_static_group(&Rc::clone(&enable.group), node);
                    self.uses.replaced.insert(name);
                }
            }
            ir::StaticControl::Invoke(invoke) => {
                let node = self.block("static invoke", parent, &mut invoke.attributes);
                let cell = invoke.comp.borrow().name().to_string();
                let entry = &mut self.record.nodes[node];
                entry.cell = Some(cell);
                entry.latency = Some(invoke.latency);
                if let Some(group) = &invoke.comb_group {
                    self.uses.by_invoke.insert(group.borrow().name());
                }
            }
            ir::StaticControl::Seq(seq) => {
                let node = self.block("static seq", parent, &mut seq.attributes);
                self.record.nodes[node].latency = Some(seq.latency);
                for stmt in &mut seq.stmts {
                    self.static_control(stmt, Some(node));
                }
            }
            ir::StaticControl::Par(par) => {
                let node = self.block("static par", parent, &mut par.attributes);
                self.record.nodes[node].latency = Some(par.latency);
                for stmt in &mut par.stmts {
                    self.static_control(stmt, Some(node));
                }
            }
            ir::StaticControl::If(branch) => {
                let node = self.block("static if", parent, &mut branch.attributes);
                self.record.nodes[node].latency = Some(branch.latency);
                self.static_control(&mut branch.tbranch, Some(node));
                self.static_control(&mut branch.fbranch, Some(node));
            }
            ir::StaticControl::Repeat(repeat) => {
                let node = self.block("static repeat", parent, &mut repeat.attributes);
                self.record.nodes[node].latency = Some(repeat.latency);
                self.static_control(&mut repeat.body, Some(node));
            }
        }
    }

    fn condition(
        &mut self,
        group: &Option<RRC<ir::CombGroup>>,
        block: usize,
        arms: &[(usize, usize)],
    ) {
        let Some(group) = group else { return };
        let name = group.borrow().name();
        let Node { file, offset, .. } = &self.record.nodes[block];
        let node = self.node("with", Some(block), (file.clone(), *offset));
        self.record.nodes[node].group = Some(name.to_string());
        let arms = arms.to_vec();
        self.uses.conditions.entry(name).or_default().push(Site { node, arms });
    }

    fn unique_group(&mut self, group: &RRC<ir::Group>, node: usize) -> RRC<ir::Group> {
        let name = self.unique_name(group.borrow().name(), node);
        let copy = self.builder.add_group(name);
        let original = group.borrow();
        let mut assignments = original.assignments.clone();
        for assignment in &mut assignments {
            assignment
                .for_each_port(|port| own_hole(port, original.name(), |n| copy.borrow().get(n)));
        }
        copy.borrow_mut().attributes = original.attributes.clone();
        copy.borrow_mut().assignments = assignments;
        Rc::clone(&copy)
    }

    fn unique_static_group(
        &mut self,
        group: &RRC<ir::StaticGroup>,
        node: usize,
    ) -> RRC<ir::StaticGroup> {
        let name = self.unique_name(group.borrow().name(), node);
        let copy = self.builder.add_static_group(name, group.borrow().latency);
        let original = group.borrow();
        let mut assignments = original.assignments.clone();
        for assignment in &mut assignments {
            assignment
                .for_each_port(|port| own_hole(port, original.name(), |n| copy.borrow().get(n)));
        }
        copy.borrow_mut().attributes = original.attributes.clone();
        copy.borrow_mut().assignments = assignments;
        Rc::clone(&copy)
    }

    /// Make the copies of the combinational groups.
    fn unique_conditions(&mut self) -> Conditions {
        let mut result = Conditions::default();
        for (name, sites) in std::mem::take(&mut self.uses.conditions) {
            let original = self
                .builder
                .component
                .find_comb_group(name)
                .expect("a combinational group that is used exists");
            let in_invoke = self.uses.by_invoke.contains(&name);
            if in_invoke || meet_in_par(&sites) {
                let nodes: Vec<usize> = sites.iter().map(|s| s.node).collect();
                let first = self.record.nodes[nodes[0]].clone();
                self.record.nodes.push(Node {
                    kind: "shared",
                    parent: None,
                    sites: nodes.clone(),
                    ..first
                });
                let copy = self.copy_comb_group(&original, self.record.nodes.len() - 1);
                for node in nodes {
                    result.copies.insert(node, Rc::clone(&copy));
                }
                if in_invoke {
                    result.for_invokes.insert(name, copy);
                }
            } else {
                for site in sites {
                    let copy = self.copy_comb_group(&original, site.node);
                    result.copies.insert(site.node, copy);
                }
            }
            result.originals.insert(name);
        }
        result
    }

    fn copy_comb_group(
        &mut self,
        original: &RRC<ir::CombGroup>,
        node: usize,
    ) -> RRC<ir::CombGroup> {
        let name = self.unique_name(original.borrow().name(), node);
        let copy = self.builder.add_comb_group(name);
        copy.borrow_mut().attributes = original.borrow().attributes.clone();
        copy.borrow_mut().assignments = original.borrow().assignments.clone();
        copy
    }
}

fn own_hole<'a>(
    port: &RRC<ir::Port>,
    group: ir::Id,
    hole: impl Fn(ir::Id) -> RRC<ir::Port> + 'a,
) -> Option<RRC<ir::Port>> {
    let port = port.borrow();
    (port.is_hole() && port.get_parent_name() == group).then(|| hole(port.name))
}

//! What the passes learn about a program: plain data, handed to Python as JSON.
//!
//! Passes are constructed by the pass manager and cannot hold references, so the record of the
//! compilation under way lives in a thread-local, opened by `begin` and taken by `finish`.

use crate::source::Printed;
use calyx_ir::{self as ir, RRC};
use calyx_utils::{GPosIdx, WithPos};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// Name of the primitive whose input is a probe.
pub const PROBE: &str = "cyclescope_probe";

/// A node of the control program as its author wrote it; its index is its id.
#[derive(Clone, Serialize)]
pub struct Node {
    pub component: String,
    pub parent: Option<usize>,
    /// `seq`, `par`, `if`, `while`, `repeat`, their `static …` forms, `enable`, `invoke`,
    /// `with` (the combinational group of an if or a while), or `shared` (one combinational
    /// group that serves several of these).
    pub kind: &'static str,
    pub file: String,
    /// Byte offset of the statement in the file.
    pub offset: usize,
    /// The group that an enable or `with` runs.
    pub group: Option<String>,
    /// The cell that an invoke runs.
    pub cell: Option<String>,
    /// Fixed cycles, if the author or the compiler fixed them.
    pub latency: Option<u64>,
    /// For a copy made by inlining: the node that it is a copy of.
    pub origin: Option<usize>,
    /// For `shared`: the `with` nodes that it serves.
    pub sites: Vec<usize>,
}

#[derive(Clone, Serialize)]
pub struct CellRecord {
    pub name: String,
    #[serde(rename = "type")]
    pub prototype: String,
    /// `component`, `primitive`.
    pub kind: &'static str,
    pub params: Vec<u64>,
    pub reference: bool,
    pub external: bool,
}

/// What a group calls.
#[derive(Clone, Serialize)]
pub struct Call {
    /// `group`, `cell` or `primitive`.
    pub kind: &'static str,
    /// Its name in the source.
    pub name: String,
    /// The cell that is it after resources were shared.
    pub actual: String,
    /// The probe that is high when it is called; none: whenever the caller is active.
    pub probe: Option<String>,
}

/// A group that carries probes.
#[derive(Clone, Serialize)]
pub struct GroupRecord {
    /// Its name when the probes were inserted.
    pub name: String,
    /// The node(s) whose activity it is; empty for a group that other groups call.
    pub nodes: Vec<usize>,
    pub probe: String,
    pub calls: Vec<Call>,
    /// For an invoke: reference cell of the callee, cell given (after sharing).
    pub refs: Vec<(String, String)>,
}

/// A static control block after promotion.
#[derive(Clone, Serialize)]
pub struct StaticRecord {
    pub kind: &'static str,
    pub probe: String,
    pub latency: u64,
    /// The probes of the groups inside.
    pub leaves: Vec<String>,
}

/// A repeat that was compiled to a counting loop.
#[derive(Clone, Serialize)]
pub struct RepeatRecord {
    pub node: usize,
    /// High while the counter is set up or moves on.
    pub probe: String,
    /// The groups that do so.
    pub groups: Vec<String>,
}

/// A control register: an FSM's state or the done flag of a par's arm.
#[derive(Clone, Serialize)]
pub struct Register {
    pub name: String,
    /// `fsm` or `par done`.
    pub kind: &'static str,
    pub width: u64,
}

/// A group that the compiler made to implement a control block.
#[derive(Clone, Serialize)]
pub struct CompiledRecord {
    pub name: String,
    /// Operator of the block that it implements, as it was just before compilation.
    pub kind: &'static str,
    pub probe: String,
    pub leaves: Vec<String>,
    pub registers: Vec<Register>,
    /// The FSM state that says that it is done.
    pub final_state: Option<u64>,
    /// The groups that it starts.
    pub children: Vec<String>,
    /// Probes of shared groups, with the probe that says that this group calls them.
    pub calls_shared: Vec<(String, String)>,
}

/// File and byte offset.
pub type Place = (String, usize);

/// The places of the parts of a program that another compiler printed: told of its text before.
pub struct Places {
    /// Of statements, by the number that they carry.
    pub statements: Vec<Place>,
    pub components: HashMap<String, Place>,
    /// Of groups, by component.
    pub groups: HashMap<String, HashMap<String, Place>>,
}

#[derive(Clone, Default, Serialize)]
pub struct ComponentRecord {
    pub is_comb: bool,
    /// Whether it has continuous assignments as written.
    pub assigns: bool,
    pub file: String,
    pub offset: usize,
    /// Fixed cycles of a static component.
    pub latency: Option<u64>,
    pub cells: Vec<CellRecord>,
    /// Groups as written: name, file, byte offset.
    pub group_positions: Vec<(String, String, usize)>,
    pub groups: Vec<GroupRecord>,
    pub statics: Vec<StaticRecord>,
    pub repeats: Vec<RepeatRecord>,
    pub compiled: Vec<CompiledRecord>,
    /// Cells started by a continuous assignment: cell, probe.
    pub continuous: Vec<(String, String)>,
    /// Probes that are still driven in the final design.
    pub live: Vec<String>,
    /// Cells that are still there in the final design.
    pub kept: Vec<String>,
    /// Live probes that are not in the design: worked out from other signals.
    pub formulas: Option<crate::formulas::Formulas>,
}

#[derive(Default, Serialize)]
pub struct Record {
    /// Text between a group's name and its node's id in a unique group's name.
    pub marker: String,
    pub nodes: Vec<Node>,
    pub components: BTreeMap<String, ComponentRecord>,
    /// What the compiler finds odd about the program and compiles all the same.
    pub warnings: Vec<String>,
    /// The entry point as written, once it is known.
    #[serde(skip)]
    pub main: Option<String>,
    /// The statements whose groups are to take more cycles.
    #[serde(skip)]
    pub longer: Vec<crate::lengthen::Longer>,
    /// None: what is compiled is the text itself.
    #[serde(skip)]
    pub places: Option<Places>,
    /// Groups of each component in the order in which the compiler printed them, if it did: what
    /// is read may have another one.
    #[serde(skip)]
    pub printed: Printed,
    /// Leaf groups that could not be made unique: (component, group) to nodes.
    #[serde(skip)]
    pub aliases: HashMap<(String, String), Vec<usize>>,
    /// (component, group) to the cells written by its assignments, before sharing.
    #[serde(skip)]
    pub written: HashMap<(String, String), Vec<Option<String>>>,
    /// Node to the cells that its invokes run before sharing, in order: the halves of a split group
    /// are two of them.
    #[serde(skip)]
    pub invoked: HashMap<usize, VecDeque<String>>,
    /// (component, probe) to nodes, for the leaf sets.
    #[serde(skip)]
    pub probe_nodes: HashMap<(String, String), Vec<usize>>,
    /// Control trees just before inlining.
    #[serde(skip)]
    pub before_inline: HashMap<String, crate::inline::Shape>,
    /// Component to the repeats that are about to be compiled.
    #[serde(skip)]
    pub repeats: HashMap<String, crate::repeat::Repeats>,
    /// Component to what `tdcc` will make, in order, and the groups that were there before.
    #[serde(skip)]
    pub expected: HashMap<String, (Vec<crate::blocks::Expected>, HashSet<String>)>,
}

thread_local! {
    static CURRENT: RefCell<Record> = RefCell::new(Record::default());
}

/// Open a record for this thread.
pub fn begin(record: Record) {
    CURRENT.with(|current| *current.borrow_mut() = record);
}

/// Take the record.
pub fn finish() -> Record {
    CURRENT.with(RefCell::take)
}

/// Work on the record. Calls must not nest.
pub fn with<T>(work: impl FnOnce(&mut Record) -> T) -> T {
    CURRENT.with(|current| work(&mut current.borrow_mut()))
}

impl Record {
    pub fn component(&mut self, name: ir::Id) -> &mut ComponentRecord {
        self.components.entry(name.to_string()).or_default()
    }

    /// The groups that a pass made, in the order in which it made them.
    pub fn made(&self, comp: &ir::Component, before: &HashSet<String>) -> Vec<RRC<ir::Group>> {
        let is_new = |g: &&RRC<ir::Group>| !before.contains(g.borrow().name().id.as_str());
        let mut made: Vec<RRC<ir::Group>> =
            comp.get_groups().iter().filter(is_new).cloned().collect();
        if let Some(names) = self.printed.get(comp.name.id.as_str()) {
            let place: HashMap<&str, usize> =
                names.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
            made.sort_by_key(|g| place.get(g.borrow().name().id.as_str()).copied());
        }
        made
    }

    /// The place of a statement.
    pub fn place(&self, attributes: &ir::Attributes) -> Place {
        let Some(places) = &self.places else {
            return place(attributes);
        };
        let number = attributes.get(place_attribute()).and_then(|n| usize::try_from(n).ok());
        number.and_then(|n| places.statements.get(n)).cloned().unwrap_or_default()
    }

    /// The place of a component.
    pub fn place_of_component(&self, comp: &ir::Component) -> Place {
        match &self.places {
            None => place(&comp.attributes),
            Some(places) => {
                places.components.get(comp.name.id.as_str()).cloned().unwrap_or_default()
            }
        }
    }

    /// The place of a group of a component.
    pub fn place_of_group(&self, comp: ir::Id, name: ir::Id, group: &ir::Attributes) -> Place {
        let Some(places) = &self.places else {
            return place(group);
        };
        let of = places.groups.get(comp.id.as_str()).and_then(|g| g.get(name.id.as_str()));
        of.cloned().unwrap_or_default()
    }

    /// The node whose id a unique group's name carries, `None` for any other name.
    pub fn node_in_name(&self, name: &str) -> Option<usize> {
        let (_, rest) = name.rsplit_once(self.marker.as_str())?;
        let digits = &rest[..rest.find('_')?];
        digits.parse().ok().filter(|id| *id < self.nodes.len())
    }

    /// The nodes of component `component` that a group of that name implements.
    pub fn nodes_of_group(&self, component: &str, name: &str) -> Vec<usize> {
        if let Some(nodes) = self.aliases.get(&(component.to_string(), name.to_string())) {
            return nodes.clone();
        }
        let Some(id) = self.node_in_name(name) else {
            return Vec::new();
        };
        if self.nodes[id].component == component {
            return vec![id];
        }
        // The group came here by inlining: its node's copies in this component.
        (0..self.nodes.len())
            .filter(|&n| self.nodes[n].origin == Some(id) && self.nodes[n].component == component)
            .collect()
    }
}

fn place(node: &ir::Attributes) -> Place {
    let span = node.copy_span();
    if span == GPosIdx::UNKNOWN {
        return (String::new(), 0);
    }
    let (file, start, _) = span.get_location();
    (file.to_string(), start)
}

/// The attribute that carries a node's id through the compiler.
pub fn id_attribute() -> ir::Attribute {
    ir::Attribute::Unknown(ir::Id::from("cyclescope_id"))
}

/// On a statement of a program that another compiler prints: its number in `Places`.
pub fn place_attribute() -> ir::Attribute {
    ir::Attribute::Unknown(ir::Id::from("cyclescope_at"))
}

/// On a seq around an else-branch that a compiler would not print.
pub fn else_attribute() -> ir::Attribute {
    ir::Attribute::Unknown(ir::Id::from("cyclescope_else"))
}

/// A control node's id, if it still has one.
pub fn id_of(attributes: &ir::Attributes) -> Option<usize> {
    attributes.get(id_attribute()).map(|id| id as usize)
}

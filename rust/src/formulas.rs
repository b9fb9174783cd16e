//! Probes as functions of what a design keeps anyway.
//!
//! Whether a block runs follows from few signals: the states of state machines, `go`, some `done`s.
//! The simulator has them at hand, whereas a wire that only a probe reads would be computed and
//! kept for it in each cycle. So they are captured in place of the probes, and each probe is worked
//! out afterwards, once for each combination that occurred (`calyx/_formulas.py`).
//!
//! A signal that moves with the data would multiply the combinations. A probe that depends on one
//! is captured itself.

use crate::record::ComponentRecord;
use calyx_ir::{self as ir, RRC};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A value of one bit. Numbers are those of earlier terms; of signals in `Compare` and `Signal`.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    True,
    /// The signal, one bit wide.
    Signal(usize),
    /// The signal beside a constant, as in Verilog: `==`, `!=`, `<`, `>`, `<=`, `>=`.
    Compare(&'static str, usize, u64),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
}

/// How the probes of a component follow from signals of its module.
#[derive(Clone, Serialize)]
pub struct Formulas {
    /// Name in Verilog, width in bits.
    pub signals: Vec<(String, u64)>,
    pub terms: Vec<Term>,
    /// Probe to its term.
    pub probes: BTreeMap<String, usize>,
}

/// Take probes out of a component in its final form: those that need not be there. `None` if
/// capturing them as they are is cheaper.
pub fn take(comp: &mut ir::Component, record: &ComponentRecord) -> Option<Formulas> {
    let formulas = Reader::of(comp, record).formulas(&record.live);
    let captured: HashSet<String> = record
        .compiled
        .iter()
        .filter(|block| record.live.contains(&block.probe))
        .flat_map(|block| block.registers.iter().map(|register| format!("{}_out", register.name)))
        .collect();
    let more = formulas.signals.iter().filter(|(name, _)| !captured.contains(name)).count();
    if formulas.signals.is_empty() || more >= formulas.probes.len() {
        return None;
    }
    let gone = |name: ir::Id| formulas.probes.contains_key(name.id.as_str());
    comp.continuous_assignments.retain(|assignment| {
        let port = assignment.dst.borrow();
        port.is_hole() || !gone(port.get_parent_name())
    });
    comp.cells.retain(|cell| !gone(cell.borrow().name()));
    Some(formulas)
}

/// Reads a component's assignments backwards, from the probes.
#[derive(Default)]
struct Reader<'a> {
    /// What is assigned to a port, in the order in which the first that holds wins.
    drivers: HashMap<ir::Canonical, Vec<&'a ir::Assignment<ir::Nothing>>>,
    /// Inputs that are the `done` of a cell that the caller gives.
    given: HashSet<String>,
    signals: Vec<(String, u64)>,
    /// Numbers of signals; none of a port that moves with the data.
    ports: HashMap<ir::Canonical, Option<usize>>,
    terms: Vec<Term>,
    numbers: HashMap<Term, usize>,
    /// Terms of wires; none while it is looked for, and where there is none.
    wires: HashMap<ir::Canonical, Option<usize>>,
}

impl<'a> Reader<'a> {
    fn of(comp: &'a ir::Component, record: &ComponentRecord) -> Self {
        // compile-invoke makes ports of such a cell's, without their attributes.
        let references = record.cells.iter().filter(|cell| cell.reference);
        let given = references.map(|cell| format!("{}_done", cell.name)).collect();
        let mut reader = Reader { given, ..Default::default() };
        for assignment in &comp.continuous_assignments {
            let port = assignment.dst.borrow().canonical();
            reader.drivers.entry(port).or_default().push(assignment);
        }
        reader
    }

    fn formulas(mut self, probes: &[String]) -> Formulas {
        let found: BTreeMap<String, usize> = probes
            .iter()
            .filter_map(|probe| {
                let port = ir::Canonical::new(ir::Id::from(probe.as_str()), ir::Id::from("in"));
                Some((probe.clone(), self.driven(&port)?))
            })
            .collect();
        self.needed(found)
    }

    /// Without the signals and terms of probes for which no formula was found.
    fn needed(self, probes: BTreeMap<String, usize>) -> Formulas {
        let mut needed = vec![false; self.terms.len()];
        for &at in probes.values() {
            needed[at] = true;
        }
        for at in (0..needed.len()).rev() {
            if needed[at] {
                match self.terms[at] {
                    Term::Not(a) => needed[a] = true,
                    Term::And(a, b) | Term::Or(a, b) => {
                        needed[a] = true;
                        needed[b] = true;
                    }
                    Term::True | Term::Signal(_) | Term::Compare(..) => {}
                }
            }
        }
        let mut result = Formulas { signals: vec![], terms: vec![], probes };
        let mut moved = vec![0; needed.len()];
        let mut places = HashMap::new();
        for (at, term) in self.terms.into_iter().enumerate().filter(|(at, _)| needed[*at]) {
            let mut place = |old: usize| {
                *places.entry(old).or_insert_with(|| {
                    result.signals.push(self.signals[old].clone());
                    result.signals.len() - 1
                })
            };
            moved[at] = result.terms.len();
            result.terms.push(match term {
                Term::True => Term::True,
                Term::Signal(signal) => Term::Signal(place(signal)),
                Term::Compare(how, signal, value) => Term::Compare(how, place(signal), value),
                Term::Not(a) => Term::Not(moved[a]),
                Term::And(a, b) => Term::And(moved[a], moved[b]),
                Term::Or(a, b) => Term::Or(moved[a], moved[b]),
            });
        }
        result.probes.values_mut().for_each(|at| *at = moved[*at]);
        result
    }

    fn term(&mut self, term: Term) -> usize {
        *self.numbers.entry(term).or_insert_with_key(|term| {
            self.terms.push(term.clone());
            self.terms.len() - 1
        })
    }

    fn both(&mut self, a: usize, b: usize) -> usize {
        self.term(Term::And(a.min(b), a.max(b)))
    }

    fn either(&mut self, a: usize, b: usize) -> usize {
        self.term(Term::Or(a.min(b), a.max(b)))
    }

    /// The signal that a port is, if it moves with the control.
    fn signal(&mut self, port: &ir::Port) -> Option<usize> {
        let place = port.canonical();
        if let Some(known) = self.ports.get(&place) {
            return *known;
        }
        let found = self.is_control(port).then(|| {
            let name = match port.cell_parent().borrow().prototype {
                ir::CellType::ThisComponent => port.name.to_string(),
                _ => format!("{}_{}", port.get_parent_name(), port.name),
            };
            self.signals.push((name, port.width));
            self.signals.len() - 1
        });
        self.ports.insert(place, found);
        found
    }

    fn guard(&mut self, guard: &ir::Guard<ir::Nothing>) -> Option<usize> {
        match guard {
            ir::Guard::True => Some(self.term(Term::True)),
            ir::Guard::Port(port) => self.port(port),
            ir::Guard::Not(inner) => {
                let inner = self.guard(inner)?;
                Some(self.term(Term::Not(inner)))
            }
            ir::Guard::And(a, b) => {
                let (a, b) = (self.guard(a)?, self.guard(b)?);
                Some(self.both(a, b))
            }
            ir::Guard::Or(a, b) => {
                let (a, b) = (self.guard(a)?, self.guard(b)?);
                Some(self.either(a, b))
            }
            ir::Guard::CompOp(how, a, b) => self.compare(how, a, b),
            ir::Guard::Info(_) => None,
        }
    }

    fn compare(
        &mut self,
        how: &ir::PortComp,
        a: &RRC<ir::Port>,
        b: &RRC<ir::Port>,
    ) -> Option<usize> {
        let value = constant(&b.borrow())?;
        let signal = self.signal(&a.borrow())?;
        let how = match how {
            ir::PortComp::Eq => "==",
            ir::PortComp::Neq => "!=",
            ir::PortComp::Gt => ">",
            ir::PortComp::Lt => "<",
            ir::PortComp::Geq => ">=",
            ir::PortComp::Leq => "<=",
        };
        Some(self.term(Term::Compare(how, signal, value)))
    }

    /// A port one bit wide.
    fn port(&mut self, port: &RRC<ir::Port>) -> Option<usize> {
        let port = port.borrow();
        if let Some(value) = constant(&port) {
            let one = self.term(Term::True);
            return Some(if value == 1 { one } else { self.term(Term::Not(one)) });
        }
        if port.cell_parent().borrow().is_primitive(Some("std_wire")) {
            let input = ir::Canonical::new(port.get_parent_name(), ir::Id::from("in"));
            if !self.wires.contains_key(&input) {
                self.wires.insert(input.clone(), None);
                let found = self.driven(&input);
                self.wires.insert(input.clone(), found);
            }
            return self.wires[&input];
        }
        if port.width != 1 {
            return None;
        }
        let signal = self.signal(&port)?;
        Some(self.term(Term::Signal(signal)))
    }

    /// What an input gets: of its assignments the first that holds, or 0.
    fn driven(&mut self, input: &ir::Canonical) -> Option<usize> {
        let assignments = self.drivers.get(input).cloned().unwrap_or_default();
        let one = self.term(Term::True);
        let zero = self.term(Term::Not(one));
        let mut value = zero;
        for assignment in assignments.iter().rev() {
            // Where nobody looks at a data port its guard may be left out.
            if is_data(&assignment.dst.borrow()) {
                return None;
            }
            let guard = self.guard(&assignment.guard)?;
            let source = self.port(&assignment.src)?;
            let here = if source == one { guard } else { self.both(guard, source) };
            value = if value == zero {
                here
            } else if source == one {
                self.either(guard, value)
            } else {
                let otherwise = self.term(Term::Not(guard));
                let after = self.both(otherwise, value);
                self.either(here, after)
            };
        }
        Some(value)
    }

    /// Whether a port moves with the control, not with the data.
    fn is_control(&self, port: &ir::Port) -> bool {
        if port.has_attribute(ir::NumAttr::Done) {
            return true;
        }
        let cell = port.cell_parent();
        let cell = cell.borrow();
        match cell.prototype {
            ir::CellType::ThisComponent => {
                port.has_attribute(ir::NumAttr::Go) || self.given.contains(port.name.id.as_str())
            }
            _ => {
                port.name == "out"
                    && cell.is_primitive(Some("std_reg"))
                    && cell.get_attribute(ir::BoolAttr::Generated).is_some()
                    && self.sources(cell.name(), "in").all(|source| {
                        let source = source.borrow();
                        constant(&source).is_some() || self.counts(&source, cell.name())
                    })
            }
        }
    }

    /// Whether a port is the sum of a register and a constant.
    fn counts(&self, sum: &ir::Port, register: ir::Id) -> bool {
        let cell = sum.cell_parent();
        let cell = cell.borrow();
        cell.is_primitive(Some("std_add"))
            && ["left", "right"].into_iter().all(|side| {
                self.sources(cell.name(), side).all(|source| {
                    let source = source.borrow();
                    constant(&source).is_some() || source.get_parent_name() == register
                })
            })
    }

    fn sources(&self, cell: ir::Id, port: &str) -> impl Iterator<Item = &'a RRC<ir::Port>> + '_ {
        let input = ir::Canonical::new(cell, ir::Id::from(port));
        self.drivers.get(&input).into_iter().flatten().map(|assignment| &assignment.src)
    }
}

fn constant(port: &ir::Port) -> Option<u64> {
    match port.cell_parent().borrow().prototype {
        ir::CellType::Constant { val, .. } => Some(val),
        _ => None,
    }
}

fn is_data(port: &ir::Port) -> bool {
    port.has_attribute(ir::BoolAttr::Data)
        && port.cell_parent().borrow().get_attribute(ir::BoolAttr::Data).is_some()
}

//! The groups that compile-repeat makes to count iterations, and the repeat that each counts for.
//!
//! A repeat that is not promoted becomes a `while` with a counter: one group sets it up, one moves
//! it on. Neither stands in the program, so without this the cycles that they take would belong
//! to nothing. Both write one probe, which says that the repeat itself is at work.

use crate::blocks::same_number;
use crate::instrument::new_probe;
use crate::record::{self, id_of, RepeatRecord};
use calyx_ir as ir;
use calyx_opt::traversal::{Action, Named, VisResult, Visitor};
use std::collections::HashSet;

/// A component's repeats in the order in which they are compiled, and its groups before that.
#[derive(Default)]
pub struct Repeats {
    nodes: Vec<Option<usize>>,
    groups: HashSet<String>,
}

/// Before compile-repeat: list the repeats that will become loops.
#[derive(Default)]
pub struct NoteRepeats;

impl Named for NoteRepeats {
    fn name() -> &'static str {
        "note-repeats"
    }

    fn description() -> &'static str {
        "remember which repeats are about to be compiled"
    }
}

impl Visitor for NoteRepeats {
    fn start(
        &mut self,
        comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        let groups = comp.get_groups().iter().map(|g| g.borrow().name().to_string()).collect();
        let repeats = Repeats { nodes: Vec::new(), groups };
        record::with(|r| r.repeats.insert(comp.name.to_string(), repeats));
        Ok(Action::Continue)
    }

    // As compile-repeat itself: inner repeats first.
    fn finish_repeat(
        &mut self,
        repeat: &mut ir::Repeat,
        comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        // None or one iteration needs no counter.
        if repeat.num_repeats > 1 {
            record::with(|r| {
                let repeats = r.repeats.entry(comp.name.to_string()).or_default();
                repeats.nodes.push(id_of(&repeat.attributes));
            });
        }
        Ok(Action::Continue)
    }
}

/// After compile-repeat: probe the groups that it made.
#[derive(Default)]
pub struct ProbeRepeats;

impl Named for ProbeRepeats {
    fn name() -> &'static str {
        "probe-repeats"
    }

    fn description() -> &'static str {
        "add a probe to the groups that count a repeat's iterations"
    }
}

impl Visitor for ProbeRepeats {
    fn start(
        &mut self,
        comp: &mut ir::Component,
        sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        let component = comp.name;
        let Some(Repeats { nodes, groups }) =
            record::with(|r| r.repeats.remove(component.id.as_str()))
        else {
            return Ok(Action::Stop);
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
        Ok(Action::Stop)
    }
}

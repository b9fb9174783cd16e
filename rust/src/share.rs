//! The names that cells had before cell-share merged them.
//!
//! Sharing rewrites the cells in assignments and leaves their order alone, so the cell written by
//! the n-th assignment of a group can be looked up by n in what was noted before.

use crate::record::{self, id_of, Record};
use calyx_ir::{self as ir, RRC};
use calyx_opt::traversal::{Action, Named, VisResult, Visitor};

/// Before cell-share: note which cell each assignment writes and each invoke runs.
#[derive(Default)]
pub struct NoteCells;

impl Named for NoteCells {
    fn name() -> &'static str {
        "note-cells"
    }

    fn description() -> &'static str {
        "remember which cells groups write before cells are shared"
    }
}

impl Visitor for NoteCells {
    fn start(
        &mut self,
        comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        record::with(|record| {
            let name = comp.name.to_string();
            let mut note = |group: ir::Id, cells: Vec<Option<String>>| {
                record.written.entry((name.clone(), group.to_string())).or_insert(cells);
            };
            for group in comp.get_groups().iter() {
                note(group.borrow().name(), written(&group.borrow().assignments));
            }
            for group in comp.get_static_groups().iter() {
                note(group.borrow().name(), written(&group.borrow().assignments));
            }
            for group in comp.comb_groups.iter() {
                note(group.borrow().name(), written(&group.borrow().assignments));
            }
        });
        Ok(Action::Continue)
    }

    fn invoke(
        &mut self,
        invoke: &mut ir::Invoke,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        note_invoke(&invoke.attributes, &invoke.comp);
        Ok(Action::Continue)
    }

    fn static_invoke(
        &mut self,
        invoke: &mut ir::StaticInvoke,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        note_invoke(&invoke.attributes, &invoke.comp);
        Ok(Action::Continue)
    }
}

fn note_invoke(attributes: &ir::Attributes, cell: &RRC<ir::Cell>) {
    if let Some(node) = id_of(attributes) {
        let name = cell.borrow().name().to_string();
        record::with(|record| {
            record.invoked.entry(node).or_default().push_back(name);
        });
    }
}

fn written<T>(assignments: &[ir::Assignment<T>]) -> Vec<Option<String>> {
    let cell = |assignment: &ir::Assignment<T>| {
        let port = assignment.dst.borrow();
        (!port.is_hole()).then(|| port.get_parent_name().to_string())
    };
    assignments.iter().map(cell).collect()
}

impl Record {
    /// The name that the cell written by assignment `index` of `group` had in the source.
    pub fn source_name(&self, component: &str, group: &str, index: usize, actual: &str) -> String {
        // simplify-with-control made static groups of combinational ones, adding digits.
        let stem = group.trim_end_matches(|c: char| c.is_ascii_digit());
        let noted = [group, stem]
            .into_iter()
            .find_map(|name| self.written.get(&(component.to_string(), name.to_string())))
            .and_then(|cells| cells.get(index))
            .and_then(Clone::clone);
        noted.unwrap_or_else(|| actual.to_string())
    }
}

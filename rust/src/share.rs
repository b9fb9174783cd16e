//! The names that cells had before cell-share merged them.
//!
//! Sharing rewrites the cells in assignments and leaves their order alone, so the cell written by
//! the n-th assignment of a group can be looked up by n in what was noted before.

use crate::control::Statement;
use crate::pass::{each_component, pass};
use crate::record::{self, id_of, Record};
use calyx_ir as ir;
use calyx_utils::CalyxResult;

pass!(
    /// Before cell-share: note which cell each assignment writes and each invoke runs.
    NoteCells,
    "note-cells",
    "remember which cells groups write before cells are shared",
    |ctx| each_component(ctx, note_cells)
);

fn note_cells(comp: &mut ir::Component, _: &ir::LibrarySignatures) -> CalyxResult<()> {
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
        Statement::from(&*comp.control.borrow()).walk(&mut |statement| {
            let cell = match statement {
                Statement::Dynamic(ir::Control::Invoke(invoke)) => &invoke.comp,
                Statement::Static(ir::StaticControl::Invoke(invoke)) => &invoke.comp,
                _ => return,
            };
            if let Some(node) = id_of(statement.attributes()) {
                let name = cell.borrow().name().to_string();
                record.invoked.entry(node).or_default().push_back(name);
            }
        });
    });
    Ok(())
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

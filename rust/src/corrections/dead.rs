//! Assignments to combinational cells stay where something depends on them.

use crate::pass::{each_component, pass};
use calyx_ir as ir;
use calyx_utils::CalyxResult;
use std::collections::{HashMap, HashSet};

pass!(
    /// dead-assign-removal, which forgets dependences (main's does, too).
    ///
    /// A combinational cell that a group drives may be driven continuously as well, at other times: the
    /// control of a static component becomes continuous assignments, but for what it repeats, which
    /// becomes a group. The released pass then takes what the cell gets continuously for all that it
    /// depends on, and removes what only the group gives it.
    DeadAssignsTogether,
    "dead-assign-removal-together",
    "dead-assign-removal, with all that drives a cell (instead of dead-assign-removal)",
    dead_assigns_together
);

fn dead_assigns_together(ctx: &mut ir::Context) -> CalyxResult<()> {
    each_component(ctx, |comp, _| {
        for group in comp.groups.iter() {
            let mut wanted = Wanted::default();
            wanted.assignments(&comp.continuous_assignments);
            wanted.assignments(&group.borrow().assignments);
            let used = wanted.cells();
            group.borrow_mut().assignments.retain(|assignment| {
                let to = assignment.dst.borrow();
                if to.parent_is_comb() {
                    used.contains(&to.get_parent_name())
                } else {
                    !assignment.guard.is_false()
                }
            });
        }
        Ok(())
    })
}

/// What assignments need of combinational cells.
#[derive(Default)]
struct Wanted {
    /// The combinational cells that each combinational cell is driven from.
    behind: HashMap<ir::Id, HashSet<ir::Id>>,
    /// Those that something else is driven from.
    first: HashSet<ir::Id>,
}

impl Wanted {
    fn assignments(&mut self, assignments: &[ir::Assignment<ir::Nothing>]) {
        for assignment in assignments {
            let to = assignment.dst.borrow();
            let needed = if to.parent_is_comb() {
                self.behind.entry(to.get_parent_name()).or_default()
            } else {
                &mut self.first
            };
            let guard = assignment.guard.all_ports();
            let ports = guard.iter().chain([&assignment.src]);
            needed.extend(
                ports
                    .filter(|port| port.borrow().parent_is_comb())
                    .map(|port| port.borrow().get_parent_name()),
            );
        }
    }

    /// All cells that something with state, a hole or a port of the component depends on.
    fn cells(mut self) -> HashSet<ir::Id> {
        let mut waiting: Vec<_> = self.first.iter().copied().collect();
        let mut found = HashSet::new();
        while let Some(cell) = waiting.pop() {
            if found.insert(cell) {
                waiting.extend(self.behind.remove(&cell).unwrap_or_default());
            }
        }
        found
    }
}

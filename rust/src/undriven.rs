//! Ones where nothing drives a data port: for the judge, which asks whether a result depends on it.

use crate::pass::{each_component, pass};
use calyx_ir as ir;
use calyx_utils::CalyxResult;
use std::collections::{HashMap, HashSet};

pass!(
    /// Ports marked `@data` mean nothing while nothing drives them, and a compiler may let them have
    /// any value, unless that decides what happens next. This pass, for what is lowered but for
    /// default assignments, gives them all ones.
    DriveUndrivenData,
    "drive-undriven-data",
    "give @data ports all ones while nothing drives them (the judge's; in no list)",
    |ctx| each_component(ctx, drive_undriven_data)
);

/// Cells on which it depends what happens: their values get into a guard, into an input that always
/// counts, or into such a cell.
///
/// A port that is `@stable` or says `@done` does not pass on what its cell's inputs hold.
fn deciding(comp: &ir::Component) -> HashSet<ir::Id> {
    let passes_on = |port: &ir::RRC<ir::Port>| {
        let port = port.borrow();
        let is_safe = port.attributes.has(ir::BoolAttr::Stable)
            || port.attributes.has(ir::NumAttr::Done)
            || port.is_hole();
        (!is_safe).then(|| port.get_parent_name())
    };
    let mut deciding: HashSet<ir::Id> = HashSet::new();
    for assign in &comp.continuous_assignments {
        deciding.extend(assign.guard.all_ports().iter().filter_map(passes_on));
        if !assign.dst.borrow().attributes.has(ir::BoolAttr::Data) {
            deciding.extend(passes_on(&assign.src));
        }
    }
    loop {
        let before = deciding.len();
        for assign in &comp.continuous_assignments {
            if deciding.contains(&assign.dst.borrow().get_parent_name()) {
                deciding.extend(passes_on(&assign.src));
            }
        }
        if deciding.len() == before {
            return deciding;
        }
    }
}

fn drive_undriven_data(comp: &mut ir::Component, sigs: &ir::LibrarySignatures) -> CalyxResult<()> {
    let mut driven: HashMap<ir::Canonical, ir::Guard<ir::Nothing>> = HashMap::new();
    for assign in &comp.continuous_assignments {
        let port = assign.dst.borrow().canonical();
        let guard = *assign.guard.clone();
        driven.entry(port).and_modify(|all| all.update(|g| g | guard.clone())).or_insert(guard);
    }
    let deciding = deciding(comp);
    let mut undriven = Vec::new();
    for cell in comp.cells.iter().filter(|cell| !deciding.contains(&cell.borrow().name())) {
        for port in &cell.borrow().ports {
            let is_input = port.borrow().direction == ir::Direction::Input;
            if !is_input || !port.borrow().attributes.has(ir::BoolAttr::Data) {
                continue;
            }
            let guard = match driven.get(&port.borrow().canonical()) {
                None => ir::Guard::True,
                Some(guard) if guard.is_true() => continue,
                Some(guard) => !guard.clone(),
            };
            undriven.push((port.clone(), guard));
        }
    }
    let mut builder = ir::Builder::new(comp, sigs);
    let mut assigns = Vec::new();
    for (port, guard) in undriven {
        let width = port.borrow().width;
        // A constant has 64 bits at most; wider ports have ones below.
        let ones = builder.add_constant(u64::MAX >> (64 - width.min(64)), width);
        let value = ones.borrow().get("out");
        assigns.push(builder.build_assignment(port, value, guard));
    }
    comp.continuous_assignments.extend(assigns);
    Ok(())
}

//! Release 0.7.1 made right: what Calyx has repaired since, and what is wrong in it still.
//!
//! Each correction is a pass of its own that goes beside a released pass, or takes its place. All
//! of them run by default, for measured and stock designs alike; `-d NAME` leaves one out. What
//! each is for, and which changes of Calyx need none, is told in docs/calyx-meaning.md.

mod checks;
mod dead;
mod empty;
mod interface;
mod latency;
pub mod library;
mod own_fsm;
mod references;
mod sharing;

use calyx_opt::pass_manager::PassManager;
use calyx_opt::traversal::Named;
use calyx_utils::CalyxResult;
use checks::{NoStaticInvoke, PapercutWarns, ReservedNames};
use dead::DeadAssignsTogether;
use empty::DropEmpty;
use interface::StandardInterface;
use latency::StaticInferenceEmpty;
use own_fsm::CompileRepeatOwnFsm;
use references::{CompileInvokeUsed, RefSubtypes};
use sharing::CellShareInUse;
use std::collections::HashSet;

/// The released passes that check a program and bring it into form.
const CHECKS: [&str; 3] = ["well-formed", "papercut", "canonicalize"];

/// Whether sources are still as their author wrote them after this pass: it checks them, or brings
/// them into form.
pub fn keeps_sources(name: &str) -> bool {
    let early = |place: &Place| match place {
        Place::First => true,
        Place::Checked => false,
        Place::Before(pass) | Place::Instead(pass) => CHECKS.contains(pass),
    };
    CHECKS.contains(&name) || corrections().iter().any(|(own, place)| *own == name && early(place))
}

/// Where a correction goes.
enum Place {
    /// Before everything else.
    First,
    /// After the passes that check a program and bring it into form.
    Checked,
    /// Before each run of a released pass.
    Before(&'static str),
    /// In the place of a released pass.
    Instead(&'static str),
}

/// The corrections, in the order in which they apply.
fn corrections() -> [(&'static str, Place); 11] {
    [
        (DropEmpty::name(), Place::Checked),
        (StandardInterface::name(), Place::First),
        (RefSubtypes::name(), Place::First),
        (ReservedNames::name(), Place::Before("well-formed")),
        (PapercutWarns::name(), Place::Instead("papercut")),
        (DeadAssignsTogether::name(), Place::Instead("dead-assign-removal")),
        (CellShareInUse::name(), Place::Instead("cell-share")),
        (CompileInvokeUsed::name(), Place::Instead("compile-invoke")),
        (StaticInferenceEmpty::name(), Place::Instead("static-inference")),
        (CompileRepeatOwnFsm::name(), Place::Instead("compile-repeat")),
        (NoStaticInvoke::name(), Place::Before("static-inline")),
    ]
}

/// Make the corrections known to a pass manager.
pub fn register(manager: &mut PassManager) -> CalyxResult<()> {
    manager.register_pass::<DropEmpty>()?;
    manager.register_pass::<StandardInterface>()?;
    manager.register_pass::<RefSubtypes>()?;
    manager.register_pass::<ReservedNames>()?;
    manager.register_pass::<PapercutWarns>()?;
    manager.register_pass::<DeadAssignsTogether>()?;
    manager.register_pass::<CellShareInUse>()?;
    manager.register_pass::<StaticInferenceEmpty>()?;
    manager.register_pass::<CompileInvokeUsed>()?;
    manager.register_pass::<CompileRepeatOwnFsm>()?;
    manager.register_pass::<NoStaticInvoke>()
}

/// The names of passes to run for a flat list of released ones, less those disabled.
pub fn corrected(passes: &[String], disabled: &HashSet<String>) -> Vec<String> {
    let wanted: Vec<_> =
        corrections().into_iter().filter(|(n, _)| !disabled.contains(*n)).collect();
    let at = |wanted_place: fn(&Place) -> bool| {
        let there = wanted.iter().filter(move |(_, place)| wanted_place(place));
        there.map(|(name, _)| (*name).to_string())
    };
    let checked = passes.iter().position(|pass| !CHECKS.contains(&pass.as_str()));
    let mut result = Vec::new();
    for (index, pass) in passes.iter().enumerate() {
        if index == 0 {
            result.extend(at(|place| matches!(place, Place::First)));
        }
        if checked == Some(index) {
            result.extend(at(|place| matches!(place, Place::Checked)));
        }
        let mut own = pass.as_str();
        for (name, place) in &wanted {
            match place {
                Place::Before(other) if other == pass => result.push((*name).to_string()),
                Place::Instead(other) if other == pass => own = name,
                _ => {}
            }
        }
        result.push(own.to_string());
    }
    result
}

/// The released pass that a correction takes the place of; any other name is its own.
pub fn released(name: &str) -> &str {
    corrections()
        .into_iter()
        .find_map(|(own, place)| match place {
            Place::Instead(pass) if own == name => Some(pass),
            _ => None,
        })
        .unwrap_or(name)
}

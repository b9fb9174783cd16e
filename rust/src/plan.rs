//! The list of passes to run: the user's, with corrections of released passes, and with ours at
//! the places where they are needed.

use crate::blocks::{NoteBlocks, ProbeBlocks, ProbeStatic};
use crate::corrections::{self, keeps_sources, released};
use crate::encode::EncodeControl;
use crate::inline::{NoteInvokes, TagInlined, TagSplitGroups};
use crate::instrument::{DropUnused, Instrument};
use crate::lengthen::Lengthen;
use crate::repeat::{NoteRepeats, ProbeRepeats};
use crate::share::NoteCells;
use crate::undriven::DriveUndrivenData;
use calyx_opt::pass_manager::PassManager;
use calyx_opt::traversal::Named;
use calyx_utils::{CalyxResult, Error};
use std::collections::HashSet;

/// The stock passes, their corrections and ours.
pub fn pass_manager() -> CalyxResult<PassManager> {
    let mut manager = PassManager::default_passes()?;
    corrections::register(&mut manager)?;
    manager.register_pass::<EncodeControl>()?;
    manager.register_pass::<TagSplitGroups>()?;
    manager.register_pass::<DropUnused>()?;
    manager.register_pass::<NoteInvokes>()?;
    manager.register_pass::<TagInlined>()?;
    manager.register_pass::<NoteCells>()?;
    manager.register_pass::<Instrument>()?;
    manager.register_pass::<Lengthen>()?;
    manager.register_pass::<NoteRepeats>()?;
    manager.register_pass::<ProbeRepeats>()?;
    manager.register_pass::<ProbeStatic>()?;
    manager.register_pass::<NoteBlocks>()?;
    manager.register_pass::<ProbeBlocks>()?;
    manager.register_pass::<DriveUndrivenData>()?;
    Ok(manager)
}

/// Resolve aliases. The manager keeps them private, but lists one in its help.
fn flatten(manager: &PassManager, names: &[String]) -> CalyxResult<Vec<String>> {
    let mut result = Vec::new();
    for name in names {
        let help = manager.specific_help(name).ok_or_else(|| {
            Error::misc(format!("unknown pass or alias `{name}`; see --list-passes"))
        })?;
        if help.starts_with(&format!("`{name}'")) {
            result.extend(
                help.lines().skip(1).filter_map(|l| l.strip_prefix("- ")).map(String::from),
            );
        } else {
            result.push(name.clone());
        }
    }
    Ok(result)
}

/// The flat lists for a user's lists: aliases resolved, as chosen and with released passes corrected.
pub fn passes(
    manager: &PassManager,
    wanted: &[String],
    disable: &[String],
) -> CalyxResult<(Vec<String>, Vec<String>)> {
    let disabled: HashSet<String> = flatten(manager, disable)?.into_iter().collect();
    let mut passes = flatten(manager, wanted)?;
    refuse_ours(&passes)?;
    passes.retain(|pass| !disabled.contains(pass));
    let corrected = corrections::corrected(&passes, &disabled);
    Ok((passes, corrected))
}

/// Our passes go where they belong by themselves; elsewhere they would find nothing to work on.
fn refuse_ours(passes: &[String]) -> CalyxResult<()> {
    let stock = PassManager::default_passes()?;
    let ours = |pass: &&String| {
        stock.specific_help(pass).is_none() && pass.as_str() != DriveUndrivenData::name()
    };
    match passes.iter().find(ours) {
        Some(pass) => Err(Error::misc(format!(
            "pass `{pass}` is run by cyclescope itself where it belongs; leave it out"
        ))),
        None => Ok(()),
    }
}

/// Insert our passes into a flat list from which the excluded ones are gone; a pass, and whether it
/// is one of ours.
pub fn instrumented(passes: &[String]) -> Vec<(String, bool)> {
    let first = |names: &[&str]| passes.iter().position(|p| names.contains(&released(p)));
    let start = passes.iter().position(|p| !keeps_sources(p)).unwrap_or(passes.len());
    // Where a list leaves out a pass before which we would act, the next one takes its place.
    let probes = first(&["compile-invoke"])
        .or(first(&["static-inference", "static-promotion", "compile-repeat"]))
        .or(first(&["static-inline", "compile-static", "tdcc"]));
    let statics = first(&["static-inline"]);
    let share = first(&["cell-share"]);
    let mut result = Vec::new();
    for (index, name) in passes.iter().enumerate() {
        let pass = released(name);
        let mut ours = |wanted: bool, name: &str| {
            if wanted {
                result.push((name.to_string(), true));
            }
        };
        ours(index == start, EncodeControl::name());
        ours(pass == "inline", NoteInvokes::name());
        ours(share == Some(index), NoteCells::name());
        ours(probes == Some(index), Instrument::name());
        ours(statics == Some(index), ProbeStatic::name());
        ours(pass == "compile-repeat", NoteRepeats::name());
        ours(pass == "tdcc", NoteBlocks::name());
        result.push((name.clone(), false));
        let mut ours = |wanted: bool, name: &str| {
            if wanted {
                result.push((name.to_string(), true));
            }
        };
        ours(pass == "group2seq", TagSplitGroups::name());
        ours(pass == "group2invoke", DropUnused::name());
        ours(pass == "inline", TagInlined::name());
        ours(pass == "compile-repeat", ProbeRepeats::name());
        ours(pass == "tdcc", ProbeBlocks::name());
    }
    result
}

/// Insert the pass that makes groups longer into a list with ours: where groups are what they will
/// be, and the lengths of those that may be promoted are known.
pub fn lengthened(mut passes: Vec<String>) -> Vec<String> {
    let after = ["static-inference", "compile-invoke", Instrument::name()]
        .into_iter()
        .find_map(|name| passes.iter().position(|pass| released(pass) == name));
    if let Some(after) = after {
        passes.insert(after + 1, Lengthen::name().to_string());
    }
    passes
}

//! Our passes on the text that another compiler prints between its own.

use crate::instrument::probe_primitive;
use crate::plan;
use crate::record::{self, Record, PROBE};
use crate::source::{self, Printed};
use calyx_ir as ir;
use calyx_utils::CalyxResult;
use std::path::Path;

/// The program in a file that another compiler printed.
pub fn read(file: &Path) -> CalyxResult<(ir::Context, Printed)> {
    let (workspace, printed) = source::printed(file)?;
    Ok((ir::from_ast::ast_to_ir(workspace)?, printed))
}

/// A program after some of our passes, as text; they write down in `record` what they find.
pub fn after(
    record: &mut Record,
    (mut ctx, printed): (ir::Context, Printed),
    passes: &[String],
) -> CalyxResult<String> {
    record.main.get_or_insert_with(|| ctx.entrypoint.to_string());
    record.printed = printed;
    if !passes.is_empty() && ctx.lib.find_primitive(PROBE).is_none() {
        ctx.lib.add_inline_primitive(probe_primitive()).set_source();
    }
    record::begin(std::mem::take(record));
    let outcome = plan::pass_manager().and_then(|m| m.execute_plan(&mut ctx, passes, &[], false));
    *record = record::finish();
    outcome?;
    let mut text = Vec::new();
    ir::Printer::write_context(&ctx, false, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

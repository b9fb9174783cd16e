//! A `repeat` marked `@new_fsm` gets a state register of its own (calyxir/calyx#2522).

use crate::control::StatementMut;
use crate::pass::pass;
use calyx_ir::{self as ir, GetAttributes};
use calyx_opt::passes::CompileRepeat;
use calyx_opt::traversal::Visitor;
use calyx_utils::CalyxResult;

pass!(
    /// compile-repeat, which drops the attributes of what it replaces, keeping `@new_fsm`: such a
    /// `repeat` goes into a `seq` meanwhile.
    CompileRepeatOwnFsm,
    "compile-repeat-own-fsm",
    "compile-repeat, keeping @new_fsm (instead of compile-repeat)",
    compile_repeat_own_fsm
);

fn mark() -> ir::Attribute {
    ir::Attribute::Unknown(ir::Id::from("cyclescope_own_fsm"))
}

fn compile_repeat_own_fsm(ctx: &mut ir::Context) -> CalyxResult<()> {
    let everywhere = |ctx: &ir::Context, change: fn(&mut StatementMut)| {
        for comp in &ctx.components {
            StatementMut::Dynamic(&mut comp.control.borrow_mut()).walk(&mut |s| change(s));
        }
    };
    everywhere(ctx, wrap);
    CompileRepeat::do_pass_default(ctx)?;
    everywhere(ctx, unwrap);
    Ok(())
}

/// A seq around each `@new_fsm` repeat.
fn wrap(statement: &mut StatementMut) {
    let StatementMut::Dynamic(control) = statement else { return };
    let ir::Control::Repeat(repeat) = &mut **control else { return };
    if repeat.attributes.has(ir::BoolAttr::NewFSM) {
        repeat.attributes.remove(ir::BoolAttr::NewFSM);
        let inner = std::mem::replace(*control, ir::Control::empty());
        **control = ir::Control::seq(vec![inner]);
        control.get_mut_attributes().insert(mark(), 1);
    }
}

/// `@new_fsm` on what became of the repeat.
fn unwrap(statement: &mut StatementMut) {
    let StatementMut::Dynamic(control) = statement else { return };
    let ir::Control::Seq(seq) = &mut **control else { return };
    if seq.attributes.has(mark()) {
        let mut inner = seq.stmts.pop().unwrap_or_else(ir::Control::empty);
        if !matches!(inner, ir::Control::Empty(_)) {
            inner.get_mut_attributes().insert(ir::BoolAttr::NewFSM, 1);
        }
        **control = inner;
    }
}

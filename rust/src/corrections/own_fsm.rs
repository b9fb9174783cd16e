//! A `repeat` marked `@new_fsm` gets a state register of its own (calyxir/calyx#2522).

use calyx_ir::{self as ir, GetAttributes};
use calyx_opt::passes::CompileRepeat;
use calyx_opt::traversal::{Action, Named, VisResult, Visitor};
use calyx_utils::CalyxResult;

/// compile-repeat, which drops the attributes of what it replaces, keeping `@new_fsm`: such a
/// `repeat` goes into a `seq` meanwhile.
#[derive(Default)]
pub struct CompileRepeatOwnFsm;

impl Named for CompileRepeatOwnFsm {
    fn name() -> &'static str {
        "compile-repeat-own-fsm"
    }

    fn description() -> &'static str {
        "compile-repeat, keeping @new_fsm (instead of compile-repeat)"
    }
}

fn mark() -> ir::Attribute {
    ir::Attribute::Unknown(ir::Id::from("cyclescope_own_fsm"))
}

impl Visitor for CompileRepeatOwnFsm {
    fn do_pass(&mut self, ctx: &mut ir::Context) -> CalyxResult<()> {
        Wrap::do_pass_default(ctx)?;
        CompileRepeat::do_pass_default(ctx)?;
        Unwrap::do_pass_default(ctx)?;
        Ok(())
    }
}

#[derive(Default)]
struct Wrap;

impl Named for Wrap {
    fn name() -> &'static str {
        "wrap-own-fsm"
    }

    fn description() -> &'static str {
        "a seq around each @new_fsm repeat"
    }
}

impl Visitor for Wrap {
    fn finish_repeat(
        &mut self,
        s: &mut ir::Repeat,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        if !s.attributes.has(ir::BoolAttr::NewFSM) {
            return Ok(Action::Continue);
        }
        let body = std::mem::replace(&mut *s.body, ir::Control::empty());
        let mut inner = ir::Control::repeat(s.num_repeats, Box::new(body));
        let attributes = inner.get_mut_attributes();
        *attributes = std::mem::take(&mut s.attributes);
        attributes.remove(ir::BoolAttr::NewFSM);
        let mut outer = ir::Control::seq(vec![inner]);
        outer.get_mut_attributes().insert(mark(), 1);
        Ok(Action::change(outer))
    }
}

#[derive(Default)]
struct Unwrap;

impl Named for Unwrap {
    fn name() -> &'static str {
        "unwrap-own-fsm"
    }

    fn description() -> &'static str {
        "@new_fsm on what became of the repeat"
    }
}

impl Visitor for Unwrap {
    fn finish_seq(
        &mut self,
        s: &mut ir::Seq,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        if !s.attributes.has(mark()) {
            return Ok(Action::Continue);
        }
        let mut inner = s.stmts.pop().unwrap_or_else(ir::Control::empty);
        if !matches!(inner, ir::Control::Empty(_)) {
            inner.get_mut_attributes().insert(ir::BoolAttr::NewFSM, 1);
        }
        Ok(Action::change(inner))
    }
}

//! What a program is refused for.

use calyx_ir::{self as ir, GetAttributes};
use calyx_opt::passes::Papercut;
use calyx_opt::traversal::{Action, ConstructVisitor, Named, VisResult, Visitor};
use calyx_utils::{CalyxResult, Error};

use crate::record;

/// Before well-formed: the names that Verilog reserves and the released list forgets
/// (calyxir/calyx#2322).
#[derive(Default)]
pub struct ReservedNames;

impl Named for ReservedNames {
    fn name() -> &'static str {
        "reserved-names"
    }

    fn description() -> &'static str {
        "refuse cells called wait or break (before well-formed)"
    }
}

impl Visitor for ReservedNames {
    fn start(
        &mut self,
        comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        for cell in comp.cells.iter() {
            let cell = cell.borrow();
            if ["wait", "break"].contains(&cell.name().as_ref()) {
                return Err(Error::reserved_name(cell.name()).with_pos(cell.get_attributes()));
            }
        }
        Ok(Action::Stop)
    }
}

/// papercut, whose complaints are warnings (calyxir/calyx#2606): it warns of what looks like a
/// mistake and need not be one.
#[derive(Default)]
pub struct PapercutWarns;

impl Named for PapercutWarns {
    fn name() -> &'static str {
        "papercut-warns"
    }

    fn description() -> &'static str {
        "papercut, with warnings instead of errors (instead of papercut)"
    }
}

impl Visitor for PapercutWarns {
    fn do_pass(&mut self, ctx: &mut ir::Context) -> CalyxResult<()> {
        // Component by component: a pass that fails as a whole keeps the components.
        let mut released = <Papercut as ConstructVisitor>::from(ctx)?;
        for index in 0..ctx.components.len() {
            let mut comp = ctx.components.remove(index);
            let outcome = released.traverse_component(&mut comp, &ctx.lib, &ctx.components);
            ctx.components.insert(index, comp);
            released.clear_data();
            if let Err(error) = outcome {
                record::with(|record| record.warnings.push(error.message()));
            }
        }
        Ok(())
    }
}

/// Before static-inline, which prints the component's name and panics.
#[derive(Default)]
pub struct NoStaticInvoke;

impl Named for NoStaticInvoke {
    fn name() -> &'static str {
        "no-static-invoke"
    }

    fn description() -> &'static str {
        "refuse an invoke in static control that is still there (before static-inline)"
    }
}

impl Visitor for NoStaticInvoke {
    fn static_invoke(
        &mut self,
        s: &mut ir::StaticInvoke,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        let what = format!("invoke of {} needs compile-invoke first", s.comp.borrow().name());
        Err(Error::pass_assumption("static-inline", what).with_pos(&s.attributes))
    }
}

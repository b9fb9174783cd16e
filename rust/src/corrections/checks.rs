//! What a program is refused for.

use crate::control::Statement;
use crate::pass::{each_component, pass};
use calyx_ir::{self as ir, GetAttributes};
use calyx_opt::passes::Papercut;
use calyx_opt::traversal::{ConstructVisitor, Visitor};
use calyx_utils::{CalyxResult, Error};

use crate::record;

pass!(
    /// Before well-formed: the names that Verilog reserves and the released list forgets
    /// (calyxir/calyx#2322).
    ReservedNames,
    "reserved-names",
    "refuse cells called wait or break (before well-formed)",
    |ctx| each_component(ctx, reserved_names)
);

fn reserved_names(comp: &mut ir::Component, _: &ir::LibrarySignatures) -> CalyxResult<()> {
    for cell in comp.cells.iter() {
        let cell = cell.borrow();
        if ["wait", "break"].contains(&cell.name().as_ref()) {
            return Err(Error::reserved_name(cell.name()).with_pos(cell.get_attributes()));
        }
    }
    Ok(())
}

pass!(
    /// papercut, whose complaints are warnings (calyxir/calyx#2606): it warns of what looks like a
    /// mistake and need not be one.
    PapercutWarns,
    "papercut-warns",
    "papercut, with warnings instead of errors (instead of papercut)",
    papercut_warns
);

fn papercut_warns(ctx: &mut ir::Context) -> CalyxResult<()> {
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

pass!(
    /// Before static-inline, which prints the component's name and panics.
    NoStaticInvoke,
    "no-static-invoke",
    "refuse an invoke in static control that is still there (before static-inline)",
    |ctx| each_component(ctx, no_static_invoke)
);

fn no_static_invoke(comp: &mut ir::Component, _: &ir::LibrarySignatures) -> CalyxResult<()> {
    let mut found = None;
    Statement::from(&*comp.control.borrow()).walk(&mut |statement| {
        if let Statement::Static(ir::StaticControl::Invoke(invoke)) = statement {
            let what =
                format!("invoke of {} needs compile-invoke first", invoke.comp.borrow().name());
            found.get_or_insert_with(|| {
                Error::pass_assumption("static-inline", what).with_pos(&invoke.attributes)
            });
        }
    });
    found.map_or(Ok(()), Err)
}

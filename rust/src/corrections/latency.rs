//! How long a component takes whose control is empty.

use crate::pass::pass;
use calyx_ir::{self as ir, build_assignments, structure};
use calyx_opt::passes::StaticInference;
use calyx_opt::traversal::Visitor;
use calyx_utils::CalyxResult;

pass!(
    /// static-inference, which takes empty control for 0 cycles (main's does, too).
    ///
    /// A component without control works by continuous assignments and says itself when it is done. An
    /// invoke of 0 cycles is then promoted to nothing. Such a component is shown with a group of unknown
    /// length.
    StaticInferenceEmpty,
    "static-inference-empty",
    "static-inference, without lengths for empty control (instead of static-inference)",
    static_inference_empty
);

fn static_inference_empty(ctx: &mut ir::Context) -> CalyxResult<()> {
    let mut shown = Vec::new();
    for comp in &mut ctx.components {
        let is_empty = matches!(&*comp.control.borrow(), ir::Control::Empty(_));
        let go = comp.signature.borrow().find_unique_with_attr(ir::NumAttr::Go);
        let (true, false, Ok(Some(go))) = (is_empty, comp.is_static(), go) else { continue };
        let mut builder = ir::Builder::new(comp, &ctx.lib);
        let group = builder.add_group("works");
        structure!(builder;
            let wire = prim std_wire(1);
        );
        let done = build_assignments!(builder;
            group["done"] = ? wire["out"];
        );
        let started = builder.build_assignment(wire.borrow().get("in"), go, ir::Guard::True);
        group.borrow_mut().assignments.extend(done);
        group.borrow_mut().assignments.push(started);
        let name = group.borrow().name();
        shown.push((comp.name, name, wire.borrow().name()));
        *comp.control.borrow_mut() = ir::Control::enable(group);
    }
    StaticInference::do_pass_default(ctx)?;
    for (comp, group, wire) in shown {
        let found = ctx.components.iter_mut().find(|c| c.name == comp);
        let comp = found.expect("no pass removes components here");
        *comp.control.borrow_mut() = ir::Control::empty();
        comp.get_groups_mut().remove(group);
        comp.cells.remove(wire);
    }
    Ok(())
}

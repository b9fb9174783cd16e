//! Passes: what the pass manager wants to know of one, around a function.

use calyx_ir as ir;
use calyx_utils::CalyxResult;

/// A pass of the pass manager: its name, what it does (as `--list-passes` shows it), and the function
/// that does it.
macro_rules! pass {
    ($(#[$about:meta])* $pass:ident, $name:literal, $does:literal, $work:expr) => {
        $(#[$about])*
        #[derive(Default)]
        pub struct $pass;

        impl calyx_opt::traversal::Named for $pass {
            fn name() -> &'static str {
                $name
            }

            fn description() -> &'static str {
                $does
            }
        }

        impl calyx_opt::traversal::Visitor for $pass {
            fn do_pass(&mut self, ctx: &mut calyx_ir::Context) -> calyx_utils::CalyxResult<()> {
                $work(ctx)
            }
        }
    };
}
pub(crate) use pass;

/// Work on one component after the other.
pub fn each_component(
    ctx: &mut ir::Context,
    mut work: impl FnMut(&mut ir::Component, &ir::LibrarySignatures) -> CalyxResult<()>,
) -> CalyxResult<()> {
    ctx.components.iter_mut().try_for_each(|comp| work(comp, &ctx.lib))
}

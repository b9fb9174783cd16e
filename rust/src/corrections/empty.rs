//! Statements that do nothing.

use calyx_ir::{self as ir, build_assignments, structure};
use calyx_opt::passes::DeadGroupRemoval;
use calyx_opt::traversal::{Action, ConstructVisitor, Named, VisResult, Visitor};
use calyx_utils::CalyxResult;

/// After a program has been checked: take out `seq {}` and `par {}` without statements, `repeat 0`,
/// and what becomes empty by that, and the groups that ran only there. The passes that number
/// control, promote or compile it stop at them; main's do too.
pub struct DropEmpty {
    /// In any component.
    dropped: bool,
    /// The component under way.
    had_control: bool,
}

impl ConstructVisitor for DropEmpty {
    fn from(_ctx: &ir::Context) -> CalyxResult<Self> {
        Ok(DropEmpty { dropped: false, had_control: false })
    }

    fn clear_data(&mut self) {}
}

impl Named for DropEmpty {
    fn name() -> &'static str {
        "drop-empty"
    }

    fn description() -> &'static str {
        "take out statements that do nothing (after the checks)"
    }
}

/// An empty statement may still mark a barrier (`@sync`).
fn does_nothing(control: &ir::Control) -> bool {
    matches!(control, ir::Control::Empty(e) if !e.attributes.has(ir::NumAttr::Sync))
}

fn is_empty(control: &ir::StaticControl) -> bool {
    matches!(control, ir::StaticControl::Empty(_))
}

/// `if c { } else { … }` as `if !c { … }`: only the second branch may be empty.
fn invert(s: &mut ir::If, comp: &mut ir::Component, sigs: &ir::LibrarySignatures) {
    let mut builder = ir::Builder::new(comp, sigs);
    structure!(builder;
        let not = prim std_not(1);
    );
    let invert = builder.build_assignment(not.borrow().get("in"), s.port.clone(), ir::Guard::True);
    if let Some(cond) = s.cond.take() {
        // A group of its own: others may use that one.
        let own = builder.add_comb_group(cond.borrow().name());
        own.borrow_mut().assignments = cond.borrow().assignments.clone();
        own.borrow_mut().assignments.push(invert);
        s.cond = Some(own);
    } else {
        comp.continuous_assignments.push(invert);
    }
    s.port = not.borrow().get("out");
    std::mem::swap(&mut s.tbranch, &mut s.fbranch);
}

/// A statement that takes a cycle and changes nothing.
fn one_cycle(comp: &mut ir::Component, sigs: &ir::LibrarySignatures) -> ir::Control {
    let mut builder = ir::Builder::new(comp, sigs);
    let group = builder.add_group("nothing");
    structure!(builder;
        let on = constant(1, 1);
        let ended = prim std_reg(1);
    );
    let assignments = build_assignments!(builder;
        ended["in"] = ? on["out"];
        ended["write_en"] = ? on["out"];
        group["done"] = ? ended["done"];
    );
    group.borrow_mut().assignments.extend(assignments);
    ir::Control::enable(group)
}

impl DropEmpty {
    fn drop_if(&mut self, nothing: bool) -> VisResult {
        self.dropped |= nothing;
        Ok(if nothing { Action::change(ir::Control::empty()) } else { Action::Continue })
    }

    fn drop_static_if(&mut self, nothing: bool) -> VisResult {
        self.dropped |= nothing;
        let empty = || Box::new(ir::StaticControl::empty());
        Ok(if nothing { Action::StaticChange(empty()) } else { Action::Continue })
    }
}

impl Visitor for DropEmpty {
    fn finish_seq(
        &mut self,
        s: &mut ir::Seq,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        s.stmts.retain(|control| !does_nothing(control));
        self.drop_if(s.stmts.is_empty())
    }

    fn finish_par(
        &mut self,
        s: &mut ir::Par,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        s.stmts.retain(|control| !does_nothing(control));
        self.drop_if(s.stmts.is_empty())
    }

    fn finish_if(
        &mut self,
        s: &mut ir::If,
        comp: &mut ir::Component,
        sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        if does_nothing(&s.tbranch) && !does_nothing(&s.fbranch) {
            invert(s, comp, sigs);
        }
        self.drop_if(does_nothing(&s.tbranch) && does_nothing(&s.fbranch))
    }

    /// A loop that waits for its condition.
    fn finish_while(
        &mut self,
        s: &mut ir::While,
        comp: &mut ir::Component,
        sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        if does_nothing(&s.body) {
            *s.body = one_cycle(comp, sigs);
        }
        Ok(Action::Continue)
    }

    fn finish_repeat(
        &mut self,
        s: &mut ir::Repeat,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        self.drop_if(s.num_repeats == 0 || does_nothing(&s.body))
    }

    fn finish_static_seq(
        &mut self,
        s: &mut ir::StaticSeq,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        s.stmts.retain(|control| !is_empty(control));
        self.drop_static_if(s.stmts.is_empty())
    }

    fn finish_static_par(
        &mut self,
        s: &mut ir::StaticPar,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        s.stmts.retain(|control| !is_empty(control));
        self.drop_static_if(s.stmts.is_empty())
    }

    fn finish_static_if(
        &mut self,
        s: &mut ir::StaticIf,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        self.drop_static_if(is_empty(&s.tbranch) && is_empty(&s.fbranch))
    }

    fn finish_static_repeat(
        &mut self,
        s: &mut ir::StaticRepeat,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        self.drop_static_if(s.num_repeats == 0 || is_empty(&s.body))
    }

    fn start(
        &mut self,
        comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        self.had_control = !does_nothing(&comp.control.borrow());
        Ok(Action::Continue)
    }

    /// A component without control never ends; one whose control does nothing does.
    fn finish(
        &mut self,
        comp: &mut ir::Component,
        sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        if !self.had_control || comp.is_static() || !does_nothing(&comp.control.borrow()) {
            return Ok(Action::Continue);
        }
        Ok(Action::change(one_cycle(comp, sigs)))
    }

    fn finish_context(&mut self, ctx: &mut ir::Context) -> VisResult {
        if self.dropped {
            DeadGroupRemoval::do_pass_default(ctx)?;
        }
        Ok(Action::Continue)
    }
}

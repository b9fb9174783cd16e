//! Statements that do nothing.

use crate::control::StatementMut;
use crate::pass::{each_component, pass};
use calyx_ir::{self as ir, build_assignments, structure, RRC};
use calyx_opt::passes::DeadGroupRemoval;
use calyx_opt::traversal::Visitor;
use calyx_utils::CalyxResult;

pass!(
    /// After a program has been checked: take out `seq {}` and `par {}` without statements,
    /// `repeat 0`, and what becomes empty by that, and the groups that ran only there. The passes
    /// that number control, promote or compile it stop at them; main's do too.
    DropEmpty,
    "drop-empty",
    "take out statements that do nothing (after the checks)",
    drop_empty
);

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

struct Dropper<'a> {
    comp: &'a mut ir::Component,
    sigs: &'a ir::LibrarySignatures,
    /// Whether anything was dropped.
    dropped: bool,
}

impl Dropper<'_> {
    /// Take out what does nothing, inside out.
    fn drop(&mut self, mut statement: StatementMut) {
        statement.each_child(&mut |child| self.drop(child));
        match statement {
            StatementMut::Dynamic(control) => {
                if self.nothing_left(control) {
                    *control = ir::Control::empty();
                    self.dropped = true;
                }
            }
            StatementMut::Static(control) => {
                if nothing_left_static(control) {
                    *control = ir::StaticControl::empty();
                    self.dropped = true;
                }
            }
        }
    }

    /// Whether nothing but empty statements was in a block, which are gone then.
    fn nothing_left(&mut self, control: &mut ir::Control) -> bool {
        match control {
            ir::Control::Seq(ir::Seq { stmts, .. }) | ir::Control::Par(ir::Par { stmts, .. }) => {
                stmts.retain(|control| !does_nothing(control));
                stmts.is_empty()
            }
            ir::Control::If(s) => {
                if does_nothing(&s.tbranch) && !does_nothing(&s.fbranch) {
                    invert(s, self.comp, self.sigs);
                }
                does_nothing(&s.tbranch) && does_nothing(&s.fbranch)
            }
            ir::Control::While(s) => {
                // It waits for its condition.
                if does_nothing(&s.body) {
                    *s.body = one_cycle(self.comp, self.sigs);
                }
                false
            }
            ir::Control::Repeat(s) => s.num_repeats == 0 || does_nothing(&s.body),
            _ => false,
        }
    }
}

fn nothing_left_static(control: &mut ir::StaticControl) -> bool {
    match control {
        ir::StaticControl::Seq(ir::StaticSeq { stmts, .. })
        | ir::StaticControl::Par(ir::StaticPar { stmts, .. }) => {
            stmts.retain(|control| !is_empty(control));
            stmts.is_empty()
        }
        ir::StaticControl::If(s) => is_empty(&s.tbranch) && is_empty(&s.fbranch),
        ir::StaticControl::Repeat(s) => s.num_repeats == 0 || is_empty(&s.body),
        _ => false,
    }
}

fn drop_empty(ctx: &mut ir::Context) -> CalyxResult<()> {
    let mut dropped = false;
    each_component(ctx, |comp, sigs| {
        let control = RRC::clone(&comp.control);
        let mut control = control.borrow_mut();
        // A component without control never ends; one whose control does nothing does.
        let ends = !does_nothing(&control) && !comp.is_static();
        let mut dropper = Dropper { comp, sigs, dropped: false };
        dropper.drop(StatementMut::Dynamic(&mut control));
        dropped |= dropper.dropped;
        if ends && does_nothing(&control) {
            *control = one_cycle(comp, sigs);
        }
        Ok(())
    })?;
    if dropped {
        DeadGroupRemoval::do_pass_default(ctx)?;
    }
    Ok(())
}

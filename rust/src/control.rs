//! The one walk over control: what lies in a statement, whether its length is fixed or not.

use calyx_ir::{self as ir, GetAttributes, RRC};

/// A statement. `ir::Control::Static` is the statement of fixed length in it.
#[derive(Clone, Copy)]
pub enum Statement<'a> {
    Dynamic(&'a ir::Control),
    Static(&'a ir::StaticControl),
}

/// A statement to be changed, or to have another one put in its place: one of fixed length in what
/// `ir::Control::Static` says of it, too.
pub enum StatementMut<'a> {
    Dynamic(&'a mut ir::Control),
    Static(&'a mut ir::StaticControl),
}

impl<'a> From<&'a ir::Control> for Statement<'a> {
    fn from(control: &'a ir::Control) -> Self {
        match control {
            ir::Control::Static(inner) => Statement::Static(inner),
            other => Statement::Dynamic(other),
        }
    }
}

impl<'a> From<&'a ir::StaticControl> for Statement<'a> {
    fn from(control: &'a ir::StaticControl) -> Self {
        Statement::Static(control)
    }
}

impl<'a> Statement<'a> {
    /// The statements directly in it, in the order of the text.
    pub fn children(self) -> Vec<Statement<'a>> {
        match self {
            Statement::Dynamic(control) => match control {
                ir::Control::Seq(s) => s.stmts.iter().map(Into::into).collect(),
                ir::Control::Par(s) => s.stmts.iter().map(Into::into).collect(),
                ir::Control::If(s) => vec![(&*s.tbranch).into(), (&*s.fbranch).into()],
                ir::Control::While(s) => vec![(&*s.body).into()],
                ir::Control::Repeat(s) => vec![(&*s.body).into()],
                ir::Control::Static(s) => Statement::Static(s).children(),
                ir::Control::Enable(_) | ir::Control::Invoke(_) | ir::Control::Empty(_) => vec![],
            },
            Statement::Static(control) => match control {
                ir::StaticControl::Seq(s) => s.stmts.iter().map(Into::into).collect(),
                ir::StaticControl::Par(s) => s.stmts.iter().map(Into::into).collect(),
                ir::StaticControl::If(s) => vec![(&*s.tbranch).into(), (&*s.fbranch).into()],
                ir::StaticControl::Repeat(s) => vec![(&*s.body).into()],
                ir::StaticControl::Enable(_)
                | ir::StaticControl::Invoke(_)
                | ir::StaticControl::Empty(_) => vec![],
            },
        }
    }

    /// It and all that lies in it, outside in.
    pub fn walk(self, see: &mut impl FnMut(Statement<'a>)) {
        see(self);
        for child in self.children() {
            child.walk(see);
        }
    }

    pub fn attributes(self) -> &'a ir::Attributes {
        match self {
            Statement::Dynamic(control) => control.get_attributes(),
            Statement::Static(control) => control.get_attributes(),
        }
    }

    /// The name of the group that it enables.
    pub fn enabled(self) -> Option<ir::Id> {
        match self {
            Statement::Dynamic(ir::Control::Enable(e)) => Some(e.group.borrow().name()),
            Statement::Static(ir::StaticControl::Enable(e)) => Some(e.group.borrow().name()),
            _ => None,
        }
    }

    /// The port on which it decides.
    pub fn decides_on(self) -> Option<&'a RRC<ir::Port>> {
        match self {
            Statement::Dynamic(ir::Control::If(s)) => Some(&s.port),
            Statement::Dynamic(ir::Control::While(s)) => Some(&s.port),
            Statement::Static(ir::StaticControl::If(s)) => Some(&s.port),
            _ => None,
        }
    }

    /// The combinational group that works beside it (`with`).
    pub fn beside(self) -> Option<&'a RRC<ir::CombGroup>> {
        match self {
            Statement::Dynamic(ir::Control::If(s)) => s.cond.as_ref(),
            Statement::Dynamic(ir::Control::While(s)) => s.cond.as_ref(),
            Statement::Dynamic(ir::Control::Invoke(s)) => s.comb_group.as_ref(),
            Statement::Static(ir::StaticControl::Invoke(s)) => s.comb_group.as_ref(),
            _ => None,
        }
    }
}

impl StatementMut<'_> {
    /// Call `see` for the statements directly in it, in the order of the text.
    pub fn each_child(&mut self, see: &mut dyn FnMut(StatementMut)) {
        match self {
            StatementMut::Dynamic(control) => each_child(control, see),
            StatementMut::Static(control) => each_static_child(control, see),
        }
    }

    /// It and all that lies in it, outside in.
    pub fn walk(mut self, see: &mut dyn FnMut(&mut StatementMut)) {
        see(&mut self);
        self.each_child(&mut |child| child.walk(see));
    }
}

/// Call `see` for the statements directly in one, in the order of the text.
pub fn each_child(control: &mut ir::Control, see: &mut dyn FnMut(StatementMut)) {
    match control {
        ir::Control::Seq(s) => s.stmts.iter_mut().for_each(|c| see(StatementMut::Dynamic(c))),
        ir::Control::Par(s) => s.stmts.iter_mut().for_each(|c| see(StatementMut::Dynamic(c))),
        ir::Control::If(s) => {
            see(StatementMut::Dynamic(&mut s.tbranch));
            see(StatementMut::Dynamic(&mut s.fbranch));
        }
        ir::Control::While(s) => see(StatementMut::Dynamic(&mut s.body)),
        ir::Control::Repeat(s) => see(StatementMut::Dynamic(&mut s.body)),
        ir::Control::Static(s) => see(StatementMut::Static(s)),
        ir::Control::Enable(_) | ir::Control::Invoke(_) | ir::Control::Empty(_) => {}
    }
}

fn each_static_child(control: &mut ir::StaticControl, see: &mut dyn FnMut(StatementMut)) {
    match control {
        ir::StaticControl::Seq(s) => s.stmts.iter_mut().for_each(|c| see(StatementMut::Static(c))),
        ir::StaticControl::Par(s) => s.stmts.iter_mut().for_each(|c| see(StatementMut::Static(c))),
        ir::StaticControl::If(s) => {
            see(StatementMut::Static(&mut s.tbranch));
            see(StatementMut::Static(&mut s.fbranch));
        }
        ir::StaticControl::Repeat(s) => see(StatementMut::Static(&mut s.body)),
        ir::StaticControl::Enable(_)
        | ir::StaticControl::Invoke(_)
        | ir::StaticControl::Empty(_) => {}
    }
}

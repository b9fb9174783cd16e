//! Cells are shared by those alone that are not in use at the same time.

use crate::control::{each_child, Statement, StatementMut};
use crate::pass::pass;
use calyx_ir::{self as ir, GetAttributes, RRC};
use calyx_opt::passes::CellShare;
use calyx_opt::traversal::Visitor;
use calyx_utils::CalyxResult;
use std::collections::{HashMap, HashSet};

pass!(
    /// cell-share, told what the released pass does not see. It asks at which statements the value of a
    /// register is still wanted, and gets four answers wrong:
    ///
    /// - It looks at one run of each component (calyxir/calyx#2071): a register that is written at its
    ///   end and read at the start of the next run looks dead in between. Each component that may run
    ///   again is shown to it in a loop. The top-level component runs once, and one declared or found
    ///   `@state_share` keeps nothing between runs.
    /// - A register that a loop's body writes looks dead before the loop, as if the body always ran
    ///   (main's too), and one that is wanted after the loop looks dead within the body, once the body
    ///   begins with writing it (main's too). A loop is shown as its first round, and another one that
    ///   may follow: `if c { B; if c { B } }`.
    /// - The same for `static repeat`, whose cycles are counted as well, so that it is left as it is:
    ///   registers that it writes and others use are not shared at all.
    /// - Of an invoke only inputs and outputs are looked at, and only they are renamed (main's too): what
    ///   is passed by reference is not shared at all.
    CellShareInUse,
    "cell-share-in-use",
    "cell-share, with loops, later runs and references in sight (instead of cell-share)",
    cell_share_in_use
);

fn cell_share_in_use(ctx: &mut ir::Context) -> CalyxResult<()> {
    let mut shown = Vec::new();
    for comp in &mut ctx.components {
        let again = comp.name != ctx.entrypoint && !comp.attributes.has(ir::BoolAttr::StateShare);
        shown.push(Shown::show(comp, again));
    }
    CellShare::do_pass_default(ctx)?;
    for (comp, shown) in ctx.components.iter_mut().zip(shown) {
        shown.hide(comp);
    }
    Ok(())
}

/// As many statements may be shown of a component; loops in loops double at each level.
const MOST_STATEMENTS: u64 = 50_000;

/// How a component was before it was shown to the released pass.
struct Shown {
    /// Whether it is in a loop of its own.
    again: bool,
    /// Whether its loops are unrolled.
    unrolled: bool,
    /// Its continuous assignments; more were added.
    continuous: usize,
}

impl Shown {
    fn show(comp: &mut ir::Component, again: bool) -> Shown {
        let continuous = comp.continuous_assignments.len();
        let go = comp.signature.borrow().find_unique_with_attr(ir::NumAttr::Go).ok().flatten();
        let control = RRC::clone(&comp.control);
        let mut control = control.borrow_mut();
        let kept = kept_apart(comp, &control);
        let unrolled = go.is_some() && unrolled_size((&*control).into()) <= MOST_STATEMENTS;
        if let (Some(go), true) = (&go, unrolled) {
            unroll(&mut control, go);
        }
        let stays = |cell: &ir::Cell| if unrolled { kept.contains(&cell.name()) } else { true };
        for cell in comp.cells.iter().filter(|cell| stays(&cell.borrow())) {
            // The pass leaves alone what continuous assignments use.
            let port = |wanted: ir::Direction| {
                let cell = cell.borrow();
                let found = cell.ports.iter().find(|p| p.borrow().direction == wanted).cloned();
                found
            };
            if let (Some(to), Some(from)) =
                (port(ir::Direction::Input), port(ir::Direction::Output))
            {
                comp.continuous_assignments.push(ir::Assignment::new(to, from));
            }
        }
        if again {
            let body = std::mem::replace(&mut *control, ir::Control::empty());
            *control = ir::Control::repeat(2, Box::new(body));
        }
        Shown { again, unrolled, continuous }
    }

    fn hide(&self, comp: &mut ir::Component) {
        let mut control = comp.control.borrow_mut();
        if self.again {
            let ir::Control::Repeat(around) = &mut *control else {
                unreachable!("cell-share leaves control as it is")
            };
            let body = std::mem::replace(&mut *around.body, ir::Control::empty());
            *control = body;
        }
        if self.unrolled {
            roll(&mut control);
        }
        comp.continuous_assignments.truncate(self.continuous);
    }
}

// Loops.

/// On the `seq` that stands for a loop: a `while`, or how often a `repeat` runs.
fn while_mark() -> ir::Attribute {
    ir::Attribute::Unknown(ir::Id::from("cyclescope_while"))
}

fn repeat_mark() -> ir::Attribute {
    ir::Attribute::Unknown(ir::Id::from("cyclescope_repeat"))
}

fn each_dynamic_child(control: &mut ir::Control, see: &mut impl FnMut(&mut ir::Control)) {
    each_child(control, &mut |child| {
        if let StatementMut::Dynamic(child) = child {
            see(child);
        }
    });
}

fn unrolled_size(statement: Statement) -> u64 {
    let inside = || statement.children().into_iter().map(unrolled_size);
    match statement {
        Statement::Dynamic(ir::Control::Seq(_) | ir::Control::Par(_)) => {
            inside().fold(1, u64::saturating_add)
        }
        Statement::Dynamic(ir::Control::If(_)) => inside().fold(0, u64::saturating_add),
        Statement::Dynamic(ir::Control::While(_) | ir::Control::Repeat(_)) => {
            inside().fold(0, u64::saturating_add).saturating_mul(2)
        }
        _ => 1,
    }
}

/// `while c { B }` as `seq { if c { }  B  if c { B } }` (the first `if`: around all, where the body
/// may run no time), `repeat n { B }` as `seq { B  if go { B } }`.
fn unroll(control: &mut ir::Control, go: &RRC<ir::Port>) {
    each_dynamic_child(control, &mut |c| unroll(c, go));
    let may = |port: &RRC<ir::Port>, cond: &Option<RRC<ir::CombGroup>>, what: ir::Control| {
        ir::Control::if_(
            RRC::clone(port),
            cond.clone(),
            Box::new(what),
            Box::new(ir::Control::empty()),
        )
    };
    let (shown, mark, value, attributes) = match control {
        ir::Control::While(s) => {
            let first = std::mem::replace(&mut *s.body, ir::Control::empty());
            let later = may(&s.port, &s.cond, ir::Cloner::control(&first));
            let sure = s.attributes.get(ir::NumAttr::Bound).is_some_and(|times| times > 0);
            let attributes = std::mem::take(&mut s.attributes);
            let shown = if sure {
                vec![may(&s.port, &s.cond, ir::Control::empty()), first, later]
            } else {
                vec![may(&s.port, &s.cond, ir::Control::seq(vec![first, later]))]
            };
            (shown, while_mark(), 1, attributes)
        }
        ir::Control::Repeat(s) => {
            let first = std::mem::replace(&mut *s.body, ir::Control::empty());
            let later = may(go, &None, ir::Cloner::control(&first));
            let attributes = std::mem::take(&mut s.attributes);
            (vec![first, later], repeat_mark(), s.num_repeats, attributes)
        }
        _ => return,
    };
    *control = ir::Control::seq(shown);
    *control.get_mut_attributes() = attributes;
    control.get_mut_attributes().insert(mark, value);
}

/// The loops as they were, with cells renamed in them.
fn roll(control: &mut ir::Control) {
    if let ir::Control::Seq(s) = control {
        let mut attributes = std::mem::take(&mut s.attributes);
        if attributes.get(while_mark()).is_some() {
            attributes.remove(while_mark());
            let ir::Control::If(mut around) = s.stmts.swap_remove(0) else {
                unreachable!("a shown while begins with its condition")
            };
            let body = match &mut *around.tbranch {
                ir::Control::Seq(rounds) => rounds.stmts.swap_remove(0),
                // The rounds of a body that runs for sure came behind.
                _ => s.stmts.pop().expect("a first round"),
            };
            *control = ir::Control::while_(around.port, around.cond, Box::new(body));
        } else if let Some(times) = attributes.get(repeat_mark()) {
            attributes.remove(repeat_mark());
            let body = s.stmts.swap_remove(0);
            *control = ir::Control::repeat(times, Box::new(body));
        }
        *control.get_mut_attributes() = attributes;
    }
    each_dynamic_child(control, &mut roll);
}

// What is not shared.

type Bindings = [(ir::Id, RRC<ir::Port>)];
type References = [(ir::Id, RRC<ir::Cell>)];

/// How often each cell is named below some control; which are written there, and which are passed by
/// reference.
#[derive(Default)]
struct Uses {
    named: HashMap<ir::Id, u64>,
    written: HashSet<ir::Id>,
    references: HashSet<ir::Id>,
}

impl Uses {
    fn port(&mut self, port: &RRC<ir::Port>, written: bool) {
        if let ir::PortParent::Cell(cell) = &port.borrow().parent {
            let name = cell.upgrade().borrow().name();
            *self.named.entry(name).or_default() += 1;
            if written {
                self.written.insert(name);
            }
        }
    }

    fn assignments<T: Clone>(&mut self, assignments: &[ir::Assignment<T>]) {
        for assignment in assignments {
            self.port(&assignment.dst, true);
            self.port(&assignment.src, false);
            assignment.guard.all_ports().iter().for_each(|port| self.port(port, false));
        }
    }

    fn invoke(
        &mut self,
        comp: &RRC<ir::Cell>,
        inputs: &Bindings,
        outputs: &Bindings,
        refs: &References,
    ) {
        inputs.iter().for_each(|(_, port)| self.port(port, false));
        outputs.iter().for_each(|(_, port)| self.port(port, true));
        self.references.extend(refs.iter().map(|(_, cell)| cell.borrow().name()));
        for cell in refs.iter().map(|(_, cell)| cell).chain([comp]) {
            if let Some(port) = cell.borrow().ports.first() {
                self.port(port, true);
            }
        }
    }

    fn of(statement: Statement) -> Uses {
        let mut uses = Uses::default();
        statement.walk(&mut |s| uses.statement(s));
        uses
    }

    /// A statement without those in it.
    fn statement(&mut self, statement: Statement) {
        statement.decides_on().into_iter().for_each(|port| self.port(port, false));
        statement.beside().into_iter().for_each(|g| self.assignments(&g.borrow().assignments));
        match statement {
            Statement::Dynamic(ir::Control::Enable(s)) => {
                self.assignments(&s.group.borrow().assignments);
            }
            Statement::Static(ir::StaticControl::Enable(s)) => {
                self.assignments(&s.group.borrow().assignments);
            }
            Statement::Dynamic(ir::Control::Invoke(s)) => {
                self.invoke(&s.comp, &s.inputs, &s.outputs, &s.ref_cells);
            }
            Statement::Static(ir::StaticControl::Invoke(s)) => {
                self.invoke(&s.comp, &s.inputs, &s.outputs, &s.ref_cells);
            }
            _ => {}
        }
    }
}

/// Cells that a `static repeat` writes and that are named outside of it, too; and those passed by
/// reference.
fn kept_apart(comp: &ir::Component, control: &ir::Control) -> HashSet<ir::Id> {
    let all = Uses::of(control.into());
    let mut kept = all.references.clone();
    Statement::from(control).walk(&mut |statement| {
        if let Statement::Static(ir::StaticControl::Repeat(s)) = statement {
            let inside = Uses::of((&*s.body).into());
            let outside = |cell: &&ir::Id| all.named.get(cell) != inside.named.get(cell);
            kept.extend(inside.written.iter().filter(outside));
        }
    });
    // Combinational cells keep nothing.
    kept.retain(|name| comp.find_cell(*name).is_some_and(|cell| !cell.borrow().is_comb_cell()));
    kept
}

//! Cells passed by reference (`invoke c[mem = m]()`).

use crate::control::{Statement, StatementMut};
use crate::pass::pass;
use calyx_ir::{self as ir, RRC};
use calyx_opt::passes::CompileInvoke;
use calyx_opt::traversal::Visitor;
use calyx_utils::CalyxResult;
use std::collections::{HashMap, HashSet};

pass!(
    /// Before well-formed, which wants the very type that was declared: a cell of any type that has the
    /// declared one's ports may be passed (calyxir/calyx#2085).
    ///
    /// The invoke gets a cell of the declared type that stands for the given one: its ports are the
    /// given one's own.
    RefSubtypes,
    "ref-subtypes",
    "let cells with more ports than needed be passed by reference (first)",
    ref_subtypes
);

/// The given cell as one of the declared type; None where it has no such ports, or is one already.
fn as_declared(declared: &ir::Cell, given: &ir::Cell) -> Option<RRC<ir::Cell>> {
    if declared.prototype == given.prototype {
        return None;
    }
    let mut stand_in = ir::Cell::new(given.name(), declared.prototype.clone());
    for port in &declared.ports {
        let port = port.borrow();
        let own = given.find(port.name)?;
        let alike = own.borrow().width == port.width && own.borrow().direction == port.direction;
        if !alike {
            return None;
        }
        stand_in.ports.push(own);
    }
    stand_in.attributes = given.attributes.clone();
    Some(ir::rrc(stand_in))
}

fn pass_declared(
    comp: &RRC<ir::Cell>,
    ref_cells: &mut [(ir::Id, RRC<ir::Cell>)],
    comps: &[ir::Component],
) {
    let Some(invoked) =
        comp.borrow().type_name().and_then(|name| comps.iter().find(|c| c.name == name))
    else {
        return;
    };
    for (name, given) in ref_cells {
        let Some(declared) = invoked.find_cell(*name) else { continue };
        let stand_in = as_declared(&declared.borrow(), &given.borrow());
        if let Some(stand_in) = stand_in {
            *given = stand_in;
        }
    }
}

fn ref_subtypes(ctx: &mut ir::Context) -> CalyxResult<()> {
    for comp in &ctx.components {
        StatementMut::Dynamic(&mut comp.control.borrow_mut()).walk(
            &mut |statement| match statement {
                StatementMut::Dynamic(ir::Control::Invoke(s)) => {
                    pass_declared(&s.comp, &mut s.ref_cells, &ctx.components);
                }
                StatementMut::Static(ir::StaticControl::Invoke(s)) => {
                    pass_declared(&s.comp, &mut s.ref_cells, &ctx.components);
                }
                _ => {}
            },
        );
    }
    Ok(())
}

pass!(
    /// compile-invoke, connecting of a cell passed by reference only the ports that are used
    /// (calyxir/calyx#2200, #2216).
    ///
    /// The released pass connects all of them. A component that only reads a register then writes its
    /// `write_en`, with 0; where another one writes the register in the same cycle, the write is lost.
    CompileInvokeUsed,
    "compile-invoke-used",
    "compile-invoke, connecting used ports of references only (instead of compile-invoke)",
    compile_invoke_used
);

type Ports = HashSet<ir::Id>;

fn ports(comp: &ir::Component) -> Ports {
    comp.signature.borrow().ports.iter().map(|p| p.borrow().name).collect()
}

/// Every assignment of a component, by what it writes and all that it reads.
fn for_each_assignment(comp: &ir::Component, see: &mut dyn FnMut(&ir::Port, Vec<RRC<ir::Port>>)) {
    fn all<T: Clone>(
        assignments: &[ir::Assignment<T>],
        see: &mut dyn FnMut(&ir::Port, Vec<RRC<ir::Port>>),
    ) {
        for assignment in assignments {
            let mut read = assignment.guard.all_ports();
            read.push(RRC::clone(&assignment.src));
            see(&assignment.dst.borrow(), read);
        }
    }
    all(&comp.continuous_assignments, see);
    comp.get_groups().iter().for_each(|g| all(&g.borrow().assignments, see));
    comp.get_static_groups().iter().for_each(|g| all(&g.borrow().assignments, see));
    comp.comb_groups.iter().for_each(|g| all(&g.borrow().assignments, see));
}

/// Ports of the component's own signature that something in it writes or reads.
fn used_ports(comp: &ir::Component) -> Ports {
    fn note(port: &RRC<ir::Port>, used: &mut Ports) {
        let port = port.borrow();
        if let ir::PortParent::Cell(cell) = &port.parent {
            if matches!(cell.upgrade().borrow().prototype, ir::CellType::ThisComponent) {
                used.insert(port.name);
            }
        }
    }
    let mut used = Ports::new();
    for_each_assignment(comp, &mut |written, read| {
        if let ir::PortParent::Cell(cell) = &written.parent {
            if matches!(cell.upgrade().borrow().prototype, ir::CellType::ThisComponent) {
                used.insert(written.name);
            }
        }
        read.iter().for_each(|port| note(port, &mut used));
    });
    Statement::from(&*comp.control.borrow()).walk(&mut |statement| {
        statement.decides_on().into_iter().for_each(|port| note(port, &mut used));
    });
    used
}

/// Whether an assignment connects a port that its component has for a reference and does not use.
fn connects_unused<T>(assignment: &ir::Assignment<T>, unused: &HashMap<ir::Id, Ports>) -> bool {
    let is_unused = |port: &RRC<ir::Port>| {
        let port = port.borrow();
        let ir::PortParent::Cell(cell) = &port.parent else { return false };
        let cell = cell.upgrade();
        let cell = cell.borrow();
        matches!(&cell.prototype, ir::CellType::Component { name }
            if unused.get(name).is_some_and(|ports| ports.contains(&port.name)))
    };
    is_unused(&assignment.dst) || is_unused(&assignment.src)
}

fn compile_invoke_used(ctx: &mut ir::Context) -> CalyxResult<()> {
    let declared: HashMap<ir::Id, Ports> =
        ctx.components.iter().map(|comp| (comp.name, ports(comp))).collect();
    CompileInvoke::do_pass_default(ctx)?;
    // A component that only hands a reference on uses of it what the next one uses: the
    // connections that go in one round leave others unused.
    loop {
        let unused: HashMap<ir::Id, Ports> = ctx
            .components
            .iter()
            .map(|comp| {
                let added: Ports = ports(comp).difference(&declared[&comp.name]).copied().collect();
                (comp.name, added.difference(&used_ports(comp)).copied().collect())
            })
            .collect();
        let mut gone = 0;
        for comp in &mut ctx.components {
            for group in comp.get_groups().iter() {
                let kept = &mut group.borrow_mut().assignments;
                gone += kept.len();
                kept.retain(|a| !connects_unused(a, &unused));
                gone -= kept.len();
            }
            for group in comp.get_static_groups().iter() {
                let kept = &mut group.borrow_mut().assignments;
                gone += kept.len();
                kept.retain(|a| !connects_unused(a, &unused));
                gone -= kept.len();
            }
        }
        if gone == 0 {
            return Ok(());
        }
    }
}

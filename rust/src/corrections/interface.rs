//! Interface ports under their usual names (calyxir/calyx#2114 and what it left).
//!
//! A component may call its interface ports what it likes (`@go start: 1`). The released passes
//! find some of them by attribute and some by the names `go` and `done`.

use crate::control::StatementMut;
use crate::pass::pass;
use calyx_ir::{self as ir, RRC};
use calyx_utils::CalyxResult;
use std::collections::{BTreeMap, HashMap, HashSet};

pass!(
    /// Before all passes: call the interface ports of every component go, done, clk and reset. A port
    /// of the user's that has such a name is renamed.
    StandardInterface,
    "standard-interface",
    "give interface ports their usual names (first)",
    standard_interface
);

/// Old name to new one.
type Names = BTreeMap<ir::Id, ir::Id>;

/// New names for the ports of a signature.
fn new_names(signature: &ir::Cell) -> Names {
    let ports: Vec<_> = signature.ports.iter().map(|p| p.borrow()).collect();
    let sole = |wanted: &dyn Fn(&ir::Port) -> bool| {
        let mut found = ports.iter().filter(|p| wanted(p)).map(|p| p.name);
        found.next().filter(|_| found.next().is_none())
    };
    let usual = [
        (sole(&|p| p.has_attribute(ir::NumAttr::Go)), "go"),
        (sole(&|p| p.has_attribute(ir::NumAttr::Done)), "done"),
        (sole(&|p| p.has_attribute(ir::BoolAttr::Clk)), "clk"),
        (sole(&|p| p.has_attribute(ir::BoolAttr::Reset)), "reset"),
    ];
    let mut names = BTreeMap::new();
    let mut taken: HashSet<String> = ports.iter().map(|p| p.name.to_string()).collect();
    for (port, name) in usual {
        let Some(port) = port.filter(|port| *port != name) else { continue };
        if taken.contains(name) {
            let mut other = format!("{name}_port");
            while !taken.insert(other.clone()) {
                other.push('_');
            }
            names.insert(ir::Id::from(name), ir::Id::from(other));
        }
        names.insert(port, ir::Id::from(name));
    }
    names
}

fn rename(cell: &ir::Cell, names: &Names) {
    for port in &cell.ports {
        let mut port = port.borrow_mut();
        if let Some(name) = names.get(&port.name) {
            port.name = *name;
        }
    }
}

fn rename_bindings<T>(names: &Names, bindings: &mut [(ir::Id, T)]) {
    for (port, _) in bindings {
        if let Some(name) = names.get(port) {
            *port = *name;
        }
    }
}

fn standard_interface(ctx: &mut ir::Context) -> CalyxResult<()> {
    let mut renamed: HashMap<ir::Id, Names> = HashMap::new();
    for comp in &ctx.components {
        let names = new_names(&comp.signature.borrow());
        rename(&comp.signature.borrow(), &names);
        renamed.insert(comp.name, names);
    }
    let names_of =
        |cell: &RRC<ir::Cell>| cell.borrow().type_name().and_then(|name| renamed.get(&name));
    for comp in &ctx.components {
        for cell in comp.cells.iter() {
            if let Some(names) = names_of(cell) {
                rename(&cell.borrow(), names);
            }
        }
        StatementMut::Dynamic(&mut comp.control.borrow_mut()).walk(&mut |statement| {
            let (cell, inputs, outputs) = match statement {
                StatementMut::Dynamic(ir::Control::Invoke(s)) => {
                    (&s.comp, &mut s.inputs, &mut s.outputs)
                }
                StatementMut::Static(ir::StaticControl::Invoke(s)) => {
                    (&s.comp, &mut s.inputs, &mut s.outputs)
                }
                _ => return,
            };
            if let Some(names) = names_of(cell) {
                rename_bindings(names, inputs);
                rename_bindings(names, outputs);
            }
        });
    }
    Ok(())
}

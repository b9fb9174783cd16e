//! Interface ports under their usual names (calyxir/calyx#2114 and what it left).
//!
//! A component may call its interface ports what it likes (`@go start: 1`). The released passes
//! find some of them by attribute and some by the names `go` and `done`.

use calyx_ir as ir;
use calyx_opt::traversal::{Action, ConstructVisitor, Named, VisResult, Visitor};
use calyx_utils::CalyxResult;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Before all passes: call the interface ports of every component go, done, clk and reset. A port
/// of the user's that has such a name makes room.
pub struct StandardInterface {
    /// Old name to new one, by component.
    renamed: HashMap<ir::Id, BTreeMap<ir::Id, ir::Id>>,
}

impl ConstructVisitor for StandardInterface {
    fn from(_ctx: &ir::Context) -> CalyxResult<Self> {
        Ok(StandardInterface { renamed: HashMap::new() })
    }

    fn clear_data(&mut self) {}
}

impl Named for StandardInterface {
    fn name() -> &'static str {
        "standard-interface"
    }

    fn description() -> &'static str {
        "give interface ports their usual names (first)"
    }
}

/// New names for the ports of a signature.
fn new_names(signature: &ir::Cell) -> BTreeMap<ir::Id, ir::Id> {
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

fn rename(cell: &ir::Cell, names: &BTreeMap<ir::Id, ir::Id>) {
    for port in &cell.ports {
        let mut port = port.borrow_mut();
        if let Some(name) = names.get(&port.name) {
            port.name = *name;
        }
    }
}

impl StandardInterface {
    fn rename_bindings<T>(&self, cell: &ir::RRC<ir::Cell>, bindings: &mut [(ir::Id, T)]) {
        let Some(names) = cell.borrow().type_name().and_then(|t| self.renamed.get(&t)) else {
            return;
        };
        for (port, _) in bindings {
            if let Some(name) = names.get(port) {
                *port = *name;
            }
        }
    }
}

impl Visitor for StandardInterface {
    fn start_context(&mut self, ctx: &mut ir::Context) -> VisResult {
        for comp in &ctx.components {
            let names = new_names(&comp.signature.borrow());
            rename(&comp.signature.borrow(), &names);
            self.renamed.insert(comp.name, names);
        }
        for cell in ctx.components.iter().flat_map(|comp| comp.cells.iter()) {
            let cell = cell.borrow();
            if let ir::CellType::Component { name } = &cell.prototype {
                if let Some(names) = self.renamed.get(name) {
                    rename(&cell, names);
                }
            }
        }
        Ok(Action::Continue)
    }

    fn invoke(
        &mut self,
        s: &mut ir::Invoke,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        self.rename_bindings(&s.comp, &mut s.inputs);
        self.rename_bindings(&s.comp, &mut s.outputs);
        Ok(Action::Continue)
    }

    fn static_invoke(
        &mut self,
        s: &mut ir::StaticInvoke,
        _comp: &mut ir::Component,
        _sigs: &ir::LibrarySignatures,
        _comps: &[ir::Component],
    ) -> VisResult {
        self.rename_bindings(&s.comp, &mut s.inputs);
        self.rename_bindings(&s.comp, &mut s.outputs);
        Ok(Action::Continue)
    }
}

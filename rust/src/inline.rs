//! Ids through the passes that lose them: group splitting and component inlining.

use crate::control::{each_child, Statement, StatementMut};
use crate::pass::{each_component, pass};
use crate::record::{self, id_attribute, id_of, Node, Record};
use calyx_ir as ir;
use calyx_opt::traversal::{CompTraversal, Order};
use calyx_utils::CalyxResult;
use std::collections::HashMap;

/// As much of a control tree as is needed to find what inlining put into it.
pub struct Shape {
    invoke: Option<usize>,
    children: Vec<Shape>,
}

pass!(
    /// After group2seq: give each half of a split group the id of the whole.
    TagSplitGroups,
    "tag-split-groups",
    "give the halves of groups that group2seq split the id of the whole",
    |ctx| each_component(ctx, tag_split_groups)
);

fn tag_split_groups(comp: &mut ir::Component, _: &ir::LibrarySignatures) -> CalyxResult<()> {
    StatementMut::Dynamic(&mut comp.control.borrow_mut()).walk(&mut |statement| {
        let StatementMut::Dynamic(ir::Control::Enable(enable)) = statement else { return };
        if id_of(&enable.attributes).is_none() {
            let name = enable.group.borrow().name().to_string();
            let found = record::with(|r| r.nodes_of_group(comp.name.id.as_str(), &name));
            if let [node] = found[..] {
                enable.attributes.insert(id_attribute(), node as u64);
            }
        }
    });
    Ok(())
}

pass!(
    /// Before inline: remember each component's control tree.
    NoteInvokes,
    "note-invokes",
    "remember where each invoke stands before components are inlined",
    |ctx| each_component(ctx, note_invokes)
);

fn note_invokes(comp: &mut ir::Component, _: &ir::LibrarySignatures) -> CalyxResult<()> {
    let shape = shape((&*comp.control.borrow()).into());
    record::with(|r| r.before_inline.insert(comp.name.to_string(), shape));
    Ok(())
}

pass!(
    /// After inline: what came from another component gets nodes of its own below the invoke.
    TagInlined,
    "tag-inlined",
    "give inlined control ids of its own below the invoke that it replaced",
    tag_inlined
);

// As `inline` itself: callees first, so that what they inlined is copied along.
fn tag_inlined(ctx: &mut ir::Context) -> CalyxResult<()> {
    let mut components = CompTraversal::new(std::mem::take(&mut ctx.components), Order::Post);
    components.apply_update(|comp, _| {
        record::with(|record| {
            if let Some(before) = record.before_inline.remove(comp.name.id.as_str()) {
                compare(record, &before, &mut comp.control.borrow_mut());
            }
        });
        Ok(())
    })?;
    ctx.components = components.take();
    Ok(())
}

fn shape(statement: Statement) -> Shape {
    let (invoke, children) = match statement {
        Statement::Dynamic(ir::Control::Invoke(i)) => (id_of(&i.attributes), Vec::new()),
        Statement::Dynamic(_) => (None, statement.children().into_iter().map(shape).collect()),
        Statement::Static(_) => (None, Vec::new()),
    };
    Shape { invoke, children }
}

fn compare(record: &mut Record, before: &Shape, after: &mut ir::Control) {
    if let Some(invoke) = before.invoke {
        let same = matches!(after, ir::Control::Invoke(i) if id_of(&i.attributes) == Some(invoke));
        if !same {
            graft(record, invoke, after);
        }
        return;
    }
    let mut children = before.children.iter();
    each_child(after, &mut |child| {
        if let (Some(shape), StatementMut::Dynamic(child)) = (children.next(), child) {
            compare(record, shape, child);
        }
    });
}

/// Copy the callee's control tree below `invoke` and re-tag the inlined control with it.
fn graft(record: &mut Record, invoke: usize, control: &mut ir::Control) {
    let host = record.nodes[invoke].component.clone();
    let cell = record.nodes[invoke].cell.clone();
    let callee = record
        .components
        .get(&host)
        .and_then(|c| c.cells.iter().find(|x| Some(&x.name) == cell.as_ref()))
        .map(|c| c.prototype.clone());
    let Some(callee) = callee else { return };
    let originals: Vec<usize> =
        (0..record.nodes.len()).filter(|&n| record.nodes[n].component == callee).collect();
    let first = record.nodes.len();
    let copy_of: HashMap<usize, usize> =
        originals.iter().enumerate().map(|(i, &node)| (node, first + i)).collect();
    for &node in &originals {
        let original = record.nodes[node].clone();
        record.nodes.push(Node {
            component: host.clone(),
            parent: original.parent.map_or(Some(invoke), |p| copy_of.get(&p).copied()),
            origin: Some(node),
            sites: original.sites.iter().filter_map(|s| copy_of.get(s).copied()).collect(),
            ..original
        });
    }
    StatementMut::Dynamic(control).walk(&mut |statement| match statement {
        // Its attributes are those of the statement in it.
        StatementMut::Dynamic(ir::Control::Static(_)) => {}
        StatementMut::Dynamic(control) => swap(*control, &copy_of),
        StatementMut::Static(control) => swap(*control, &copy_of),
    });
}

fn swap(control: &mut impl ir::GetAttributes, copy_of: &HashMap<usize, usize>) {
    let attributes = control.get_mut_attributes();
    if let Some(copy) = id_of(attributes).and_then(|id| copy_of.get(&id)) {
        attributes.insert(id_attribute(), *copy as u64);
    }
}

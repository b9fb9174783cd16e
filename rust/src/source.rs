//! Reading a program: its text with the notations that release 0.7.1 does not parse blanked out.
//!
//! Today's Calyx and Calyx-py print positions (`@pos{…}`, `<"pos"={…}>`) and a `sourceinfo`
//! table. Python has taken the positions out of the text by the time it comes here; what it gives
//! is the cleaned text of every file that it found to need cleaning. Everything else is read from
//! disk as the compiler itself reads it.

use crate::corrections::library;
use calyx_frontend::ast::{
    Atom, Cell, ComponentDef, Control, Group, GuardExpr, NamespaceDef, Port,
};
use calyx_frontend::{parser::CalyxParser, Workspace};
use calyx_utils::{CalyxResult, Error, Id, WithPos};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files to be read instead of others: original path to cleaned copy.
pub type Replacements = HashMap<PathBuf, PathBuf>;

/// Parse `file` and all that it imports.
///
/// With `bound`, only files below the program's folder and those of the library are read.
pub fn workspace(
    file: &Path,
    library: &Path,
    replacements: &Replacements,
    bound: bool,
) -> CalyxResult<Workspace> {
    let parse = |path: &Path| -> CalyxResult<NamespaceDef> {
        let file = replacements.get(path).map_or(path, PathBuf::as_path);
        let mut namespace = CalyxParser::parse_file(file)?;
        for component in &namespace.components {
            countable(component)?;
        }
        whole_names(&mut namespace, file, |cell, _| cell.name)?;
        Ok(namespace)
    };
    let library = library.canonicalize()?;
    let mut home = PathBuf::new();
    let mut workspace = Workspace::default();
    let mut open = vec![(file.to_path_buf(), true)];
    let mut seen = HashSet::new();
    while let Some((path, is_source)) = open.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let namespace = parse(&path)?;
        if is_source {
            workspace.original_imports = namespace.imports.clone();
            workspace.metadata = namespace.metadata.clone();
        }
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let folder = if is_source { folder.canonicalize()? } else { folder };
        if is_source {
            home.clone_from(&folder);
        }
        for (found, _) in &namespace.externs {
            if let Some(found) = found {
                readable(&folder.join(found))?;
            }
        }
        let imports = workspace.merge_namespace(namespace, is_source, &folder, false, &library)?;
        if bound {
            let named = imports.iter().map(|(import, _)| import);
            for found in named.chain(workspace.lib.extern_paths()) {
                let real = found.canonicalize()?;
                if !real.starts_with(&home) && !real.starts_with(&library) {
                    return Err(Error::misc(format!(
                        "needs {}, which is outside the program's folder; move it there, or pass \
                         --trust",
                        real.display()
                    )));
                }
            }
        }
        open.extend(imports);
    }
    Ok(workspace)
}

/// Groups of each component in the order in which a compiler printed them.
pub type Printed = HashMap<String, Vec<String>>;

/// Parse what another compiler printed: it is whole, and its size is that compiler's concern.
pub fn printed(file: &Path) -> CalyxResult<(Workspace, Printed)> {
    let mut namespace = CalyxParser::parse_file(file)?;
    whole_names(&mut namespace, file, |_, word| word.into())?;
    for path in namespace.externs.iter().filter_map(|(path, _)| path.as_ref()) {
        readable(Path::new(path))?;
    }
    let order = namespace.components.iter_mut().map(|component| {
        let names = component.groups.iter().map(|group| group.name.to_string()).collect();
        sort_groups(&mut component.groups);
        (component.name.to_string(), names)
    });
    let order = order.collect();
    let mut workspace = Workspace::default();
    let nowhere = Path::new("");
    workspace.merge_namespace(namespace, true, nowhere, false, nowhere)?;
    Ok((workspace, order))
}

/// Put each group after those whose holes it mentions: compilers read them in one go, and print
/// them in the order in which they were made.
fn sort_groups(groups: &mut Vec<Group>) {
    let place: HashMap<Id, usize> =
        groups.iter().enumerate().map(|(place, group)| (group.name, place)).collect();
    let below: Vec<Vec<usize>> = groups
        .iter()
        .map(|group| mentioned(group).iter().filter_map(|name| place.get(name)).copied().collect())
        .collect();
    let mut rank = vec![None; groups.len()];
    let mut ranked = 0;
    for first in 0..groups.len() {
        let mut waiting = vec![first];
        while let Some(&top) = waiting.last() {
            let open = |other: &&usize| rank[**other].is_none() && !waiting.contains(*other);
            if let Some(&next) = below[top].iter().find(open) {
                waiting.push(next);
                continue;
            }
            rank[top].get_or_insert_with(|| {
                ranked += 1;
                ranked
            });
            waiting.pop();
        }
    }
    groups.sort_by_key(|group| rank[place[&group.name]]);
}

/// The groups whose holes a group mentions.
fn mentioned(group: &Group) -> Vec<Id> {
    let mut names = Vec::new();
    let mut note = |port: &Port| {
        if let Port::Hole { group, .. } = port {
            names.push(*group);
        }
    };
    for wire in &group.wires {
        note(&wire.dest);
        let mut atoms = vec![&wire.src.expr];
        let mut guards: Vec<&GuardExpr> = wire.src.guard.iter().collect();
        while let Some(guard) = guards.pop() {
            match guard {
                GuardExpr::And(one, other) | GuardExpr::Or(one, other) => {
                    guards.extend([&**one, &**other]);
                }
                GuardExpr::Not(inner) => guards.push(inner),
                GuardExpr::CompOp((_, one, other)) => atoms.extend([one, other]),
                GuardExpr::Atom(atom) => atoms.push(atom),
            }
        }
        for atom in atoms {
            if let Atom::Port(port) = atom {
                note(port);
            }
        }
    }
    names
}

// Of a component. The compiler takes a second and 200 MB for 2,000 statements of control, five
// seconds for 10,000 assignments, and four times as much for twice as many.
const MOST_CONTROL: usize = 8_192;
const MOST_ASSIGNMENTS: usize = 20_000;

/// Refuse what keeps the compiler busy until the memory is full.
fn countable(component: &ComponentDef) -> CalyxResult<()> {
    let mut waiting = vec![&component.control];
    let mut count = 0;
    while let Some(control) = waiting.pop() {
        count += 1;
        match control {
            Control::Seq { stmts, .. }
            | Control::Par { stmts, .. }
            | Control::StaticSeq { stmts, .. }
            | Control::StaticPar { stmts, .. } => waiting.extend(stmts),
            Control::If { tbranch, fbranch, .. } | Control::StaticIf { tbranch, fbranch, .. } => {
                waiting.extend([&**tbranch, &**fbranch]);
            }
            Control::While { body, .. }
            | Control::Repeat { body, .. }
            | Control::StaticRepeat { body, .. } => waiting.push(body),
            Control::Enable { .. }
            | Control::Invoke { .. }
            | Control::StaticInvoke { .. }
            | Control::Empty { .. } => {}
        }
    }
    let assignments = component.continuous_assignments.len()
        + component.groups.iter().map(|group| group.wires.len()).sum::<usize>()
        + component.static_groups.iter().map(|group| group.wires.len()).sum::<usize>();
    let (most, what) = match (count, assignments) {
        (count, _) if count > MOST_CONTROL => (MOST_CONTROL, "control statements"),
        (_, count) if count > MOST_ASSIGNMENTS => (MOST_ASSIGNMENTS, "assignments"),
        _ => return Ok(()),
    };
    Err(Error::misc(format!(
        "component {} has more than {most} {what}, more than can be compiled; make components of \
         its parts",
        component.name
    )))
}

const LARGEST: u64 = 256 << 20; // bytes of a file

/// Refuse what `extern` names and the compiler would read without an end, or not tell by its name.
fn readable(file: &Path) -> CalyxResult<()> {
    let why = match fs::metadata(file) {
        Err(error) => error.to_string(),
        Ok(found) if !found.is_file() => "it is no file".to_string(),
        Ok(found) if found.len() > LARGEST => format!("it is larger than {} MB", LARGEST >> 20),
        Ok(_) => return Ok(()),
    };
    let file = file.display();
    Err(Error::misc(format!("extern {file}: {why}; correct the name, or add the file")))
}

/// Tell cells whose names begin with `ref` from references.
///
/// The release takes `refx = …;` for a reference `x` (mended upstream, #2599). In the cleaned text
/// such names have a second `ref` before them, without a space; `name` says what such a cell is
/// called, given what the release takes it for and the word there.
fn whole_names(
    namespace: &mut NamespaceDef,
    file: &Path,
    name: impl Fn(&Cell, &str) -> Id,
) -> CalyxResult<()> {
    let cells = namespace.components.iter_mut().flat_map(|component| &mut component.cells);
    let mut references = cells.filter(|cell| cell.reference).peekable();
    if references.peek().is_none() {
        return Ok(());
    }
    let text = fs::read_to_string(file).map_err(|error| Error::misc(error.to_string()))?;
    for cell in references {
        let (_, start, end) = cell.attributes.copy_span().get_location();
        let word = text.get(start..end).and_then(first_word).unwrap_or_default();
        if word != "ref" {
            cell.name = name(cell, word);
            cell.reference = false;
        }
    }
    Ok(())
}

/// The first word of a declaration, behind its attributes (`@name`, `@name(…)`) and comments.
fn first_word(declaration: &str) -> Option<&str> {
    let mut rest = declaration.trim_start();
    loop {
        rest = if let Some(comment) = rest.strip_prefix("//") {
            comment.split_once('\n')?.1
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/")?.1
        } else if let Some(attribute) = rest.strip_prefix('@') {
            attribute.trim_start_matches(in_name)
        } else if let Some(value) = rest.strip_prefix('(') {
            value.split_once(')')?.1
        } else {
            return rest.split(|c| !in_name(c)).next();
        };
        rest = rest.trim_start();
    }
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-'".contains(c)
}

/// Write the standard library below `folder`, as `primitives/…`.
pub fn write_library(folder: &Path, files: &[(&str, &str)]) -> CalyxResult<()> {
    let released = files.iter().map(|(name, text)| (*name, library::amended(name, text)));
    let added = library::ADDED.iter().map(|(name, text)| (*name, Cow::Borrowed(*text)));
    for (name, text) in released.chain(added) {
        let path = folder.join(name);
        let parent = path.parent().ok_or_else(|| Error::misc("a file without a folder"))?;
        fs::create_dir_all(parent)?;
        fs::write(path, text.as_bytes())?;
    }
    Ok(())
}

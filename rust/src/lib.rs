//! The Calyx compiler, in process, with cyclescope's two passes; the tables of profile files;
//! waveforms; the timing of process networks.
//!
//! `compile` takes a program and a list of passes and gives Verilog; with `instrument` also the
//! record of what the probes in it mean, as JSON. Everything that follows from the record is
//! worked out in Python.

mod blocks;
mod conditions;
mod confine;
mod control;
mod corrections;
mod cursors;
mod encode;
mod formulas;
mod guard;
mod inline;
mod instrument;
mod lengthen;
mod memory;
mod network;
mod pages;
mod pass;
mod plan;
mod record;
mod repeat;
mod rows;
mod segments;
mod share;
mod source;
mod store;
mod tables;
mod text;
mod undriven;
mod wave;

use calyx_backend::{Backend, VerilogBackend};
use calyx_ir as ir;
use calyx_utils::{CalyxResult, Error, OutputFile};
use parquet::basic::ZstdLevel;
use pyo3::buffer::PyBuffer;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::collections::HashMap;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

include!(concat!(env!("OUT_DIR"), "/stdlib.rs"));

create_exception!(_native, CompileError, PyException, "message, file, start offset");
create_exception!(_native, UnreadableError, CompileError, "as CompileError: not in this notation");

/// What a compilation is asked to do.
struct Request {
    file: PathBuf,
    library: PathBuf,
    /// Folder for intermediate files.
    work: PathBuf,
    replacements: source::Replacements,
    passes: Vec<String>,
    disable: Vec<String>,
    options: Vec<String>,
    instrument: bool,
    /// Instrumented: the statements whose groups take more cycles.
    longer: Vec<lengthen::Longer>,
    /// Only files below the program's folder.
    bound: bool,
}

/// Ports by name: passes that add some go through hash tables, whose order differs from run to run,
/// and equal programs have to give equal Verilog to be found in the cache.
fn in_fixed_order(ctx: &ir::Context) {
    for comp in &ctx.components {
        comp.signature.borrow_mut().ports.sort_by_key(|port| port.borrow().name);
        for cell in comp.cells.iter() {
            if matches!(cell.borrow().prototype, ir::CellType::Component { .. }) {
                cell.borrow_mut().ports.sort_by_key(|port| port.borrow().name);
            }
        }
    }
}

/// (Verilog, record as JSON).
fn run(request: &Request) -> CalyxResult<(String, String)> {
    record::begin(record::Record { longer: request.longer.clone(), ..Default::default() });
    let mut workspace =
        source::workspace(&request.file, &request.library, &request.replacements, request.bound)?;
    if request.instrument {
        workspace.lib.add_inline_primitive(instrument::probe_primitive());
    }
    if !request.longer.is_empty() {
        workspace.lib.add_inline_primitive(lengthen::delay_primitive());
    }
    let mut ctx = ir::from_ast::ast_to_ir(workspace)?;
    ctx.bc = ir::BackendConf {
        // Calyx's own checks at run time; Verilator would stop on their false alarms.
        enable_verification: false,
        flat_assign: true,
        ..Default::default()
    };
    ctx.extra_opts.clone_from(&request.options);

    let main = ctx.entrypoint.to_string();

    let manager = plan::pass_manager()?;
    let (chosen, mut passes) = plan::passes(&manager, &request.passes, &request.disable)?;
    if request.instrument {
        passes = with_ours(&passes);
    }
    if !request.longer.is_empty() {
        passes = plan::lengthened(passes);
    }
    manager.execute_plan(&mut ctx, &passes, &[], false)?;

    in_fixed_order(&ctx);
    VerilogBackend::validate(&ctx)?;
    let mut record = record::finish();
    note_final(&ctx, &mut record);
    if request.instrument {
        for comp in &mut ctx.components {
            let known = record.component(comp.name);
            known.formulas = formulas::take(comp, known);
        }
    }
    let externs = request.work.join("externs.sv");
    let components = request.work.join("components.sv");
    VerilogBackend::link_externs(&ctx, &mut OutputFile::File(externs.clone()))?;
    VerilogBackend::emit(&ctx, &mut OutputFile::File(components.clone()))?;
    let verilog = fs::read_to_string(externs)? + &fs::read_to_string(components)?;

    let passes = if request.instrument { with_ours(&chosen) } else { chosen };
    let facts = facts(&ctx, record, &main, &passes, Some(&request.library))?;
    Ok((verilog, facts))
}

fn with_ours(passes: &[String]) -> Vec<String> {
    plan::instrumented(passes).into_iter().map(|(name, _)| name).collect()
}

/// Note what is left in the final form.
fn note_final(ctx: &ir::Context, record: &mut record::Record) {
    for comp in &ctx.components {
        let entry = record.component(comp.name);
        entry.live = driven_probes(comp);
        entry.kept = comp.cells.iter().map(|c| c.borrow().name().to_string()).collect();
    }
}

/// What is known of a program in its final form, as JSON.
fn facts(
    ctx: &ir::Context,
    record: record::Record,
    main: &str,
    passes: &[String],
    library: Option<&Path>,
) -> CalyxResult<String> {
    let json = serde_json::json!({
        "main": main,
        "top": ctx.entrypoint.to_string(),
        "record": record,
        "memories": memories(ctx),
        "passes": passes,
        "foreign": foreign(ctx, library)?,
    });
    Ok(json.to_string())
}

/// The Verilog that neither we nor Calyx wrote: (file or primitive, text).
fn foreign(ctx: &ir::Context, library: Option<&Path>) -> CalyxResult<Vec<(String, String)>> {
    let library = library.map(Path::canonicalize).transpose()?;
    let mut texts = Vec::new();
    for path in ctx.lib.extern_paths() {
        let path_of = path.canonicalize()?;
        if !library.as_ref().is_some_and(|library| path_of.starts_with(library)) {
            let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
            texts.push((path.display().to_string(), text));
        }
    }
    for (primitive, _) in ctx.lib.prim_inlines() {
        let body = primitive.body.clone().unwrap_or_default();
        texts.push((format!("primitive {}", primitive.name), body));
    }
    Ok(texts)
}

/// The probes of a component that something other than 0 drives in the final design.
fn driven_probes(comp: &ir::Component) -> Vec<String> {
    let mut driven: Vec<String> = Vec::new();
    for assignment in &comp.continuous_assignments {
        let port = assignment.dst.borrow();
        if port.is_hole() || assignment.src.borrow().is_constant(0, 1) {
            continue;
        }
        if port.cell_parent().borrow().is_primitive(Some(record::PROBE)) {
            driven.push(port.get_parent_name().to_string());
        }
    }
    driven.sort();
    driven.dedup();
    driven
}

/// External memories of the entry point in its final form: name, primitive, parameters.
fn memories(ctx: &ir::Context) -> Vec<(String, String, Vec<u64>)> {
    let memory = |cell: &ir::RRC<ir::Cell>| {
        let cell = cell.borrow();
        let ir::CellType::Primitive { name, param_binding, .. } = &cell.prototype else {
            return None;
        };
        let external = cell.get_attribute(ir::BoolAttr::External).is_some();
        let params = param_binding.iter().map(|(_, v)| *v).collect();
        (external && name.id.as_str().contains("mem"))
            .then(|| (cell.name().to_string(), name.to_string(), params))
    };
    ctx.components
        .iter()
        .flat_map(|c| c.cells.iter().filter_map(memory).collect::<Vec<_>>())
        .collect()
}

/// The program after some passes, as `calyx -b calyx` prints it.
fn printed(
    file: &Path,
    library: &Path,
    passes: &[String],
    disable: &[String],
    options: &[String],
) -> CalyxResult<String> {
    let workspace = source::workspace(file, library, &source::Replacements::new(), false)?;
    let mut ctx = ir::from_ast::ast_to_ir(workspace)?;
    ctx.extra_opts = options.to_vec();
    let manager = plan::pass_manager()?;
    let (_, passes) = plan::passes(&manager, passes, disable)?;
    manager.execute_plan(&mut ctx, &passes, &[], false)?;
    let mut text = Vec::new();
    ir::Printer::write_context(&ctx, false, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The compiler's position table is one per process, and so is the panic hook.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Do something in a library; its panics become errors, and print nothing.
fn guarded<T, E>(
    work: impl FnOnce() -> Result<T, E>,
    of_error: impl FnOnce(E) -> PyErr,
    of_panic: impl FnOnce(String) -> PyErr,
) -> PyResult<T> {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(hook);
    match outcome {
        Ok(outcome) => outcome.map_err(of_error),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
                .unwrap_or_default();
            Err(of_panic(text))
        }
    }
}

/// Run the compiler.
fn compiler<T: Send>(py: Python<'_>, work: impl FnOnce() -> CalyxResult<T> + Send) -> PyResult<T> {
    py.detach(|| in_compiler(work))
}

fn in_compiler<T>(work: impl FnOnce() -> CalyxResult<T>) -> PyResult<T> {
    guarded(
        work,
        |error| CompileError::new_err(describe(&error)),
        |text| CompileError::new_err((stopped(&text), String::new(), 0)),
    )
}

/// The program in a file that another compiler printed, if release 0.7.1 reads it.
fn read_printed(file: &Path) -> PyResult<(ir::Context, source::Printed)> {
    guarded(
        || text::read(file),
        |error| UnreadableError::new_err(describe(&error)),
        |text| UnreadableError::new_err((stopped(&text), String::new(), 0)),
    )
}

fn stopped(text: &str) -> String {
    format!("the Calyx compiler stopped: {text}")
}

/// Read or write a table.
fn parquet_work<T>(work: impl FnOnce() -> parquet::errors::Result<T>) -> PyResult<T> {
    guarded(work, |error| PyValueError::new_err(error.to_string()), PyValueError::new_err)
}

fn describe(error: &Error) -> (String, String, usize) {
    let (file, start, _) = error.location();
    let file = if file == "unknown" { "" } else { file };
    (error.message(), file.to_string(), start)
}

/// Compile a Calyx program to Verilog; gives (Verilog, record as JSON).
///
/// `longer`: statements by their numbers in the record, the cycles that their groups take more, and
/// whether their lengths are fixed by the compiler.
#[pyfunction]
#[pyo3(signature = (file, library, work, replacements, passes, disable, options, instrument, bound, longer=Vec::new()))]
#[allow(clippy::too_many_arguments)]
fn compile(
    py: Python<'_>,
    file: PathBuf,
    library: PathBuf,
    work: PathBuf,
    replacements: source::Replacements,
    passes: Vec<String>,
    disable: Vec<String>,
    options: Vec<String>,
    instrument: bool,
    bound: bool,
    longer: Vec<(usize, u64, bool)>,
) -> PyResult<(String, String)> {
    let longer = longer
        .into_iter()
        .map(|(node, more, promoted)| lengthen::Longer { node, more, promoted })
        .collect();
    let request = Request {
        file,
        library,
        work,
        replacements,
        passes,
        disable,
        options,
        instrument,
        longer,
        bound,
    };
    compiler(py, || run(&request))
}

/// Write Calyx's standard library below `folder`.
#[pyfunction]
fn write_library(py: Python<'_>, folder: PathBuf) -> PyResult<()> {
    compiler(py, || source::write_library(Path::new(&folder), STDLIB))
}

/// All passes and aliases, as the `calyx` command prints them.
#[pyfunction]
fn pass_help(py: Python<'_>) -> PyResult<String> {
    compiler(py, || Ok(plan::pass_manager()?.complete_help()))
}

/// Run passes on a Calyx program and print it as Calyx.
#[pyfunction]
fn print_program(
    py: Python<'_>,
    file: PathBuf,
    library: PathBuf,
    passes: Vec<String>,
    disable: Vec<String>,
    options: Vec<String>,
) -> PyResult<String> {
    compiler(py, || printed(&file, &library, &passes, &disable, &options))
}

/// A flat list of passes with ours among them: (name, whether it is one of ours).
#[pyfunction]
fn instrumented_passes(passes: Vec<String>) -> Vec<(String, bool)> {
    plan::instrumented(&passes)
}

/// Our passes for a program on its way through another compiler.
#[pyclass(frozen)]
struct Instrumenter(Mutex<record::Record>);

#[pymethods]
impl Instrumenter {
    #[new]
    fn new(
        statements: Vec<record::Place>,
        components: HashMap<String, record::Place>,
        groups: HashMap<String, HashMap<String, record::Place>>,
    ) -> Self {
        let places = Some(record::Places { statements, components, groups });
        Instrumenter(Mutex::new(record::Record { places, ..Default::default() }))
    }

    /// The program in a file after some of our passes, as text.
    fn run(&self, py: Python<'_>, file: PathBuf, passes: Vec<String>) -> PyResult<String> {
        py.detach(|| {
            let program = read_printed(&file)?;
            in_compiler(|| text::after(&mut self.record(), program, &passes))
        })
    }

    /// The record of the lowered program in a file, as JSON; `passes` are those that it went
    /// through.
    fn finish(&self, py: Python<'_>, file: PathBuf, passes: Vec<String>) -> PyResult<String> {
        py.detach(|| {
            let (ctx, _) = read_printed(&file)?;
            let mut record = std::mem::take(&mut *self.record());
            note_final(&ctx, &mut record);
            let main = record.main.clone().unwrap_or_else(|| ctx.entrypoint.to_string());
            in_compiler(|| facts(&ctx, record, &main, &passes, None))
        })
    }
}

impl Instrumenter {
    fn record(&self) -> MutexGuard<'_, record::Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A column of integers of a Parquet file, as 64-bit words; a missing value is -1.
#[pyfunction]
fn table_integers<'py>(
    py: Python<'py>,
    data: &[u8],
    column: &str,
) -> PyResult<Bound<'py, PyByteArray>> {
    let values = parquet_work(|| tables::integers(data, column))?;
    words(py, &values, i64::to_ne_bytes)
}

/// The rows of a Parquet file as a JSON list of objects.
#[pyfunction]
fn table_rows(data: &[u8]) -> PyResult<String> {
    parquet_work(|| tables::rows(data))
}

/// The values of a column of this kind.
fn column(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<store::Column> {
    use store::Column;
    let whole = || values.extract::<PyBuffer<i64>>()?.to_vec(values.py());
    Ok(match kind {
        "narrow" => Column::Narrow(whole()?),
        "whole" => Column::Whole(whole()?),
        "optional" => Column::Optional(whole()?),
        "text" => Column::Text(values.extract()?),
        "truth" => Column::Truth(values.extract()?),
        "whole lists" => Column::WholeLists(values.extract()?),
        "place lists" => Column::PlaceLists(values.extract()?),
        "names" => {
            let (texts, which): (Vec<String>, PyBuffer<i64>) = values.extract()?;
            let text = |n: i64| usize::try_from(n).ok().and_then(|n| texts.get(n)).cloned();
            Column::SomeText(which.to_vec(values.py())?.into_iter().map(text).collect())
        }
        "whole?" => Column::SomeWhole(values.extract()?),
        "text?" => Column::SomeText(values.extract()?),
        "truth?" => Column::SomeTruth(values.extract()?),
        "number?" => Column::SomeNumber(values.extract()?),
        _ => return Err(PyValueError::new_err(format!("no kind of column: {kind}"))),
    })
}

type Given<'py> = Vec<(String, String, Bound<'py, PyAny>)>;

fn given(columns: Given<'_>) -> PyResult<Vec<(String, store::Column)>> {
    columns.into_iter().map(|(name, kind, values)| Ok((name, column(&kind, &values)?))).collect()
}

/// Columns (name, kind, values) as a Parquet file.
#[pyfunction]
fn write_table<'py>(py: Python<'py>, columns: Given<'py>) -> PyResult<Bound<'py, PyBytes>> {
    let columns = given(columns)?;
    let table = py.detach(|| parquet_work(|| store::table(columns)))?;
    Ok(PyBytes::new(py, &table))
}

/// A Parquet file that is written part by part.
#[pyclass(frozen)]
struct TableWriter(Mutex<Option<store::Table>>);

#[pymethods]
impl TableWriter {
    #[new]
    fn new() -> Self {
        TableWriter(Mutex::new(None))
    }

    /// Add rows; the first part says which columns there are. Gives the bytes that are due.
    fn add<'py>(&self, py: Python<'py>, columns: Given<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let columns = given(columns)?;
        let written = py.detach(|| {
            let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            parquet_work(|| match table.as_mut() {
                Some(table) => table.add(columns).and_then(|()| table.written()),
                None => {
                    let first = store::Table::of(columns, ZstdLevel::try_new(3)?)?;
                    table.insert(first).written()
                }
            })
        })?;
        Ok(PyBytes::new(py, &written))
    }

    /// The rest of the file.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let table = table.ok_or_else(|| PyValueError::new_err("no table"))?;
        let rest = py.detach(|| parquet_work(|| table.finish()))?;
        Ok(PyBytes::new(py, &rest))
    }
}

/// A column of `rows::lines`: numbers, or texts and which of them each row has.
type Field = (Option<Vec<String>>, PyBuffer<i64>);

/// Rows as lines: a piece of text before each field, one behind the last.
#[pyfunction]
fn format_rows<'py>(
    py: Python<'py>,
    pieces: Vec<String>,
    fields: Vec<Field>,
) -> PyResult<Bound<'py, PyBytes>> {
    let fields = fields
        .into_iter()
        .map(|(texts, values)| {
            let values = values.to_vec(py)?;
            Ok(match texts {
                Some(texts) => rows::Field::Text(texts, values),
                None => rows::Field::Number(values),
            })
        })
        .collect::<PyResult<Vec<_>>>()?;
    let lines = py.detach(|| rows::lines(&pieces, &fields)).map_err(PyValueError::new_err)?;
    Ok(PyBytes::new(py, &lines))
}

/// (times, steps, signals, values, texts)
type Changes<'py> = (
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
    Vec<String>,
);

fn columns<'py>(py: Python<'py>, changes: wave::Changes) -> PyResult<Changes<'py>> {
    Ok((
        words(py, &changes.times, i64::to_ne_bytes)?,
        words(py, &changes.step, i32::to_ne_bytes)?,
        words(py, &changes.signal, i32::to_ne_bytes)?,
        words(py, &changes.value, i64::to_ne_bytes)?,
        changes.texts,
    ))
}

/// The wanted signals of a VCD, by identifier and width.
#[pyclass(frozen)]
struct VcdBody(wave::vcd::Wanted);

#[pymethods]
impl VcdBody {
    #[new]
    fn new(keys: Vec<Vec<u8>>, widths: Vec<usize>) -> PyResult<Self> {
        let wanted =
            if keys.len() == widths.len() { wave::vcd::Wanted::new(&keys, widths) } else { None };
        wanted.map(VcdBody).ok_or_else(|| PyValueError::new_err("no identifiers of signals"))
    }

    /// (changes, decimals of the times, strange words, whether values come before the first
    /// time, whether it ends inside a comment) of a piece of text.
    fn read<'py>(
        &self,
        py: Python<'py>,
        text: &[u8],
        comment: bool,
    ) -> PyResult<(Changes<'py>, u32, usize, bool, bool)> {
        let found = py.detach(|| self.0.read(text, comment));
        let piece =
            found.map_err(|wave::vcd::Damage(what, at)| PyValueError::new_err((what, at)))?;
        let changes = columns(py, piece.changes)?;
        Ok((changes, piece.decimals, piece.strange, piece.early, piece.comment))
    }
}

/// What wellen does; its panics become errors of one line.
fn wave_work<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, String> + Send,
) -> PyResult<T> {
    let stopped = |text: String| {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        PyValueError::new_err(format!("its reader stopped: {line}"))
    };
    py.detach(|| guarded(work, PyValueError::new_err, stopped))
}

type Declared =
    (Option<(u32, i8)>, Vec<Vec<String>>, Vec<wave::stored::Variable>, Vec<Vec<(String, String)>>);

/// What an FST or GHW declares: (unit of time, scopes, variables, enumerations).
#[pyfunction]
fn stored_signals(py: Python<'_>, path: PathBuf, limit: usize) -> PyResult<Declared> {
    let all = wave_work(py, || wave::stored::declared(&path, limit))?;
    Ok((all.unit, all.scopes, all.variables, all.enumerations))
}

/// The changes of some signals of an FST or GHW.
#[pyfunction]
fn stored_changes<'py>(
    py: Python<'py>,
    path: PathBuf,
    wanted: Vec<usize>,
    limit: usize,
    texts: usize,
) -> PyResult<Changes<'py>> {
    let changes = wave_work(py, || wave::stored::changes(&path, &wanted, limit, texts))?;
    columns(py, changes)
}

/// Integers as bytes that Python can look at as an array.
fn words<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    bytes_of: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, values.len() * N, |bytes| {
        for (word, value) in bytes.chunks_exact_mut(N).zip(values) {
            word.copy_from_slice(&bytes_of(*value));
        }
        Ok(())
    })
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("CALYX_VERSION", "0.7.1")?;
    module.add("CompileError", module.py().get_type::<CompileError>())?;
    module.add("UnreadableError", module.py().get_type::<UnreadableError>())?;
    module.add_function(wrap_pyfunction!(guard::confinement, module)?)?;
    module.add_function(wrap_pyfunction!(cursors::child_cursors, module)?)?;
    module.add_function(wrap_pyfunction!(guard::end_after, module)?)?;
    module.add_function(wrap_pyfunction!(guard::end_with, module)?)?;
    module.add_function(wrap_pyfunction!(guard::spawn, module)?)?;
    module.add("WELLEN_VERSION", wellen::VERSION)?;
    module.add_class::<VcdBody>()?;
    module.add_class::<segments::Segmenter>()?;
    module.add_function(wrap_pyfunction!(segments::segment_anchors, module)?)?;
    module.add_function(wrap_pyfunction!(stored_signals, module)?)?;
    module.add_function(wrap_pyfunction!(stored_changes, module)?)?;
    module.add_function(wrap_pyfunction!(compile, module)?)?;
    module.add_function(wrap_pyfunction!(write_library, module)?)?;
    module.add_function(wrap_pyfunction!(pass_help, module)?)?;
    module.add_function(wrap_pyfunction!(print_program, module)?)?;
    module.add_function(wrap_pyfunction!(instrumented_passes, module)?)?;
    module.add_class::<Instrumenter>()?;
    module.add_class::<network::NetworkTiming>()?;
    module.add_function(wrap_pyfunction!(table_integers, module)?)?;
    module.add_function(wrap_pyfunction!(table_rows, module)?)?;
    module.add_function(wrap_pyfunction!(write_table, module)?)?;
    module.add_class::<TableWriter>()?;
    module.add_function(wrap_pyfunction!(format_rows, module)?)?;
    Ok(())
}

"""The way of a program through a compiler of the user's own.

The compiler runs in stretches. Before the first, the program's text is tagged with the places of
its statements; between two, the compiler prints the program, one of our passes works on that
text, and the compiler goes on with it. Where our passes belong is told in `rust/src/plan.rs`, of
which `_with_ours` is the twin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope.calyx._copies import plain, write_copies
from cyclescope.calyx._own._blocks import (
    note_blocks,
    note_repeats,
    probe_blocks,
    probe_repeats,
    probe_static,
)
from cyclescope.calyx._own._encode import encode
from cyclescope.calyx._own._inline import note_invokes, tag_inlined, tag_split_groups
from cyclescope.calyx._own._notes import ELSE, PLACE, PROBE, Design, Notes, is_constant
from cyclescope.calyx._own._probe import drop_unused, instrument, note_cells
from cyclescope.calyx._syntax import (
    Assignment,
    ComponentText,
    Extern,
    GroupText,
    PrimitiveText,
    Statement,
    SyntaxFile,
    walk,
)
from cyclescope.calyx._syntax_print import print_syntax
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from cyclescope.calyx._own._compiler import OwnCompiler, RefusalError
    from cyclescope.calyx._text import ProgramText

__all__ = ["compile_instrumented", "compile_stock", "explain", "print_after"]

Pass = Callable[[Notes, Design], None]
Flags = tuple[str, ...]

_VALIDATION = ("well-formed", "papercut", "canonicalize")
_EMPTY = ("-p", "all", "-d", "all")  # how to ask for no pass at all


def compile_stock(
    compiler: OwnCompiler, path: Path, passes: Sequence[str], options: Sequence[str]
) -> tuple[str, dict[str, Any]]:
    """Verilog and a record without nodes, of the program as it is.

    Args:
        compiler: to use.
        path: the program.
        passes: a flat list.
        options: `-x` options.

    Raises:
        RefusalError: the compiler's.
    """
    flags = _flags(passes, options)
    verilog = compiler.run([str(path), *flags, "-b", "verilog", "--disable-verify"])
    final = Design(_read(compiler.run([str(path), *flags, "-b", "calyx"])))
    record: dict[str, Any] = {"nodes": [], "components": {}}
    return verilog, _facts(final, final.main, record, passes)


def print_after(
    compiler: OwnCompiler, path: Path, passes: Sequence[str], options: Sequence[str]
) -> bytes:
    """The program after some passes, as text that the built-in compiler reads.

    Raises:
        SourceError: what the compiler prints cannot be read.
        RefusalError: the compiler's.
    """
    printed = compiler.run([str(path), *_flags(passes, options), "-b", "calyx"])
    design = Design(_read(printed))
    for component in design.components:
        component.sort_groups()
        _refuse_no_cycles(component.text)
    return print_syntax(plain(design.file))


def compile_instrumented(
    compiler: OwnCompiler,
    texts: Mapping[Path, ProgramText],
    work: Path,
    passes: Sequence[str],
    options: Sequence[str],
) -> tuple[str, dict[str, Any]]:
    """Verilog with probes, and the record of what they mean.

    Args:
        compiler: to use.
        texts: the program's files, its main one first.
        work: a folder for what is handed to the compiler.
        passes: a flat list, disabled ones left out.
        options: `-x` options.

    Raises:
        SourceError: the program cannot be read, or its control not be followed.
        RefusalError: the compiler's.
    """
    notes = Notes([], {}, {})
    current = _tagged(notes, texts, work)
    stretches = list(_stretches(_with_ours(passes)))
    main = ""
    for number, (theirs, ours) in enumerate(stretches):
        if ours is None:
            break
        printed = compiler.run([str(current), *_flags(theirs, options), "-b", "calyx"])
        design = Design(_read(printed))
        main = main or design.main
        if PROBE not in design.primitives:
            design.file.items.insert(0, _probe_primitive())
            design = Design(design.file)
        for each in ours:
            each(notes, design)
        for component in design.components:
            component.sort_groups()
            _refuse_no_cycles(component.text)
        current = work / f"stretch{number}.futil"
        current.write_bytes(print_syntax(plain(design.file)))
    flags = [str(current), *_flags(stretches[-1][0], options)]
    verilog = compiler.run([*flags, "-b", "verilog", "--disable-verify"])
    final = Design(_read(compiler.run([*flags, "-b", "calyx"])))
    for component in final.components:
        entry = notes.component(component.name)
        entry["live"] = sorted(_driven(component.continuous, component.cells))
        entry["kept"] = list(component.cells)
    record = {"nodes": notes.nodes, "components": notes.components}
    return verilog, _facts(final, main or final.main, record, passes)


def _refuse_no_cycles(component: ComponentText) -> None:
    """A group without effect can be promoted to 0 cycles, which text cannot say."""
    groups = [(w.name, w.latency) for w in component.wires if isinstance(w, GroupText)]
    blocks = [(s.kind, s.latency) for s in walk(component.control or [])]
    for name, latency in groups + blocks:
        if latency == 0:
            raise SourceError(
                f"component {component.name}: the compiler made {name} static with 0 cycles, which"
                " Calyx's text cannot say; leave that pass out (-d static-promotion), or use the"
                " built-in compiler"
            )


def _driven(continuous: Sequence[Assignment], cells: Mapping[str, Any]) -> set[str]:
    """The probes that something other than 0 drives."""
    found = set()
    for assignment in continuous:
        cell, dot, _ = assignment.dst.partition(".")
        probe = dot and cell in cells and cells[cell].type == PROBE
        if probe and not is_constant(assignment.src, 0):
            found.add(cell)
    return found


def _facts(
    final: Design, main: str, record: dict[str, Any], passes: Sequence[str]
) -> dict[str, Any]:
    memories = [
        (cell.name, cell.type, [int(a) for a in cell.args])
        for component in final.components
        for cell in component.text.cells
        if "external" in cell.attributes and "mem" in cell.type
        and not final.is_component(cell.type)
    ]  # fmt: skip
    return {
        "main": main,
        "top": final.main,
        "record": record,
        "memories": memories,
        "passes": list(passes),
        "foreign": list(_foreign(final)),
    }


def _foreign(final: Design) -> Iterator[tuple[str, str]]:
    """Verilog that the compiler did not write: of other files, and in the program's text."""
    for item in final.file.items:
        if isinstance(item, Extern):
            with suppress(OSError):
                yield item.path, Path(item.path).read_text("utf-8", "replace")
        elif isinstance(item, PrimitiveText):
            yield f"primitive {item.name}", item.body or ""


def _flags(passes: Sequence[str], options: Sequence[str]) -> Flags:
    chosen = tuple(word for name in passes for word in ("-p", name)) or _EMPTY
    named = {name.split(":")[0] for name in options}
    extra = tuple(
        word
        for option in options
        if not named.isdisjoint(passes) and option.split(":")[0] in passes
        for word in ("-x", option)
    )
    return (*chosen, *extra)


def _read(printed: str) -> SyntaxFile:
    return read_syntax(printed.encode(), "the compiler's output")


def _probe_primitive() -> PrimitiveText:
    port = read_syntax(f"primitive {PROBE}(in: 1) -> () {{ }}".encode(), "probe").items[0]
    assert isinstance(port, PrimitiveText)
    return port


# The source.


def _tagged(notes: Notes, texts: Mapping[Path, ProgramText], work: Path) -> Path:
    """Copies of a program's files in which statements say where they stand; gives the main one."""
    return write_copies(texts, work, lambda component, file: _tag(notes, component, file))


def _tag(notes: Notes, component: ComponentText, file: str) -> None:
    notes.declared[component.name] = (file, component.start)
    groups = notes.group_places.setdefault(component.name, {})
    for wire in component.wires:
        if isinstance(wire, GroupText):
            groups[wire.name] = (file, wire.start)
    for statement in walk(component.control or []):
        statement.attributes[PLACE] = len(notes.places)
        notes.places.append((file, statement.start))
        branch = statement.otherwise
        if branch and branch[0].kind == "empty" and branch[0].attributes:
            # The compiler prints no else-branch that is the empty statement, `@sync` or not.
            statement.otherwise = [Statement("seq", {ELSE: 1}, body=branch)]


# The plan.


def _with_ours(passes: Sequence[str]) -> list[str | Pass]:
    """Our passes among theirs, at the places where they are needed."""

    def first(names: Sequence[str]) -> int | None:
        return next((i for i, p in enumerate(passes) if p in names), None)

    start = next((i for i, p in enumerate(passes) if p not in _VALIDATION), len(passes))
    # Where a list leaves out a pass before which we would act, the next one takes its place.
    probes = next(
        (
            index
            for names in (
                ("compile-invoke",),
                ("static-inference", "static-promotion", "compile-repeat"),
                ("static-inline", "compile-static", "tdcc"),
            )
            if (index := first(names)) is not None
        ),
        None,
    )
    statics, share = first(["static-inline"]), first(["cell-share"])
    after: dict[str, Pass] = {
        "group2seq": tag_split_groups,
        "group2invoke": drop_unused,
        "inline": tag_inlined,
        "compile-repeat": probe_repeats,
        "tdcc": probe_blocks,
    }
    result: list[str | Pass] = []
    for index, name in enumerate(passes):
        before: list[tuple[bool, Pass]] = [
            (index == start, encode),
            (name == "inline", note_invokes),
            (share == index, note_cells),
            (probes == index, instrument),
            (statics == index, probe_static),
            (name == "compile-repeat", note_repeats),
            (name == "tdcc", note_blocks),
        ]
        result += [ours for wanted, ours in before if wanted]
        result.append(name)
        if name in after:
            result.append(after[name])
    return result


def _stretches(plan: Sequence[str | Pass]) -> Iterator[tuple[list[str], list[Pass] | None]]:
    """Passes of the compiler, and ours after them; None after the last."""
    theirs: list[str] = []
    ours: list[Pass] = []
    for step in plan:
        if isinstance(step, str):
            if ours:
                yield theirs, ours
                theirs, ours = [], []
            theirs.append(step)
        else:
            ours.append(step)
    if ours:
        yield theirs, ours
        theirs = []
    yield theirs, None


def explain(compiler: OwnCompiler, path: Path, refusal: RefusalError) -> SourceError:
    """A compiler's complaint as one line: where, what."""
    text = str(refusal)
    where = str(path)
    said = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in said if not line.startswith("[WARN")] or said[:1]
    panic = re.search(r"panicked at [^\n]*\n([^\n]*)", text)
    parse = re.search(
        r"Failed to parse `([^`]*)`.*?--> (?:.*?:)?(\d+):(\d+)\n.*\n\s*= (.*)", text, re.DOTALL
    )
    if parse:
        where = f"{parse[1]}:{parse[2]}:{parse[3]}"
        lines = parse[4].splitlines()
    elif panic:
        lines = [f"the compiler {compiler.path} stopped: {panic[1]}"]
    elif match := re.match(r"(?:Error: )?(\S*\.futil)$", lines[0]):
        where = match[1]
        place = re.match(r"(\d+)\s*\|", lines[1]) if len(lines) > 1 else None
        if place:
            where = f"{where}:{place[1]}"
        lines = [re.sub(r"^[\d\s]*\|\s*\^*\s*", "", line) for line in lines[2:]] or lines[1:]
    message = " ".join(line.removeprefix("Error: ") for line in lines)
    return SourceError(f"{where}: {message}")

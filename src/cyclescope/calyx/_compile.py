"""From a Calyx program to a design that can be run, by the real compiler."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope import _native
from cyclescope._files import scratch, unwritable
from cyclescope._stack import on_large_stack
from cyclescope.calyx._complaints import explain, explain_printed
from cyclescope.calyx._float import complete, write_float_library
from cyclescope.calyx._foreign import refuse_reaching_out
from cyclescope.calyx._record import (
    ComponentRecord,
    Record,
    probe_signal,
    read_record,
    register_signal,
)
from cyclescope.calyx._text import ProgramText, read_program
from cyclescope.errors import SourceError
from cyclescope.sim import CaptureModule, Design, Memory, Signal, current_trust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.calyx._own import OwnCompiler
    from cyclescope.calyx._source import CalyxOptions
    from cyclescope.model import Position

__all__ = ["Program", "compile_as", "compile_program", "list_passes"]


@dataclass(frozen=True)
class Program:
    """A compiled program.

    Attributes:
        path: its main file.
        design: Verilog, what to capture of it and its memories.
        record: what the probes mean; without instrumentation only names and memories.
        texts: the program's files by the path under which the compiler knows them.
    """

    path: Path
    design: Design
    record: Record
    texts: dict[str, ProgramText]

    def positions(self, file: str, offset: int) -> tuple[Position, ...]:
        """The positions of a statement, at every known level; empty if made by a pass."""
        text = self.texts.get(file)
        return text.positions(offset) if text else ()


def compile_program(
    path: Path,
    *,
    passes: Sequence[str] = ("all",),
    disable: Sequence[str] = (),
    options: Sequence[str] = (),
    instrument: bool = True,
    compiler: OwnCompiler | None = None,
    longer: Sequence[tuple[int, int, bool]] = (),
) -> Program:
    """Compile a program to Verilog.

    Args:
        path: the program (`.futil`).
        passes: passes and aliases to run, in order (`calyx -p`).
        disable: passes and aliases to leave out (`calyx -d`).
        options: options of single passes, `PASS:NAME[=VALUE]` (`calyx -x`).
        instrument: add probes; they move no cycle.
        compiler: to use instead of the built-in one.
        longer: statements by their numbers in the record of the instrumented program, the cycles
            that their groups take more, and whether the compiler fixes their lengths.

    Raises:
        SourceError: with file and line, whatever the compiler has against the program; it asks
            for other files or programs, and is not trusted.
        ToolError: the user's compiler cannot be run.
    """
    refuse = current_trust().refuse
    texts = read_program(path, bound=refuse)
    if compiler is None:
        verilog, facts, known = _built_in(path, texts, passes, disable, options, instrument, longer)
    else:
        verilog, facts = _by_own(compiler, path, texts, passes, disable, options, instrument)
        known = {str(file): text.as_written() for file, text in texts.items()}
    if refuse:
        refuse_reaching_out(path, _of_program(path, facts, compiler))
    if instrument and _instances(facts) > _MOST_INSTANCES:  # else the record does not tell
        raise SourceError(
            f"{path}: {facts.main} has more than {_MOST_INSTANCES:,} instances of components in it,"
            " more than can be simulated; use fewer"
        )
    design = Design(
        top=facts.top,
        sources={"design.sv": complete(verilog, path)},
        capture=_captures(facts) if instrument else (),
        memories=tuple(_memory(name, params) for name, _, params in facts.memories),
    )
    return Program(path=path, design=design, record=facts, texts=known)


_MOST_INSTANCES = 1 << 15  # each takes a millisecond or two: to build, to simulate, to draw


def _instances(facts: Record) -> int:
    """The number of instances of components in the program, the main one included."""
    counts: dict[str, int] = {}
    waiting = [facts.main]
    while waiting:
        name = waiting[-1]
        inner = [cell.type for cell in facts.components[name].cells]
        inner = [kind for kind in inner if kind in facts.components]
        unknown = [kind for kind in inner if kind not in counts]
        if unknown:
            waiting += unknown
            continue
        counts[waiting.pop()] = 1 + sum(counts[kind] for kind in inner)
    return counts[facts.main]


def _of_program(
    path: Path, facts: Record, compiler: OwnCompiler | None
) -> tuple[tuple[str, str], ...]:
    """Verilog that came with the program: not the library of a compiler that the user named."""
    if compiler is None:
        return facts.foreign
    folder = path.resolve().parent
    return tuple(
        (name, text)
        for name, text in facts.foreign
        if name.startswith("primitive ") or Path(name).resolve().is_relative_to(folder)
    )


def compile_as(
    path: Path,
    options: CalyxOptions,
    *,
    instrument: bool,
    longer: Sequence[tuple[int, int, bool]] = (),
) -> Program:
    """Compile a program as some options say; the rest, and the errors, as of `compile_program`."""
    return compile_program(
        path,
        passes=options.passes,
        disable=options.disable,
        options=options.options,
        instrument=instrument,
        compiler=options.compiler,
        longer=longer,
    )


def _built_in(
    path: Path,
    texts: dict[Path, ProgramText],
    passes: Sequence[str],
    disable: Sequence[str],
    options: Sequence[str],
    instrument: bool,
    longer: Sequence[tuple[int, int, bool]],
) -> tuple[str, Record, dict[str, ProgramText]]:
    """By the compiler in this process: Verilog, record, files by the names that it knows."""
    with scratch("calyx") as work:
        library = work / "library"
        try:
            _native.write_library(library)
            write_float_library(library)
        except (_native.CompileError, OSError) as error:
            reason = error if isinstance(error, OSError) else str(error)
            raise unwritable(library, reason) from None
        known = {str(file): text for file, text in texts.items()}
        replacements: dict[Path, Path] = {}
        for number, text in enumerate(texts.values()):
            if text.cleaned:
                copy = work / f"{number}.futil"
                copy.write_bytes(text.clean)
                replacements[text.path] = copy
                known[str(copy)] = text
        try:
            verilog, record = on_large_stack(
                _native.compile, path, library, work, replacements, list(passes), list(disable),
                list(options), instrument, current_trust().refuse,
                *([list(longer)] if longer else []),
            )  # fmt: skip
        except _native.CompileError as error:
            message, file, offset = error.args
            message = message.replace(f"({library})", "")
            raise SourceError(explain(path, known, message, file, offset)) from None
    return verilog, read_record(record), known


def _by_own(
    compiler: OwnCompiler,
    path: Path,
    texts: dict[Path, ProgramText],
    passes: Sequence[str],
    disable: Sequence[str],
    options: Sequence[str],
    instrument: bool,
) -> tuple[str, Record]:
    """By a compiler of the user's."""
    from cyclescope.calyx._own import RefusalError, compile_instrumented, compile_stock

    without = set(compiler.passes(disable))
    chosen = [name for name in compiler.passes(passes) if name not in without]
    try:
        # What it has against the program as written is what helps; and where it refuses that, a
        # program with probes that it takes is another one.
        verilog, record = compile_stock(compiler, path, chosen, options)
    except RefusalError as refusal:
        raise explain_printed(path, str(refusal), compiler.path) from None
    if not instrument:
        return verilog, record
    try:
        with scratch("calyx") as folder:
            return compile_instrumented(compiler, texts, folder, chosen, options)
    except RefusalError as refusal:
        said = re.sub(r"\S*stretch\d+\.futil(:\d+)?", str(path), str(refusal))
        hint = "; it takes the program without probes: please report this program"
        raise SourceError(f"{explain_printed(path, said, compiler.path)}{hint}") from None


def list_passes() -> str:
    """All passes and aliases with their options, as text."""
    return _native.pass_help()


def _captures(record: Record) -> tuple[CaptureModule, ...]:
    captures = []
    for name, component in record.components.items():
        signals = _signals(component)
        if signals:
            captures.append(CaptureModule(name, signals))
    return tuple(captures)


def _signals(component: ComponentRecord) -> tuple[Signal, ...]:
    probes = sorted(component.live - component.formulas.probes.keys())
    wanted = {probe_signal(probe): 1 for probe in probes}
    wanted |= {register_signal(r.name): r.width for r in component.registers}
    wanted |= dict(component.formulas.signals)
    return tuple(Signal(name, width) for name, width in wanted.items())


def _memory(name: str, params: tuple[int, ...]) -> Memory:
    # comb_mem_dN and seq_mem_dN: width, N sizes, N index widths.
    dimensions = (len(params) - 1) // 2
    return Memory(name, params[0], params[1 : 1 + dimensions])

"""The way of a program through a compiler of the user's own.

The compiler runs in segments. Before the first, the program's text is tagged with the places of
its statements; between two, the compiler prints the program, those of our passes whose place this
is (`rust/src/plan.rs`) work on what is printed, and the compiler goes on with the result.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from cyclescope import _native
from cyclescope._files import scratch
from cyclescope._stack import on_large_stack
from cyclescope.calyx._copies import for_release, write_copies
from cyclescope.calyx._record import Record, read_record
from cyclescope.calyx._syntax import ComponentText, Fsm, GroupText, Statement, walk
from cyclescope.calyx._syntax_print import print_syntax
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cyclescope.calyx._own._compiler import OwnCompiler
    from cyclescope.calyx._text import ProgramText

__all__ = ["compile_instrumented", "compile_stock", "print_after"]

Flags = tuple[str, ...]

_EMPTY = ("-p", "all", "-d", "all")  # how to ask for no pass at all

# As in `rust/src/record.rs`.
_PLACE = "cyclescope_at"  # the place of a statement in the source
_ELSE = "cyclescope_else"  # a seq around an else-branch that a compiler would not print


def compile_stock(
    compiler: OwnCompiler, path: Path, passes: Sequence[str], options: Sequence[str]
) -> tuple[str, Record]:
    """Verilog and a record without nodes, of the program as it is.

    Args:
        compiler: to use.
        path: the program.
        passes: a flat list.
        options: `-x` options.

    Raises:
        RefusalError: the compiler's.
    """
    return _lowered(compiler, path, passes, options, _untouched(), passes)


def print_after(
    compiler: OwnCompiler, path: Path, passes: Sequence[str], options: Sequence[str]
) -> bytes:
    """The program after some passes, as text that the built-in compiler reads.

    Raises:
        SourceError: what the compiler prints cannot be read.
        RefusalError: the compiler's.
    """
    printed = _printed(compiler, path, passes, options)
    with scratch("calyx") as work:
        return _followed(printed, work / "printed.futil", _untouched().run, ()).encode()


def _untouched() -> _native.Instrumenter:
    """For a program that gets no probes."""
    return _native.Instrumenter([], {}, {})


def compile_instrumented(
    compiler: OwnCompiler,
    texts: Mapping[Path, ProgramText],
    work: Path,
    passes: Sequence[str],
    options: Sequence[str],
) -> tuple[str, Record]:
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
    tags = _Tags()
    current = write_copies(texts, work, tags.add)
    ours = _native.Instrumenter(tags.statements, tags.components, tags.groups)
    theirs: list[str] = []
    steps = _native.instrumented_passes(list(passes))
    for number, (is_ours, group) in enumerate(groupby(steps, key=lambda step: step[1])):
        names = [name for name, _ in group]
        if not is_ours:
            theirs = names
            continue
        printed = _printed(compiler, current, theirs, options)
        text = _followed(printed, work / f"printed{number}.futil", ours.run, names).encode()
        theirs = []
        current = work / f"stretch{number}.futil"
        current.write_bytes(tags.unwrapped(text) if tags.wrapped else text)
    return _lowered(compiler, current, theirs, options, ours, passes)


def _lowered(
    compiler: OwnCompiler,
    path: Path,
    last: Sequence[str],
    options: Sequence[str],
    ours: _native.Instrumenter,
    passes: Sequence[str],
) -> tuple[str, Record]:
    """Verilog after the last passes, and the record."""
    flags = _flags(last, options)
    verilog = compiler.run([str(path), *flags, "-b", "verilog", "--disable-verify"])
    printed = _printed(compiler, path, last, options)
    with scratch("calyx") as work:
        facts = _followed(printed, work / "lowered.futil", ours.finish, passes)
    return verilog, read_record(facts)


def _printed(
    compiler: OwnCompiler, path: Path, passes: Sequence[str], options: Sequence[str]
) -> bytes:
    """Print the program as the compiler has it after some passes."""
    return compiler.run([str(path), *_flags(passes, options), "-b", "calyx"]).encode()


def _followed(
    printed: bytes, file: Path, work: Callable[[Path, list[str]], str], passes: Sequence[str]
) -> str:
    """Run our passes on what a compiler printed.

    Most is read as it is; the rest is brought into the notation of release 0.7.1 first.

    Args:
        printed: the program.
        file: where to put it.
        work: reads the file.
        passes: told to `work`.

    Raises:
        SourceError: it cannot be followed.
    """
    try:
        file.write_bytes(printed)
        try:
            return on_large_stack(work, file, list(passes))
        except _native.UnreadableError:
            tree = read_syntax(printed, "the compiler's output")
            for item in tree.items:
                if isinstance(item, ComponentText):
                    _refuse_unsaid(item)
            file.write_bytes(print_syntax(for_release(tree)))
            return on_large_stack(work, file, list(passes))
    except _native.CompileError as error:
        message = " ".join(str(error.args[0]).split())
        raise SourceError(
            f"what this compiler prints cannot be followed: {message}; leave out the pass that"
            " makes it (-d), or use the built-in compiler"
        ) from None


class _Tags:
    """Numbers on a program's statements, which a compiler keeps, and their places.

    Attributes:
        statements: (file, byte offset) by number.
        components: the same of each component.
        groups: the same of each group, by component.
        wrapped: whether there are else-branches that the compiler would not print as they are.
    """

    def __init__(self) -> None:
        self.statements: list[tuple[str, int]] = []
        self.components: dict[str, tuple[str, int]] = {}
        self.groups: dict[str, dict[str, tuple[str, int]]] = {}
        self.wrapped = False

    def add(self, component: ComponentText, file: str) -> None:
        """Tag a component's statements."""
        self.components[component.name] = (file, component.start)
        self.groups[component.name] = {
            wire.name: (file, wire.start) for wire in component.wires if isinstance(wire, GroupText)
        }
        for statement in walk(component.control or []):
            statement.attributes[_PLACE] = len(self.statements)
            self.statements.append((file, statement.start))
            branch = statement.otherwise
            if branch and branch[0].kind == "empty" and branch[0].attributes:
                # The compiler prints no else-branch that is the empty statement, `@sync` or not.
                statement.otherwise = [Statement("seq", {_ELSE: 1}, body=branch)]
                self.wrapped = True

    def unwrapped(self, text: bytes) -> bytes:
        """A program's text with all else-branches as they were."""
        self.wrapped = False
        file = read_syntax(text, "the program with probes")
        for item in file.items:
            if isinstance(item, ComponentText):
                for statement in walk(item.control or []):
                    branch = statement.otherwise
                    if branch and _ELSE in branch[0].attributes:
                        statement.otherwise = branch[0].body
        return print_syntax(file)


def _refuse_unsaid(component: ComponentText) -> None:
    """Refuse what release 0.7.1 has no text for: blocks of 0 cycles, state machines."""
    groups = [(w.name, w.latency) for w in component.wires if isinstance(w, GroupText)]
    blocks = [(s.kind, s.latency) for s in walk(component.control or [])]
    # A group without effect can be promoted to 0 cycles.
    unsaid = [
        (f"{name} static with 0 cycles", "-d static-promotion")
        for name, latency in groups + blocks
        if latency == 0
    ]
    machines = [wire.name for wire in component.wires if isinstance(wire, Fsm)]
    unsaid += [(f"the state machine {name}", "fsm-opt and its like") for name in machines]
    for what, passes in unsaid:
        raise SourceError(
            f"component {component.name}: the compiler made {what}, which the text of Calyx"
            f" {_native.CALYX_VERSION} cannot say; leave that pass out ({passes}), or use the"
            " built-in compiler"
        )


def _flags(passes: Sequence[str], options: Sequence[str]) -> Flags:
    chosen = tuple(word for name in passes for word in ("-p", name)) or _EMPTY
    extra = tuple(
        word for option in options if option.split(":")[0] in passes for word in ("-x", option)
    )
    return (*chosen, *extra)

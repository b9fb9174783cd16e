"""A C kernel that is to be improved: its candidates, and how a changed text is measured."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._rewrites import Measured
from cyclescope.c import read_c
from cyclescope.errors import CyclescopeError, SourceError
from cyclescope.hls._compile import compile_c
from cyclescope.hls.rewrites._kernel import read_kernel
from cyclescope.hls.rewrites._list import REWRITERS, candidates_of
from cyclescope.hls.run import Host, differences, machine_of, measure

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from cyclescope._rewrites import Candidate, Rewrite
    from cyclescope.hls._compile import Program
    from cyclescope.hls.run import Native

__all__ = ["KernelSubject", "kernel_subject"]

_PERIOD = 1 << 16  # cycles between samples: only the run's length is asked for


@dataclass(frozen=True)
class KernelSubject:
    """A C program with a target region.

    Attributes:
        file: its path.
        original: its text.
        native: the run of the original without hardware: what results must be equal to.
        arguments: of its main function.
        defines: macros.
        include: folders of headers.
        region: a line of the region, if there are several.
        reassociate: results may differ in rounding, where sums are made in another order.
        limit: cycles after which a trial is stopped; None: none.
    """

    file: str
    original: bytes
    native: Native
    arguments: tuple[str, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    region: int | None = None
    reassociate: bool = False
    limit: int | None = None

    @property
    def rewrites(self) -> Sequence[Rewrite]:
        """All rewrites of C kernels."""
        return [one.rewrite for one in REWRITERS]

    def candidates(self, text: bytes) -> Sequence[Candidate]:
        """The candidates of a text.

        Raises:
            SourceError: the text cannot be read.
        """
        kernel = read_kernel(
            self.file, text, defines=self.defines, include=self.include, region=self.region
        )
        if kernel is None:
            return []
        return candidates_of(kernel, reassociate=self.reassociate)

    def measure(self, text: bytes) -> Measured:
        """Compile a text, run it, and compare its results with the original's native run."""
        try:
            program = self._compiled(text)
            result = measure(program, self.arguments, cycle_limit=self.limit, period=_PERIOD)
        except CyclescopeError as error:
            return Measured(str(error).splitlines()[0], 0)
        cycles = result.profile.cycles
        if not all(run.complete for run in result.runs):
            return Measured(f"slower: stopped after {cycles:,} cycles", cycles)
        if not result.agrees:
            found = result.differing or ("what it prints differs from a native run's",)
            return Measured(found[0], cycles)
        return Measured(self._difference(result.runs, result.stdout, result.status), cycles)

    def confirm(self, text: bytes) -> str:
        """Run a text natively as it is; gives what differs from the original, empty if nothing."""
        try:
            with Host(self._compiled(text)) as host:
                again = host.run(self.arguments, unmodified=True, times=len(self.native.reaches))
        except CyclescopeError as error:
            return str(error).splitlines()[0]
        return self._difference(again.reaches, again.stdout, again.status)

    def files(self) -> Mapping[str, bytes]:
        """The program and the headers beside and below it.

        Raises:
            SourceError: it cannot be read.
        """
        home = Path(self.file).resolve().parent
        text = self.original.decode("utf-8", "surrogateescape")
        unit = read_c(self.file, text=text, defines=self.defines, include=self.include)
        paths = {Path(name).resolve() for name in unit.sources}
        below = {path for path in paths if path.is_relative_to(home) and path.is_file()}
        found = {str(path.relative_to(home)): path.read_bytes() for path in below}
        return found | {Path(self.file).name: self.original}

    def at(self, folder: Path) -> KernelSubject:
        """The same program in another folder."""
        return replace(self, file=str(folder / Path(self.file).name))

    def cost(self, text: bytes) -> Mapping[str, int]:
        """The look-up tables, flip-flops, multipliers and memory blocks of the region's hardware.

        As it would be built, on the 7 series, without a profiling unit and the checks of a
        simulation.
        """
        from cyclescope.sim import on_xc7

        machine = machine_of(self._compiled(text), checks=False, unit=None)
        found = on_xc7("".join(machine.sources.values()), machine.name)
        return {name: getattr(found, name) for name in ("luts", "ffs", "dsps", "brams")}

    def _compiled(self, text: bytes) -> Program:
        return compile_c(
            self.file,
            text=text.decode("utf-8", "surrogateescape"),
            defines=self.defines,
            include=self.include,
            region=self.region,
        )

    def _difference(self, reaches: Sequence[object], stdout: bytes, status: int) -> str:
        """The first difference of a run from the original's native one; empty if there is none."""
        program = self._compiled(self.original)
        for before, after in zip(self.native.reaches, reaches, strict=False):
            given = getattr(after, "arrays", None) or getattr(after, "outputs", {})
            # What the rewritten region doesn't use stays.
            there = {**before.inputs, **given}
            if found := differences(program, before.outputs, there):
                return found[0]
        if status != self.native.status:
            return f"ends with status {status}, not {self.native.status}"
        if stdout != self.native.stdout and not self.reassociate:
            return "prints something else than the original"
        return ""


def kernel_subject(
    file: str | os.PathLike[str],
    text: bytes,
    arguments: Sequence[str] = (),
    *,
    defines: Mapping[str, str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    region: int | None = None,
    reassociate: bool = False,
    limit: int | None = None,
) -> KernelSubject:
    """A kernel that is to be improved; runs it natively.

    Args:
        file: its path.
        text: its text.
        arguments: of its main function.
        defines: macros: name → value.
        include: folders of headers.
        region: a line of the region, if there are several.
        reassociate: results may differ in rounding.
        limit: cycles after which a trial is stopped.

    Raises:
        SourceError: it cannot be read, or has no main function.
        RunError: its native run goes wrong.
        ToolError: there is no C compiler, or it refuses the text.
    """
    folders = tuple(map(str, include))
    known = dict(defines or {})
    decoded = text.decode("utf-8", "surrogateescape")
    program = compile_c(file, text=decoded, defines=known, include=folders, region=region)
    with Host(program) as host:
        native = host.run(tuple(arguments), unmodified=True, times=16)
    if not native.reaches:
        raise SourceError(f"{file}: its host does not reach the region")
    return KernelSubject(
        str(file), text, native, tuple(arguments), known, folders, region, reassociate, limit
    )

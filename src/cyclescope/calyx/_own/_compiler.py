"""A Calyx compiler of the user's own: a program that is run, asked for its passes and for text."""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._files import scratch
from cyclescope.errors import SourceError, ToolError
from cyclescope.sim import finish, foreign_compiler

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from cyclescope.sim import Finished

__all__ = ["OwnCompiler", "RefusalError", "find_own_compiler"]

_ALIAS = re.compile(r"^- ([\w-]+):\s*(.*)$")


class RefusalError(Exception):
    """The compiler ended with an error; the argument is what it said."""


@dataclass(frozen=True)
class OwnCompiler:
    """A compiler with the command line of `calyx`.

    Attributes:
        path: the program.
        version: what it says of itself.
        library: where its primitives are; None for where it looks by itself.
    """

    path: Path
    version: str
    library: Path | None = None

    def run(self, arguments: Iterable[str]) -> str:
        """Run it; gives what it prints.

        Raises:
            RefusalError: it ended with an error.
            ToolError: it cannot be run or does not end.
        """
        command = [str(self.path), *arguments]
        if self.library is not None:
            command += ["-l", str(self.library)]
        done = _call(command, self.path)
        if done.end.status:
            text = done.stderr.decode(errors="replace") or done.stdout.decode(errors="replace")
            raise RefusalError(text.strip() or f"it ended with status {done.end.status}")
        return done.stdout.decode(errors="replace")

    @cached_property
    def aliases(self) -> dict[str, tuple[str, ...]]:
        """Its pass aliases, and each pass under its own name."""
        try:
            text = _call([str(self.path), "pass-help"], self.path).stdout.decode(errors="replace")
        except RefusalError as error:
            raise ToolError(f"{self.path}: does not list its passes: {error}") from None
        known: dict[str, tuple[str, ...]] = {}
        in_aliases = False
        for line in text.splitlines():
            in_aliases = in_aliases or line.strip() == "Aliases:"
            found = _ALIAS.match(line)
            if found and in_aliases:
                known[found[1]] = tuple(p.strip() for p in found[2].split(",") if p.strip())
            elif found:
                known[found[1]] = (found[1],)
        if "tdcc" not in known or "all" not in known:
            raise ToolError(
                f"{self.path}: does not list its passes as a Calyx compiler does (`pass-help`);"
                " name the program `calyx` of a Calyx release or of its main branch"
            )
        return known

    def passes(self, names: Sequence[str]) -> list[str]:
        """A flat list of passes for passes and aliases.

        Raises:
            SourceError: it has no pass of that name.
        """
        flat: list[str] = []
        for name in names:
            if name not in self.aliases:
                raise SourceError(
                    f"unknown pass or alias `{name}`; see `{self.path} pass-help` for those of"
                    " this compiler"
                )
            flat += self.aliases[name]
        return flat

    @property
    def digest(self) -> str:
        """SHA-256 of the program: its version number alone says too little."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()


def find_own_compiler(name: str | os.PathLike[str], library: Path | None = None) -> OwnCompiler:
    """The compiler of that path, or of that name on PATH.

    Raises:
        ToolError: there is none, or it is no Calyx compiler.
    """
    found = shutil.which(name)
    if found is None:
        raise ToolError(
            f"{name}: not a program that can be run; give the path of a Calyx compiler"
            " (--compiler, or CALYX in the environment)"
        )
    path = Path(found).absolute()
    if library is not None and not library.is_dir():
        raise ToolError(f"{library}: no such folder; name the one that contains `primitives/`")
    done = _call([str(path), "--version"], path)
    said = done.stdout.decode(errors="replace").strip().splitlines()
    version = re.search(r"[Cc]alyx.*?\b(\d+\.\d+[\w.+-]*)", said[0]) if said else None
    if done.end.status or version is None:
        raise ToolError(f"{path}: is not a Calyx compiler (by its --version); name another")
    return OwnCompiler(path, version[1], library.absolute() if library else None)


def _call(command: Sequence[str], path: Path) -> Finished:
    with scratch("compiler") as own:
        try:
            done = finish(command, foreign_compiler(own))
        except OSError as error:
            raise ToolError(f"{path}: cannot be run: {error.strerror or error}") from error
    if done.end.exceeded:
        raise ToolError(f"{path}: it {done.end.exceeded}; try fewer passes")
    return done

"""The user's own program, with the kernel's calls marked: what it passes is what is profiled.

Each file is preprocessed, the marks are set where the kernel's body begins, and the whole is
compiled and linked with the program that runs the kernel with time stamps. A kernel without a
`main` gets one that makes its values up.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.bounds._counters import reached
from cyclescope.bounds._forms import literal
from cyclescope.c import Name, Scalar, Struct, Void, body_start, expressions
from cyclescope.errors import SourceError
from cyclescope.sim import call, find_compiler

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cyclescope.bounds._network import Network
    from cyclescope.c import Function, Unit, Variable
    from cyclescope.errors import ToolError

__all__ = ["FLAGS", "Host", "makes_up"]

# Values must be those of a plain build: no contraction, no fast mathematics.
FLAGS = ("-std=gnu11", "-ffp-contract=off", "-fwrapv", "-w", "-g0")

_MARK = """{{
if (!cyclescope_inside) {{
void *cyclescope_args[] = {{{addresses}0}};
cyclescope_inside = 1;
cyclescope_before(cyclescope_args);
{call}
cyclescope_inside = 0;
return{result};
}}
}}
"""
_DECLARED = """extern int cyclescope_inside;
void cyclescope_before(void **);
void cyclescope_after(void **, void *);
"""


class Host:
    """The files of a program, ready to be compiled.

    Args:
        files: the C files.
        unit: what they hold, linked.
        kernel: the function to profile.
        defines: macros.
        include: header folders.
        text: of the first file, if it isn't to be read.
    """

    def __init__(
        self,
        files: Sequence[Path],
        unit: Unit,
        kernel: Function,
        *,
        defines: Mapping[str, str],
        include: Sequence[str],
        text: str | None = None,
    ) -> None:
        self.files = tuple(files)
        self.unit = unit
        self.kernel = kernel
        self.text = text
        self._flags = [f"-D{k}={v}" for k, v in defines.items()]
        self._flags += [f"-I{Path(folder).absolute()}" for folder in include]
        # What its compiler, and the program itself, may read.
        self.folders = [*(Path(f) for f in include), *(f.absolute().parent for f in self.files)]

    def readable(self, arguments: Sequence[str]) -> list[Path]:
        """The paths that the program may read: its folders, the current one, given files."""
        named = [path for word in arguments if (path := Path(word)).exists()]
        return [Path.cwd(), *self.folders, *named]

    def compile(self, folder: Path, made_up: Network | None = None) -> list[Path]:
        """Object files of the program with its marks, in a folder.

        Args:
            folder: where to put them.
            made_up: the network, if its `main` is to be made up.

        Raises:
            ToolError: no compiler, or a file does not compile with the system's headers.
        """
        compiler = find_compiler()
        objects = []
        wanted = _globals(self.unit, self.kernel)
        for number, file in enumerate(self.files):
            source, output = folder / f"user{number}.c", folder / f"user{number}.o"
            given = str(file.absolute())
            flags = list(self._flags)
            if self.text is not None and number == 0:
                given = str(folder / f"text{number}.c")
                Path(given).write_text(self.text, encoding="utf-8", errors="surrogateescape")
                flags.append(f"-I{file.parent}")
            command = [*compiler.command, "-x", "c", *FLAGS, *flags, "-E", given]
            command += ["-o", str(source)]
            what = f"{compiler.command[0]}: {file}"
            call(command, what=what, own=folder, read=self.folders, makes=source)
            raw = source.read_bytes()
            seen = [v.name for v in wanted.values() if Path(v.where.file) == file]
            source.write_bytes(self._marked(raw, made_up) + _told(seen))
            command = [*compiler.command, "-x", "c", *FLAGS, "-O2", "-c", str(source)]
            command += ["-ffunction-sections", "-o", str(output)]
            call(command, what=what, own=folder, makes=output)
            objects.append(output)
        return objects

    def _marked(self, raw: bytes, made_up: Network | None) -> bytes:
        text = raw.decode("utf-8", "surrogateescape")
        at = body_start(raw.decode("utf-8", "replace"), self.kernel.name)
        if at is None:
            return raw
        names = [param.name for param in self.kernel.params]
        itself = f"{self.kernel.name}({', '.join(names)})"
        empty = isinstance(self.kernel.result, Void)
        if empty:
            step = f"{itself}; cyclescope_after(cyclescope_args, 0);"
        else:
            step = f"__typeof__({itself}) cyclescope_result = {itself}; "
            step += "cyclescope_after(cyclescope_args, (void *)&cyclescope_result);"
        mark = _MARK.format(
            addresses="".join(f"(void *)&{name}, " for name in names),
            call=step,
            result="" if empty else " cyclescope_result",
        )
        mark = " ".join(mark.split())
        own = {Path(file) for file in self.files}
        wanted = _globals(self.unit, self.kernel)
        rest = [v.name for v in wanted.values() if Path(v.where.file) not in own]  # a header's
        end = self._main(made_up) if made_up is not None else []
        begin = " ".join(_DECLARED.split()) + "\n"
        raw_at = len(raw[:at])
        marked = raw[:raw_at] + mark.encode() + raw[raw_at:]
        del text
        return begin.encode() + marked + _told(rest) + ("\n".join(end) + "\n").encode()

    def _main(self, network: Network) -> list[str]:
        """A `main` that calls the kernel with values that are made up."""
        memories = {m.parameter: m for m in network.memories if m.parameter >= 0}
        lines = ["extern void cyclescope_make_up(void **);", "int main(void) {"]
        passed, addresses = [], []
        for number, param in enumerate(self.kernel.params):
            size = memories[number].size if number in memories else 1
            memory = f"static unsigned char b{number}[{size}] __attribute__((aligned(64)));"
            if isinstance(param.type, Struct):
                # Its type is that of a variable declared as the parameter is.
                lines.append(f"{memory} {self.unit.text(param.where)};")
                passed.append(f"*(__typeof__({param.name}) *)b{number}")
                addresses.append(f"(void *)b{number}")
                continue
            if isinstance(param.type, Scalar):
                value = network.scalars.get(param.name, 1.5)
                lines.append(f"{param.type} a{number} = {literal(value, param.type)};")
            else:
                lines.append(f"{memory} void *a{number} = b{number};")
            passed.append(f"a{number}")
            addresses.append(f"(void *)&a{number}")
        lines.append(f"void *args[] = {{{', '.join([*addresses, '0'])}}};")
        lines.append("cyclescope_make_up(args);")
        lines.append(f"{self.kernel.name}({', '.join(passed)}); return 0; }}")
        return lines


def makes_up(unit: Unit) -> bool:
    """Return whether a program has no `main`, so that its kernel's values must be made up."""
    main = unit.functions.get("main")
    return main is None or main.body is None


def _told(names: Iterable[str]) -> bytes:
    """Functions that tell where globals are, behind a file's text."""
    lines = [f"void *cyclescope_global_{n}(void) {{ return (void *)&{n}; }}\n" for n in names]
    return b"\n" + "".join(lines).encode()


def _globals(unit: Unit, kernel: Function) -> dict[str, Variable]:
    """The globals that a kernel and what it calls name."""
    found: dict[str, Variable] = {}
    for function in reached(unit, kernel):
        for node in expressions(function.body):
            if isinstance(node, Name) and node.variable.scope == "global":
                variable = found.setdefault(node.variable.name, node.variable)
                if variable is not node.variable:
                    raise SourceError(
                        f"{node.where}: {variable.name}, which is another variable in "
                        f"{variable.where}, is not supported here; rename one of them"
                    )
    return found


def undefined(error: ToolError) -> str:
    """The first name that a linker says is defined nowhere, empty if it says no such thing."""
    words = str(error)
    for before in ("undefined reference to `", "undefined symbol: "):
        if before in words:
            return words.split(before, 1)[1].split("'")[0].split()[0]
    return ""

"""Everything that cyclescope reads, as formats to try inputs on: seeds of ours, and a reader.

`scripts/fuzz.py` invents inputs, `test_inputs.py` reads those that are kept. A format of several
files has them one behind the other, with `MARK` between.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import zipfile
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from cyclescope.bounds._network import Network
    from cyclescope.traces.wave._stored import StoredFile

ROOT = Path(__file__).resolve().parents[2]
MARK = b"\n%%%% next file %%%%\n"
# What a number in a text may have become.
NUMBERS = [b"0", b"-1", b"1", b"2147483648", b"9223372036854775807", b"18446744073709551616",
           b"1e999", b"1e999999999", b"-1e-999999999", b"9" * 5000, b"0x" + b"f" * 5000, b"nan",
           b"inf", "\u00b2".encode(), "\u0663".encode()]  # fmt: skip
KEPT = Path(__file__).parent / "inputs"
TABLES = (
    "frames", "paths", "trees", "runs", "counters", "banks", "values", "sources", "areas", "order",
    "states",
)  # fmt: skip


@dataclass(frozen=True)
class Format:
    """One kind of input.

    Attributes:
        files: names of the files that an input becomes.
        read: reads them as the command line does; given the folder that they are in.
        seeds: globs below the project's folder; for several files, of the first.
        invented: further seeds.
    """

    files: tuple[str, ...]
    read: Callable[[Path], object]
    seeds: tuple[str, ...] = ()
    invented: tuple[bytes, ...] = ()

    def lay(self, data: bytes, folder: Path) -> None:
        """Write an input's files."""
        parts = data.split(MARK, len(self.files) - 1)
        parts += [b""] * (len(self.files) - len(parts))
        for name, part in zip(self.files, parts, strict=True):
            (folder / name).write_bytes(part)


def run(*arguments: str | Path) -> None:
    """A verb; what it raises is not told but raised."""
    import click

    from cyclescope.cli import program

    with suppress(click.ClickException, click.exceptions.Exit, click.exceptions.Abort):
        program.main([str(part) for part in arguments], standalone_mode=False)


def read_profile(folder: Path) -> None:
    from cyclescope.model import load

    load(folder / "input.cyc")


MEMBERS = ("head.json", *(f"{table}.parquet" for table in TABLES))


def read_members(folder: Path) -> None:
    """The members of a profile, in a sound zip."""
    parts = (folder / "members").read_bytes().split(MARK)
    with zipfile.ZipFile(folder / "input.cyc", "w") as archive:
        for name, part in zip(MEMBERS, parts, strict=False):
            if part:
                archive.writestr(name, part)
    read_profile(folder)


VIEWS: tuple[tuple[str, ...], ...] = (
    ("summary", "P"),
    ("summary", "P", "--format", "json"),
    ("report", "P", "-o", "O.html"),
    *(("table", "P", kind) for kind in ("cells", "groups", "control", "primitives")),
    *(("table", "P", kind) for kind in ("processes", "threads", "states", "team", "waits")),
    ("table", "P", "lines"),
    ("source", "P"),
    ("area", "P"),
    ("flamegraph", "P", "-o", "O.svg"),
    ("timeline", "P", "-o", "O.pftrace"),
    *(("export", "P", "--format", f, "-o", "O.x") for f in ("folded", "speedscope", "csv")),
    ("export", "P", "--format", "paraver", "-o", "O.prv"),
    ("diff", "P", "P"),
    ("check", "P", "--budget", "cycles<=1000"),
    ("advise", "P"),
    ("ladder", "P"),
)


def read_views(folder: Path) -> None:
    """A profile whose tables are given as text, seen by every view in turn."""
    import polars as pl

    from cyclescope.model import load

    data = (folder / "profile.json").read_bytes()
    try:
        given = json.loads(data)
        with zipfile.ZipFile(folder / "P", "w") as archive:
            archive.writestr("head.json", json.dumps(given["head"]))
            for table, columns in given["tables"].items():
                stream = io.BytesIO()
                pl.DataFrame(columns, schema=_schema()[table]).write_parquet(stream)
                archive.writestr(f"{table}.parquet", stream.getvalue())
    except Exception:  # noqa: BLE001 - no profile comes of it: nothing is read
        return
    profile = load(folder / "P")
    if profile.cycles > 10**9 or len(profile.schedule.segments) > 10**5:
        return  # pictures of those take their time
    view = VIEWS[zlib.crc32(data) % len(VIEWS)]
    here = Path.cwd()
    os.chdir(folder)
    try:
        run(*view, *(("--force",) if "-o" in view else ()))
    finally:
        os.chdir(here)


def read_calyx(folder: Path) -> None:
    from cyclescope.calyx._compile import compile_program

    compile_program(folder / "input.futil")


def read_kernel(folder: Path) -> None:
    from cyclescope.bounds._run import prepare

    prepare(folder / "input.c", kernel="k")


def read_openmp(folder: Path) -> None:
    from cyclescope.hls import compile_c

    compile_c(folder / "input.c", include=[ROOT / "tests/hls/programs"])


def read_memories(folder: Path) -> None:
    from cyclescope.sim import Memory, read_data
    from cyclescope.sim._memory import encode_memory

    for name, entry in read_data(folder / "input.json").items():
        data = entry.get("data") if isinstance(entry, dict) else None
        size = len(data) if isinstance(data, list) else 4
        encode_memory(Memory(name, 32, (size,)), entry)


def read_expectation(folder: Path) -> None:
    from cyclescope.calyx import read_expected

    read_expected(folder / "input.json")


@cache
def _network() -> Network:
    from cyclescope.bounds._run import prepare

    text = "void k(int a[4], double b[2][3]) { for (int i = 0; i < 4; i++) a[i] += b[1][i % 3]; }"
    return prepare("k.c", text=text)[1]


def read_arrays(folder: Path) -> None:
    from cyclescope.bounds._contents import contents_of, made_up_values
    from cyclescope.cli._bounds import arrays

    data = arrays(folder / "input.json")
    made_up_values(_network(), data)
    contents_of(_network(), data)


def read_calibration(folder: Path) -> None:
    from cyclescope.bounds import read_calibration as read

    read(folder / "input.toml")


def read_log(folder: Path) -> None:
    from cyclescope.bounds._calibration import read_schedule_report

    read_schedule_report(folder / "input.log")


def read_model(folder: Path) -> None:
    from cyclescope.hls import read_memory_model

    read_memory_model(folder / "input.toml")


def read_costs(folder: Path) -> None:
    from cyclescope.sim import read_vivado

    read_vivado(folder / "input.rpt")


def read_study(folder: Path) -> None:
    from cyclescope.cli._sweep import _commands
    from cyclescope.studies import read_study as read

    read(folder / "input.toml", _commands())


@contextmanager
def _fork(file: StoredFile, request: dict[str, object]) -> Iterator[IO[bytes]]:
    """As `StoredFile._worker`, but by a fork: a tenth of a second less for each of its orders."""
    from cyclescope.traces.wave import _worker

    path = file.path if file._blocks is None else file._blocks.path
    with TemporaryFile() as answer, TemporaryFile() as order:
        limits = {"seconds": 10, "memory": 12 << 30, "path": str(path)}
        order.write(json.dumps({**request, **limits}).encode())
        order.seek(0)
        child = os.fork()
        if child == 0:
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
                os.dup2(answer.fileno(), 1)
                sys.stdin = os.fdopen(order.fileno())
                _worker.main()
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if status:
            raise file._refused("its reader broke down, or took too much memory or time")
        answer.seek(0)
        told = json.loads(answer.readline())
        if "refused" in told:
            raise file._refused(" ".join(str(told["refused"]).split())[:200])
        answer.seek(0)
        yield answer


def _read_stored(path: Path) -> None:
    from unittest.mock import patch

    from cyclescope.traces.wave._stored import StoredFile

    with patch.object(StoredFile, "_worker", _fork):
        _read_wave(path)


def _read_wave(path: Path) -> None:
    from cyclescope.traces import Limits, import_signals, list_signals
    from cyclescope.traces.wave import open_waveform

    few = Limits(seconds=10, memory_bytes=2 << 30, unpacked_bytes=1 << 28)
    list(list_signals(path, limits=few))
    names = [signal.full_name for signal in open_waveform(path, few).signals[:4]]
    if names:
        import_signals(path, names, limits=few)
        import_signals(path, names, names[0], limits=few)


def read_vcd(folder: Path) -> None:
    _read_wave(folder / "input.vcd")


def read_fst(folder: Path) -> None:
    _read_stored(folder / "input.fst")


def read_ghw(folder: Path) -> None:
    _read_stored(folder / "input.ghw")


def read_packed(folder: Path) -> None:
    _read_wave(folder / "input.vcd.gz")


PETAL = ("cells.json", "path-descriptors.json", "fsm.json", "ctrl-pos.json", "shared-cells.json")


def read_petal(folder: Path) -> None:
    from cyclescope.traces import import_petal

    import_petal(folder, folder / "run.vcd")


def read_paraver(folder: Path) -> None:
    from cyclescope.traces import import_paraver

    import_paraver(folder / "input.prv")


def read_dump(folder: Path) -> None:
    from cyclescope.hls import import_dump

    import_dump(folder / "input.bin", folder / "layout.json")


KERNEL = b"void k(int a[4]) { for (int i = 0; i < 4; i++) a[i] = a[i] + 1; }\n"
KERNELS = (
    KERNEL,
    b"#define N 6\nstatic float g[N] = {1, 2};\nvoid k(double a[N][N], int n, float *p) {\n"
    b"  double s = 0; L: for (int i = 1; i < N - 1; i += 2) for (int j = i; j <= n; j++) {\n"
    b"    if (a[i][j] > 0 && j != 2) s += a[i - 1][j] * g[j]; else a[i][j] = (s ? -s : p[i]);\n"
    b"  }\n  while (n-- > 0) p[n] = s; }\n",
    b"typedef struct { int x, y[2]; } P;\nstatic int f(int v) { return v < 2 ? v : v % 3; }\n"
    b"void k(P p[4], int o[4]) { for (int i = 0; i < 4; ++i) { switch (p[i].x) {\n"
    b"  case 0: o[i] = f(p[i].y[1]); break; default: o[i] = ~p[i].x << 1; } } }\n",
)
WAVE = (
    b"$timescale 1ns $end\n$scope module m $end\n$var wire 1 ! a $end\n$var wire 4 # b [3:0] $end\n"
    b"$upscope $end\n$enddefinitions $end\n#0\n0!\nb0 #\n#5\n1!\nb101 #\n#10\n0!\nbx1 #\n#15\n1!\n"
)
STUDY = b'[study]\ncommand = "calyx"\ninput = "p.futil"\n[space]\npass = ["all", "none"]\n'
RULES = (
    b'read = 1\nwrite = 2\nreorder = 4\nconstants = "free"\nconstant_latency = 1\ncopy = 2\n'
    b'[defines]\nN = 8\n[arguments]\nn = 8\n[operators.double]\nadd = 8\nmul = "7/2"\n'
    b"[sources]\nautomatic = false\nA = false\n"
    b"B = { latency = 1, interval = 1, ranges = [[0, 8]], skip = [[0, 7]] }\n[sinks]\nC = true\n"
    b'[[statement]]\nline = 12\nlabel = "s"\ntarget = "t"\nlatency = 18\ninterval = 1\n'
    b'ignore = ["C"]\n[tweak]\nreason = "x"\nread = 2\n'
)
MODEL = b"controller = 24\ncas = 2\nrefresh_interval = 1092\nrefresh = 49\nstall_one_in = 3\n"
LOG = b"INFO: Scheduling module 'proc4'\nINFO: Target II: 1, Final II: 1, Depth: 18.\n"
COSTS = (
    b"+----------+--------+------------+------+--------+--------+------+\n"
    b"| Instance | Module | Total LUTs | FFs  | RAMB36 | RAMB18 | DSPs |\n"
    b"+----------+--------+------------+------+--------+--------+------+\n"
    b"| main     |  (top) |        120 |   64 |      1 |      1 |    3 |\n"
    b"|   queue  |  fifo  |         70 |   33 |      1 |      1 |    0 |\n"
    b"+----------+--------+------------+------+--------+--------+------+\n"
)
MEMORY = b'{"m":{"data":[1,2,-3,4],"format":{"numeric_type":"bitnum","is_signed":true,"width":32}}}'
FIXED = (
    b'{"m":{"data":[1.5,2.25],"format":{"numeric_type":"fixed_point","is_signed":false,'
    b'"width":32,"int_width":16}}}'
)
TRACE = (
    b"#Paraver (01/01/2026 at 00:00):100:1(1):1:1(2:1)\n1:1:1:1:1:0:40:1\n1:1:1:1:1:40:100:2\n"
    b"2:1:1:1:1:50:7:3:8:4\n3:1:1:1:1:10:12:1:1:1:2:20:22:64:1\n"
)
NAMES = b"STATES\n0 Idle\n1 Running\n2 Spinning\n\nEVENT_TYPE\n0 7 Bytes\nVALUES\n3 three\n"
ROWS = b"LEVEL THREAD SIZE 2\nfirst\nsecond\n"


FORMATS: dict[str, Format] = {
    "profile": Format(("input.cyc",), read_profile),
    "members": Format(("members",), read_members),
    "views": Format(("profile.json",), read_views),
    "calyx": Format(
        ("input.futil",), read_calyx, ("examples/calyx/*.futil", "tests/calyx/programs/*.futil")
    ),
    "kernel": Format(("input.c",), read_kernel, (), KERNELS),
    "openmp": Format(("input.c",), read_openmp, ("examples/hls/*/*.c", "tests/hls/programs/*.c")),
    "memories": Format(("input.json",), read_memories, ("examples/calyx/*.json",), (MEMORY, FIXED)),
    "expected": Format(
        ("input.json",), read_expectation, (), (MEMORY, b'{"cycles":9,"memories":{"m":[1]}}')
    ),
    "arrays": Format(
        ("input.json",), read_arrays, (), (b'{"a":[1,2,3,4],"b":[[1,2.5,3],[4,5e3,-6]]}',)
    ),
    "calibration": Format(("input.toml",), read_calibration, ("examples/bounds/*.toml",), (RULES,)),
    "log": Format(("input.log",), read_log, (), (LOG,)),
    "model": Format(("input.toml",), read_model, (), (MODEL,)),
    "costs": Format(("input.rpt",), read_costs, (), (COSTS,)),
    "study": Format(("input.toml", "p.futil"), read_study, ("examples/**/*.toml",), (STUDY,)),
    "vcd": Format(("input.vcd",), read_vcd, ("tests/traces/data/**/*.vcd",), (WAVE,)),
    "fst": Format(("input.fst",), read_fst, ("tests/traces/data/**/*.fst",)),
    "ghw": Format(("input.ghw",), read_ghw, ("tests/traces/data/**/*.ghw",)),
    "packed": Format(("input.vcd.gz",), read_packed),
    "petal": Format((*PETAL, "run.vcd"), read_petal),
    "paraver": Format(
        ("input.prv", "input.pcf", "input.row"),
        read_paraver,
        (),
        (TRACE + MARK + NAMES + MARK + ROWS,),
    ),
    "dump": Format(("input.bin", "layout.json"), read_dump),
}
"""By name; those that one reader's process reads in turn."""


def seeds(name: str) -> list[bytes]:
    """The files that a format's inputs are made of: all ours."""
    form = FORMATS[name]
    found = list(form.invented)
    for pattern in form.seeds:
        found += [path.read_bytes() for path in sorted(ROOT.glob(pattern))]
    if name in _MADE:
        found += _MADE[name]()
    found += [path.read_bytes() for path in sorted((KEPT / name).glob("*"))]
    return [data for data in found if 0 < len(data) < 60_000]


@cache
def _profiles() -> tuple[bytes, ...]:
    """Profiles of a kernel, of threads, and of a recorded design."""
    from cyclescope.model import save
    from cyclescope.traces import import_paraver, import_petal

    made = []
    with _folder() as folder:
        (folder / "k.c").write_bytes(KERNEL)
        run("bounds", folder / "k.c", "-o", folder / "k.cyc")
        made.append((folder / "k.cyc").read_bytes())
        FORMATS["paraver"].lay(FORMATS["paraver"].invented[0], folder)
        save(import_paraver(folder / "input.prv"), folder / "t.cyc")
        made.append((folder / "t.cyc").read_bytes())
        recorded = ROOT / "tests/traces/data/petal/joints"
        save(import_petal(recorded), folder / "p.cyc")
        made.append((folder / "p.cyc").read_bytes())
    return tuple(made)


def _folder() -> AbstractContextManager[Path]:
    from cyclescope._files import scratch

    return scratch("seeds")


def _unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _members() -> list[bytes]:
    return [MARK.join(_unzipped(data).get(name, b"") for name in MEMBERS) for data in _profiles()]


@cache
def _schema() -> dict[str, object]:
    """The types of each table's columns."""
    import polars as pl

    found = {}
    for data in _profiles():
        for name, member in _unzipped(data).items():
            if name.endswith(".parquet"):
                found[name.removesuffix(".parquet")] = pl.read_parquet(io.BytesIO(member)).schema
    return found


def _texts() -> Iterator[bytes]:
    import polars as pl

    for data in _profiles():
        members = _unzipped(data)
        tables = {
            name.removesuffix(".parquet"): pl.read_parquet(io.BytesIO(member)).to_dict(
                as_series=False
            )
            for name, member in members.items()
            if name.endswith(".parquet")
        }
        tables.pop("sources", None)
        given = {"head": json.loads(members["head.json"]), "tables": tables}
        yield json.dumps(given, separators=(",", ":")).encode()


def _recordings() -> list[bytes]:
    import lzma

    return [
        MARK.join(
            [
                *((folder / name).read_bytes() for name in PETAL),
                lzma.decompress((folder / "run.vcd.xz").read_bytes()),
            ]
        )
        for folder in sorted((ROOT / "tests/traces/data/petal").iterdir())
        if (folder / "run.vcd.xz").is_file()
    ]


def _packed() -> list[bytes]:
    import gzip

    return [gzip.compress(WAVE, mtime=0), gzip.compress(WAVE * 3, 1, mtime=0)]


_MADE: dict[str, Callable[[], list[bytes]]] = {
    "profile": lambda: list(_profiles()),
    "members": _members,
    "views": lambda: list(_texts()),
    "petal": _recordings,
    "packed": _packed,
}

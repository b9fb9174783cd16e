"""Changes the code and sees whether the tests notice: `make mutants ROOM=PACKAGE`.

    python scripts/mutants.py PACKAGE [--count N|all] [--seed N] [--tests PATH …]

PACKAGE is a folder or a module below `src/cyclescope`, such as `model`, `hls/passes`, `_prv`. Its
tests are those in `TESTS`, else those in the folder of the same name below `tests`, else its
parent's. A mutant is the package with one operator, number or keyword replaced by another, as
cosmic-ray's operators do it; it is killed when a test fails, timed out when the tests take longer
than twice the counted run (see below) and ten seconds, and has survived otherwise. A survivor is
a test that is missing, or code that may as well be so: each is for a person to judge, so that the
exit status is 0 whatever survives.

Nothing of the tree changes: mutants are made in a copy of `src` in a temporary folder, with the
native module of the installed package, which comes first on `PYTHONPATH`; the tests' simulators
are built into a cache of their own, of which each mutant has a copy. First all tests run once, with
coverage in their own process: what they do not reach there is listed and has no mutants, so that
what only other processes run (a command that a test starts) is not judged. Against a mutant run
the tests that reach its statement, all of them where it runs while a module is loaded: most are
killed in seconds. Of N mutants each is at another place, chosen by the seed; `all` takes every
mutant of every place.

Annotations, what only type checkers read and decorators of classes (`frozen`, `slots`) are left
as they are: they declare.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import importlib.util
import os
import py_compile
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest
    from cosmic_ray.work_item import MutationSpec

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/cyclescope")
REACHING = "CYCLESCOPE_MUTANTS_REACHING"  # names the file of tests that reach the mutant
MEMORY = 8 << 30  # bytes of address space: a loop that no longer ends may append
# Where the convention (tests/PACKAGE, else its parent's) is not what tests the package.
TESTS = {
    "__main__": ["tests/cli/test_wrong_use.py", "tests/cli/test_streams.py"],
    "_address_space": ["tests/test_address_space.py"],
    "_files": ["tests/security/test_reading.py", "tests/model/test_file.py",
               "tests/cli/test_wrong_use.py", "tests/cli/test_limits.py"],
    "_prv": ["tests/paraver"],
    "_stack": ["tests/test_stack.py", "tests/security/test_reading.py"],
    "_visible": ["tests/security/test_names.py", "tests/views/test_text.py"],
    "analyse": ["tests/analyse", *(f"--ignore=tests/analyse/test_{slow}.py" for slow in
                ("followed", "rules_interpreter"))],
    "bounds": ["tests/bounds", "--ignore=tests/bounds/test_csmith.py",
               "--ignore=tests/bounds/test_programs.py"],
    "c": ["tests/c", "tests/hls/test_pragmas.py", "tests/hls/test_odd_pragmas.py"],
    "calyx": [f"tests/calyx/test_{name}.py" for name in
              ("area", "float", "formulas", "judge", "positions", "sources", "syntax", "text",
               "text_passes")],
    "cli": ["tests/cli", *(f"--ignore=tests/cli/test_{slow}.py" for slow in
            ("compilers", "limits", "signals", "streams"))],
    "errors": ["tests/test_errors.py", "tests/test_public.py"],
    "hls": ["tests/hls/test_form.py", "tests/hls/test_front.py", "tests/hls/test_refusals.py"],
    "hls/front": ["tests/hls/test_front.py", "tests/hls/test_pragmas.py",
                  "tests/hls/test_odd_pragmas.py", "tests/hls/test_refusals.py",
                  "tests/hls/test_rounding.py", "tests/hls/test_programs.py"],
    "hls/ir": ["tests/hls/test_form.py", "tests/hls/test_front.py", "tests/hls/test_random.py"],
    "hls/microarch": ["tests/hls/test_machine.py", "tests/hls/test_machine_local.py",
                      "tests/hls/test_machine_programs.py"],
    "hls/passes": ["tests/hls/test_form.py", "tests/hls/test_dependences.py",
                   "tests/hls/test_conflicts.py", "tests/hls/test_sites.py",
                   "tests/hls/test_refusals.py", "tests/hls/test_schedule.py"],
    "hls/run": ["tests/hls/test_host.py", "tests/hls/test_judges.py", "tests/hls/test_models.py",
                "tests/hls/test_machine_run.py", "tests/hls/test_profiled.py"],
    "hls/schedule": ["tests/hls/test_schedule.py", "tests/hls/test_dependences.py",
                     "tests/hls/test_conflicts.py", "tests/hls/test_sites.py"],
    "hls/trace": ["tests/hls/test_trace.py", "tests/hls/test_unit.py", "tests/hls/test_sites.py",
                  "tests/hls/test_profiled.py"],
    "notebook": ["tests/test_notebook.py"],
    "pytest_plugin": ["tests/cli/test_check.py"],
    "sim": ["tests/sim", "tests/security/test_kernels.py"],
    "traces": ["tests/traces", "tests/paraver"],
    "traces/paraver": ["tests/paraver"],
    "traces/petal": ["tests/traces/test_petal.py", "tests/traces/test_agreement.py"],
    "traces/wave": ["tests/traces/test_waveforms.py", "tests/traces/test_signals.py",
                    "tests/traces/test_producers.py", "tests/traces/test_agreement.py"],
    "views": ["tests/views", "--ignore-glob=*test_report_page*.py"],
}  # fmt: skip


# A plugin of pytest too (`-p mutants`): it says which test runs, and chooses.


def pytest_runtest_logstart(nodeid: str) -> None:
    """Count what follows for this test, where coverage counts."""
    if REACHING not in os.environ:
        import coverage

        if counting := coverage.Coverage.current():
            counting.switch_context(nodeid)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests that reach the mutant; all where none does: modules do, when they load."""
    if named := os.environ.get(REACHING):
        reaching = set(Path(named).read_text().splitlines())
        items[:] = [item for item in items if item.nodeid in reaching] or items


@dataclass(frozen=True)
class Statement:
    """Lines of a statement, of a compound one those before its body."""

    begin: int
    end: int


def statements(tree: ast.AST) -> Iterator[Statement]:
    """All statements, an inner one after that around it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            decorators = [one.lineno for one in getattr(node, "decorator_list", [])]
            body = getattr(node, "body", None)
            end = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            yield Statement(min([node.lineno, *decorators]), end)


def declared(tree: ast.AST) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """From where to where (line, column) the code only declares."""
    for node in ast.walk(tree):
        read: list[ast.AST | None] = []
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                read = [node.returns]
            case ast.arg() | ast.AnnAssign():
                read = [node.annotation]
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                read = [node.test, *node.body]
            case ast.ClassDef():
                read = [*node.decorator_list]
        for one in read:
            if isinstance(one, ast.expr | ast.stmt):
                yield (
                    (one.lineno, one.col_offset),
                    (one.end_lineno or one.lineno, one.end_col_offset or 0),
                )


@dataclass
class Place:
    """A place that can be mutated, in how many ways, and the tests that reach it."""

    file: Path
    mutations: list[MutationSpec]
    tests: set[str] = field(default_factory=set)
    reached: bool = False


def places(folder: Path, package: Path, counted: Path) -> list[Place]:
    """All places of a package, in the order of the code; `counted` is what coverage wrote."""
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import WorkDB, use_db
    from coverage import CoverageData

    reached = CoverageData(str(counted))
    reached.read()
    files = [package] if package.is_file() else sorted(package.rglob("*.py"))
    found: dict[tuple[Path, tuple[int, int], tuple[int, int]], Place] = {}
    with use_db(str(folder / "mutations.sqlite"), WorkDB.Mode.create) as mutations:
        init(files, mutations, {})
        for item in mutations.work_items:
            (one,) = item.mutations
            place = (one.module_path, one.start_pos, one.end_pos)
            found.setdefault(place, Place(one.module_path, [])).mutations.append(one)
    kept = []
    for file in files:
        tree = ast.parse(file.read_text())
        unread, inner = list(declared(tree)), {}
        for statement in statements(tree):
            inner |= dict.fromkeys(range(statement.begin, statement.end + 1), statement)
        lines = reached.contexts_by_lineno(str(file))
        for (where, begin, end), place in sorted(found.items(), key=lambda one: one[0]):
            if where != file or any(first <= begin and end <= last for first, last in unread):
                continue
            statement = inner.get(begin[0], Statement(begin[0], begin[0]))
            for line in range(statement.begin, statement.end + 1):
                place.reached |= line in lines
                place.tests |= {test for test in lines.get(line, []) if test}
            kept.append(place)
    return kept


def sample(
    found: list[Place], count: int | None, seed: int
) -> Iterator[tuple[Place, MutationSpec]]:
    """Mutants that are Python: `count` of them, each at another place, else all."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    rng = random.Random(seed)  # noqa: S311 - not for secrets
    rng.shuffle(found)
    left = count
    for place in found:
        rng.shuffle(place.mutations)
        for one in place.mutations:
            if left == 0:
                return
            operator = get_operator(one.operator_name)(**one.operator_args)
            code = mutate_code(place.file.read_text(), operator, one.occurrence)
            with suppress(SyntaxError):
                ast.parse(code)
                yield place, one
                if left is not None:
                    left -= 1
                    break


class Run:
    """The tests of a package on a copy of the sources."""

    def __init__(self, folder: Path, tests: list[str]) -> None:
        self.folder = folder
        self.source = folder / "src"
        native = importlib.util.find_spec("cyclescope._native")
        if native is None or native.origin is None:
            sys.exit("mutants: the package is not installed: make setup")
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        shutil.copytree(ROOT / "src", self.source, ignore=ignored)
        shutil.copy(native.origin, self.source / "cyclescope")
        # By time and size, the compiled file of one mutant could be taken for that of another.
        checked = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(self.source, quiet=1, invalidation_mode=checked)
        self.options = ["pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "mutants", *tests]
        self.cache = folder / "cache"
        for each in (self.cache, folder / "tmp"):
            each.mkdir()
        os.environ |= {
            "PYTHONPATH": f"{self.source}{os.pathsep}{ROOT / 'scripts'}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "CYCLESCOPE_CACHE": str(self.cache),
            "TMPDIR": str(folder / "tmp"),
        }
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))

    def counted(self) -> tuple[Path, float]:
        """Run without a mutant; what was reached, and how many seconds it took."""
        data, settings = self.folder / "reached", self.folder / "coverage.ini"
        settings.write_text(
            f"[run]\ndata_file = {data}\nparallel = true\nsource = {self.source / 'cyclescope'}\n"
        )
        count = [sys.executable, "-m", "coverage"]
        rc = f"--rcfile={settings}"
        begin = time.monotonic()
        done = subprocess.run(
            [*count, "run", rc, "-m", *self.options], capture_output=True, text=True, check=False
        )
        taken = time.monotonic() - begin
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}mutants: the tests fail without a mutant")
        subprocess.run([*count, "combine", "-q", rc], check=True, stdout=subprocess.DEVNULL)
        return data, taken

    def outcome(self, place: Place, mutation: MutationSpec, limit: float) -> tuple[str, str]:
        """`killed`, `survived` or `timed out`, and the change as a diff of its lines."""
        from cosmic_ray.mutating import mutate_and_test
        from cosmic_ray.work_item import TestOutcome, WorkerOutcome

        reaching = self.folder / "reaching"
        reaching.write_text("\n".join(sorted(place.tests)))
        with tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as own:
            shutil.copytree(self.cache, own, symlinks=True, dirs_exist_ok=True)
            os.environ |= {REACHING: str(reaching), "CYCLESCOPE_CACHE": own}
            command = shlex.join([sys.executable, "-m", *self.options])
            result = mutate_and_test([mutation], command, limit)
        if result.worker_outcome is not WorkerOutcome.NORMAL:
            sys.exit(f"mutants: cosmic-ray failed:\n{result.output}")
        changed = "\n".join(
            f"    {line}"
            for line in (result.diff or "").splitlines()
            if line.startswith(("-", "+")) and not line.startswith(("---", "+++"))
        )
        if result.test_outcome is TestOutcome.SURVIVED:
            return "survived", changed
        return "timed out" if result.output == "timeout" else "killed", changed


def tests_of(package: str) -> list[str]:
    """Files and folders with the tests of a package, relative to the tree."""
    for one in (Path(package), *Path(package).parents[:-1]):
        if known := TESTS.get(one.as_posix()):
            return known
        if (ROOT / "tests" / one).is_dir():
            return [f"tests/{one.as_posix()}"]
    sys.exit(f"mutants: no tests known for {package}: name them with --tests PATH")


def main() -> None:
    """Mutate, test, print the survivors and a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("package", help="a folder or module below src/cyclescope")
    parser.add_argument("--count", default="25", metavar="N|all", help="how many mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", nargs="+", help="test files or folders, instead of its own")
    asked = parser.parse_args()
    if asked.count != "all" and not asked.count.isdecimal():
        parser.error(f"--count is a number or `all`, not {asked.count}")
    package = asked.package.strip("/").removesuffix(".py")
    path = PACKAGE / package
    if not (ROOT / path).is_dir():
        path = path.with_suffix(".py")
    if not package or not (ROOT / path).exists():
        parser.error(f"no folder or module {package} in {PACKAGE}")
    if not (importlib.util.find_spec("cosmic_ray") and importlib.util.find_spec("coverage")):
        sys.exit("mutants: needs cosmic-ray and coverage: pip install --group mutants")
    tests = asked.tests or tests_of(package)
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the copy is removed
    table = dict.fromkeys(("killed", "survived", "timed out"), 0)
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        run = Run(folder, tests)
        data, taken = run.counted()
        found = places(folder, folder / path, data)
        reached = [place for place in found if place.reached]
        print(
            f"{path}, tests in {' '.join(tests)} ({taken:.0f} s with coverage): {len(reached)} of "
            f"{len(found)} places reached, {sum(len(one.mutations) for one in reached)} mutants",
            flush=True,
        )
        for file in sorted({place.file for place in found}):
            lines = {p.mutations[0].start_pos[0] for p in found if p.file == file and not p.reached}
            if lines:
                where = ", ".join(map(str, sorted(lines)))
                print(f"not reached: {file.relative_to(folder)}: {where}", flush=True)
        count = None if asked.count == "all" else int(asked.count)
        try:
            for place, mutation in sample(reached, count, asked.seed):
                outcome, changed = run.outcome(place, mutation, 2 * taken + 10)
                table[outcome] += 1
                if outcome != "killed":
                    where = f"{place.file.relative_to(folder)}:{mutation.start_pos[0]}"
                    print(f"{outcome}: {where}\n{changed}", flush=True)
        except KeyboardInterrupt:
            # The tests of a mutant have a session of their own, which Ctrl-C does not reach.
            with suppress(OSError):
                for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
                    os.killpg(int(child), signal.SIGKILL)
            print("interrupted; so far:")
    print(f"{'mutants':<12}{sum(table.values()):>6}")
    for outcome, number in table.items():
        print(f"{outcome:<12}{number:>6}")


if __name__ == "__main__":
    main()

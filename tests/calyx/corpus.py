"""Try the built-in compiler and the probes on a folder of other people's Calyx programs.

    python tests/calyx/corpus.py FOLDER [--counts TABLE.tsv] [--main CALYX --library FOLDER]

Every program of the folder is compiled and run stock and instrumented in each configuration, with
the data beside it (`NAME.futil.data`, `NAME.data` or `NAME.json`); where there is none, its
memories are filled with small numbers. For each, cycles and memories must be equal, the profile
must obey the model's laws and both flame graphs must add up.

The memories of the default configuration must also be those of the program without any
optimisation, unless they depend on what it leaves open, and, with `--main`, those of a build by
that compiler, in as many cycles: it is another compiler than the built-in one, best that of
Calyx's main branch.

Prints one row a program and configuration and a summary; exits with 1 if anything differs. The
table of counts has the columns `program`, `cycles_main` and `cycles_0.7.1`; a program is looked
up by the end of its path.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path

from cyclescope.calyx import (
    CalyxOptions,
    OwnCompiler,
    compile_program,
    find_own_compiler,
    judge_program,
    profile_program,
    verify_program,
)
from cyclescope.errors import CyclescopeError, SourceError, VerifyError
from cyclescope.model import active_cycles, check_laws, flat_weights, scaled_weights, tree_cycles
from cyclescope.sim import build, read_data, run

CONFIGURATIONS = {
    "default": CalyxOptions(),
    "no promotion": CalyxOptions(disable=("static-promotion",)),
    "no sharing": CalyxOptions(disable=("cell-share",)),
    # The alias `no-opt` of 0.7.1 leaves `repeat` to a pass that cannot take it.
    "no optimisation": CalyxOptions(
        passes=(
            "validate", "compile-sync", "simplify-with-control", "compile-invoke",
            "compile-repeat", "collapse-control", "compile", "lower",
        ),
    ),
}  # fmt: skip
LIMIT = 5_000_000


@dataclass(frozen=True)
class Row:
    program: str
    configuration: str
    verdict: str
    cycles: int | None = None
    detail: str = ""


def data_of(program: Path) -> Path | None:
    for name in (f"{program.name}.data", f"{program.stem}.data", f"{program.stem}.json"):
        if (found := program.with_name(name)).exists():
            return found
    return None


def made_up_data(program: Path, folder: Path, compiler: OwnCompiler | None) -> Path | None:
    """Small numbers for a program's memories: 0, 1, 2, 3, 0, …; None if it has no memories."""
    try:
        stock = compile_program(program, instrument=False, compiler=compiler)
        memories = stock.design.memories
    except SourceError:
        return None
    content = {}
    for memory in memories:
        values: list[object] = [i % min(4, 1 << memory.width) for i in range(memory.size)]
        for dim in reversed(memory.dims[1:]):
            values = [values[i : i + dim] for i in range(0, len(values), dim)]
        form = {"numeric_type": "bitnum", "is_signed": False, "width": memory.width}
        content[memory.name] = {"data": values, "format": form}
    path = folder / "data.json"
    path.write_text(json.dumps(content))
    return path if memories else None


@dataclass(frozen=True)
class Run:
    """A stock run: its cycles and memories, or why there is none."""

    cycles: int = 0
    memories: Mapping[str, object] = field(default_factory=dict)
    trouble: str = ""


def stock_run(program: Path, data: Path | None, options: CalyxOptions) -> Run:
    try:
        compiled = compile_program(
            program,
            passes=options.passes,
            disable=options.disable,
            instrument=False,
            compiler=options.compiler,
        )
        values = read_data(data) if data else {}
        result = run(build(compiled.design), data=values, cycle_limit=LIMIT)
    except CyclescopeError as error:
        return Run(trouble=str(error))
    if not result.complete:
        return Run(trouble=f"not ended after {result.cycles} cycles: {result.stop_reason}")
    return Run(result.cycles, {n: dict(m) for n, m in result.memories.items()})


def memories_differ(one: Run, other: Run) -> list[str]:
    """Memories that two runs left with other contents."""
    names = sorted({*one.memories, *other.memories})
    return [
        name
        for name in names
        if values_of(one.memories.get(name)) != values_of(other.memories.get(name))
    ]


def values_of(memory: object) -> object:
    return memory["data"] if isinstance(memory, Mapping) else None


def judge(program: Path, data: Path | None, main: OwnCompiler | None) -> list[Row]:
    """The default build against one without any optimisation, and one by another compiler."""
    options = replace(CONFIGURATIONS["default"], cycle_limit=LIMIT)
    rows = [unoptimised(program, data, options)]
    if main is not None:
        name, own = str(program), stock_run(program, data, options)
        other = stock_run(program, data, replace(options, compiler=main))
        if own.trouble:
            verdict = "neither" if other.trouble else "MISSING"
            rows.append(Row(name, "other compiler", verdict, other.cycles, own.trouble))
        else:
            rows.append(against(name, "other compiler", own, other))
    return rows


def unoptimised(program: Path, data: Path | None, options: CalyxOptions) -> Row:
    name, what = str(program), "unoptimised"
    try:
        judgement = judge_program(program, data, options)
    except CyclescopeError as error:
        verdict = "not judged" if isinstance(error, VerifyError) else "no run"
        return Row(name, what, verdict, None, str(error))
    cycles = judgement.optimised.cycles
    if judgement.holds:
        return Row(name, what, "equal", cycles)
    wrong = "WRONG" if judgement.open_ is None else f"depends on {judgement.open_.on.what}"
    return Row(name, what, wrong, cycles, judgement.explanation)


def against(name: str, judge: str, own: Run, other: Run) -> Row:
    if other.trouble:
        return Row(name, judge, "no run", own.cycles, other.trouble)
    if wrong := memories_differ(own, other):
        return Row(name, judge, "MEMORIES", own.cycles, f"{', '.join(wrong)} ({other.cycles})")
    if own.cycles != other.cycles:
        return Row(name, judge, "CYCLES", own.cycles, f"{other.cycles} by the other")
    return Row(name, judge, "equal", own.cycles)


def work(
    program: Path,
    configurations: Sequence[str],
    compiler: OwnCompiler | None,
    main: OwnCompiler | None,
) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        data = data_of(program) or made_up_data(program, Path(folder), compiler or main)
        rows = judge(program, data, main) if compiler is None else []
        return rows + [verify_with(program, data, c, compiler) for c in configurations]


def verify_with(
    program: Path, data: Path | None, configuration: str, compiler: OwnCompiler | None
) -> Row:
    options = replace(CONFIGURATIONS[configuration], cycle_limit=LIMIT, compiler=compiler)
    name = str(program)
    try:
        verdict = verify_program(program, data, options)
    except SourceError as error:
        return stock_refuses(name, program, data, options, configuration, error)
    except CyclescopeError as error:
        return Row(name, configuration, "not run", None, str(error))
    if not verdict.holds:
        detail = f"{verdict.instrumented_cycles} instrumented, {verdict.differing}"
        return Row(name, configuration, "DIFFERS", verdict.stock_cycles, detail)
    try:
        profile = profile_program(program, data, options).profile
        check_laws(profile)
        leaves = sum(scaled_weights(profile))
        whole = profile.cycles == verdict.stock_cycles == leaves == int(
            active_cycles(profile)[0]
        ) and int(tree_cycles(profile).sum()) == profile.cycles <= sum(flat_weights(profile))
    except Exception as error:  # noqa: BLE001 - a row of the table, whatever it is
        return Row(name, configuration, "PROFILE", verdict.stock_cycles, repr(error))
    return Row(name, configuration, "equal" if whole else "SUMS", verdict.stock_cycles)


def stock_refuses(
    name: str,
    program: Path,
    data: Path | None,
    options: CalyxOptions,
    configuration: str,
    error: SourceError,
) -> Row:
    """Tell a program that the compiler does not take from one that we broke."""
    try:
        compile_program(
            program,
            passes=options.passes,
            disable=options.disable,
            instrument=False,
            compiler=options.compiler,
        )
    except SourceError:
        return Row(name, configuration, "not compiled stock", None, str(error))
    return Row(name, configuration, "REFUSED", None, str(error))


def expected_counts(table: Path | None) -> dict[str, set[int]]:
    counts: dict[str, set[int]] = {}
    if table:
        with table.open(newline="") as stream:
            for row in csv.DictReader(stream, delimiter="\t"):
                name = next(iter(row.values())).split(": ")[-1]
                own, main = row["cycles_0.7.1"], row["cycles_main"]
                counts[name] = {int(n) for n in (own if own.isdigit() else main,) if n.isdigit()}
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--counts", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="part of a path")
    parser.add_argument("--compiler", help="a Calyx compiler other than the built-in one")
    parser.add_argument("--library", type=Path, help="where its primitives are")
    parser.add_argument("--main", help="a compiler whose memories and cycles must be the same")
    parser.add_argument("--configuration", action="append", choices=CONFIGURATIONS)
    parser.add_argument("--judge-only", action="store_true", help="no instrumented runs")
    chosen = parser.parse_args()
    compiler = find_own_compiler(chosen.compiler, chosen.library) if chosen.compiler else None
    main = find_own_compiler(chosen.main, chosen.library) if chosen.main else None
    counts = expected_counts(chosen.counts)
    programs = [p for p in sorted(chosen.folder.rglob("*.futil")) if chosen.only in str(p)]
    tally: Counter[tuple[str, str]] = Counter()
    known = missed = 0
    wanted = [] if chosen.judge_only else chosen.configuration or list(CONFIGURATIONS)
    with ProcessPoolExecutor(chosen.jobs) as pool:
        jobs = [pool.submit(work, p, wanted, compiler, main) for p in programs]
        for row in (row for job in as_completed(jobs) for row in job.result()):
            tally[row.configuration, row.verdict] += 1
            note = row.detail
            wanted_cycles = next((n for k, n in counts.items() if row.program.endswith(k)), None)
            if row.configuration == "default" and row.cycles and wanted_cycles:
                known += 1
                if row.cycles not in wanted_cycles:
                    missed += 1
                    note = f"COUNT: expected {wanted_cycles} {note}"
            print(
                row.program, row.configuration, row.verdict, row.cycles, note, sep="\t", flush=True
            )
    print()
    for (configuration, verdict), count in sorted(tally.items()):
        print(f"{configuration:16} {verdict:22} {count}")
    if counts:
        print(f"{known - missed} of {known} known counts met")
    bad = any(verdict.isupper() for _, verdict in tally)
    return 1 if bad or missed else 0


if __name__ == "__main__":
    sys.exit(main())

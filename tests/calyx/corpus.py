"""Verify cyclescope on a folder of other people's Calyx programs.

    python tests/calyx/corpus.py FOLDER [--counts TABLE.tsv] [--jobs N] [--compiler CALYX]

Every program of the folder is compiled and run stock and instrumented in each configuration, with
the data beside it (`NAME.futil.data`, `NAME.data` or `NAME.json`); where there is none, its
memories are filled with small numbers. For each, cycles and memories must be equal, memories must
be those of a build without optimisation unless they depend on timing, the profile must obey the
model's laws and both flame graphs must add up. Prints one row a program and a summary; exits with 1
if anything differs.

The table of counts has the columns `program`, `cycles_main` and `cycles_0.7.1`; a program is
looked up by the end of its path.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
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


def verify(program: Path, configuration: str, compiler: OwnCompiler | None) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        data = data_of(program) or made_up_data(program, Path(folder), compiler)
        return verify_with(program, data, configuration, compiler)


def verify_with(
    program: Path, data: Path | None, configuration: str, compiler: OwnCompiler | None
) -> Row:
    options = replace(CONFIGURATIONS[configuration], cycle_limit=LIMIT, compiler=compiler)
    name = str(program)
    judgement, unjudged = None, ""
    try:
        judgement = judge_program(program, data, options)
    except VerifyError as error:
        unjudged = str(error)
    except CyclescopeError:
        pass  # the next step meets it, too, and says so
    if judgement is not None and not judgement.holds:
        wrong = "depends on timing" if judgement.timing is not None else "WRONG"
        return Row(name, configuration, wrong, judgement.optimised.cycles, judgement.explanation)
    try:
        verdict = verify_program(program, data, options, stock=judgement and judgement.optimised)
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
    if not whole:
        return Row(name, configuration, "SUMS", verdict.stock_cycles)
    if judgement is None:
        return Row(name, configuration, "equal, not judged", verdict.stock_cycles, unjudged)
    return Row(name, configuration, "equal", verdict.stock_cycles)


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
    parser.add_argument("--configuration", action="append", choices=CONFIGURATIONS)
    chosen = parser.parse_args()
    compiler = find_own_compiler(chosen.compiler, chosen.library) if chosen.compiler else None
    counts = expected_counts(chosen.counts)
    programs = [p for p in sorted(chosen.folder.rglob("*.futil")) if chosen.only in str(p)]
    tally: Counter[tuple[str, str]] = Counter()
    known = missed = 0
    with ProcessPoolExecutor(chosen.jobs) as pool:
        wanted = chosen.configuration or list(CONFIGURATIONS)
        jobs = [pool.submit(verify, p, c, compiler) for p in programs for c in wanted]
        for job in as_completed(jobs):
            row = job.result()
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

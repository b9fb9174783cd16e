"""Write the packet scheduler and its data: `python generate.py --variant par -o DIR`.

DIR gets `scheduler_par.futil` or `scheduler_nested.futil`, and `scheduler.json`, the data of both.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from scheduler import WORD, Design, Variant, scheduler
from workload import SEED, make_workload

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA_NAME = "scheduler.json"


def _memory(values: Sequence[int], width: int) -> dict[str, object]:
    form = {"numeric_type": "bitnum", "is_signed": False, "width": width}
    return {"data": list(values), "format": form}


def data(design: Design, seed: int) -> dict[str, dict[str, object]]:
    """Return the program's memories before the run, as Calyx data."""
    workload = make_workload(design, seed)
    return {
        "commands": _memory(workload.commands, 1),
        "packets": _memory(workload.packets, WORD),
        "answers": _memory([0] * design.commands, WORD),
        "counts": _memory([0, 0, 0], WORD),
    }


def main() -> None:
    """Read the options, write the files, and print their paths."""
    parser = argparse.ArgumentParser(description="Write the packet scheduler and its data.")
    parser.add_argument("--commands", type=int, default=20_000, help="how many (default: 20000)")
    parser.add_argument(
        "--variant", choices=get_args(Variant), default="par", help="how a switch is written"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="of the workload")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write to")
    options = parser.parse_args()
    try:
        design = Design(options.variant, options.commands)
    except ValueError as error:
        parser.error(str(error))
    program_path = options.output / f"scheduler_{options.variant}.futil"
    data_path = options.output / DATA_NAME
    try:
        options.output.mkdir(parents=True, exist_ok=True)
        program_path.write_text(scheduler(design), encoding="utf-8")
        data_path.write_text(json.dumps(data(design, options.seed)) + "\n", encoding="utf-8")
    except OSError as error:
        parser.error(f"cannot write to {options.output}: {error.strerror}")
    print(program_path)
    print(data_path)


if __name__ == "__main__":
    main()

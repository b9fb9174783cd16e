"""Check a run of the packet scheduler against the software model: `python check.py MEMORIES.json`.

MEMORIES.json contains the memories after the run, as Calyx data. The commands are taken from the
data that the run was given: `scheduler.json` in the same folder, unless `--data` says otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from generate import DATA_NAME
from scheduler import Design
from workload import Workload, simulate

Memories = Mapping[str, Sequence[int]]


def load(path: Path) -> Memories:
    """Return the values of each memory in a file of Calyx data.

    Raises:
        ValueError: with a sentence for the user, if the file cannot be read as that.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {name: memory["data"] for name, memory in content.items()}
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: not Calyx data, an object of memories in JSON") from error


def differences(before: Memories, after: Memories) -> list[str]:
    """Return a sentence for every memory that is not as the software model leaves it."""
    workload = Workload(before["commands"], before["packets"])
    # How a switch is written changes the cycles, never the answers.
    expected = simulate(Design("par", len(workload.commands)), workload)
    wanted = {
        "commands": workload.commands,
        "packets": workload.packets,
        "answers": expected.answers,
        "counts": expected.counts,
    }
    found = []
    for name, values in wanted.items():
        if name not in after:
            found.append(f"{name}: missing")
            continue
        got = after[name]
        wrong = [
            place for place, value in enumerate(values) if list(got[place : place + 1]) != [value]
        ]
        if wrong:
            place = wrong[0]
            has = got[place] if place < len(got) else "nothing"
            found.append(
                f"{name}: {len(wrong)} of {len(values)} wrong, first at {place}: "
                f"{has}, expected {values[place]}"
            )
    return found


def main() -> int:
    """Read the files, print the verdict, and return 0 if all memories are right, else 1."""
    parser = argparse.ArgumentParser(description="Check a run against the software model.")
    parser.add_argument("memories", type=Path, help="memories after the run")
    parser.add_argument("--data", type=Path, help="memories before the run")
    options = parser.parse_args()
    try:
        before = load(options.data or options.memories.parent / DATA_NAME)
        after = load(options.memories)
    except ValueError as error:
        parser.error(str(error))
    if not {"commands", "packets"} <= before.keys():
        parser.error("the data is not the packet scheduler's: it has no commands and packets")
    found = differences(before, after)
    if found:
        print("\n".join(found))
        return 1
    pops, dropped, unanswered = simulate(
        Design("par", len(before["commands"])), Workload(before["commands"], before["packets"])
    ).counts
    print(f"All right: {pops} pops, {unanswered} of them unanswered; {dropped} pushes refused.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Recorded runs of the original Petal, and its way of writing a stack."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.model import Kind, tree_cycles

if TYPE_CHECKING:
    from cyclescope.model import Profile

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "corpus"
CORPUS = Path(os.environ.get("CYCLESCOPE_CORPUS", _BESIDE)) / "petal-runs"
MISSING = "the recorded runs are not here; CYCLESCOPE_CORPUS names their folder"


# The original shows this primitive while its group is active. The design has no such cell: nobody
# reads its output, so the compiler removed it, and only the probe of the call is left.
REMOVED = "not_7 (primitive)"

# The original shows these memories as long as their group, whose text enables them throughout.
# The compiler splits such a group, and enables the memory in the first half only.
HELD = {
    "gemm": {
        "let0": "alpha_int", "let1": "beta_int", "let4": "A_int", "let5": "B_int",
        "let6": "C_int", "let15": "C0_0", "upd5": "C0_0", "upd14": "C0_0",
        "upd8": "A0_0", "upd9": "B0_0",
    }
}  # fmt: skip


def read_folded(path: Path) -> dict[str, float]:
    """Stacks and their weights, without the removed cell: beside it others of its group run."""
    lines = (line.rsplit(" ", 1) for line in path.read_text().splitlines())
    stacks = {stack: float(count) for stack, count in lines}
    for gone in [stack for stack in stacks if stack.endswith(f";{REMOVED}")]:
        weight, above = stacks.pop(gone), gone.removesuffix(REMOVED)
        beside = [stack for stack in stacks if stack.startswith(above)]
        # In a scaled picture what is active at once shares the cycle, in a flat one it does not.
        for stack in beside if "scaled" in path.name else ():
            stacks[stack] += weight / len(beside)
    return stacks


class OriginalNames:
    """Renames our paths to what the original prints, from the same JSON, read on its own.

    Left out is what the original leaves out: control statements that have no compiler-made
    group of their own, or one that lost its position.
    """

    def __init__(self, folder: Path) -> None:
        def load(name: str) -> object:
            return json.loads((folder / name).read_text())

        lines = {}
        for component, rows in load("ctrl-pos.json").items():
            for row in rows:
                lines[component, row["pos_num"]] = row
        self._control = {}
        for record in load("fsm.json"):
            for entry in record.values():
                for position in entry.get("pos", ()):
                    row = lines.get((entry["component"], position))
                    if row is not None:
                        operator, line = row["ctrl_node"], row["linenum"]
                        group = entry.get("par_group") or entry["group"]
                        text = f"{group} ~ L{line}:{operator} (ctrl)"
                        self._control[entry["component"], f"{operator} L{line}"] = text
        self._shared = {
            (component, row["original"]): row["new"]
            for component, rows in load("shared-cells.json").items()
            for row in rows
        }

    def stack(self, profile: Profile, path: int) -> tuple[str, ...]:
        result = []
        for frame in map(profile.frame_of, profile.lineage(path)):
            if frame.kind is Kind.CONTROL:
                text = self._control.get((frame.component, frame.name))
                if text is None:
                    continue
            elif frame.kind is Kind.PRIMITIVE:
                text = f"{frame.name} (primitive)"
                if new := self._shared.get((frame.component, frame.name)):
                    text += f" -> {new}"
            elif frame.kind is Kind.CELL and result:
                text = f"{frame.name} [{frame.detail}]"
            else:
                text = frame.name
            result.append(text)
        return tuple(result)


def as_the_original(
    profile: Profile, folder: Path
) -> tuple[dict[str, int], dict[str, Fraction], dict[str, Fraction]]:
    """(flat, scaled, how far the original's rounding may be off) for each stack."""
    names = OriginalNames(folder)
    stacks = [names.stack(profile, path) for path in range(len(profile.call_paths))]
    held = HELD.get(folder.name, {})
    flat: dict[str, int] = defaultdict(int)
    scaled: dict[str, Fraction] = defaultdict(Fraction)
    slack: dict[str, Fraction] = defaultdict(Fraction)
    for tree, cycles in enumerate(tree_cycles(profile).tolist()):
        shown = {stacks[path] for path in profile.forest[tree].tolist()}
        shown |= {(*s, f"{held[s[-1]]} (primitive)") for s in shown if s[-1] in held}
        inner = {stack[:n] for stack in shown for n in range(len(stack))}
        leaves = [";".join(stack) for stack in shown - inner]
        for leaf in leaves:
            flat[leaf] += cycles
            scaled[leaf] += Fraction(cycles, len(leaves))
            # A share is rounded to a thousandth; the last of them takes what is left.
            slack[leaf] += Fraction(cycles * len(leaves), 2000)
    return dict(flat), dict(scaled), dict(slack)

"""Random Calyx programs with longer groups: what is foretold, against simulations.

    python tests/studies/random_lengths.py FIRST-LAST

For each seed (`calyx.generator`) the groups of one length are made three cycles longer, one at a
time, at most four. The programs are free of races, so they leave the same memories; and they take
the cycles that were foretold, unless the prediction says what it assumes. Exits with 1 if one does
not.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from calyx.generator import generate  # noqa: E402
from cyclescope.analyse import (  # noqa: E402
    Assumption,
    TriedLength,
    activations,
    assumptions,
    parse_lengths,
    retimed,
)
from cyclescope.calyx import profile_program  # noqa: E402
from cyclescope.errors import InputError, SourceError  # noqa: E402
from cyclescope.model import Kind  # noqa: E402
from cyclescope.studies import simulated_lengths  # noqa: E402

MORE = 3  # cycles
MOST = 4  # groups of a program


@dataclass(frozen=True)
class Longer:
    """A group made longer: the cycles foretold, and the run."""

    change: str
    foretold: int
    tried: TriedLength
    assumed: tuple[Assumption, ...]

    @property
    def right(self) -> bool:
        """Return whether it is as it should be."""
        exact = bool(self.assumed) or self.tried.cycles == self.foretold
        return exact and self.tried.same_memories


def lengthen(seed: int, folder: Path) -> list[Longer]:
    """Make groups of a seed's program longer; those that can be."""
    program = generate(seed)
    path, data = folder / "random.futil", folder / "random.json"
    path.write_text(program.text)
    data.write_text(json.dumps(program.data))
    profile = profile_program(path, data).profile
    found: list[Longer] = []
    for (frame, instance), known in activations(profile, Kind.GROUP).items():
        if len(found) == MOST or not known.times or known.shortest != known.longest:
            continue
        group = profile.catalog[frame]
        name = f"{instance}/{group.definition or group.name}"
        changes = parse_lengths(profile, [f"{name} = {known.shortest + MORE}"])
        try:
            (tried,) = simulated_lengths(profile, changes, path, data)
        except (InputError, SourceError):
            continue  # a condition; a component that promises its length
        (foretold,) = retimed(profile, changes).totals
        found.append(Longer(name, foretold, tried, assumptions(profile, changes)))
    return found


def main() -> int:
    first, _, last = sys.argv[1].partition("-")
    tally: Counter[str] = Counter()
    for seed in range(int(first), int(last or first) + 1):
        with tempfile.TemporaryDirectory() as folder:
            for one in lengthen(seed, Path(folder)):
                exact = one.tried.cycles == one.foretold
                kind = "; ".join(one.assumed) or "nothing assumed"
                tally[f"{kind}: {'exact' if exact else 'not exact'}"] += 1
                tally["wrong"] += not one.right
                if not one.right:
                    print(f"{seed}: {one}", flush=True)
    for what, number in sorted(tally.items()):
        print(f"{number:5} {what}")
    return int(bool(tally["wrong"]))


if __name__ == "__main__":
    sys.exit(main())

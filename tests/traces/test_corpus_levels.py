"""The scheduler at its generator's level against the original's own picture of that level."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from cyclescope.analyse import at_level, levels, line_cycles
from cyclescope.model import Kind, check_laws, flat_weights, scaled_weights
from cyclescope.traces import import_petal
from traces.runs import CORPUS, MISSING

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=MISSING)

LEVEL = "calyx-py"
_ENDS_IN = re.compile(r"\{([\w.]+): (\d+)\} [^;{}]*\(primitive\) ([\d.]+)$")


def test_primitives_weigh_what_the_original_says_line_by_line() -> None:
    profile = import_petal(CORPUS / "pifo")
    assert levels(profile) == ("calyx", LEVEL)
    seen = at_level(profile, LEVEL)
    check_laws(seen)
    assert seen.cycles == profile.cycles == 1_224_589
    assert sum(scaled_weights(seen)) == profile.cycles
    assert sum(line.own for line in line_cycles(profile, LEVEL)) == profile.cycles

    theirs: Counter[tuple[str, int]] = Counter()
    for line in (CORPUS / "pifo" / "py" / "py-flat-flame.folded").read_text().splitlines():
        if found := _ENDS_IN.search(line):
            theirs[found[1], int(found[2])] += int(float(found[3]))
    # The line of `REMOVED`, of which the design has nothing.
    assert theirs.pop(("queue_call.py", 174)) == 20_001
    ours: Counter[tuple[str, int]] = Counter()
    for path, weight in enumerate(flat_weights(seen)):
        frame = seen.frame_of(path)
        if weight and frame.kind is Kind.PRIMITIVE and frame.positions:
            place = frame.positions[0]
            ours[place.file.rsplit("/", 1)[-1], place.line] += weight
    assert len(theirs) > 20
    assert ours == theirs

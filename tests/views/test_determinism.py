"""Equal bytes whatever the hash seed, and the names that the packages export."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import cyclescope
from cyclescope import analyse, views
from cyclescope.model import save

from ..strategies import Machine, machine_profile

ALL_VIEWS = """
import hashlib, io, sys
import cyclescope
from cyclescope import views
from cyclescope.model import Kind
profile = cyclescope.load(sys.argv[1])
found = [views.summary_text(profile).encode(), views.summary_json(profile).encode()]
for kind in (Kind.CELL, Kind.GROUP, Kind.CONTROL, Kind.PRIMITIVE):
    found += [views.table_view(profile, kind, fmt) for fmt in views.TABLE_FORMATS]
for scaled in (False, True):
    found += [views.flamegraph(profile, scaled=scaled)]
    found += [views.folded(profile, scaled=scaled).encode()]
found += [views.speedscope(profile).encode()]
found += [views.lines_view(profile), views.source_svg(profile)]
for which in views.EXPORT_TABLES:
    found += [views.export_table(profile, which, fmt) for fmt in views.EXPORT_FORMATS]
for compress in (False, True):
    stream = io.BytesIO()
    views.write_timeline(profile, stream, compress=compress)
    found.append(stream.getvalue())
print(" ".join(hashlib.sha256(one).hexdigest()[:16] for one in found))
"""


def test_every_view_has_the_same_bytes_under_any_hash_seed(tmp_path: Path) -> None:
    import random

    from cyclescope.model import Meta

    path = tmp_path / "run.cyc"
    save(machine_profile(Machine(random.Random(11)), 3, Meta("calyx", "seeds.futil")), path)
    source = Path(cyclescope.__file__).parents[1]
    found = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(source)}
        run = subprocess.run(
            [sys.executable, "-c", ALL_VIEWS, str(path)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(run.stdout)
    assert len(found) == 1
    assert len(found.pop().split()) == 2 + 20 + 4 + 1 + 2 + 15 + 2


def test_exported_names_are_those_of_the_stub_and_all_are_there() -> None:
    for package in (analyse, views):
        assert package.__file__ is not None
        stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text("utf-8"))
        (names,) = (ast.literal_eval(n.value) for n in stub.body if isinstance(n, ast.Assign))
        assert sorted(names) == sorted(package.__all__)
        assert all(getattr(package, name) is not None for name in names)


def test_views_leave_the_profile_as_it_is() -> None:
    import io
    import random

    from cyclescope.model import Kind, Meta

    profile = machine_profile(Machine(random.Random(3)), 3, Meta("calyx", "same"))

    def state() -> str:
        digest = hashlib.sha256()
        for part in (
            profile.call_paths.parent,
            profile.call_paths.frame,
            profile.forest.path,
            profile.forest.offset,
            profile.schedule.cycles,
            profile.schedule.tree,
            *(a for s in profile.series for a in (s.start, s.end, s.value)),
        ):
            digest.update(part.tobytes())
        return digest.hexdigest()

    before = state()
    views.summary_text(profile)
    views.table_view(profile, Kind.GROUP)
    views.flamegraph(profile)
    views.folded(profile, scaled=True)
    views.speedscope(profile)
    views.write_timeline(profile, io.BytesIO())
    assert state() == before

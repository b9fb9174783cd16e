"""Source levels and cycles of lines: sums that hold on any profile, and a case by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope.analyse import at_level, levels, line_cycles
from cyclescope.errors import InputError
from cyclescope.model import (
    Access,
    Activity,
    Kind,
    Lock,
    Loop,
    Meta,
    Position,
    Process,
    Profile,
    ProfileBuilder,
    Series,
    check_laws,
    flat_weights,
    load,
    save,
    scaled_weights,
)
from cyclescope.views import source_text
from meaning import Frame, design_overhead
from strategies import calyx_profiles


def with_generator(profile: Profile, lines: int = 3) -> Profile:
    """The profile as if a generator of so many lines had written some of its frames."""
    frames = tuple(
        replace(f, positions=(*f.positions, Position("calyx-py", "gen/gen.py", i % lines + 1)))
        if i % 4
        else f
        for i, f in enumerate(profile.catalog)
    )
    text = "".join(f"line {n + 1} of the generator\n" for n in range(lines))
    return replace(profile, catalog=frames, sources={"gen/gen.py": text})


@given(calyx_profiles())
@settings(max_examples=60, deadline=None)
def test_a_level_moves_no_cycle(profile: Profile) -> None:
    whole = with_generator(profile)
    seen = at_level(whole, "calyx-py")
    check_laws(seen)
    assert seen.cycles == whole.cycles
    assert sum(scaled_weights(seen)) == sum(scaled_weights(whole)) == whole.cycles
    assert sum(flat_weights(seen)) <= sum(flat_weights(whole))
    before, after = design_overhead(whole), design_overhead(seen)
    assert before.cycles == after.cycles
    assert before == after
    assert len(seen.call_paths) <= len(whole.call_paths)


@given(calyx_profiles())
@settings(max_examples=60, deadline=None)
def test_lines_add_up_to_the_run(profile: Profile) -> None:
    whole = with_generator(profile)
    for level in levels(whole):
        lines = line_cycles(whole, level)
        assert sum(line.own for line in lines) == whole.cycles
        for line in lines:
            assert 0 <= line.useful <= line.cycles <= whole.cycles
            assert 0 <= line.own <= whole.cycles
            assert line.share == Fraction(line.cycles, max(whole.cycles, 1))
            assert line.file == "" or line.line > 0


@given(calyx_profiles())
@settings(max_examples=40, deadline=None)
def test_lines_by_looking_at_every_cycle(profile: Profile) -> None:
    whole = with_generator(profile)
    active: dict[tuple[str, int], int] = {}
    useful: dict[tuple[str, int], int] = {}
    runs = zip(whole.schedule.cycles.tolist(), whole.schedule.tree.tolist(), strict=True)
    for cycles, tree in runs:
        paths = set(whole.forest[tree].tolist())
        parents = {int(whole.call_paths.parent[p]) for p in paths}
        seen, busy = set(), set()
        for path in paths:
            for above in whole.lineage(path):
                for position in whole.frame_of(above).positions:
                    if position.level == "calyx-py":
                        place = (position.file, position.line)
                        seen.add(place)
                        if path not in parents and whole.frame_of(path).activity is Activity.WORK:
                            busy.add(place)
        for place in seen:
            active[place] = active.get(place, 0) + cycles
        for place in busy:
            useful[place] = useful.get(place, 0) + cycles
    if "calyx-py" not in levels(whole):
        return
    found = {(line.file, line.line): line for line in line_cycles(whole, "calyx-py") if line.file}
    assert {k: v.cycles for k, v in found.items() if v.cycles} == active
    assert {k: v.useful for k, v in found.items() if v.useful} == useful


def small(*, sources: bool = True) -> Profile:
    """`par { a; b; }` after a step: both from line 2 of one loop in another language."""

    def place(calyx: int, dahlia: int) -> tuple[Position, ...]:
        return (Position("calyx", "p.futil", calyx), Position("dahlia", "p.fuse", dahlia))

    build = ProfileBuilder()
    main = build.path(-1, Frame(Kind.CELL, "main", "main", "main"))
    loop = build.path(main, Frame(Kind.CONTROL, "while L1", "main", "while", place(1, 2)))
    body = build.path(loop, Frame(Kind.CONTROL, "while L2", "main", "while", place(2, 2)))
    one = build.path(body, Frame(Kind.GROUP, "a", "main", "", place(3, 2)))
    two = build.path(body, Frame(Kind.GROUP, "b", "main", "", place(4, 2)))
    other = build.path(loop, Frame(Kind.GROUP, "c", "main"))
    trees = [build.tree([loop]), build.tree([one, two]), build.tree([two]), build.tree([other])]
    profile = build.build(Meta("calyx", "p.futil"), [2, 3, 4, 1], trees)
    texts = {"p.fuse": "let x = 0;\nfor (let i = 0..8) { a[i] := b[i]; }\n"} if sources else {}
    return replace(profile, sources=texts)


def test_what_comes_from_one_line_is_one_frame_there() -> None:
    seen = at_level(small(), "dahlia")
    text = "for (let i = 0..8) { a[i] := b[i]; }"
    assert [frame.name for frame in seen.catalog] == [
        "main",
        f"while p.fuse:2 {text}",
        f"p.fuse:2 {text}",
        "c",
    ]
    # The inner loop is the outer's line; a and b are one; c, which nobody wrote, is marked.
    assert [frame.generated for frame in seen.catalog] == [False, False, False, True]
    assert seen.call_paths.parent.tolist() == [-1, 0, 1, 1]
    assert seen.schedule.cycles.tolist() == [2, 7, 1]
    assert seen.meta.title == "p.futil at level dahlia"
    assert flat_weights(seen) == [0, 2, 7, 1]
    assert [f.name for f in at_level(small(sources=False), "dahlia").catalog][2] == "p.fuse:2"


def test_the_level_that_names_the_frames_is_the_profile_itself() -> None:
    profile = small()
    assert at_level(profile, "calyx") == profile


def test_sites_follow_their_frames_and_paths_to_another_level() -> None:
    profile = small()
    frame = {f.name: number for number, f in enumerate(profile.catalog)}
    path = {profile.frame_of(p).name: p for p in range(len(profile.call_paths))}
    sites = (
        Loop("main", frame=frame["while L2"]),
        Lock("main", held=frame["c"]),
        Process("main", "b", path=path["b"]),
        Loop("main"),
    )
    seen = at_level(replace(profile, sites=sites), "dahlia")
    check_laws(seen)
    loop, lock, process, nowhere = seen.sites
    assert isinstance(loop, Loop)
    assert isinstance(lock, Lock)
    assert isinstance(process, Process)
    assert seen.catalog[loop.frame].name.startswith("while p.fuse:2")
    assert seen.catalog[lock.held].name == "c"
    assert seen.frame_of(process.path).name.startswith("p.fuse:2")
    assert nowhere == sites[3]


def test_counters_follow_their_paths_to_another_level() -> None:
    profile = small()
    path = {profile.frame_of(p).name: p for p in range(len(profile.call_paths))}

    def counter(track: str, where: int) -> Series:
        values = (np.array([0]), np.array([10]), np.array([7]))
        return Series(track, "n", "reads", "accesses", where, *values)

    series = (counter("b", path["b"]), counter("c", path["c"]), counter("all", -1))
    seen = at_level(replace(profile, series=series), "dahlia")
    names = {s.track: seen.frame_of(s.path).name if s.path >= 0 else "" for s in seen.series}
    assert names == {
        "b": f"p.fuse:2 {profile.sources['p.fuse'].splitlines()[1]}",
        "c": "c",
        "all": "",
    }


def test_lines_by_hand() -> None:
    (line,) = line_cycles(small(), "dahlia")
    assert (line.file, line.line, line.cycles, line.useful, line.own) == ("p.fuse", 2, 10, 8, 10)
    assert line.overhead == 2
    assert line.text == "for (let i = 0..8) { a[i] := b[i]; }"
    own = {line.line: line.own for line in line_cycles(small())}
    assert own == {1: 3, 2: 0, 3: Fraction(3, 2), 4: Fraction(3, 2) + 4}


def test_a_primitive_counts_for_the_line_that_uses_it() -> None:
    build = ProfileBuilder()
    main = build.path(-1, Frame(Kind.CELL, "main", "main", "main"))
    group = build.path(main, Frame(Kind.GROUP, "a", "main", "", (Position("calyx", "p", 7),)))
    used = Frame(Kind.PRIMITIVE, "r", "main", "std_reg", (Position("calyx", "p", 2),))
    tree = build.tree([build.path(group, used)])
    profile = build.build(Meta("calyx", "p"), [5], [tree])
    found = {line.line: (line.cycles, line.own) for line in line_cycles(profile)}
    assert found == {2: (5, 0), 7: (5, 5)}


def test_no_such_level() -> None:
    for ask in (at_level, line_cycles):
        with pytest.raises(InputError, match=r"no positions at level c; .* calyx, dahlia"):
            ask(small(), "c")


def test_texts_are_kept_in_the_file(tmp_path) -> None:
    for sources in (False, True):
        path = tmp_path / f"{sources}.cyc"
        save(small(sources=sources), path)
        assert load(path) == small(sources=sources)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_lines_of_threads_count_every_thread(data: st.DataObject) -> None:
    """Line 2 is the region's, line 4 a loop's; at line 5 threads wait."""
    states = ("running", "critical", "spinning", "idle")
    count = data.draw(st.integers(1, 4))
    row = st.lists(st.sampled_from(states), min_size=count, max_size=count)
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    cycles = data.draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    build = ProfileBuilder()
    place = {n: (Position("c", "k.c", n),) for n in (2, 4)}
    region = build.path(-1, Frame(Kind.CELL, "k", "k", "", place[2]))
    threads = [build.path(region, Frame(Kind.THREAD, f"thread {n}", "k")) for n in range(count)]
    loop = Frame(Kind.LOOP, "L4", "k", "", place[4])

    def at(thread: int, state: str) -> int:
        path = build.path(threads[thread], Frame(Kind.STATE, state, "k"))
        return path if state == "idle" else build.path(path, loop)

    trees = [build.tree([at(n, state) for n, state in enumerate(row)]) for row in rows]
    one = ("k", "at A", "stall", "thread cycles", region)
    build.counter(Series(*one, np.array([0]), np.array([1]), np.array([21]), site=0))
    text = "\n".join(f"text {n}" for n in range(1, 7))
    sites = [Access("k", "A", Position("c", "k.c", 5))]
    made = build.build(Meta("hls", "k.c"), cycles, trees, sites=sites)
    profile = replace(made, sources={"k.c": text})

    def total(*wanted: str) -> int:
        each = zip(cycles, rows, strict=True)
        return sum(n * sum(state in wanted for state in row) for n, row in each)

    lines = {line.line: line for line in line_cycles(profile) if line.file}
    assert lines[2].cycles == count * sum(cycles) == total(*states)
    assert lines[2].overhead == total("idle", "spinning")
    if total(*states[:3]):
        assert lines[4].cycles == total(*states[:3])
        assert lines[4].overhead == total("spinning")
    assert (lines[5].waiting, lines[5].cycles, lines[5].text) == (21, 0, "text 5")
    assert lines[2].share == 1
    shown = source_text(profile)
    assert shown.startswith("thread-cycles  ")
    assert any(row.split() == ["21", "5", "│", "text", "5"] for row in shown.splitlines())

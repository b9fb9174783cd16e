"""The profiling unit in hardware: what it writes, read back, is what the bench saw."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cyclescope.hls.trace._decoder import read_dump
from cyclescope.hls.trace._format import COUNTERS, OnFull, Source, TraceLayout, make_layout
from cyclescope.hls.trace._rings import Feed, Term
from cyclescope.hls.trace._unit import profiling_unit
from cyclescope.model import Profile, check_laws
from cyclescope.rtl import sources
from hls.test_trace import check_counters, losses, seen_states, true_states
from rtl.benches import in_icarus, in_verilator, lint

if TYPE_CHECKING:
    from pathlib import Path

BASE = 0x1000


def feeds_of(layout: TraceLayout) -> list[Feed]:
    """A feed for each counter: alternately bits a thread, a bit each of the amount, or a number."""
    found = []
    for number, counter in enumerate(dict.fromkeys(p.source.counter for p in layout.places)):
        members = [p.source for p in layout.places if p.source.counter == counter]
        largest = members[0].largest
        by_number = bool(number % 2 and layout.threads > 1)
        lanes = members[-1].index + 1
        if by_number:
            # Some have more terms than one ring takes.
            count = 3 if largest % 12 else 12
            terms = tuple(Term(largest // count, tagged=True) for _ in range(count))
            found.append(Feed(lanes, terms, largest))
        else:
            terms = tuple(Term(1 << bit, tagged=False) for bit in range(largest.bit_length()))
            found.append(Feed(lanes, terms, largest))
    return found


def pins(feeds: list[Feed]) -> list[tuple[str, int]]:
    """The profiling unit's inputs for counters, and their widths."""
    found = []
    for j, feed in enumerate(feeds):
        for k, term in enumerate(feed.terms):
            found.append((f"feed{j}_{k}", 1 if term.tagged else feed.lanes))
            if term.tagged:
                found.append((f"feed{j}_{k}_lane", max(1, (feed.lanes - 1).bit_length())))
    return found


def bench(
    layout: TraceLayout,
    region: int,
    words: list[int],
    events: list[dict[str, int]],
    stalls: list[int],
    form: str,
) -> str:
    """A module `main` that feeds the profiling unit, is its memory, and prints that in the end."""
    names = pins(feeds_of(layout))
    bits = sum(width for _, width in names) + 2 * layout.threads
    rows = []
    for cycle, word in enumerate(words):
        value, at = word, 2 * layout.threads
        for name, width in names:
            value |= events[cycle].get(name, 0) << at
            at += width
        rows.append(f"    seen[{cycle}] = {bits}'h{value:x};")
    stalls = stalls * 4
    stall = "".join(map(str, reversed(stalls)))
    adds, at = "", 2 * layout.threads
    for name, width in names:
        adds += f",\n    .{name}(now[{at + width - 1}:{at}])"
        at += width
    line = layout.line_bits
    return f"""
module main(input wire clk, input wire reset, input wire go, output reg done);
  reg [{bits - 1}:0] seen [0:{len(words) - 1}];
  reg [{line - 1}:0] memory [0:{region - 1}];
  reg [{len(stalls) - 1}:0] stalls = {len(stalls)}'b{stall};
  integer cycle, i;
  wire run = go && cycle < {len(words)};
  wire [{bits - 1}:0] now = run ? seen[cycle] : seen[0];
  wire write, finished;
  wire [31:0] address;
  wire [{line - 1}:0] writedata;
  wire [{line // 8 - 1}:0] byteenable;
  reg [{line // 8 - 1}:0] bytes_before;
  wire [31:0] place = (address - 32'd{BASE}) / 32'd{line // 8};
  reg stalled = 0;
  reg [31:0] address_before;
  reg [{line - 1}:0] data_before;
  profiling_unit unit(.clk(clk), .reset(reset), .run(run), .state(now[{2 * layout.threads - 1}:0]),
    .base(32'd{BASE}), .lines(32'd{region}), .waitrequest(stalls[0]), .address(address),
    .write(write), .coming(), .byteenable(byteenable), .writedata(writedata),
    .done(finished){adds});
  initial begin
    cycle = 0;
    done = 0;
    for (i = 0; i < {region}; i = i + 1) memory[i] = 0;
{chr(10).join(rows)}
  end
  always @(posedge clk) begin
    stalls <= {{stalls[0], stalls[{len(stalls) - 1}:1]}};
    if (go && run) cycle <= cycle + 1;
    stalled <= write && stalls[0];
    address_before <= address;
    data_before <= writedata;
    bytes_before <= byteenable;
    if (stalled && !(write && address == address_before && writedata === data_before
                     && byteenable == bytes_before))
      $display("a write did not stay");
    if (write && (address < 32'd{BASE} || place >= {region} || address % {line // 8} != 0))
      $display("address %h", address);
    if (write && !stalls[0])
      for (i = 0; i < {line // 8}; i = i + 1)
        if (byteenable[i]) memory[place[15:0] % {region}][8 * i +: 8] <= writedata[8 * i +: 8];
    if (finished && !done) begin
      for (i = 0; i < {region}; i = i + 1) $display("line %{form}", memory[i]);
      done <= 1;
    end
  end
endmodule
"""


def stimulus(
    rng: random.Random, layout: TraceLayout, cycles: int, activity: float
) -> tuple[list[int], list[dict[str, int]]]:
    words, word = [], 0
    for _ in range(cycles):
        if rng.random() < activity:
            word ^= rng.randint(1, 3) << 2 * rng.randrange(layout.threads)
        words.append(word)
    feeds = feeds_of(layout)
    events = []
    for _ in range(cycles):
        now: dict[str, int] = {}
        for j, feed in enumerate(feeds):
            if not feed.terms[0].tagged:
                for lane in range(feed.lanes):
                    amount = rng.choice([0, 0, 1, feed.largest, feed.largest])
                    for k in range(len(feed.terms)):
                        now.setdefault(f"feed{j}_{k}", 0)
                        now[f"feed{j}_{k}"] |= (amount >> k & 1) << lane
                continue
            crowd = rng.random() < 0.5
            for k in range(len(feed.terms)):
                now[f"feed{j}_{k}"] = rng.choice([0, 1, 1])
                now[f"feed{j}_{k}_lane"] = 0 if crowd else rng.randrange(feed.lanes)
        events.append(now)
    return words, events


def increments_of(layout: TraceLayout, events: list[dict[str, int]]) -> list[list[int]]:
    """For each place of the layout what is added in each cycle."""
    feeds = feeds_of(layout)
    counters = list(dict.fromkeys(p.source.counter for p in layout.places))
    found = []
    for place in layout.places:
        j, lane = counters.index(place.source.counter), place.source.index
        terms = list(enumerate(feeds[j].terms))
        found.append(
            [
                sum(
                    term.amount
                    * (
                        now[f"feed{j}_{k}"] * (now[f"feed{j}_{k}_lane"] == lane)
                        if term.tagged
                        else now[f"feed{j}_{k}"] >> lane & 1
                    )
                    for k, term in terms
                )
                for now in events
            ]
        )
    return found


def run(
    layout: TraceLayout,
    region: int,
    words: list[int],
    events: list[dict[str, int]],
    stalls: list[int],
    folder: Path | None = None,
    depth: int = 16,
) -> Profile:
    texts = {
        **sources(profiling_unit(layout, feeds_of(layout), depth=depth)),
        "main.v": bench(layout, region, words, events, stalls, "b" if folder else "h"),
    }
    said = in_verilator(texts) if folder is None else in_icarus(folder, texts)
    # Slots of a line that no record has taken hold anything.
    said = re.sub(r"x(?=[01x])|(?<=[01x])x", lambda _: random.choice("01"), said)
    lines = re.findall(r"^line ([0-9a-f]+)$", said, re.MULTILINE)
    assert len(lines) == region, said[:1000]
    assert "stay" not in said
    assert "address" not in said
    size = layout.line_bits // 8
    profile = read_dump(
        b"".join(int(line, 2 if folder else 16).to_bytes(size, "little") for line in lines), layout
    )
    check_laws(profile)
    assert profile.cycles == len(words)
    return profile


def sources_of(threads: int, count: int) -> list[Source]:
    return [
        Source(c, t, (n + 1) * (3 if n % 2 and threads > 1 else 1))
        for n, c in enumerate(COUNTERS[:count])
        for t in range(threads)
    ]


def test_what_is_read_back_is_what_the_bench_saw() -> None:
    rng = random.Random(5)
    layout = make_layout("x", 8, sources_of(8, 9), period=64)
    words, events = stimulus(rng, layout, 700, 0.2)
    profile = run(layout, 400, words, events, [0, 0, 1, 0, 1])
    assert losses(profile) == {}
    assert profile.meta.complete
    assert seen_states(profile) == true_states(words, 8)
    check_counters(profile, layout, increments_of(layout, events))


def test_counters_have_their_own_sampling_periods() -> None:
    rng = random.Random(6)
    names = [c.name for c in COUNTERS[:6]]
    own = {names[1]: 120, names[4]: 360, names[5]: 120}
    layout = make_layout("x", 8, sources_of(8, 6), period=60, periods=own)
    assert [period for period, _ in layout.levels] == [60, 120, 360]
    words, events = stimulus(rng, layout, 1500, 0.01)
    # Now and then the memory is busy for longer than a period.
    profile = run(layout, 400, words, events, [0] * 500 + [1] * 80)
    assert set(losses(profile)) <= {"change of state lost", "cycle of unknown state"}
    check_counters(profile, layout, increments_of(layout, events))
    for series in profile.series:
        most = 1500 // own.get(series.name, 60) + 1
        assert most - 3 <= len(series) <= most


CASES = [
    # threads, counters, line bits, time bits, period, activity, stalls
    (1, 0, 256, 32, 0, 0.5, [0]),
    (1, 2, 256, 7, 10, 0.02, [0, 1]),
    (3, 4, 512, 32, 1, 0.1, [0, 0, 0, 1]),
    (16, 1, 256, 9, 100, 0.3, [1, 1, 0]),
    (2, 3, 1024, 32, 33, 0.0, [0] * 5 + [1] * 40),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-threads-{c[1]}-counters")
def test_other_sizes_in_icarus(tmp_path: Path, case: tuple) -> None:  # type: ignore[type-arg]
    threads, counters, line, bits, period, activity, stalls = case
    rng = random.Random(threads)
    layout = make_layout(
        "x", threads, sources_of(threads, counters), line_bits=line, time_bits=bits, period=period
    )
    words, events = stimulus(rng, layout, 400, activity)
    profile = run(layout, 900, words, events, stalls, tmp_path)
    assert losses(profile) == {}
    assert seen_states(profile) == true_states(words, threads)
    check_counters(profile, layout, increments_of(layout, events))


def test_a_ring_holds_the_most_that_can_happen(tmp_path: Path) -> None:
    layout = make_layout("x", 5, sources_of(5, 4), period=50)
    now: dict[str, int] = {}
    for j, feed in enumerate(feeds_of(layout)):
        for k, term in enumerate(feed.terms):
            every = (1 << feed.lanes) - 1 if feed.largest >> k & 1 else 0
            now[f"feed{j}_{k}"] = 1 if term.tagged else every
            now[f"feed{j}_{k}_lane"] = 2
    words, events = [1] * 300, [now] * 300
    profile = run(layout, 200, words, events, [0], tmp_path)
    assert losses(profile) == {}
    check_counters(profile, layout, increments_of(layout, events))
    assert max(int(series.value.max()) for series in profile.series) > 12 * 40


@pytest.mark.parametrize("on_full", list(OnFull))
def test_a_full_region_says_so(tmp_path: Path, on_full: OnFull) -> None:
    rng = random.Random(9)
    layout = make_layout("x", 4, sources_of(4, 2), period=40, on_full=on_full)
    words, events = stimulus(rng, layout, 600, 0.5)
    profile = run(layout, 12, words, events, [0, 1], tmp_path)
    name = "line dropped" if on_full is OnFull.STOP else "line overwritten"
    assert losses(profile)[name] > 5
    check_known(profile, words, increments_of(layout, events), 4)
    known = sum(state != "unknown" for state in seen_states(profile)[0])
    assert 50 < known < 500


def check_known(
    profile: Profile, words: list[int], increments: list[list[int]], threads: int
) -> None:
    """Check that what is shown is true."""
    for shown, truth in zip(seen_states(profile), true_states(words, threads), strict=True):
        assert all(s in (t, "unknown") for s, t in zip(shown, truth, strict=True))
    for series, truth in zip(profile.series, increments, strict=True):
        for start, end, value in zip(*(c.tolist() for c in series.intervals), strict=True):
            assert value == sum(truth[start:end])


@pytest.mark.parametrize("stall", [60, 200])
def test_a_busy_memory_loses_states_openly_and_totals_never(tmp_path: Path, stall: int) -> None:
    rng = random.Random(stall)
    layout = make_layout("x", 4, sources_of(4, 2), period=16)
    words, events = stimulus(rng, layout, 600, 0.9)
    profile = run(layout, 300, words, events, [1] * stall + [0, 0], tmp_path, depth=2)
    lost = losses(profile)
    assert lost["change of state lost"] > 0
    assert lost["cycle of unknown state"] > 0
    check_known(profile, words, increments_of(layout, events), 4)
    check_counters(profile, layout, increments_of(layout, events))


def test_a_counter_stays_full(tmp_path: Path) -> None:
    layout = make_layout("x", 1, sources_of(1, 1), period=0)
    place = replace(layout.places[0], width=5)
    layout = replace(layout, places=(place,))
    profile = run(layout, 9, [1] * 100, [{"feed0_0": 1}] * 100, [0], tmp_path)
    assert losses(profile) == {"counter full": 1}
    # The highest bit, and what the others have come to since they were not enough.
    assert profile.series[0].value.tolist() == [16 + 100 % 16]


def test_no_warnings(tmp_path: Path) -> None:
    for number, (on_full, count, period) in enumerate(
        [(OnFull.STOP, 9, 4096), (OnFull.WRAP, 1, 0), (OnFull.STOP, 0, 100)]
    ):
        layout = make_layout("x", 8, sources_of(8, count), period=period, on_full=on_full)
        folder = tmp_path / str(number)
        folder.mkdir()
        assert (
            lint(folder, sources(profiling_unit(layout, feeds_of(layout))), "profiling_unit") == ""
        )


@pytest.mark.parametrize(("bits", "depth"), [(320, 4), (512, 0), (512, 1), (512, 3), (512, 6)])
def test_sizes_that_are_no_powers_of_two_are_refused(bits: int, depth: int) -> None:
    layout = make_layout("x", 1, [], line_bits=bits)
    with pytest.raises(ValueError, match="powers of two"):
        profiling_unit(layout, [], depth=depth)

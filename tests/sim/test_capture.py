from __future__ import annotations

import random
import re
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.errors import RunError
from cyclescope.sim import CaptureModule, Design, Signal, build, load_capture, run
from cyclescope.sim._probe import WORD, lay_out

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.sim import Capture

CYCLES = 60


@given(st.lists(st.integers(1, 200), min_size=1, max_size=40))
def test_signals_do_not_overlap_and_narrow_ones_are_in_one_word(widths: list[int]) -> None:
    signals = tuple(Signal(f"s{i}", width) for i, width in enumerate(widths))
    layout = lay_out(CaptureModule("m", signals))
    used: set[int] = set()
    for place, width in zip(layout.places, widths, strict=True):
        bits = set(range(place.word * WORD + place.shift, place.word * WORD + place.shift + width))
        assert not bits & used
        used |= bits
        assert width > WORD or place.shift + width <= WORD
    assert max(used) < layout.words * WORD


def test_what_cannot_be_captured_is_refused() -> None:
    for signals, says in [
        ((), "nothing to capture"),
        ((Signal("a", 0),), "signal a has 0 bits"),
        ((Signal("a"), Signal("b", 2, "a")), "signal a is captured twice"),
    ]:
        with pytest.raises(RunError, match=says):
            lay_out(CaptureModule("m", signals))


def random_design(seed: int) -> tuple[Design, dict[str, list[Signal]]]:
    """A tree of modules full of shifting registers, which print what a capture should see."""
    rng = random.Random(seed)
    names = [f"m{i}" for i in range(rng.randint(1, 4))]
    texts, wanted = [], {}
    for index, name in enumerate(names):
        widths = [
            rng.choice([1, 1, 2, 3, 8, 31, 33, 64, 65, 130]) for _ in range(rng.randint(1, 9))
        ]
        decls = "".join(f"logic [{w - 1}:0] r{i};\n" for i, w in enumerate(widths))
        steps = "".join(
            # Some change seldom, so that runs are longer than a cycle.
            f"if (t % {rng.choice([1, 2, 7])} == 0) r{i} <= {{r{i}, r{i}[{w - 1}] ^ t[{i % 5}]}};\n"
            for i, w in enumerate(widths)
        )
        signals = [Signal(f"r{i}", w) for i, w in enumerate(widths)]
        # An expression that would carry out of its width, and one of two nets.
        signals.append(Signal(f"4'(r0 + 4'd{rng.randint(9, 15)})", 4, "sum"))
        signals.append(Signal("r0[0] & ~t[1]", 1, "gate"))
        inner = "".join(
            f"{child} {child}_{copy}(.clk(clk), .on(on), .seed(seed + {rng.randint(1, 9)}));\n"
            for child in names[index + 1 :]
            for copy in range(rng.randint(0, 2))
        )
        shown = ", ".join(s.expression for s in signals)
        resets = "".join(f"r{i} <= {w}'({{5{{seed}}}});" for i, w in enumerate(widths))
        texts.append(
            f"""module {name}(input logic clk, input logic on, input logic [31:0] seed);
            logic [31:0] t;
            {decls}{inner}
            always_ff @(posedge clk) begin
              if (!on) begin t <= 0; {resets} end else begin t <= t + 1; {steps} end
              if (on) $display("see %m{" %h" * len(signals)}", {shown});
            end
            endmodule"""
        )
        wanted[name] = signals
    texts.append(
        f"""module main(input logic clk, input logic reset, input logic go, output logic done);
        logic [7:0] n;
        {names[0]} inner(.clk(clk), .on(go), .seed(32'd{seed}));
        assign done = n == {CYCLES};
        always_ff @(posedge clk) if (reset) n <= 0; else if (go) n <= n + 1;
        endmodule"""
    )
    capture = tuple(CaptureModule(name, tuple(signals)) for name, signals in wanted.items())
    return Design("main", {"main.sv": "\n".join(texts)}, capture=capture), wanted


def expanded(capture: Capture) -> dict[str, dict[str, list[int]]]:
    """Instance → signal → its value in every cycle."""
    vectors = capture.states[np.repeat(capture.run_state, capture.run_cycles)]
    return {
        name: {
            place.name: [int(x) for x in capture.values(module, place.name)[vectors[:, i]]]
            for place in capture.layouts[module].places
        }
        for i, (name, module) in enumerate(capture.instances)
    }


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("seed", range(6))
def test_a_capture_is_what_the_design_prints(compiler, seed: int) -> None:
    design, wanted = random_design(seed)
    result = run(build(design))
    assert (result.cycles, result.complete) == (CYCLES, True)
    printed: dict[str, list[list[int]]] = {}
    for name, values in re.findall(r"^see (\S+?) (.*)$", result.output, re.MULTILINE):
        path = re.sub(r"^(TOP\.)?cyc_top\.|\.unnamedblk\d+", "", name)
        printed.setdefault(path, []).append([int(v, 16) for v in values.split()])
    seen = expanded(result.capture)
    assert seen.keys() == printed.keys()
    modules = dict(result.capture.instances)
    for name, rows in printed.items():
        labels = [s.label for s in wanted[modules[name]]]
        # The last line is of the edge after the run's last cycle.
        assert [list(row) for row in zip(*(seen[name][s] for s in labels), strict=True)] == rows[
            :CYCLES
        ]


def test_a_capture_has_no_duplicates(compiler) -> None:
    capture = run(build(random_design(3)[0])).capture
    assert (np.diff(capture.run_state) != 0).all()
    assert len(np.unique(capture.states, axis=0)) == len(capture.states)
    assert set(capture.run_state.tolist()) == set(range(len(capture.states)))
    for vectors in capture.vectors.values():
        assert len(np.unique(vectors, axis=0)) == len(vectors)


def test_many_states_are_told_apart(compiler) -> None:
    """More distinct states than are looked up by hash, in instances that change together."""
    text = """
    module counter(input logic clk, input logic on, output logic [17:0] n);
      always_ff @(posedge clk) if (!on) n <= 0; else n <= n + 1;
    endmodule
    module main(input logic clk, input logic reset, input logic go, output logic done);
      logic [17:0] a, b, c;
      counter x(.clk(clk), .on(go), .n(a));
      counter y(.clk(clk), .on(go && a[0]), .n(b));
      counter z(.clk(clk), .on(go), .n(c));
      assign done = a == 100000;
    endmodule"""
    design = Design(
        "main", {"main.sv": text}, capture=(CaptureModule("counter", (Signal("n", 18),)),)
    )
    capture = run(build(design)).capture
    assert capture.cycles == 100_000
    assert len(capture.states) == 100_000
    seen = expanded(capture)
    assert seen["main.x"]["n"] == seen["main.z"]["n"] == list(range(100_000))
    assert seen["main.y"]["n"] == [(i > 0 and i % 2 == 0) * 1 for i in range(100_000)]


def test_a_module_without_instances_has_no_vectors(compiler) -> None:
    text = """module main(input logic clk, input logic reset, input logic go, output logic done);
      assign done = go; endmodule
    module spare(input logic clk); logic a; endmodule"""
    capture = (CaptureModule("main", (Signal("go"),)), CaptureModule("spare", (Signal("a"),)))
    result = run(build(Design("main", {"main.sv": text}, capture=capture)))
    assert result.capture.instances == (("main", "main"),)
    assert result.capture.vectors["spare"].shape == (0, 1)


@pytest.fixture(scope="module")
def capture_file(compiler, tmp_path_factory) -> Path:
    """A capture flushed several times, as runs in states that recur."""
    file = tmp_path_factory.mktemp("capture") / "capture"
    built = build(random_design(1)[0])
    subprocess.run([built.program, f"capture={file}"], check=True, stdout=subprocess.DEVNULL)
    return file


def test_a_cut_file_is_a_prefix(capture_file: Path, tmp_path: Path) -> None:
    whole = load_capture(capture_file)
    data = capture_file.read_bytes()
    cut = tmp_path / "cut"
    for size in range(8, len(data), 7):
        cut.write_bytes(data[:size])
        part = load_capture(cut)
        assert part.cycles in {0, whole.cycles}
        assert part.instances == whole.instances[: len(part.instances)]


@pytest.mark.parametrize("content", [b"", b"CYCAPT", b"CYCAPT\x02\n", b"PK\x03\x04" * 9])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(RunError, match="not a capture"):
        load_capture(tmp_path / "x")


def test_an_unknown_signal_is_a_key_error(capture_file: Path) -> None:
    capture = load_capture(capture_file)
    for module, signal in [("nowhere", "r0"), ("m0", "nothing")]:
        with pytest.raises(KeyError):
            capture.values(module, signal)

"""Calibration files and HLS reports."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from cyclescope.bounds import (
    Bounds,
    Calibration,
    estimate,
    read_calibration,
    read_schedule_report,
)
from cyclescope.errors import DataError, InputError, SourceError

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = """
void kernel(double a[4], double b[4]) {
    for (int i = 0; i < 4; i++)
mac:    b[i] = b[i] + a[i] * 2.0;
}
"""


def calibration(text: str, *, tweak: bool = True) -> Calibration:
    return read_calibration("c.toml", text=text, tweak=tweak)


def cycles(text: str, kernel: str = KERNEL) -> tuple[int, int]:
    found = estimate("k.c", text=kernel, calibration=calibration(text))
    return found.absolute.cycles, found.unbounded.cycles


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize(
    ("text", "absolute", "unbounded"),
    [
        ("", 3 + 3 + 20 + 3, 3 + 20 + 3),
        ("[[statement]]\nlabel = 'mac'\nlatency = 5", 3 + 3 + 7 + 3, 3 + 7 + 3),
        ("[[statement]]\nline = 4\ninterval = 10", 3 + 30 + 20 + 3, 26),
        ("[[statement]]\ntarget = 'b'\nlatency = 0", 3 + 3 + 2 + 3, 3 + 2 + 3),
        ("[operators.double]\nadd = 3\nmul = 4", 3 + 3 + 11 + 3, 3 + 11 + 3),
        ("read = 2\nwrite = 3", 6 + 3 + 23 + 6, 6 + 23 + 6),
        ("[sinks]\nautomatic = false", 3 + 3 + 20, 3 + 20),
        ("[sinks]\nb = { latency = 4 }", 3 + 3 + 20 + 6, 3 + 20 + 6),
        ("[sources]\nautomatic = false", 3 + 20 + 3, 20 + 3),
        ("[sources]\nb = { interval = 7 }", 3 + 21 + 20 + 3, 26),
        ("[sources]\na = false\nb = { skip = [[3]] }", 2 + 3 + 20 + 1 + 3, 26),
        ("[sources]\na = false\nb = false\n[sinks]\nb = { ranges = [[0, 1]] }", 23, 23),
    ],
)
def test_what_it_changes(text: str, absolute: int, unbounded: int) -> None:
    assert cycles(text) == (absolute, unbounded)


def test_constants_may_be_processes() -> None:
    text = "void kernel(double a[4]) { for (int i = 0; i < 4; i++) a[i] = 0; }"
    assert cycles("", text) == (6, 3)
    assert cycles("constants = 'process'", text) == (3 + 2 + 3, 2 + 3)
    assert cycles("constants = 'process'\nconstant_latency = 4", text) == (3 + 6 + 3, 6 + 3)


def test_own_results_may_be_ignored() -> None:
    text = """void kernel(double a[4], double s[1]) {
        s[0] = a[0] * 2.0;
        for (int i = 0; i < 4; i++) s[0] += a[i];
    }"""
    rule = "[[statement]]\nline = 3\nignore = ['s']"
    assert cycles("", text)[1] == 3 + 12 + 4 * 12 + 3
    assert cycles(rule, text)[1] == 3 + 12 + 12 + 3


def test_a_tweak_lies_over_the_rest() -> None:
    text = """read = 1
[[statement]]
label = "mac"
latency = 5
[tweak]
reason = "so it is"
read = 2
[[tweak.statement]]
label = "mac"
latency = 7
"""
    with_it, without = calibration(text), calibration(text, tweak=False)
    assert (with_it.read, with_it.reason) == (2, "so it is")
    assert (without.read, without.reason) == (1, "")
    assert cycles(text)[1] == 4 + (2 + 7 + 1) + 4


def test_operators_chain_in_fractions_of_a_cycle() -> None:
    text = "[operators.int]\nadd = 0.25\nmul = '1/3'"
    technology = calibration(text).technology
    assert technology.of("int", "add") == Fraction(1, 4)
    assert technology.of("long", "mul") == Fraction(1, 3)
    kernel = "void kernel(int a[4]) { a[0] = a[1] + a[2] + a[3] + 1 + 2; }"
    # base 1 + 4 · ¼
    assert cycles(text, kernel)[1] == 3 + (1 + 2 + 1) + 3


REPORT = """@I [HLS-10] Starting hardware synthesis ...
@I [HLS-10] --- Scheduling module 'mac4'
@I [SCHED-61] Pipelining function 'mac4'.
@I [SCHED-61] Pipelining result:
Target II: 1, Final II: 2, Depth: 18.
@I [HLS-10] --- Scheduling module 'elsewhere'
@I [SCHED-61] Pipelining result: Target II: 1, Final II: 1, Depth: 3.
"""


def test_an_hls_report_calibrates(tmp_path: Path) -> None:
    (tmp_path / "hls.log").write_text(REPORT)
    mac, elsewhere = read_schedule_report(tmp_path / "hls.log")
    assert (mac.label, mac.latency, mac.interval) == ("mac4", 18, 2)
    assert (elsewhere.label, elsewhere.latency, elsewhere.interval) == ("elsewhere", 3, 1)
    text = """void mac4(int *s, int t, int a) { *s = t + a; }
    void kernel(int a[4], int s[1]) { for (int i = 0; i < 4; i++) mac4(&s[0], s[0], a[i]); }"""
    found = estimate("k.c", text=text, kernel="kernel", report=tmp_path / "hls.log")
    assert found.unbounded.cycles == 3 + 4 * 20 + 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("read = ", "c.toml: not TOML"),
        ("write = 0", "c.toml: write: must be a whole number of at least 1, not 0"),
        ("read = -1", "c.toml: read: must be a whole number of at least 0, not -1"),
        ("speed = 3", "c.toml: speed: unknown; see docs/bounds.md"),
        ("constants = 'never'", "c.toml: constants: must be one of free, process"),
        ("[operators.real]\nadd = 1", "c.toml: operators: must be one of double, float"),
        ("[operators.int]\nfly = 1", "c.toml: operators.int: must be one of base"),
        ("[operators.int]\nadd = 'x'", "c.toml: operators.int.add: must be cycles, not 'x'"),
        ("[operators.int]\nadd = -1", "c.toml: operators.int.add: must not be negative"),
        ("[statement]\nline = 1", "c.toml: statement: must be written [[statement]]"),
        ("[[statement]]\nlatency = 1", "c.toml: [[statement]] 1: names no statement"),
        ("[[statement]]\nline = 9", "c.toml: [[statement]] 1: selects no statement of kernel"),
        ("[sources]\nzz = true", "c.toml: sources.zz: no such array; there are: a, b"),
        ("[sinks]\nb = { ranges = [[0, 5]] }", "c.toml: sinks.b.ranges: the array is [4]"),
        ("[sinks]\nb = { skip = [[4]] }", "c.toml: sinks.b.skip: no element [4] in [4]"),
        ("[sinks]\nb = { depth = 1 }", "c.toml: sinks.b.depth: unknown"),
        ("[tweak]\nread = 2", "c.toml: [tweak] says no reason"),
        ("[arguments]\nn = true", "c.toml: arguments.n: must be a number"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        cycles(text)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_calibration(tmp_path / "none.toml")
    (tmp_path / "empty.log").write_text("nothing here")
    with pytest.raises(InputError, match="no schedule in it"):
        read_schedule_report(tmp_path / "empty.log")


def run(**options: object) -> Bounds:
    return estimate("k.c", **{"text": KERNEL, **options})  # type: ignore[arg-type]


def test_missing_kernels() -> None:
    with pytest.raises(SourceError, match="no function nothing with a body; there are: kernel"):
        run(kernel="nothing")
    two = "void f(int a[1]) { a[0] = 1; } void g(int a[1]) { a[0] = 1; }"
    with pytest.raises(SourceError, match="which function is the kernel"):
        run(text=two)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"z": [1]}, "no such array"),
        ({"a": [1, 2]}, r"shape \[2\], must be \[4\]"),
        ({"a": ["x"] * 4}, "must be double numbers"),
        ({"a": [[1], [1, 2], [1], [1]]}, "rows of different lengths"),
    ],
)
def test_bad_data(data: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        run(data=data)


def test_arguments_reach_extents_and_loops() -> None:
    text = """void kernel(int n, int m, double a[n][m], double *p) {
        for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) p[i * m + j] = a[i][j] * 2.0;
    }"""
    found = run(text=text, arguments={"n": 2, "m": 3, "p": 6})
    assert found.firings == 6
    assert [s.dims for s in found.network.storages if s.is_outer] == [(2, 3), (6,)]
    with pytest.raises(InputError, match="kernel has no such parameter"):
        run(text=text, arguments={"k": 1})


def test_a_caller_tells_the_arguments() -> None:
    text = """void kernel(int n, int *p) { for (int i = 0; i < n; i++) p[i] = p[i] + 1; }
    int data[5];
    int main(void) { int n = 4 + 1; kernel(n, data); return 0; }"""
    found = run(text=text, kernel="kernel")
    assert found.firings == 5

"""An estimate as a profile, a waveform and a picture; the plain run; the command."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from cyclescope.bounds import Bounds, differences, estimate, profile_of
from cyclescope.cli import main, program
from cyclescope.errors import RunError
from cyclescope.model import load
from cyclescope.views import NetworkEdge, NetworkNode, network_svg, write_vcd

FOLDER = Path(__file__).parents[2] / "examples" / "bounds" / "polybench"
KERNEL = """
void kernel(double a[4], double b[4]) {
    for (int i = 0; i < 4; i++)
        b[3 - i] = a[i] * 2.0;
}
"""


@pytest.fixture(scope="module")
def found() -> Bounds:
    return estimate("k.c", text=KERNEL, detail=True, values=True)


def waveform(text: str) -> dict[str, dict[int, int]]:
    """A reader of its own: signal → time → value, for every time at which some signal changes."""
    scope: list[str] = []
    names: dict[str, str] = {}
    values: dict[str, dict[int, int]] = {}
    now = 0
    head, _, body = text.partition("$enddefinitions $end\n")
    for line in head.splitlines():
        words = line.split()
        if words[0] == "$scope":
            scope.append(words[2])
        elif words[0] == "$upscope":
            scope.pop()
        elif words[0] == "$var":
            names[words[3]] = ".".join([*scope, words[4]])
            values[names[words[3]]] = {}
    assert scope == []
    for line in body.splitlines():
        if line.startswith("#"):
            assert int(line[1:]) > now or now == 0
            now = int(line[1:])
        elif line.startswith("b"):
            number, code = line[1:].split()
            values[names[code]][now] = int(number, 2)
        elif line[0] in "01":
            values[names[line[1:]]][now] = int(line[0])
    assert now > 0
    return values


def test_waveform_has_every_stage(found: Bounds) -> None:
    stream = io.BytesIO()
    write_vcd(profile_of(found, found.absolute), stream)
    values = waveform(stream.getvalue().decode("ascii"))
    # Reads at 3 to 6, ten deep, written a cycle after.
    assert values["kernel.b_L4.R$"] == {0: 0, 3: 1, 7: 0}
    fill = {0: 0, 4: 1, 5: 2, 6: 3, 7: 4, 14: 3, 15: 2, 16: 1, 17: 0}
    assert values["kernel.b_L4.E$"] == fill
    assert values["kernel.b_L4.W$"] == {0: 0, 14: 1, 18: 0}
    # Until its last firing ends it is there; before its first it waits for a.
    assert values["kernel.b_L4.active"] == {0: 1, 18: 0}
    assert values["kernel.b_L4.waiting_operand.active"] == {0: 1, 3: 0}
    wanted = found.absolute.parallelism.tolist()
    held, trace = 0, []
    for cycle in range(found.absolute.cycles):
        held = values["kernel.G$"].get(cycle, held)
        trace.append(held)
    assert trace == wanted


def test_profile_keeps_what_shaped_it(found: Bounds) -> None:
    profile = profile_of(found, found.unbounded)
    assert profile.cycles == found.unbounded.cycles
    assert profile.meta.options["estimate"] == "unbounded"
    assert profile.meta.options["absolute"] == str(found.absolute.cycles)
    assert profile.meta.options["bounded by"].startswith("latency of b L4, ")
    shown = profile_of(found, found.absolute).meta.options
    assert shown["pipeline efficiency"] == "100.0 %"
    lines = {f.name: f.positions[0].line for f in profile.catalog}
    assert lines["b L4"] == 4


def test_edges_of_a_reversal(found: Bounds) -> None:
    assert found.detail is not None
    classes = {(e.producer.name, e.consumer.name): e for e in found.detail.edges}
    assert classes["source a", "b L4"].order == "in-order"
    assert classes["b L4", "sink b"].order == "out-of-order"
    assert classes["b L4", "sink b"].reordered


def test_network_picture_is_safe_and_whole() -> None:
    hostile = "</text><script>\x00\u202e&"
    nodes = [
        NetworkNode("source a", "source"),
        NetworkNode(hostile, "statement", "3 firings"),
        NetworkNode("sink b", "sink"),
    ]
    edges = [
        NetworkEdge(0, 1, "a[i]", 4, 16, "out-of-order with multiplicity", reordered=True),
        NetworkEdge(1, 1, hostile, 3, 3, "in-order", reordered=False),
        NetworkEdge(1, 2, "b", 4, 4, "in-order", reordered=False),
        NetworkEdge(2, 0, "back", 4, 4, "in-order", reordered=False),
    ]
    text = network_svg("a < b", nodes, edges)
    root = ElementTree.fromstring(text)
    assert "<script" not in text
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}g/{space}rect")) == 3
    assert len([p for p in root.iter(f"{space}path") if "marker-end" in p.attrib]) == 4
    dashed = [p for p in root.iter(f"{space}path") if "stroke-dasharray" in p.attrib]
    assert len(dashed) == 1
    assert network_svg("a < b", nodes, edges) == text


@pytest.mark.parametrize("kernel", ["atax", "cholesky", "dynprog", "floyd_warshall"])
def test_values_are_those_of_a_plain_run(kernel: str) -> None:
    found = estimate(FOLDER / f"{kernel}.c", verify=True)
    assert differences(found) == []
    records = found.records
    assert records.seconds > 0
    first = next(iter(records.plain))
    records.plain[first] = bytes(len(records.plain[first]))
    assert len(differences(found)) == 1


def test_what_a_plain_run_is_handed() -> None:
    text = """
    struct s { double x; char c[3]; };
    static const int table[4] = {5, 6, 7, 8};
    static int last;
    int kernel(struct s a[2], const int (*rows)[4], short *one, float f) {
        for (int i = 0; i < 2; i++) {
            a[i].x = a[i].x * f + rows[0][i];
            a[i].c[i] = table[i + 1] + *one;
        }
        last = a[0].c[0];
        return last + 1;
    }
    """
    found = estimate("k.c", text=text, verify=True)
    assert differences(found) == []
    assert len(found.records.plain) == 7  # a.x, a.c, rows, one, table, last and the result
    assert {"double a.x[2]", "f = 1.5"} <= set(found.network.made_up)


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(program, ["bounds", *arguments], standalone_mode=False)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_command_writes_everything(tmp_path: Path) -> None:
    out = tmp_path / "atax.cyc"
    status, text = invoke(
        str(FOLDER / "atax.c"), "--calibration", str(FOLDER / "atax.toml"), "-o", str(out),
        "--vcd", str(tmp_path / "waveform.vcd"), "--network", str(tmp_path / "net.svg"),
    )  # fmt: skip
    assert status == 0
    assert re.search(r"cycles +19,948 +1,286", text)
    assert "Critical path, absolute:" in text
    assert load(out).cycles == 19948
    assert load(tmp_path / "atax.unbounded.cyc").cycles == 1286
    assert (tmp_path / "waveform.vcd").read_text().startswith("$comment")
    ElementTree.parse(tmp_path / "net.svg")


def test_command_prints_json() -> None:
    status, text = invoke(str(FOLDER / "lu.c"), "-D", "N=6", "--json", "--verify")
    found = json.loads(text)
    assert status == 0
    assert found["absolute"] >= found["unbounded"] > 0
    path = found["absolute_estimate"]["critical_path"]
    assert sum(step["cycles"] for step in path) == found["absolute"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["none.c"], 2),
        ([str(FOLDER / "lu.c"), "--kernel", "nothing"], 2),
        ([str(FOLDER / "lu.c"), "--arg", "n=x"], 2),
        ([str(FOLDER / "lu.c"), "-D", "3=x"], 2),
        ([str(FOLDER / "lu.c"), "--data", "none.json"], 2),
        ([str(FOLDER / "lu.c"), "--calibration", "none.toml"], 2),
    ],
)
def test_command_fails_in_one_line(
    arguments: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bounds", *arguments]) == status
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert error.strip()


def test_a_pointer_to_nowhere_crashes_the_kernel_alone() -> None:
    text = """
    void kernel(int a[2], int out[2]) {
        int *nowhere = (int *)8;
        out[0] = nowhere[0] + a[0];
    }
    """
    with pytest.raises(RunError, match="the kernel crashed"):
        estimate("k.c", text=text)


def test_a_killed_kernel_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from cyclescope.bounds import _native

    def crash(command: list[str], kernel: str) -> int:
        del command, kernel
        return -int(signal.SIGSEGV)

    monkeypatch.setattr(_native, "execute", crash)
    with pytest.raises(RunError, match=r"kernel: the kernel crashed \(SIGSEGV\)"):
        estimate("k.c", text=KERNEL)


def descendants(process: int) -> list[str]:
    """The commands that a process and those below it run; a kernel's begins with a digit."""
    try:
        below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        own = [Path(f"/proc/{child}/comm").read_text() for child in below]
    except OSError:  # it ended in between, or there is no /proc
        return []
    return own + [command for child in below for command in descendants(int(child))]


def test_an_endless_kernel_can_be_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "endless.c"
    file.write_text("void kernel(int a[1]) { for (;;) a[0] = a[0] * 3; }")
    with subprocess.Popen(
        [sys.executable, "-m", "cyclescope", "bounds", str(file)],
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not any(
            c[:1].isdigit() for c in descendants(running.pid)
        ):
            time.sleep(0.05)
        killer = threading.Timer(60, running.kill)
        killer.start()
        running.send_signal(signal.SIGINT)
        assert running.wait() == 130
        killer.cancel()
        assert running.stderr is not None
        assert running.stderr.read().strip() == "cyclescope: interrupted"

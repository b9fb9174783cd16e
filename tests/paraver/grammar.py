"""A strict reader of Paraver traces, written from the format's grammar and not from our writer.

Paraver's own reader accepts much that it then shows wrongly: unsorted lines, overlapping or
missing states, times with fractions. Here all of that fails.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NUMBER = r"(?:0|[1-9][0-9]*)"
_HEADER = re.compile(
    rf"#Paraver \(([0-9]{{2}})/([0-9]{{2}})/([0-9]{{2}}|[0-9]{{4}}) at ([0-9]{{2}}):([0-9]{{2}})\):"
    rf"({_NUMBER})(_ns|_us|_ms):(.*)"
)
_RESOURCES = re.compile(rf"(?:0|({_NUMBER})\(({_NUMBER}(?:,{_NUMBER})*)\)):({_NUMBER}):(.*)")
_APPL = re.compile(rf"({_NUMBER})\(({_NUMBER}:{_NUMBER}(?:,{_NUMBER}:{_NUMBER})*)\)(?:,|$)")
_RECORD = re.compile(rf"[123](?::-?{_NUMBER})+")

Thread = tuple[int, int, int]
Message = tuple[Thread, int, Thread, int, int]  # sender, it leaves, receiver, it arrives, bytes


@dataclass
class Trace:
    end: int
    unit: str
    cpus: int
    threads: list[Thread]
    states: dict[Thread, list[tuple[int, int, int]]] = field(default_factory=dict)
    events: dict[Thread, list[tuple[int, int, int]]] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


@dataclass
class Names:
    states: dict[int, str] = field(default_factory=dict)
    colours: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    types: dict[int, str] = field(default_factory=dict)
    values: dict[int, dict[int, str]] = field(default_factory=dict)


def check_trace(text: str) -> Trace:
    lines = text.split("\n")
    assert lines.pop() == "", "the last line ends"
    trace = _header(lines[0])
    known = set(trace.threads)
    now = 0
    body = [line for line in lines[1:] if not line.startswith("#")]
    trace.comments = [line for line in lines[1:] if line.startswith("#")]
    assert body, "a trace without records is not opened"
    for line in body:
        assert _RECORD.fullmatch(line), line
        kind, *fields = map(int, line.split(":"))
        cpu, thread, time = fields[0], (fields[1], fields[2], fields[3]), fields[4]
        assert thread in known, line
        assert 0 <= cpu <= trace.cpus, line
        assert (cpu == 0) == (trace.cpus == 0), line
        assert time <= trace.end, f"after the end: {line}"
        if kind != 3:  # a message has four times, and is sorted by none
            assert now <= time, f"not sorted: {line}"
            now = time
        if kind == 1:
            assert len(fields) == 7, line
            begin, end, state = fields[4:]
            own = trace.states.setdefault(thread, [])
            assert begin == (own[-1][1] if own else 0), f"a gap or an overlap: {line}"
            assert begin < end <= trace.end, line
            assert 0 <= state < 1 << 31, line
            own.append((begin, end, state))
        elif kind == 2:
            pairs = fields[5:]
            assert pairs, line
            assert len(pairs) % 2 == 0, line
            for type_, value in zip(pairs[::2], pairs[1::2], strict=True):
                assert 0 < type_ < 1 << 31, line
                assert -(1 << 63) <= value < 1 << 63, line
                trace.events.setdefault(thread, []).append((time, type_, value))
        else:
            assert len(fields) == 14, line
            partner = (fields[7], fields[8], fields[9])
            assert partner in known, line
            times = (fields[4], fields[5], fields[10], fields[11])
            assert all(0 <= time <= trace.end for time in times), line
            trace.messages.append((thread, fields[5], partner, fields[11], fields[12]))
    for thread in trace.threads:
        assert trace.states[thread][-1][1] == trace.end, f"{thread} has no state at the end"
    return trace


def _header(line: str) -> Trace:
    match = _HEADER.fullmatch(line)
    assert match, line
    day, month, _, hour, minute, end, unit, rest = match.groups()
    assert 1 <= int(day) <= 31
    assert 1 <= int(month) <= 12
    assert int(hour) < 24
    assert int(minute) < 60
    found = _RESOURCES.fullmatch(rest)
    assert found, rest
    cpus = [int(n) for n in found[2].split(",")] if found[2] else []
    assert len(cpus) == int(found[1] or 0)
    rest = found[4]
    threads: list[Thread] = []
    for appl in range(1, int(found[3]) + 1):
        part = _APPL.match(rest)
        assert part, rest
        tasks = [tuple(map(int, task.split(":"))) for task in part[2].split(",")]
        assert len(tasks) == int(part[1])
        for task, (count, node) in enumerate(tasks, 1):
            assert 1 <= node <= max(len(cpus), 1)
            assert count >= 1
            threads += [(appl, task, thread) for thread in range(1, count + 1)]
        rest = rest[part.end() :]
    assert rest == ""
    assert int(end) > 0
    return Trace(int(end), unit, sum(cpus), threads)


def check_names(text: str) -> Names:
    """Read a .pcf."""
    names = Names()
    section = ""
    types: list[int] = []
    assert "\r" not in text
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        assert line.strip(), "Paraver's reader crashes on a line of blanks"
        if re.fullmatch(r"[A-Z_]+", line):
            section, types = (line, []) if line == "EVENT_TYPE" else (line, types)
            continue
        head, _, label = line.partition(" ")
        label = label.strip()
        assert label, line
        if section == "STATES":
            assert int(head) not in names.states
            names.states[int(head)] = label
        elif section == "STATES_COLOR":
            colour = re.fullmatch(r"\{(\d+),(\d+),(\d+)\}", label)
            assert colour, line
            red, green, blue = (int(c) for c in colour.groups())
            assert max(red, green, blue) < 256
            names.colours[int(head)] = (red, green, blue)
        elif section == "EVENT_TYPE":
            number, _, label = label.partition(" ")
            assert 0 < int(number) < 1 << 31
            assert int(number) not in names.types
            names.types[int(number)] = label
            types.append(int(number))
        elif section == "VALUES":
            for number in types:
                of = names.values.setdefault(int(number), {})
                assert -(1 << 31) < int(head) < 1 << 31
                assert int(head) not in of
                of[int(head)] = label
        else:
            assert section in ("DEFAULT_OPTIONS", "DEFAULT_SEMANTIC"), line
    assert names.states.keys() == names.colours.keys()
    return names


def check_rows(text: str, trace: Trace) -> list[str]:
    """Read a .row; gives the threads' labels."""
    lines = text.split("\n")
    found: dict[str, list[str]] = {}
    at = 0
    while at < len(lines):
        match = re.fullmatch(
            r"LEVEL (CPU|NODE|THREAD|TASK|APPL|SYSTEM|WORKLOAD) SIZE (\d+)", lines[at]
        )
        if match is None:
            assert lines[at] == "", lines[at]
            at += 1
            continue
        size = int(match[2])
        found[match[1]] = lines[at + 1 : at + 1 + size]
        assert all(label.strip() for label in found[match[1]])
        at += 1 + size
    assert len(found["THREAD"]) == len(trace.threads)
    assert len(found["CPU"]) == trace.cpus
    assert len(found["TASK"]) == len({thread[:2] for thread in trace.threads})
    return found["THREAD"]


def check_view(text: str, names: Names) -> None:
    """Read a .cfg: windows are numbered, functions known, and filtered types exist."""
    assert text.startswith("#ParaverCFG\nConfigFile.Version: 3.4\n")
    count = re.search(r"^ConfigFile.NumWindows: (\d+)$", text, re.MULTILINE)
    assert count
    windows = text.split("< NEW DISPLAYING WINDOW ")[1:]
    assert len(windows) == int(count[1]) >= 1
    for number, window in enumerate(windows, 1):
        assert f"\nwindow_id {number}\n" in window
        chosen = re.search(r"\{thread, ([^}]+)\}", window)
        assert chosen
        assert chosen[1] in ("State As Is", "Last Evt Val", "Avg Next Evt Val")
        filtered = re.search(
            r"^window_filter_module evt_type (\d+) ([\d ]+)$", window, re.MULTILINE
        )
        assert (filtered is None) == (chosen[1] == "State As Is")
        if filtered:
            types = [int(n) for n in filtered[2].split()]
            assert len(types) == int(filtered[1])
            assert set(types) <= set(names.types)

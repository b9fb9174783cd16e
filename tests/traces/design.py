"""A small instrumented design, written by hand: its JSON files, and a writer of waveforms.

    component main {                       // line
      seq {                                // 10
        init;
        while lt.out with cond {           // 12
          par { call sub; step; }          // 13
        }
      }
    }

`sub` is a component with one group that calls another; `step` uses an adder that was merged with
that of `init`, and a multiplier that is invoked directly.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

SIDE_FILES: dict[str, object] = {
    "cells.json": [
        {
            "component": "main",
            "is_main_component": True,
            "cell_info": [{"cell_name": "s", "component_name": "sub"}],
            "primitive_info": [
                {"cell_name": "add0", "primitive_type": "std_add"},
                {"cell_name": "add1", "primitive_type": "std_add"},
                {"cell_name": "lt", "primitive_type": "std_lt"},
                {"cell_name": "mul", "primitive_type": "std_mult_pipe"},
            ],
        },
        {
            "component": "sub",
            "is_main_component": False,
            "cell_info": [],
            "primitive_info": [{"cell_name": "r", "primitive_type": "std_reg"}],
        },
    ],
    "fsm.json": [
        {
            "Fsm": {
                "component": "main",
                "group": "tdcc",
                "fsm": "fsm",
                "states": [
                    {"id": 0, "group": "initUG"},
                    {"id": 1, "group": "condUG"},
                    {"id": 2, "group": "par0"},
                    {"id": 3, "group": "fsm_END"},
                ],
                "pos": [1],
            }
        },
        {
            "Par": {
                "component": "main",
                "par_group": "par0",
                "child_groups": [
                    {"group": "callUG", "register": "pd"},
                    {"group": "stepUG", "register": "pd0"},
                ],
                "pos": [3],
            }
        },
        {"SingleEnable": {"component": "sub", "group": "outerUG"}},
    ],
    "path-descriptors.json": {
        "main": {
            "enables": {
                "initUG": "main.-0",
                "condUG": "main.-1-c",
                "callUG": "main.-1-b-0",
                "stepUG": "main.-1-b-1",
            },
            "control_pos": {"main.-": [1], "main.-1-": [2], "main.-1-b-": [3]},
        },
        "sub": {"enables": {"outerUG": "sub.-"}, "control_pos": {}},
    },
    "ctrl-pos.json": {
        "main": [
            {"pos_num": 1, "linenum": 10, "ctrl_node": "seq"},
            {"pos_num": 2, "linenum": 12, "ctrl_node": "while"},
            {"pos_num": 3, "linenum": 13, "ctrl_node": "par"},
        ]
    },
    "shared-cells.json": {
        "main": [{"original": "add1", "new": "add0", "cell_type": "std_add"}],
    },
    "adl-metadata.json": {
        "adl": "Py",
        "components": [
            {
                "component": "main",
                "filename": "gen.py",
                "linenum": 3,
                "varname": "main",
                "cells": [{"name": "lt", "filename": "gen.py", "linenum": 7, "varname": "lt"}],
                "groups": [{"name": "step", "filename": "gen.py", "linenum": 9, "varname": "g"}],
            }
        ],
    },
}

MAIN, SUB = ("toplevel", "main"), ("toplevel", "main", "s")

# name → (scope, bits); the waveform's identifiers, of one and two bytes, follow the order.
SIGNALS: dict[str, tuple[tuple[str, ...], int]] = {
    "clk": (MAIN, 1),
    "go": (MAIN, 1),
    "done": (MAIN, 1),
    "tdcc_go_out": (MAIN, 1),
    "par0_go_out": (MAIN, 1),
    "fsm_out": (MAIN, 2),
    "pd_out": (MAIN, 1),
    "pd0_out": (MAIN, 1),
    "initUG___main_group_probe_out": (MAIN, 1),
    "add0___initUG___main_primitive_probe_out": (MAIN, 1),
    "condUG___main_group_probe_out": (MAIN, 1),
    "lt___condUG___main_primitive_probe_out": (MAIN, 1),
    "callUG___main_group_probe_out": (MAIN, 1),
    "s___callUG___main_cell_probe_out": (MAIN, 1),
    "stepUG___main_group_probe_out": (MAIN, 1),
    "add1___stepUG___main_primitive_probe_out": (MAIN, 1),
    "mul___stepUG___main_cell_probe_out": (MAIN, 1),
    "lt___main_contprimitive_probe_out": (MAIN, 1),
    "outerUG___sub_group_probe_out": (SUB, 1),
    "inner___sub_group_probe_out": (SUB, 1),
    "inner___outerUG___sub_se_probe_out": (SUB, 1),
    "r___inner___sub_primitive_probe_out": (SUB, 1),
}
KEY = {name: chr(33 + place) + "~" * (place % 2) for place, name in enumerate(SIGNALS)}

_INIT = ["initUG___main_group_probe_out", "add0___initUG___main_primitive_probe_out"]
_COND = ["condUG___main_group_probe_out", "lt___condUG___main_primitive_probe_out"]
_CALL = ["par0_go_out", "callUG___main_group_probe_out", "s___callUG___main_cell_probe_out"]
_STEP = [
    "par0_go_out",
    "stepUG___main_group_probe_out",
    "add1___stepUG___main_primitive_probe_out",
    "mul___stepUG___main_cell_probe_out",
]
_SUB = [
    "outerUG___sub_group_probe_out",
    "inner___sub_group_probe_out",
    "inner___outerUG___sub_se_probe_out",
    "r___inner___sub_primitive_probe_out",
]

# What is high in each cycle, and the state: ten cycles, one of reset before and one done after.
CYCLES: list[tuple[list[str], int]] = [
    (_INIT, 0),
    ([], 0),
    (_COND, 1),
    ([], 1),
    (_CALL + _STEP + _SUB, 2),
    (_CALL + _SUB, 2),
    (["par0_go_out"], 2),
    ([], 2),
    (_COND, 1),
    ([], 1),
]

FOLDED = {
    "main;seq L10": 1,
    "main;seq L10;init;add0 [std_add]": 1,
    "main;seq L10;while L12": 3,
    "main;seq L10;while L12;cond;lt [std_lt]": 2,
    "main;seq L10;while L12;par L13": 1,
    "main;seq L10;while L12;par L13;call;s [sub];outer;inner;r [std_reg]": 2,
    "main;seq L10;while L12;par L13;step;add1 [std_add]": 1,
    "main;seq L10;while L12;par L13;step;mul [std_mult_pipe]": 1,
}


def write_side_files(folder: Path, **changed: object) -> None:
    for name, content in {**SIDE_FILES, **changed}.items():
        (folder / name).write_text(json.dumps(content))


def header(signals: Mapping[str, tuple[tuple[str, ...], int]] = SIGNALS) -> str:
    lines = ["$timescale 1ns $end"]
    now: tuple[str, ...] = ()
    for name, (scope, width) in sorted(signals.items(), key=lambda item: item[1][0]):
        while scope[: len(now)] != now:
            lines.append("$upscope $end")
            now = now[:-1]
        for part in scope[len(now) :]:
            lines += [f"$scope module {part} $end"]
        now = scope
        bits = f" [{width - 1}:0]" if width > 1 else ""
        lines.append(f"$var wire {width} {KEY[name]} {name}{bits} $end")
    lines += ["$upscope $end"] * len(now) + ["$enddefinitions $end", ""]
    return "\n".join(lines)


def change(name: str, value: int | str) -> str:
    if SIGNALS[name][1] > 1:
        return f"b{value:b} {KEY[name]}" if isinstance(value, int) else f"b{value} {KEY[name]}"
    return f"{value}{KEY[name]}"


def body(cycles: Sequence[tuple[Iterable[str], int]] = CYCLES) -> str:
    """Changes: one cycle before the run, the run, and the cycle in which main is done."""
    rows: list[dict[str, int]] = [{}]
    for high, state in cycles:
        rows.append({"go": 1, "tdcc_go_out": 1, "fsm_out": state} | dict.fromkeys(high, 1))
    rows.append({"go": 1, "done": 1, "fsm_out": 3})
    lines = ["#0", *(change(name, 0) for name in SIGNALS)]
    last = dict.fromkeys(SIGNALS, 0)
    for cycle, row in enumerate(rows):
        lines += [f"#{10 * cycle + 5}", change("clk", 1)]
        now = {name: row.get(name, 0) for name in SIGNALS}
        lines += [change(n, v) for n, v in now.items() if v != last[n]]
        last = now
        lines += [f"#{10 * cycle + 10}", change("clk", 0)]
    return "\n".join(lines) + "\n"


def write_run(folder: Path, text: str | bytes | None = None) -> Path:
    """The JSON files, and a waveform if one is given, else that of the ten cycles."""
    write_side_files(folder)
    path = folder / "run.vcd"
    content = header() + body() if text is None else text
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path

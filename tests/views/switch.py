"""A profile made by hand in the manner of the paper's parallel switch: nine cycles."""

from __future__ import annotations

import numpy as np

from cyclescope.model import (
    Anomaly,
    Kind,
    Meta,
    Position,
    Profile,
    ProfileBuilder,
    Series,
    Severity,
)
from meaning import Frame

from ..strategies import register_series


def switch_profile(**meta: object) -> Profile:
    """`seq { read; par { if {run_s1} if {run_s2} }; write }`; three cycles of nine are useful."""

    def at(line: int) -> tuple[Position, ...]:
        return (Position("calyx", "switch.futil", line),)

    def control(operator: str, line: int) -> Frame:
        return Frame(Kind.CONTROL, f"{operator} L{line}", "main", operator, at(line))

    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    seq = builder.path(main, control("seq", 29))
    read = builder.path(seq, Frame(Kind.GROUP, "read", "main", "", at(14)))
    register = builder.path(read, Frame(Kind.PRIMITIVE, "r", "main", "std_reg", at(4)))
    par = builder.path(seq, control("par", 31))
    if_1 = builder.path(par, control("if", 32))
    if_2 = builder.path(par, control("if", 33))
    run = builder.path(if_1, Frame(Kind.GROUP, "run_s1", "main", "", at(20)))
    s1 = builder.path(run, Frame(Kind.CELL, "s1", "main", "sub_one", at(6)))
    body = builder.path(s1, Frame(Kind.GROUP, "decrement", "sub_one", "", at(40)))
    write = builder.path(seq, Frame(Kind.GROUP, "write", "main", "", at(24)))
    builder.frame(Frame(Kind.GROUP, "run_s2", "main", "", at(22)))
    shown = [[register], [seq], [if_1, if_2], [body, if_2], [if_1], [par], [seq], [write], [main]]
    trees = [builder.tree(paths) for paths in shown]
    builder.counter(register_series("main", "fsm0", "fsm", np.array([0, 1, 6, 7]), 9))
    builder.counter(register_series("main", "pd0", "par done", np.array([4, 5]), 9))
    builder.counter(register_series("main", "pd1", "par done", np.array([3, 5]), 9))
    builder.counter(
        Series(
            "main",
            "bytes read",
            "bytes",
            "B",
            main,
            *(np.array(v, dtype=np.int64) for v in ([1, 4], [2, 6], [8, -3])),
        )
    )
    anomalies = (Anomaly("late probe", Severity.DATA_LOSS, 2, "two changes dropped"),)
    head = Meta("calyx", "switch.futil", anomalies=anomalies)
    return builder.build(head, [1] * 9, trees).with_meta(**meta)

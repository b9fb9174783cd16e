"""The builder of call trees, on designs that no compiler made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.calltree import (
    Call,
    CallTrees,
    Compiled,
    Component,
    Group,
    Nesting,
    Promoted,
    Recording,
    Register,
    Repeat,
)
from cyclescope.model import Frame, Kind, Meta, Profile, check_laws, segmented

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Cycle = Mapping[str, int]  # signal → value
Active = frozenset[tuple[str, ...]]


def frame(name: str, kind: Kind = Kind.GROUP) -> Frame:
    return Frame(kind, name, "main")


MAIN = frame("main", Kind.CELL)


def component(parent: Mapping[int, int | None], blocks: Sequence[int], **parts: Any) -> Component:
    """A component whose statements are named after their numbers."""
    kinds = {node: Kind.CONTROL if node in blocks else Kind.GROUP for node in parent}
    frames = {node: frame(f"{node}", kind) for node, kind in kinds.items()}
    empty: dict[str, Any] = {"inlined": {}, "groups": (), "compiled": ()}
    return Component("main", Nesting(parent, blocks), frames, **(empty | parts))


def recording(
    cycles: Sequence[Mapping[str, Cycle]], *, shown: int | None = None, **more: Any
) -> Recording:
    """Of instances by name, each of the component that the last part of its name names.

    `shown` of the cycles are the run; all, if None.
    """
    instances = tuple((name, name.split(".")[-1]) for name in cycles[0])
    vectors, columns = {}, []
    for name, kind in instances:
        signals = list(dict.fromkeys(s for cycle in cycles for s in cycle[name]))
        rows = [tuple(cycle[name].get(s, 0) for s in signals) for cycle in cycles]
        distinct = sorted(set(rows))
        vectors[kind] = {s: [row[i] for row in distinct] for i, s in enumerate(signals)}
        columns.append([distinct.index(row) for row in rows])
    states = np.array(columns, dtype=np.int64).T
    run = np.arange(len(cycles) if shown is None else shown, dtype=np.int64)
    return Recording(instances, vectors, states, segmented([(np.ones_like(run), run)]), **more)


def profile_of(made: CallTrees, shown: Recording) -> Profile:
    trees = made.trees()
    for series in made.registers():
        made.profile.counter(series)
    return made.profile.build_states(Meta("test", "test"), shown.runs, trees)


def active(profile: Profile) -> list[Active]:
    """The call paths of each cycle."""
    runs = zip(profile.schedule.cycles.tolist(), profile.schedule.tree.tolist(), strict=True)
    trees = [
        frozenset(profile.stack(path) for path in profile.forest[tree].tolist())
        for tree in range(len(profile.forest))
    ]
    return [trees[tree] for cycles, tree in runs for _ in range(cycles)]


def leaves(profile: Profile) -> list[set[str]]:
    """The ends of the call paths of each cycle, below main."""
    result = []
    for tree in active(profile):
        inner = {path[:-1] for path in tree}
        result.append({";".join(path[1:]) for path in tree - inner})
    return result


def shown(main: Component, *cycles: Cycle, **others: Component) -> list[set[str]]:
    record = recording([{"main": cycle} for cycle in cycles])
    return leaves(profile_of(CallTrees(MAIN, "main", {"main": main, **others}, record), record))


# A control program and an interpreter of it: the interpreter knows what is active, and which
# signals the hardware of a compiler would show. A `seq` of `seq`s is one state machine.

Node = tuple[str, Any]  # ("group", cycles), ("seq", nodes), ("par", nodes)
programs: st.SearchStrategy[Node] = st.recursive(
    st.tuples(st.just("group"), st.integers(1, 3)),
    lambda inner: st.tuples(
        st.sampled_from(["seq", "par"]), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=9,
)


@dataclass
class Machine:
    parent: dict[int, int | None] = field(default_factory=dict)
    blocks: list[int] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    compiled: list[Compiled] = field(default_factory=list)

    def statement(self, node: Node, parent: int | None) -> tuple[int, list[str], list[str]]:
        """Its number; the signals of the groups and the names of the compiled groups below."""
        number = len(self.parent)
        self.parent[number] = parent
        if node[0] == "group":
            self.groups.append(Group(f"g{number}", f"g{number}", frame("?"), (number,)))
            return number, [f"g{number}"], []
        self.blocks.append(number)
        return number, [], []

    def run(
        self, node: Node, parent: int | None, owner: str
    ) -> tuple[list[Any], list[str], list[str]]:
        """(cycles, leaves, compiled groups) of a statement that the machine `owner` runs.

        A cycle is (what is active, high signals); of the owner's state nothing is said yet.
        """
        number, below, inner = self.statement(node, parent)
        kind, body = node
        if kind == "group":
            return [({number}, {f"g{number}": 1}, True)] * body + [({parent}, {}, False)], below, []
        if kind == "seq":
            cycles: list[Any] = []
            for child in body:
                one, more, names = self.run(child, number, owner)
                cycles += one
                below += more
                inner += names
            return cycles, below, inner
        arms = []
        for child in body:
            arm, more, names = self.arm(child, number)
            arms.append(arm)
            below += more
            inner += names
        name = f"c{number}"
        self.compiled.append(Compiled(name, name, number, tuple(below), tuple(inner)))
        cycles = []
        for now in zip_longest(*arms):
            there = [cycle for cycle in now if cycle is not None]
            high = {s: v for _, signals, _ in there for s, v in signals.items()}
            cycles.append(({number}.union(*(a for a, _, _ in there)), {name: 1, **high}, True))
        cycles.append(({number}, {name: 1}, True))
        return [*cycles, ({parent}, {}, False)], below, [name, *inner]

    def arm(self, node: Node, parent: int | None) -> tuple[list[Any], list[str], list[str]]:
        """The contents of a state machine of its own, or a single group."""
        if node[0] == "group":
            cycles, below, _ = self.run(node, parent, "")
            return cycles[:-1], below, []
        number = len(self.parent)
        name, state = f"m{number}", 0
        cycles, below, inner = self.run(node, parent, name)
        stepped = []
        for now, high, goes_on in cycles:
            stepped.append(
                ({number} | now - {None}, {name: 1, f"fsm{number}": state, **high}, True)
            )
            state += not goes_on
        registers = (Register(f"fsm{number}", "fsm", "fsm"),)
        self.compiled.append(Compiled(name, name, number, tuple(below), tuple(inner), registers))
        return stepped, below, [name, *inner]


@given(programs)
def test_each_cycle_shows_what_an_interpreter_of_the_program_does(program: Node) -> None:
    machine = Machine()
    cycles, _, _ = machine.arm(program, None)
    main = component(
        machine.parent,
        machine.blocks,
        groups=tuple(machine.groups),
        compiled=tuple(machine.compiled),
    )
    record = recording([{"main": high} for _, high, _ in cycles])
    profile = profile_of(CallTrees(MAIN, "main", {"main": main}, record), record)
    check_laws(profile)
    expected = [
        {above for node in now for above in main.nesting.chain(node)} for now, _, _ in cycles
    ]
    assert [
        {int(path[-1]) for path in tree if len(path) > 1} for tree in active(profile)
    ] == expected


GROUP = Group("g", "g", frame("g?"), (1,))
SEQ: dict[int, int | None] = {0: None, 1: 0}


def test_what_a_group_calls_hangs_below_it() -> None:
    calls = (
        Call("primitive", "add", frame("add", Kind.PRIMITIVE), when=("add",)),
        Call("primitive", "hidden", None, when=()),
        Call("group", "inner", when=("calls",)),
    )
    inner = Group("inner", "inner", frame("inner"))
    main = component(SEQ, [0], groups=(replace(GROUP, calls=calls), inner))
    assert shown(
        main,
        {"g": 1, "add": 1, "inner": 0, "calls": 0},
        {"g": 1, "add": 0, "inner": 1, "calls": 1},
        {"inner": 1},
        {"g": -1, "add": 1},
    ) == [{"0;1;add"}, {"0;1;inner"}, {"inner"}, {""}]
    # In whichever order they are listed; where the call is not made, at its own statement.
    nested: dict[int, int | None] = {**SEQ, 2: 0}
    groups = (replace(inner, places=(2,)), replace(GROUP, calls=calls))
    called = {"g": 1, "inner": 1, "calls": 1}
    assert shown(component(nested, [0], groups=groups), called, called | {"calls": 0}) == [
        {"0;1;inner"},
        {"0;1", "0;2"},
    ]


def test_groups_that_call_each_other_end() -> None:
    ring = [Group(n, n, frame(n), calls=(Call("group", m),)) for n, m in ("ab", "bc", "cb")]
    main = component({}, [], groups=tuple(ring))
    assert shown(main, {"a": 1, "b": 1, "c": 1}, {"b": 1, "c": 1}) == [{"a;b;c"}, {""}]


def test_calls_may_be_deep() -> None:
    names = [f"g{n}" for n in range(1500)]
    calls = [*((Call("group", name),) for name in names[1:]), ()]
    chain = [Group(n, n, frame(n), calls=c) for n, c in zip(names, calls, strict=True)]
    main = component({}, [], groups=tuple(chain))
    assert shown(main, dict.fromkeys(names, 1)) == [{";".join(names)}]


def test_promoted_blocks_and_counting_repeats_are_active_by_their_own_signals() -> None:
    nested: dict[int, int | None] = {0: None, 1: 0, 2: 0, 3: 2, 4: 3}
    register = Register("fsm", "fsm", "fsm")
    promoted = Promoted("p", 3, frozenset({"h"}), whole=True)
    main = component(
        nested,
        [0, 2, 3],
        groups=(GROUP, Group("h", "h", frame("h?"), (4,))),
        compiled=(Compiled("c", "c", 0, ("g", "h"), ("loop",), (register,)),),
        promoted=(promoted,),
        repeats=(Repeat("r", 2, ("loop",)),),
    )
    cycles: list[Cycle] = [
        {"c": 1, "fsm": 0, "r": 1},
        {"c": 1, "fsm": 0},
        {"c": 1, "fsm": 1, "p": 1},
        {"c": 1, "fsm": 1},
    ]
    assert shown(main, *cycles) == [{"0;2"}, {"0;2"}, {"0;2;3"}, {"0;2"}]
    # Of a block that was promoted in part, other statements of it run in other states.
    main = replace(main, promoted=(replace(promoted, whole=False),))
    assert shown(main, *cycles) == [{"0;2"}, {"0;2"}, {"0;2;3"}, {"0"}]


def test_a_group_of_several_statements_stands_for_the_one_whose_block_runs_it() -> None:
    # Two arms of a par run the same group.
    nested: dict[int, int | None] = {0: None, 1: 0, 2: 1, 3: 0, 4: 3}
    arms = [Compiled(f"arm{n}", f"arm{n}", n, ("g",), sites=(("g", f"runs{n}"),)) for n in (1, 3)]
    group = replace(GROUP, places=(2, 4))
    main = component(nested, [0, 1, 3], groups=(group,), compiled=tuple(arms))
    both = {"arm1": 1, "arm3": 1, "g": 1}
    assert shown(
        main, both | {"runs3": 1}, both | {"runs1": 1, "runs3": 1}, {"arm3": 1, "runs3": 1, "g": 1}
    ) == [{"0;1", "0;3;4"}, {"0;1;2", "0;3;4"}, {"0;3;4"}]
    # Where nobody is known to run it, for the first one.
    assert shown(main, both) == [{"0;1;2", "0;3"}]
    # Who runs the group, but none of its statements, tells nothing.
    other = Compiled("other", "other", 0, ("g",), sites=(("g", "runs0"),))
    main = replace(main, compiled=(*arms, other))
    assert shown(main, both | {"other": 1, "runs0": 1, "runs3": 1}) == [{"0;1", "0;3;4"}]


def test_where_a_source_tells_the_promoted_block_the_step_is_of_the_block_around() -> None:
    nested: dict[int, int | None] = {0: None, 1: 0, 2: 1, 3: 2}
    group, register = replace(GROUP, places=(3,)), Register("fsm", "fsm", "fsm")
    plain = component(
        nested,
        [0, 1, 2],
        groups=(group,),
        compiled=(Compiled("c", "c", 0, ("g",), (), (register,)),),
    )
    cycles = ({"c": 1, "fsm": 1, "g": 1}, {"c": 1, "fsm": 1})
    assert shown(plain, *cycles)[1] == {"0;1;2"}
    assert shown(replace(plain, steps=lambda _seen, _c, _s: 2), *cycles)[1] == {"0;1"}


def test_cells_are_entered_through_references_and_shown_by_the_name_of_the_call() -> None:
    def cell(name: str, actual: str, kind: str | None, *when: str) -> Call:
        return Call("cell", actual, frame(name, Kind.CELL), name, when, kind)

    main = component(
        SEQ, [0], groups=(replace(GROUP, calls=(cell("x", "s", "s"),), refs=(("r", "real"),)),)
    )
    inner = replace(
        component(SEQ, [0], groups=(replace(GROUP, calls=(cell("r", "r", "wrong"),)),)),
        references={"r"},
    )
    last = component({}, [], only_continuous=True)
    register = Compiled("c", "c", None, registers=(Register("fsm", "fsm", "fsm"),))
    parts = {"main": main, "s": replace(inner, compiled=(register,)), "real": last, "wrong": main}
    record = recording([{"main": {"g": 1}, "main.s": {"g": 1, "fsm": 5}, "main.real": {}}])
    used: dict[str, set[int]] = {}
    made = CallTrees(MAIN, "main", parts, record, used)
    profile = profile_of(made, record)
    assert leaves(profile) == [{"0;1;x;0;1;r;continuous assignments"}]
    stacks = {name: {profile.stack(path)[-1] for path in paths} for name, paths in used.items()}
    assert stacks == {"main": {"main"}, "main.s": {"x"}, "main.real": {"r"}}
    assert [(s.track, s.value.tolist()) for s in profile.series] == [("main.x", [5])]


def test_a_start_of_one_cycle_shows_its_cell_for_as_long_as_that_is_busy() -> None:
    call = Call("cell", "s", frame("s", Kind.CELL), "s", ("go",), "s", lingers=True)
    main = component(SEQ, [0], groups=(replace(GROUP, calls=(call,)),))
    parts = {"main": main, "s": component(SEQ, [0], groups=(GROUP,))}
    record = recording(
        [
            {"main": {"g": 1, "go": 1}, "main.s": {"g": 1}},
            {"main": {"g": 1, "go": 0}, "main.s": {"g": 1}},
            {"main": {"g": 1, "go": 0}, "main.s": {"g": 0}},
        ]
    )
    profile = profile_of(CallTrees(MAIN, "main", parts, record), record)
    assert leaves(profile) == [{"0;1;s;0;1"}, {"0;1;s;0;1"}, {"0;1"}]


def values(main: Component, record: Recording) -> dict[str, list[int]]:
    profile = profile_of(CallTrees(MAIN, "main", {"main": main}, record), record)
    return {series.name: series.value.tolist() for series in profile.series}


def test_what_the_last_cycle_leads_to_is_recorded_or_the_last_step_of_the_whole_control() -> None:
    register = Register("fsm", "fsm", "fsm")
    last = Compiled("c", "c", 0, registers=(register,), final_state=7)
    main = component(SEQ, [0], groups=(GROUP,), compiled=(last,))
    record = recording([{"main": {"c": 1, "fsm": n}} for n in range(3)], complete=True)
    assert values(main, record) == {"fsm": [0, 1, 2, 7]}
    assert values(main, replace(record, complete=False)) == {"fsm": [0, 1, 2]}
    other = replace(main, compiled=(replace(last, final_state=None),))
    assert values(other, record) == {"fsm": [0, 1, 2]}
    goes_on = recording([{"main": {"c": 1, "fsm": n}} for n in range(3)], shown=2, after=2)
    assert values(main, goes_on) == {"fsm": [0, 1, 2]}
    assert values(main, replace(goes_on, complete=True)) == {"fsm": [0, 1, 2]}
    unknown = recording([{"main": {"c": 1, "fsm": -1}}])
    assert values(main, unknown) == {}


def test_an_instance_that_never_ran_is_named_below_main() -> None:
    register = Compiled("c", "c", None, registers=(Register("fsm", "fsm", "fsm"),))
    parts = {
        "main": component(SEQ, [0], groups=(GROUP,)),
        "s": component(SEQ, [0], compiled=(register,)),
    }
    record = recording([{"top.main": {"g": 1}, "top.main.s": {"c": 0, "fsm": 0}}])
    profile = profile_of(CallTrees(MAIN, "top.main", parts, record), record)
    assert [series.track for series in profile.series] == ["main.s"]
    assert {frame.name for frame in profile.catalog} == {"main", "0", "1"}


def test_statements_that_never_ran_have_frames() -> None:
    main = component({**SEQ, 2: 0}, [0], groups=(GROUP,))
    record = recording([{"main": {"g": 1}}])
    profile = profile_of(CallTrees(MAIN, "main", {"main": main}, record), record)
    assert leaves(profile) == [{"0;1"}]
    assert {frame.name for frame in profile.catalog} == {"main", "0", "1", "2"}


def test_what_an_inlined_component_runs_hangs_below_the_cell_that_it_was() -> None:
    nested: dict[int, int | None] = {0: None, 1: 0, 2: 1}
    inlined = {1: frame("x", Kind.CELL)}
    main = component(
        nested, [0, 1], groups=(replace(GROUP, places=(2,)),), inlined=inlined,
        compiled=(Compiled("c", "c", 1),),
    )  # fmt: skip
    assert shown(main, {"g": 1, "c": 1}, {"g": 0, "c": 1}) == [{"0;1;x;2"}, {"0;1"}]


def test_of_a_state_is_learned_only_what_runs_while_its_machine_is_active() -> None:
    nested: dict[int, int | None] = {0: None, 1: 0, 2: 1}
    machine = Compiled("c", "c", 0, ("g",), registers=(Register("fsm", "fsm", "fsm"),))
    main = component(nested, [0, 1], groups=(replace(GROUP, places=(2,)),), compiled=(machine,))
    # A machine that waits in its first state, while another runs the same group.
    cycles = ({"c": 0, "fsm": 0, "g": 1}, {"c": 1, "fsm": 0, "g": 0})
    assert shown(main, *cycles) == [{"0;1;2"}, {"0"}]


def test_where_no_register_tells_the_state_the_whole_block_is_active() -> None:
    nested: dict[int, int | None] = {0: None, 1: 0, 2: 1}
    group = replace(GROUP, places=(2,))
    main = component(nested, [0, 1], groups=(group,), compiled=(Compiled("c", "c", 0, ("g",)),))
    assert shown(main, {"c": 1, "g": 1}, {"c": 1, "g": 0}) == [{"0;1;2"}, {"0"}]


def test_a_register_belongs_to_its_block_wherever_a_group_of_that_block_is_active() -> None:
    machine = Compiled("c", "c", 0, registers=(Register("fsm", "fsm", "fsm"),))
    main = component(SEQ, [0], groups=(GROUP,), compiled=(machine,))
    record = recording([{"main": {"g": 1, "c": 0, "fsm": 0}}])
    used: dict[str, set[int]] = {}
    made = CallTrees(MAIN, "main", {"main": main}, record, used)
    profile = profile_of(made, record)
    assert {profile.stack(path) for path in used["main.fsm"]} == {("main", "0")}

"""Our passes on the text that a compiler prints: what they add to it, and what they note."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cyclescope import _native
from cyclescope.calyx._copies import for_release
from cyclescope.calyx._own._plan import _flags, _refuse_unsaid, _Tags
from cyclescope.calyx._record import Record, read_record
from cyclescope.calyx._syntax import ComponentText
from cyclescope.calyx._syntax_print import print_syntax
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

PRIMITIVES = """
comb primitive std_add[WIDTH](left: WIDTH, right: WIDTH) -> (out: WIDTH);
primitive std_reg[WIDTH](in: WIDTH, @go write_en: 1) -> (out: WIDTH, @done done: 1);
"""
LEAF = "component leaf(@go go: 1) -> (@done done: 1) { cells { } wires { } control { } }"
CELLS = "r = std_reg(8); one = std_reg(1); add = std_add(8); sub = leaf();"


class Way:
    """A program on its way through a compiler, which is played by hand."""

    def __init__(self, folder: Path, tags: _Tags | None = None) -> None:
        self._folder = folder
        (folder / "core.sv").touch()
        tags = tags or _Tags()
        self._ours = _native.Instrumenter(tags.statements, tags.components, tags.groups)

    def program(self, cells: str, wires: str, control: str, leaf: str = LEAF) -> Path:
        """A printed program."""
        file = self._folder / "printed.futil"
        file.write_text(
            f'extern "{self._folder}/core.sv" {{ {PRIMITIVES} }}\n{leaf}\n'
            f"component main() -> () {{ cells {{ {cells} }} wires {{ {wires} }}"
            f" control {{ {control} }} }}\n"
        )
        return file

    def passes(self, file: Path, *names: str) -> str:
        """The main component's text after some of our passes, blanks made one."""
        text = self._ours.run(file, list(names))
        return " ".join(text[text.index("component main") :].split())

    @property
    def record(self) -> Record:
        """The record that the passes made."""
        return read_record(self._ours.finish(self.program("", "", ""), []))


@pytest.fixture
def way(tmp_path: Path) -> Way:
    return Way(tmp_path)


def component(text: str) -> ComponentText:
    file = read_syntax(text.encode(), "printed")
    (found,) = [i for i in file.items if isinstance(i, ComponentText)]
    return found


def test_a_group_that_is_enabled_twice_becomes_two(way: Way) -> None:
    wires = "group g { r.in = g[go] ? r.out; g[done] = r.done; }"
    text = way.passes(way.program(CELLS, wires, "seq { g; g; }"), "encode-control")
    assert "group g " not in text
    assert "r.in = g__cs2_[go] ? r.out;" in text
    assert "@cyclescope_id g__cs1_; @cyclescope_id(2) g__cs2_;" in text
    assert [(n.kind, n.group, n.parent) for n in way.record.nodes] == [
        ("seq", None, None),
        ("enable", "g", 0),
        ("enable", "g", 0),
    ]


def test_a_marker_is_chosen_that_no_name_contains(way: Way) -> None:
    program = way.program(CELLS, "group a__cs { a__cs[done] = r.done; }", "a__cs;")
    assert "a__cs__csx0_;" in way.passes(program, "encode-control")


@pytest.mark.parametrize(("block", "copies"), [("seq", 2), ("par", 1)])
def test_a_condition_of_two_arms_of_a_par_stays_one(way: Way, block: str, copies: int) -> None:
    control = f"{block} {{ if one.out with c {{ g; }} while one.out with c {{ g; }} }}"
    wires = "group g { g[done] = r.done; } comb group c { add.left = r.out; }"
    text = way.passes(way.program(CELLS, wires, control), "encode-control")
    assert text.count("comb group c__cs") == copies
    shared = [n for n in way.record.nodes if n.kind == "shared"]
    assert len(shared) == (copies == 1)


def test_what_holds_whenever_a_group_is_active_gets_no_probe(way: Way) -> None:
    wires = (
        "group h { h[done] = r.done; } group dead { dead[done] = r.done; } group g {"
        " add.left = r.out; r.in = add.out; r.write_en = 1'd1;"
        " sub.go = one.out & r.done ? 1'd1; h[go] = r.done; g[done] = sub.done; }"
    )
    program = way.program(CELLS, wires, "@cyclescope_id(7) g;")
    text = way.passes(program, "note-cells", "instrument")
    groups = {g.name: g for g in way.record.components["main"].groups}
    assert set(groups) == {"g", "h"}
    assert groups["g"].nodes == (7,)
    calls = {(c.kind, c.name): c.probe for c in groups["g"].calls}
    assert calls["primitive", "add"] is None
    assert calls["primitive", "r"] is None
    assert f"{calls['cell', 'sub']}.in = one.out & r.done ? 1'd1;" in text
    assert f"{calls['group', 'h']}.in = r.done ? 1'd1;" in text
    (cell,) = [c for c in component(text).cells if c.name == groups["g"].probe]
    assert cell.type == "cyclescope_probe"
    assert {"external", "control"} <= set(cell.attributes)


def test_an_invoke_keeps_its_combinational_group_and_gets_probes(way: Way) -> None:
    wires = "comb group c { add.left = r.out; } comb group unused { add.right = r.out; }"
    program = way.program(CELLS, wires, "@cyclescope_id invoke sub()() with c;")
    text = way.passes(program, "drop-unused", "note-cells", "instrument")
    assert "unused" not in text
    (group,) = way.record.components["main"].groups
    assert [(c.kind, c.name) for c in group.calls] == [("cell", "sub"), ("primitive", "add")]
    assert f"{{ add.left = r.out; {group.probe}.in = 1'd1; }}" in text


def test_each_static_block_runs_beside_a_probe_of_its_length(way: Way) -> None:
    wires = "static<3> group s { r.in = r.out; }"
    program = way.program(CELLS, wires, "static<6> seq { s; s; }")
    text = way.passes(program, "instrument", "probe-static")
    statics = way.record.components["main"].statics
    kinds = [(s.kind, s.latency) for s in statics]
    assert kinds == [("enable", 3), ("enable", 3), ("seq", 6)]
    (group,) = [word for word in text.split() if word.startswith("cyclescope_static")][:1]
    assert f"static<6> par {{ static<6> seq {{ s; s; }} {group}; }}" in text
    assert f"static<6> group {group} {{ {statics[-1].probe}.in = 1'd1; }}" in text


def test_compiled_blocks_are_probed(way: Way) -> None:
    wires = "group g { g[done] = r.done; }"
    before = way.program(CELLS, wires, "par { seq { g; g; } @new_fsm seq { g; } }")
    way.passes(before, "instrument", "note-blocks")
    made = "".join(
        f"group t{n} {{ f.in = f.out == 2'd1 ? 2'd2; f.write_en = 1'd1; g[go] = 1'd1;"
        f" t{n}[done] = f.out == 2'd3 ? 1'd1; }}"
        for n in range(4)
    )
    way.passes(way.program(CELLS + "f = std_reg(2);", wires + made, "t3;"), "probe-blocks")
    compiled = way.record.components["main"].compiled
    assert [c.kind for c in compiled] == ["seq", "par", "seq", "root"]
    assert [(c.name, c.final_state, c.children) for c in compiled] == [
        (f"t{n}", 3, ("g",)) for n in range(4)
    ]
    assert [r.kind for c in compiled for r in c.registers] == ["fsm", "par done", "fsm", "fsm"]


def test_the_order_of_groups_is_that_in_which_they_were_printed(way: Way) -> None:
    """A compiler reads each after those whose holes it mentions, and prints them as it likes."""
    wires = "group g { g[done] = r.done; }"
    before = way.program(CELLS, wires, "seq { par { seq { g; } g; } g; }")
    way.passes(before, "instrument", "note-blocks")
    par = "group both { arm[go] = 1'd1; g[go] = 1'd1; both[done] = arm[done]; }"
    arm = "group arm { g[go] = 1'd1; arm[done] = g[done]; }"
    root = "group root { both[go] = !(r.done | both[done]) ? 1'd1; root[done] = both[done]; }"
    text = way.passes(way.program(CELLS, f"{wires} {root} {par} {arm}", "root;"))
    names = [text.index(f"group {name} ") for name in ("g", "arm", "both", "root")]
    assert names == sorted(names)
    after = way.program(CELLS, f"{wires} {par} {arm} {root}", "root;")
    way.passes(after, "probe-blocks")
    compiled = way.record.components["main"].compiled
    kinds = [("both", "par"), ("arm", "seq"), ("root", "seq")]
    assert [(c.name, c.kind) for c in compiled] == kinds


def test_counted_repeats_are_probed(way: Way) -> None:
    wires = "group g { g[done] = r.done; }"
    loop = way.program(CELLS, wires, "@cyclescope_id(4) repeat 3 { repeat 1 { g; } }")
    way.passes(loop, "note-repeats")
    counted = "group init { init[done] = r.done; } group incr { incr[done] = r.done; }"
    way.passes(way.program(CELLS, wires + counted, "g;"), "probe-repeats")
    (repeat,) = way.record.components["main"].repeats
    assert (repeat.node, repeat.groups) == (4, ("init", "incr"))


def test_another_number_of_groups_than_foreseen_is_an_error(way: Way) -> None:
    wires = "group g { g[done] = r.done; }"
    way.passes(way.program(CELLS, wires, "seq { g; g; }"), "note-blocks")
    with pytest.raises(_native.CompileError, match=r"tdcc made 0 groups where .* make 1;"):
        way.passes(way.program(CELLS, wires, "g;"), "probe-blocks")
    way.passes(way.program(CELLS, wires, "repeat 3 { g; }"), "note-repeats")
    with pytest.raises(
        _native.CompileError, match=r"compile-repeat made 0 groups where .* make 2;"
    ):
        way.passes(way.program(CELLS, wires, "g;"), "probe-repeats")


def test_ids_survive_splitting_and_inlining(way: Way) -> None:
    leaf = LEAF.replace("cells { }", "cells { w = std_reg(8); }")
    leaf = leaf.replace("wires { }", "wires { group l { l[done] = w.done; } }")
    leaf = leaf.replace("control { }", "control { l; }")
    wires = "group g { g[done] = r.done; }"
    program = way.program(CELLS, wires, "seq { g; invoke sub()(); }", leaf)
    text = way.passes(program, "encode-control", "note-invokes")
    assert "g__cs2_;" in text
    halves = "group beg_g__cs2_ { beg_g__cs2_[done] = r.done; }"
    split = way.program(CELLS, halves, "beg_g__cs2_;", leaf)
    assert "@cyclescope_id(2) beg_g__cs2_;" in way.passes(split, "tag-split-groups")
    after = "@cyclescope_id seq { @cyclescope_id(2) g; seq { @cyclescope_id(0) g; } }"
    text = way.passes(way.program(CELLS, wires, after, leaf), "tag-inlined")
    nodes = way.record.nodes
    assert [(n.component, n.kind) for n in nodes[:4]] == [
        ("leaf", "enable"), ("main", "seq"), ("main", "enable"), ("main", "invoke"),
    ]  # fmt: skip
    copy = len(nodes) - 1
    assert (nodes[copy].component, nodes[copy].parent, nodes[copy].origin) == ("main", 3, 0)
    assert f"@cyclescope_id({copy}) g;" in text


def test_our_passes_find_their_places_among_those_of_any_compiler() -> None:
    steps = _native.instrumented_passes(["well-formed", "a-pass-of-main", "inline", "tdcc"])
    assert steps == [
        ("well-formed", False),
        ("encode-control", True),
        ("a-pass-of-main", False),
        ("note-invokes", True),
        ("inline", False),
        ("tag-inlined", True),
        ("instrument", True),
        ("note-blocks", True),
        ("tdcc", False),
        ("probe-blocks", True),
    ]


# What is handed from one compiler to the other.


def test_names_and_constants_are_as_the_release_reads_them(way: Way, tmp_path: Path) -> None:
    cells = "refuse = std_reg(8); c = std_float_const(0, 32, -0.5); ref given = std_reg(8);"
    file = way.program(cells, "group g { g[done] = refuse.done; }", "g;")
    text = file.read_text().replace(" }\n", " primitive std_const[W, V]() -> (out: W); }\n", 1)
    file.write_text(text)
    with pytest.raises(_native.UnreadableError, match="expected bitwidth"):
        way.passes(file)
    file.write_bytes(print_syntax(for_release(read_syntax(text.encode(), "printed"))))
    text = way.passes(file)
    assert "refuse = std_reg(8); c = std_const(32, 3204448256); ref given = std_reg(8);" in text


@pytest.mark.parametrize(
    ("wires", "says"),
    [
        ("static<0> group s { r.in = r.out; }", "made s static with 0 cycles"),
        ("fsm f { 0: { } => 0, }", "made the state machine f"),
    ],
)
def test_what_text_cannot_say_is_refused(wires: str, says: str) -> None:
    text = f"component main() -> () {{ cells {{ }} wires {{ {wires} }} control {{ s; }} }}"
    with pytest.raises(SourceError, match=says):
        _refuse_unsaid(component(text))


def test_a_barrier_alone_in_an_else_branch_is_kept(tmp_path: Path) -> None:
    # The compiler's printer leaves such a branch out.
    wires = "group b { b[done] = one.done; }"
    control = "if one.out { b; } else { @sync(1); }"
    file = Way(tmp_path).program("one = std_reg(1);", wires, control)
    source = read_syntax(file.read_bytes(), "p.futil")
    tags = _Tags()
    for item in source.items:
        if isinstance(item, ComponentText):
            tags.add(item, "p.futil")
    assert tags.wrapped
    way = Way(tmp_path, tags)
    file.write_bytes(print_syntax(source))
    text = tags.unwrapped(way._ours.run(file, ["encode-control"]).encode())
    main = component(text.decode()[text.decode().index("component main") :])
    assert main.control is not None
    (left,) = main.control[0].otherwise or []
    assert (left.kind, left.attributes["sync"]) == ("empty", 1)
    nodes = way.record.nodes
    assert [(n.kind, n.file) for n in nodes] == [("if", "p.futil"), ("enable", "p.futil")]
    assert source.items[-1].start < nodes[0].offset < nodes[1].offset


def test_a_compiler_is_asked_for_passes_and_for_the_options_of_these_alone() -> None:
    options = ("tdcc:one-hot", "collapse-control:x=1")
    assert _flags(("tdcc", "inline"), options) == (
        "-p",
        "tdcc",
        "-p",
        "inline",
        "-x",
        "tdcc:one-hot",
    )
    assert _flags((), options) == ("-p", "all", "-d", "all")

"""Our passes on the text that a compiler prints: what they add to it, and what they note."""

from __future__ import annotations

import pytest

from cyclescope.calyx._own._blocks import (
    note_blocks,
    note_repeats,
    probe_blocks,
    probe_repeats,
    probe_static,
)
from cyclescope.calyx._own._encode import encode
from cyclescope.calyx._own._inline import note_invokes, tag_inlined, tag_split_groups
from cyclescope.calyx._own._notes import ID, Design, Notes, id_of
from cyclescope.calyx._own._plan import _refuse_no_cycles, _tag
from cyclescope.calyx._own._probe import drop_unused, instrument, note_cells
from cyclescope.calyx._syntax import ComponentText, walk
from cyclescope.calyx._syntax_print import print_syntax
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.errors import SourceError

HEAD = """
comb primitive std_add[WIDTH](left: WIDTH, right: WIDTH) -> (out: WIDTH);
primitive std_reg[WIDTH](in: WIDTH, @go write_en: 1) -> (out: WIDTH, @done done: 1);
primitive cyclescope_probe(in: 1) -> () { }
component leaf(@go go: 1) -> (@done done: 1) { cells { } wires { } control { } }
"""


def design(cells: str, wires: str, control: str) -> Design:
    text = f"component main() -> () {{ cells {{ {cells} }} wires {{ {wires} }} "
    items = HEAD.replace("extern", "") + text + f"control {{ {control} }} }}"
    externs = [line for line in items.splitlines() if line.endswith(";") and "primitive" in line]
    rest = [line for line in items.splitlines() if line not in externs]
    whole = f'extern "core.sv" {{ {" ".join(externs)} }}\n' + "\n".join(rest)
    return Design(read_syntax(whole.encode(), "printed"))


def main_of(found: Design) -> str:
    printed = print_syntax(found.file).decode()
    return printed[printed.index("component main") :]


def lines(found: Design, name: str) -> list[str]:
    """The assignments of a group as printed."""
    group = next(c for c in found.components if c.name == "main").group(name)
    assert group is not None
    return [f"{a.dst} = {a.guard or ''}?{a.src}" for a in group.assignments]


CELLS = "r = std_reg(8); add = std_add(8); sub = leaf();"


def test_a_group_that_is_enabled_twice_becomes_two() -> None:
    found = design(CELLS, "group g { r.in = g[go] ? r.out; g[done] = r.done; }", "seq { g; g; }")
    notes = Notes([], {}, {})
    encode(notes, found)
    assert [(n["kind"], n["group"], n["parent"]) for n in notes.nodes] == [
        ("seq", None, None),
        ("enable", "g", 0),
        ("enable", "g", 0),
    ]
    text = main_of(found)
    assert "group g " not in text
    assert "r.in = g__cs2_[go] ? r.out;" in text
    assert "@cyclescope_id g__cs1_;" in text


def test_a_marker_is_chosen_that_no_name_contains() -> None:
    found = design(CELLS, "group a__cs { a__cs[done] = r.done; }", "a__cs;")
    notes = Notes([], {}, {})
    encode(notes, found)
    assert notes.marker == "__csx"
    assert "a__cs__csx0_;" in main_of(found)


@pytest.mark.parametrize(("block", "copies"), [("seq", 2), ("par", 1)])
def test_a_condition_of_two_arms_of_a_par_stays_one(block: str, copies: int) -> None:
    control = f"{block} {{ if add.out with c {{ g; }} while add.out with c {{ g; }} }}"
    wires = "group g { g[done] = r.done; } comb group c { add.left = r.out; }"
    found = design(CELLS, wires, control)
    notes = Notes([], {}, {})
    encode(notes, found)
    assert main_of(found).count("comb group c__cs") == copies
    shared = [n for n in notes.nodes if n["kind"] == "shared"]
    assert len(shared) == (copies == 1)


def test_what_holds_whenever_a_group_is_active_gets_no_probe() -> None:
    wires = (
        "group g { add.left = r.out; r.in = add.out; r.write_en = 1'd1; sub.go = add.out & r.out"
        " ? 1'd1; h[go] = r.done; g[done] = sub.done; } group h { h[done] = r.done; }"
        " group dead { dead[done] = r.done; }"
    )
    found = design(CELLS, wires, "@cyclescope_id(7) g;")
    notes = Notes([], {}, {})
    note_cells(notes, found)
    instrument(notes, found)
    groups = {g["name"]: g for g in notes.component("main")["groups"]}
    assert set(groups) == {"g", "h"}
    assert groups["g"]["nodes"] == [7]
    calls = {(c["kind"], c["name"]): c["probe"] for c in groups["g"]["calls"]}
    assert calls["primitive", "add"] is None
    assert calls["primitive", "r"] is None
    assert lines(found, "g")[-2:] == [
        f"{calls['cell', 'sub']}.in = add.out & r.out?1'd1",
        f"{calls['group', 'h']}.in = r.done?1'd1",
    ]
    assert f"@external @control {groups['g']['probe']} = cyclescope_probe();" in main_of(found)


def test_an_invoke_keeps_its_combinational_group_and_gets_probes() -> None:
    found = design(
        CELLS,
        "comb group c { add.left = r.out; } comb group unused { add.right = r.out; }",
        "@cyclescope_id invoke sub()() with c;",
    )
    notes = Notes([], {}, {})
    drop_unused(notes, found)
    assert "unused" not in main_of(found)
    note_cells(notes, found)
    instrument(notes, found)
    (group,) = notes.component("main")["groups"]
    assert [(c["kind"], c["name"]) for c in group["calls"]] == [
        ("cell", "sub"),
        ("primitive", "add"),
    ]
    assert lines(found, "invoke_probes0") == ["add.left = ?r.out", f"{group['probe']}.in = ?1'd1"]


def test_each_static_block_runs_beside_a_probe_of_its_length() -> None:
    found = design(CELLS, "static<3> group s { r.in = r.out; }", "static<6> seq { s; s; }")
    notes = Notes([], {}, {})
    instrument(notes, found)
    probe_static(notes, found)
    kinds = [(s["kind"], s["latency"]) for s in notes.component("main")["statics"]]
    assert kinds == [("enable", 3), ("enable", 3), ("seq", 6)]
    text = " ".join(main_of(found).split())
    assert "static<6> par { static<6> seq { s; s; } cyclescope_static0; }" in text
    assert "static<6> group cyclescope_static0 { cyclescope_probe_1.in = 1'd1; }" in text


def test_compiled_blocks_and_counted_repeats_are_probed() -> None:
    wires = "group g { g[done] = r.done; }"
    before = design(CELLS, wires, "par { seq { g; g; } @new_fsm seq { g; } }")
    notes = Notes([], {}, {})
    instrument(notes, before)
    note_blocks(notes, before)
    kinds = [kind for kind, _ in notes.expected["main"][0]]
    assert kinds == ["seq", "par", "seq", "root"]
    made = "".join(
        f"group t{n} {{ f.in = f.out == 2'd1 ? 2'd2; f.write_en = 1'd1; g[go] = 1'd1;"
        f" t{n}[done] = f.out == 2'd3 ? 1'd1; }}"
        for n in range(4)
    )
    after = design(CELLS + "f = std_reg(2);", wires + made, "t3;")
    probe_blocks(notes, after)
    compiled = notes.component("main")["compiled"]
    assert [(c["name"], c["final_state"], c["children"]) for c in compiled] == [
        (f"t{n}", 3, ["g"]) for n in range(4)
    ]
    assert [r["kind"] for c in compiled for r in c["registers"]] == [
        "fsm", "par done", "fsm", "fsm",
    ]  # fmt: skip

    loop = design(CELLS, wires, "@cyclescope_id(4) repeat 3 { repeat 1 { g; } }")
    note_repeats(notes, loop)
    counted = "group init { init[done] = r.done; } group incr { incr[done] = r.done; }"
    probe_repeats(notes, design(CELLS, wires + counted, "g;"))
    (repeat,) = notes.component("main")["repeats"]
    assert (repeat["node"], repeat["groups"]) == (4, ["init", "incr"])


def test_another_number_of_groups_than_foreseen_is_an_error() -> None:
    notes = Notes([], {}, {})
    note_blocks(notes, design(CELLS, "group g { g[done] = r.done; }", "seq { g; g; }"))
    with pytest.raises(SourceError, match="tdcc made 0 groups"):
        probe_blocks(notes, design(CELLS, "group g { g[done] = r.done; }", "g;"))


def test_ids_survive_splitting_and_inlining() -> None:
    wires = "group g { g[done] = r.done; }"
    found = design(CELLS, wires, "seq { g; invoke sub()(); }")
    notes = Notes([], {}, {})
    encode(notes, found)
    invoke = next(n for n, node in enumerate(notes.nodes) if node["kind"] == "invoke")
    split = design(CELLS, "group beg_g__cs1_ { r.in = r.out; }", "beg_g__cs1_;")
    tag_split_groups(notes, split)
    assert [id_of(s) for s in walk(split.components[-1].text.control or [])] == [1]

    notes.nodes.append({**notes.nodes[1], "component": "leaf", "parent": None})
    inner = len(notes.nodes) - 1
    note_invokes(notes, found)
    after = design(CELLS, wires, f"@{ID}(0) seq {{ g; @{ID}({inner}) g; }}")
    tag_inlined(notes, after)
    copy = notes.nodes[-1]
    assert (copy["component"], copy["parent"], copy["origin"]) == ("main", invoke, inner)
    last = list(walk(after.components[-1].text.control or []))[-1]
    assert id_of(last) == len(notes.nodes) - 1


def test_groups_stand_after_those_that_they_mention() -> None:
    wires = (
        "group a { b[go] = 1'd1; a[done] = b[done]; } group b { b[done] = r.done; } r.in = r.out;"
    )
    found = design(CELLS, wires, "a;")
    main = found.components[-1]
    main.sort_groups()
    assert [g.name for g in main.groups("dynamic")] == ["b", "a"]
    assert len(main.continuous) == 1


def test_what_text_cannot_say_is_refused() -> None:
    found = design(CELLS, "static<0> group s { r.in = r.out; }", "s;")
    (main,) = [i for i in found.file.items if isinstance(i, ComponentText) and i.name == "main"]
    with pytest.raises(SourceError, match="made s static with 0 cycles"):
        _refuse_no_cycles(main)


def test_a_barrier_alone_in_an_else_branch_is_kept() -> None:
    # The compiler's printer leaves such a branch out.
    control = "if a { b; } else { @sync(1); }"
    source = f"component main() -> () {{ cells {{ }} wires {{ }} control {{ {control} }} }}"
    (item,) = read_syntax(source.encode(), "p.futil").items
    assert isinstance(item, ComponentText)
    notes = Notes([], {}, {})
    _tag(notes, item, "p.futil")
    assert item.control is not None
    assert [s.kind for s in item.control[0].otherwise or []] == ["seq"]
    found = design("", "", "")
    found.file.items = [*found.file.items[:-1], item]
    encode(notes, Design(found.file))
    (left,) = item.control[0].otherwise or []
    assert (left.kind, left.attributes["sync"]) == ("empty", 1)
    assert not any(node["kind"] == "seq" for node in notes.nodes)

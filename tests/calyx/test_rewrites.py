"""Rewrites of Calyx programs: which they offer, what they leave alone, what the text becomes."""

from __future__ import annotations

from cyclescope._rewrites import Claim, apply_candidates, compatible
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.calyx.rewrites import REWRITES, Facts, find_candidates

HEAD = 'import "primitives/core.futil";\nimport "primitives/memories/seq.futil";\n'


def program(cells: str, wires: str, control: str) -> bytes:
    return (
        f"{HEAD}component main(sel: 2) -> () {{\n  cells {{\n{cells}\n  }}\n"
        f"  wires {{\n{wires}\n  }}\n  control {{\n{control}\n  }}\n}}\n"
    ).encode()


def group(register: str, source: str = "8'd1", name: str = "") -> str:
    name = name or f"set_{register}"
    return (
        f"group {name} {{ {register}.in = {source}; {register}.write_en = 1'd1;"
        f" {name}[done] = {register}.done; }}\n"
    )


def found(text: bytes, name: str, facts: Facts | None = None) -> list[tuple[str, Claim]]:
    return [(c.place, c.claim) for c in find_candidates(text, "t", facts) if c.rewrite == name]


def applied(text: bytes, name: str, facts: Facts | None = None) -> str:
    chosen = [c for c in find_candidates(text, "t", facts) if c.rewrite == name]
    result = apply_candidates(text, compatible(chosen))
    read_syntax(result, "t")
    return result.decode()


CELLS = "a = std_reg(8); b = std_reg(8); lt = std_lt(8); add = std_add(8);"
LOOP = "comb group test { lt.left = a.out; lt.right = 8'd3; }\n" + group("a") + group("b")


def test_every_rewrite_has_a_name_of_its_own_and_a_sentence() -> None:
    assert len({r.name for r in REWRITES}) == len(REWRITES)
    assert all(r.sentence.endswith(".") for r in REWRITES)


def test_a_condition_that_nothing_else_drives_is_driven_continuously() -> None:
    text = program(CELLS, LOOP, "while lt.out with test { // kept\n set_a; }")
    assert found(text, "continuous-condition") == [("main: test", Claim.CONSTRUCTION)]
    after = applied(text, "continuous-condition")
    assert "comb group" not in after
    assert "while lt.out { // kept" in after


def test_a_condition_that_another_group_reads_is_left_alone() -> None:
    other = "group use { b.in = 8'd1; b.write_en = lt.out; use[done] = b.done; }"
    text = program(CELLS, LOOP + other, "seq { while lt.out with test { set_a; } use; }")
    assert not found(text, "continuous-condition")


def test_a_condition_on_what_a_group_drives_is_left_alone() -> None:
    wires = "comb group test { lt.left = add.out; lt.right = 8'd3; }\n" + (
        "group use { add.left = a.out; add.right = 8'd1; a.in = add.out; a.write_en = 1'd1;"
        " use[done] = a.done; }"
    )
    assert not found(
        program(CELLS, wires, "while lt.out with test { use; }"), "continuous-condition"
    )


def test_a_condition_on_a_shared_cell_gets_one_of_its_own() -> None:
    other = "comb group test2 { lt.left = b.out; lt.right = 8'd5; }\n"
    control = "seq { if lt.out with test { set_a; } if lt.out with test2 { set_b; } }"
    after = applied(program(CELLS, LOOP + other, control), "continuous-condition")
    assert "lt_of_test = std_lt(8);" in after
    assert "if lt_of_test.out {" in after
    assert "lt_of_test2.left = b.out;" in after


SWITCH = "eq0 = std_eq(2); eq1 = std_eq(2); le1 = std_le(2); a = std_reg(8); b = std_reg(8);"
CASES = (
    "".join(
        f"{cell}.left = sel; {cell}.right = 2'd{n};\n"
        for cell, n in (("eq0", 0), ("eq1", 1), ("le1", 1))
    )
    + group("a")
    + group("b")
)


def test_ifs_that_exclude_each_other_are_nested() -> None:
    text = program(SWITCH, CASES, "par { if eq0.out { set_a; } if eq1.out { set_b; } }")
    assert [claim for _, claim in found(text, "nest-ifs")] == [Claim.CONSTRUCTION]
    assert "if eq0.out { set_a; } else { if eq1.out { set_b; } }" in applied(text, "nest-ifs")


def test_ifs_that_may_hold_together_are_nested_on_evidence_alone() -> None:
    text = program(SWITCH, CASES, "par { if eq0.out { set_a; } if le1.out { set_b; } }")
    assert not found(text, "nest-ifs")
    facts = Facts(exclusive=frozenset({("main", ("set_a", "set_b"))}))
    assert [claim for _, claim in found(text, "nest-ifs", facts)] == [Claim.DATA]


READ = (
    "group read { m.addr0 = sel; m.content_en = 1'd1; a.write_en = m.done ? 1'd1;"
    " a.in = m.read_data; read[done] = a.done; }\n"
)


def test_lengths_are_known_by_structure_or_from_a_run() -> None:
    cells = "m = seq_mem_d1(8, 4, 2); a = std_reg(8); b = std_reg(8);"
    slow = "group slow { b.in = 8'd1; b.write_en = a.out; slow[done] = b.done; }"
    text = program(cells, READ + slow, "seq { read; slow; }")
    facts = Facts(lengths={("main", "read"): 2, ("main", "slow"): 3})
    assert found(text, "promote-group") == [("main: read", Claim.CONSTRUCTION)]
    assert found(text, "promote-group", facts)[1] == ("main: slow", Claim.DATA)
    after = applied(text, "promote-group", facts)
    assert 'group read<"promotable"=2> {' in after
    assert 'group slow<"promotable"=3> {' in after


def test_a_read_whose_address_is_what_it_writes_has_no_length_by_structure() -> None:
    cells = "m = seq_mem_d1(2, 4, 2); a = std_reg(2);"
    chase = READ.replace("m.addr0 = sel", "m.addr0 = a.out")
    assert not found(program(cells, chase, "read;"), "promote-group")


def test_control_is_static_where_all_in_it_is() -> None:
    text = program(CELLS, LOOP, "seq { seq { set_a; set_b; } while lt.out with test { set_a; } }")
    after = applied(text, "static-control")
    assert "seq { static seq { set_a; set_b; }" in after
    assert "static<1> group set_a" in after
    assert "set_a[done]" not in after


def test_independent_statements_run_side_by_side() -> None:
    independent = program(CELLS, LOOP, "seq { set_a; set_b; }")
    assert "par { set_a; set_b; }" in applied(independent, "seq-to-par")
    wires = group("a") + group("b", "a.out")
    assert not found(program(CELLS, wires, "seq { set_a; set_b; }"), "seq-to-par")


def test_what_is_read_through_a_continuous_assignment_counts() -> None:
    wires = "add.left = a.out; add.right = 8'd1;\n" + group("a") + group("b", "add.out")
    assert not found(program(CELLS, wires, "seq { set_a; set_b; }"), "seq-to-par")


def test_an_adder_that_two_groups_share_does_not_keep_them_apart() -> None:
    def count(register: str) -> str:
        return (
            f"group add_{register} {{ add.left = {register}.out; add.right = 8'd1;"
            f" {register}.in = add.out; {register}.write_en = 1'd1;"
            f" add_{register}[done] = {register}.done; }}\n"
        )

    text = program(CELLS, count("a") + count("b"), "seq { add_a; add_b; }")
    after = applied(text, "seq-to-par")
    assert "add_of_add_b = std_add(8);" in after
    assert "b.in = add_of_add_b.out;" in after
    assert "a.in = add.out;" in after


def test_what_follows_a_par_moves_into_the_arm_that_it_needs() -> None:
    wires = group("a") + group("b") + group("c", "a.out")
    text = program(CELLS + " c = std_reg(8);", wires, "seq { par { set_a; set_b; } set_c; }")
    after = " ".join(applied(text, "beside-an-arm").split())
    assert "seq { par { seq { set_a; set_c; } set_b; } }" in after
    both = text.replace(b"c.in = a.out", b"c.in = a.out; c.in = b.out")
    assert not found(both, "beside-an-arm")


def test_what_moves_into_a_par_does_not_come_beside_what_it_depends_on() -> None:
    cells = CELLS + " c = std_reg(8); d = std_reg(8);"
    # `c` and `d` need an arm each; `d` needs `c` as well.
    first = group("c") + group("a", "c.out") + group("b") + group("d", "b.out")
    wires = first.replace("d.in = b.out", "d.in = b.out; d.in = c.out")
    control = "seq { set_c; par { set_a; set_b; } set_d; }"
    after = " ".join(applied(program(cells, wires, control), "beside-an-arm").split())
    assert ("seq { set_c; set_a; }" in after) != ("seq { set_b; set_d; }" in after)
    between = "seq { par { set_a; set_b; } set_c; par { set_d; set_e; } }"
    wires = group("a") + group("b") + group("c", "a.out") + group("d", "c.out") + group("e")
    text = program(cells + " e = std_reg(8);", wires, between)
    assert applied(text, "beside-an-arm").count("set_c;") == 1


def test_arms_that_depend_on_each_other_stay_in_a_par() -> None:
    independent = program(CELLS, LOOP, "par { set_a; set_b; }")
    assert "seq { set_a; set_b; }" in applied(independent, "par-to-seq")
    wires = group("a") + group("b", "a.out")
    assert not found(program(CELLS, wires, "par { set_a; set_b; }"), "par-to-seq")


def test_blocks_that_say_nothing_go() -> None:
    text = program(CELLS, LOOP, "seq { seq { set_a; set_b; } par { set_a; } }")
    assert "seq { set_a; set_b; set_a; }" in " ".join(applied(text, "flatten").split())
    both = program(CELLS, LOOP, "par { seq { seq { set_a; set_b; } } set_c; }")
    assert "par { seq { set_a; set_b; } set_c; }" in " ".join(applied(both, "flatten").split())
    synced = program(CELLS, LOOP, "seq { @sync(1) seq { set_a; set_b; } set_a; }")
    assert not found(synced, "flatten")


def test_a_condition_is_asked_once_if_nothing_changes_it() -> None:
    wires = "lt.left = a.out; lt.right = 8'd3;\n" + group("a") + group("b")
    text = program(CELLS, wires, "seq { if lt.out { set_b; } if lt.out { set_a; } }")
    after = " ".join(applied(text, "fold-conditions").split())
    assert "if lt.out { seq { set_b; set_a; } }" in after
    changed = program(CELLS, wires, "seq { if lt.out { set_a; } if lt.out { set_b; } }")
    assert not found(changed, "fold-conditions")


def test_a_condition_may_read_a_memory_that_nothing_else_uses() -> None:
    memory = "m = comb_mem_d1(8, 4, 2);"
    wires = "comb group test { m.addr0 = sel; lt.left = a.out; lt.right = m.read_data; }\n"
    text = program(CELLS + memory, wires + group("a"), "while lt.out with test { set_a; }")
    assert found(text, "continuous-condition")
    written = group("b") + (
        "group fill { m.addr0 = sel; m.write_data = 8'd1; m.write_en = 1'd1; fill[done] = m.done; }"
    )
    control = "seq { fill; while lt.out with test { set_a; } }"
    both = program(CELLS + memory, wires + group("a") + written, control)
    assert not found(both, "continuous-condition")


def loads(*names: str, memory: str = "m", address: str = "i.out") -> str:
    """Groups `load_R`, each of which loads register R from a synchronous memory."""
    return "".join(
        f"group load_{r} {{ {memory}.addr0 = {address}; {memory}.content_en = 1'd1;"
        f" {r}.in = {memory}.read_data; {r}.write_en = {memory}.done;"
        f" load_{r}[done] = {r}.done; }}\n"
        for r in names
    )


STORE = (
    "group store { m.addr0 = i.out; m.content_en = 1'd1; m.write_en = 1'd1;"
    " m.write_data = a.out; store[done] = m.done; }\n"
)
MEMORY = "m = seq_mem_d1(8, 8, 3); i = std_reg(3); a = std_reg(8); b = std_reg(8);"
STEP = (
    "group step { add.left = i.out; add.right = 3'd1; i.in = add.out; i.write_en = 1'd1;"
    " step[done] = i.done; }\n"
)


def test_what_was_read_before_is_taken_from_its_register() -> None:
    text = program(MEMORY, loads("a", "b"), "seq { load_a; load_b; }")
    assert [claim for _, claim in found(text, "keep-read")] == [Claim.CONSTRUCTION]
    after = applied(text, "keep-read")
    assert "b.in = a.out;" in after
    assert after.count("m.read_data") == 1


def test_what_was_stored_before_is_taken_from_its_register() -> None:
    text = program(MEMORY, loads("b") + STORE, "seq { store; load_b; }")
    assert "b.in = a.out;" in applied(text, "keep-read")


def test_a_read_is_not_kept_over_a_write_of_memory_register_or_address() -> None:
    cells, wires = MEMORY + " add = std_add(3);", loads("a", "b") + STORE + STEP + group("a")
    for between in (
        "store; set_a;",
        "set_a;",
        "step;",
        "if sel { step; }",
        "invoke i(in = 3'd1)();",
    ):
        text = program(cells, wires, f"seq {{ load_a; {between} load_b; }}")
        assert not found(text, "keep-read"), between
    looped = "seq { load_a; repeat 3 { seq { load_b; step; } } }"
    assert not found(program(cells, wires, looped), "keep-read")


def test_a_read_that_one_branch_alone_has_done_is_not_kept() -> None:
    wires = loads("a", "b")
    assert not found(program(MEMORY, wires, "seq { if sel { load_a; } load_b; }"), "keep-read")
    both = "seq { if sel { load_a; } else { load_a; } load_b; }"
    assert len(found(program(MEMORY, wires, both), "keep-read")) == 1


def test_a_read_is_not_kept_where_another_arm_writes() -> None:
    text = program(MEMORY, loads("a", "b") + STORE, "seq { load_a; par { load_b; store; } }")
    assert not found(text, "keep-read")


def test_a_read_of_what_its_register_has_goes_with_its_group() -> None:
    wires = loads("a") + group("b")
    after = applied(program(MEMORY, wires, "seq { load_a; set_b; load_a; }"), "keep-read")
    assert after.count("load_a;") == 1
    again = loads("a") + STORE + group("b")
    after = applied(program(MEMORY, again, "seq { store; set_b; load_a; }"), "keep-read")
    assert "load_a" not in after


def test_a_read_whose_answer_others_use_later_is_left_alone() -> None:
    other = "group use { b.in = m.read_data; b.write_en = 1'd1; use[done] = b.done; }"
    text = program(MEMORY, loads("a", "b") + other, "seq { load_a; load_b; use; }")
    assert not found(text, "keep-read")


ASIDE = "add = std_add(3); " + MEMORY
NEXT = (
    "group load_b { add.left = i.out; add.right = 3'd1; m.addr0 = add.out; m.content_en = 1'd1;"
    " b.in = m.read_data; b.write_en = m.done; load_b[done] = b.done; }\n"
)


def test_reads_of_two_words_get_a_copy_that_is_written_with_the_memory() -> None:
    text = program(ASIDE, loads("a") + NEXT + STORE, "seq { store; seq { load_a; load_b; } }")
    after = applied(text, "copy-memory")
    assert "m_copy1 = seq_mem_d1(8, 8, 3);" in after
    assert "m_copy1.write_en = 1'd1;" in after
    assert "b.in = m_copy1.read_data;" in after
    assert "a.in = m.read_data;" in after


def test_a_memory_that_others_see_gets_no_copy() -> None:
    wires, control = loads("a") + NEXT + STORE, "seq { store; seq { load_a; load_b; } }"
    for word in ("@external", "ref"):
        cells = ASIDE.replace("m = seq", f"{word} m = seq")
        assert not found(program(cells, wires, control), "copy-memory"), word


def test_reads_on_both_sides_of_a_write_get_no_copy() -> None:
    text = program(ASIDE, loads("a") + NEXT + STORE, "seq { load_a; store; load_b; }")
    assert not found(text, "copy-memory")


def test_statements_run_as_soon_as_what_they_depend_on_has_ended() -> None:
    cells = "a = std_reg(8); b = std_reg(8); c = std_reg(8); d = std_reg(8);"
    wires = group("a") + group("b", "a.out") + group("c") + group("d", "c.out", "join")
    wires += group("d", "b.out", "last").replace("d.in = b.out;", "d.in = b.out; d.in = c.out;")
    two = program(cells, wires, "seq { set_a; set_b; set_c; join; }")
    after = " ".join(applied(two, "as-soon-as-possible").split())
    assert "par { seq { set_a; set_b; } seq { set_c; join; } }" in after
    one = program(cells, wires, "seq { set_a; set_b; set_c; last; }")
    after = " ".join(applied(one, "as-soon-as-possible").split())
    assert "seq { par { set_a; set_c; } set_b; last; }" in after


def test_statements_in_a_chain_keep_their_order() -> None:
    cells = "a = std_reg(8); b = std_reg(8); c = std_reg(8);"
    wires = group("a") + group("b", "a.out") + group("c", "b.out")
    assert not found(program(cells, wires, "seq { set_a; set_b; set_c; }"), "as-soon-as-possible")


def test_static_groups_do_not_trust_what_done_was_before() -> None:
    waiting = loads("a").replace("content_en = 1'd1", "content_en = !m.done ? 1'd1")
    text = program(MEMORY, waiting + STORE, "seq { store; load_a; }")
    ((_, claim),) = found(text, "static-control")
    assert claim is Claim.CONSTRUCTION
    after = applied(text, "static-control")
    assert "m.content_en = %[0:1] ? 1'd1;" in after
    assert "a.write_en = %1 ? 1'd1;" in after
    other = STORE.replace("m.write_data", "b.in = m.done ? 8'd1; m.write_data")
    ((_, claim),) = found(program(MEMORY, other, "seq { store; store; }"), "static-control")
    assert claim is Claim.DATA

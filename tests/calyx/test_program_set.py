"""The set of Calyx programs is whole: data, figures, a model for each, and no construct missing."""

import json
import re
import runpy
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
EXPECTED = json.loads((PROGRAMS / "expected.json").read_text(encoding="utf-8"))
MODELS = runpy.run_path(str(PROGRAMS / "models.py"))["MODELS"]
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.futil"))

CONSTRUCTS = {
    "seq": r"\bseq \{",
    "par": r"\bpar \{",
    "if on a port": r"\bif \w+\.out \{",
    "if with a group": r"\bif \w+\.out with ",
    "else if": r"\belse if ",
    "while on a port": r"\bwhile \w+\.out \{",
    "while with a group": r"\bwhile \w+\.out with ",
    "repeat": r"(?<!static )repeat \d+ \{",
    "static seq": r"\bstatic(<\d+>)? seq \{",
    "static par": r"\bstatic(<\d+>)? par \{",
    "static if": r"\bstatic(<\d+>)? if ",
    "static repeat": r"\bstatic repeat ",
    "static invoke": r"\bstatic(<\d+>)? invoke ",
    "static group": r"\bstatic<\d+> group ",
    "static component": r"\bstatic<\d+> component ",
    "static primitive": r"= pipelined_mult\(",
    "timing guard, one cycle": r"%\d",
    "timing guard, a span": r"%\[\d+:\d+\]",
    "empty statement": r"\{ ; \}",
    "empty static group": r"group \w+ \{ \}",
    "invoke": r"(?<!static )(?<!> )invoke \w+\(",
    "invoke with outputs": r"invoke \w+\(.*\)\(\w+ ?= ?",
    "invoke with a group": r"invoke .* with \w+;",
    "invoke with references": r"invoke \w+\[",
    "ref register": r"ref \w+ = std_reg",
    "ref memory": r"ref \w+ = (comb|seq)_mem",
    "ref component": r"ref \w+ = (?!std_|comb_|seq_)\w+\(\)",
    "group drives a component": r"\b[a-z]\.go = 1'd1",
    "group runs a group": r"\w+\[go\] = ",
    "continuous assignment": r"^    \w+\.\w+ = ",
    "combinational component": r"^comb component ",
    "@sync": r"@sync\(\d\);",
    "@bound": r"@bound\(",
    "@promotable": r"@promotable\(",
    "promotable group": r"group \w+<\"promotable\"=",
    "@interval": r"@interval\(",
    "@new_fsm": r"@new_fsm ",
    "@inline": r"@inline ",
    "toplevel": r"<\"toplevel\"=1>",
    "state_share": r"<\"state_share\"=1>",
    "multiplier": r"= std_mult_pipe\(",
    "signed divider": r"= std_sdiv_pipe\(",
    "square root": r"= sqrt\(",
    "fixed point": r"= std_fp_smult_pipe\(",
    "combinational memory of four dimensions": r"= comb_mem_d4\(",
    "sequential memory of four dimensions": r"= seq_mem_d4\(",
    "register wider than a word": r"= std_reg\(200\)",
}


def read(name: str) -> str:
    return (PROGRAMS / f"{name}.futil").read_text(encoding="utf-8")


def memories(name: str) -> dict[str, object]:
    data = json.loads((PROGRAMS / f"{name}.json").read_text(encoding="utf-8"))
    return {memory: content["data"] for memory, content in data.items()}


def test_every_program_has_data_figures_and_a_model():
    assert len(NAMES) >= 48
    assert sorted(EXPECTED["programs"]) == NAMES
    assert sorted(MODELS) == NAMES
    for name in NAMES:
        externals = re.findall(r"@external(?:\(1\))? (\w+) =", read(name))
        assert sorted(memories(name)) == sorted(externals), name


@pytest.mark.parametrize("name", NAMES)
def test_expected_memories_are_those_of_the_model(name):
    before = memories(name)
    assert EXPECTED["programs"][name]["memories"] == before | MODELS[name](before)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_changes_a_memory_in_each_configuration(name):
    entry = EXPECTED["programs"][name]
    assert entry["memories"] != memories(name)
    assert list(entry["cycles"]) == list(EXPECTED["configurations"])
    assert all(cycles >= 1 for cycles in entry["cycles"].values())


@pytest.mark.parametrize("name", NAMES)
def test_a_program_says_what_it_is_there_for(name):
    assert read(name).startswith("// ")


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_a_construct_is_in_some_program(construct):
    pattern = re.compile(CONSTRUCTS[construct], re.MULTILINE)
    assert any(pattern.search(read(name)) for name in NAMES)


def test_a_state_machine_of_more_than_64_states_is_among_them():
    control = read("many_states").split("control {")[1]
    assert control.count(";") > 64

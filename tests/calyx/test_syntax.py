"""The reader and printer of Calyx's text: round trips, positions, errors with their place."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope.calyx._syntax import (
    Assignment,
    CellText,
    ComponentText,
    Extern,
    Fsm,
    FsmState,
    GroupText,
    Port,
    PrimitiveText,
    Statement,
    SyntaxFile,
)
from cyclescope.calyx._syntax_print import print_syntax
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.errors import SourceError

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([
    *(ROOT / "tests/calyx/programs").glob("*.futil"),
    *(ROOT / "examples").rglob("*.futil"),
])  # fmt: skip

# Words of the grammar are names, too: nothing is reserved.
NAMES = st.sampled_from(["a", "b'", "x-1", "_u", "go", "in", "comb_", "ref_", "if0", "group1"])
NUMBERS = st.integers(0, 2**64 - 1)
VALUES = NUMBERS | st.lists(NUMBERS, min_size=1, max_size=3).map(tuple)
ATTRIBUTES = st.dictionaries(NAMES, VALUES, max_size=2)
CONSTANTS = st.sampled_from(["1'd1", "8'hff".replace("h", "x"), "3'b101", "6'o17"])
PORTS = st.builds("{}.{}".format, NAMES, NAMES) | st.builds("{}[{}]".format, NAMES, NAMES) | NAMES
REFERENCES = PORTS | CONSTANTS
COMPARISONS = st.builds(
    "{} {} {}".format,
    REFERENCES,
    st.sampled_from(["==", "!=", "<", ">", "<=", ">="]),
    REFERENCES,
)
SPANS = st.builds("%{}".format, st.integers(0, 99)) | st.builds(
    "%[{}:{}]".format, st.integers(0, 9), st.integers(0, 99)
)
GUARDS = st.recursive(
    REFERENCES | COMPARISONS | SPANS,
    lambda inner: (
        st.builds("({})".format, inner)
        | st.builds("!({})".format, inner)
        | st.builds("{} {} {}".format, inner, st.sampled_from("&|"), inner)
    ),
    max_leaves=6,
)
ASSIGNMENTS = st.builds(Assignment, PORTS, st.none() | GUARDS, REFERENCES, ATTRIBUTES)
ASSIGNMENT_LISTS = st.lists(ASSIGNMENTS, max_size=3)
LATENCIES = st.none() | st.integers(0, 99)
SIGNATURES = st.lists(st.builds(Port, NAMES, st.sampled_from(["1", "W"]), ATTRIBUTES), max_size=3)
PAIRS = st.lists(st.tuples(NAMES, REFERENCES), max_size=2)
PRIMITIVES = st.builds(
    PrimitiveText,
    NAMES,
    ATTRIBUTES,
    st.booleans(),
    LATENCIES,
    st.none() | st.lists(NAMES, max_size=2),
    SIGNATURES,
    SIGNATURES,
    st.none() | st.sampled_from(["", "assign out = in; // a"]),
)
GROUPS = st.builds(GroupText, NAMES, ATTRIBUTES, st.booleans(), LATENCIES, ASSIGNMENT_LISTS)
RULES = st.lists(st.tuples(st.none() | GUARDS, st.integers(0, 9)), min_size=1, max_size=2)
STATES = st.builds(FsmState, st.integers(0, 9), ASSIGNMENT_LISTS, st.integers(0, 9) | RULES)
FSMS = st.builds(Fsm, NAMES, ATTRIBUTES, st.lists(STATES, min_size=1, max_size=2))
CELLS = st.builds(
    CellText,
    NAMES,
    NAMES,
    st.lists(st.sampled_from(["32", "-0.5", "7"]), max_size=2),
    st.booleans(),
    ATTRIBUTES,
)


@st.composite
def statements(draw: st.DrawFn, depth: int = 3) -> Statement:
    leaves = ["empty", "enable", "invoke"]
    kind = draw(st.sampled_from(leaves if not depth else [*leaves, "seq", "par", "if", "while"]))
    statement = Statement(kind, draw(ATTRIBUTES))
    block = st.lists(statements(depth=depth - 1), max_size=2) if depth else st.just([])
    if kind == "while" and draw(st.booleans()):
        kind = statement.kind = "repeat"
        statement.count = draw(NUMBERS)
    if kind not in ("empty", "enable", "while"):
        statement.static = draw(st.booleans())
        statement.latency = draw(LATENCIES) if statement.static else None
    if kind in ("enable", "invoke"):
        statement.name = draw(NAMES)
    if kind == "invoke":
        statement.refs = draw(st.lists(st.tuples(NAMES, NAMES), max_size=2))
        statement.inputs, statement.outputs = draw(PAIRS), draw(PAIRS)
        statement.with_group = draw(st.none() | NAMES)
    if kind in ("if", "while"):
        statement.port = draw(PORTS)
        statement.with_group = None if statement.static else draw(st.none() | NAMES)
    if kind not in leaves:
        statement.body = draw(block)
    if kind == "if":
        statement.otherwise = draw(st.none() | block)
        inner = statement.otherwise or []
        statement.chained = len(inner) == 1 and inner[0].kind == "if" and draw(st.booleans())
    return statement


COMPONENTS = st.builds(
    ComponentText,
    NAMES,
    ATTRIBUTES,
    st.booleans(),
    LATENCIES,
    SIGNATURES,
    SIGNATURES,
    st.lists(CELLS, max_size=2),
    st.lists(GROUPS | FSMS | ASSIGNMENTS, max_size=3),
    st.none() | st.lists(statements(), max_size=2),
)
EXTERNS = st.builds(
    Extern,
    st.sampled_from(["core.sv", "/a b/c.sv"]),
    st.lists(PRIMITIVES.filter(lambda p: p.body is None), max_size=2),
)
FILES = st.builds(
    SyntaxFile,
    st.lists(st.sampled_from(["primitives/core.futil", "a.futil"]), max_size=2),
    st.lists(COMPONENTS | PRIMITIVES | EXTERNS, max_size=2),
    st.lists(st.sampled_from(["metadata #{\n a }\n}#", "sourceinfo #{ FILES }#"]), max_size=2),
)


@given(FILES)
@settings(max_examples=200)
def test_what_is_printed_is_read_back(file: SyntaxFile) -> None:
    assert read_syntax(print_syntax(file), "printed") == file


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_survive_the_round_trip(path: Path) -> None:
    data = path.read_bytes()
    tree = read_syntax(data, path.name)
    printed = print_syntax(tree)
    assert read_syntax(printed, "printed") == tree
    assert print_syntax(read_syntax(printed, "printed")) == printed


@given(st.sampled_from(PROGRAMS), st.data())
@settings(max_examples=150)
def test_a_damaged_program_is_read_or_refused_with_its_place(path: Path, data: st.DataObject):
    text = bytearray(path.read_bytes())
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 40)))
    text[begin:end] = data.draw(st.sampled_from([b"", b"\x00", b"{", b"}", b'"', b"static", b"9z"]))
    message = ""
    try:
        read_syntax(bytes(text), path.name)
    except SourceError as error:
        message = str(error)
    assert not message or message.startswith(f"{path.name}:")
    assert "\n" not in message


TODAY = b"""import "primitives/core.futil"; // a comment
comb component twice<"pos"={0, 1}>(@data x: 8) -> (y: 8) {
  cells { f = std_float_const(0, 32, -0.5); ref m = std_reg(8) }
  wires { y = x; comb.in = static.out; fsm = x; }
}
static<2> component main(@go go: 1) -> (@done done: 1) {
  cells { @external(1) @pos{3} m = comb_mem_d1(8, 4, 2); }
  wires {
    static<2> group s<"pos"={4}> {
      m.write_en = %0 ? 1'd1; m.addr0 = %[0:2] & !(a | b.c == 2'b10) ? 2'x3; }
    fsm f { 0: { } => 1, 1: { s[go] = 1'd1; } => { m.done & !x.out -> 0, default -> 1, }, }
  }
  control {
    @pos{5} @new_fsm seq { @pos{6} s; f; ; static<4> repeat 2 { s; } }
    if a.out with c { } else if b { s; } else { invoke m[r = q](in = 8'd1,)(out = x.in) with c; }
  }
}
metadata #{ anything: } even this }#
sourceinfo #{ FILES 0: a.py POSITIONS 0: 0 7 }#
"""


def test_todays_grammar() -> None:
    file = read_syntax(TODAY, "today")
    assert file.imports == ["primitives/core.futil"]
    assert [table[:10] for table in file.tables] == ["metadata #", "sourceinfo"]
    twice, main = file.items
    assert isinstance(twice, ComponentText)
    assert isinstance(main, ComponentText)
    assert twice.comb
    assert twice.attributes == {"pos": (0, 1)}
    assert [c.args for c in twice.cells] == [["0", "32", "-0.5"], ["8"]]
    assert [w.dst for w in twice.wires if isinstance(w, Assignment)] == ["y", "comb.in", "fsm"]
    group, machine = main.wires
    assert isinstance(group, GroupText)
    assert isinstance(machine, Fsm)
    assert group.assignments[1].guard == "%[0:2] & !(a | b.c == 2'b10)"
    assert machine.states[1].next == [("m.done & !x.out", 0), (None, 1)]
    seq, branch = main.control or []
    assert [s.kind for s in seq.body] == ["enable", "enable", "empty", "repeat"]
    assert seq.body[3].static
    assert seq.body[3].latency == 4
    assert branch.chained
    assert branch.otherwise
    assert branch.otherwise[0].otherwise[0].inputs == [("in", "8'd1")]


def test_a_statement_begins_after_its_position_sets() -> None:
    # Where the compiler, which is given the text without them, says that it begins.
    (_, main) = read_syntax(TODAY, "today").items
    assert isinstance(main, ComponentText)
    (seq, _), (group, _) = main.control or [], main.wires
    assert TODAY[seq.start :].startswith(b"@new_fsm seq")
    assert TODAY[seq.body[0].start :].startswith(b"s; f;")
    assert TODAY[group.start :].startswith(b"static<2> group s")
    assert TODAY[main.start :].startswith(b"static<2> component")


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("component main() -> () {\n cells { r = std_reg(8); wires", "2:31", "expected `=`"),
        ("component main() -> () { cells { } wires { a = 1; } }", "1:48", "sized number"),
        ("component main() -> () { cells { } wires { a = 8'z1; } }", "1:48", "sized number (8'd3)"),
        ("component main(a: 1 b: 1) -> () {}", "1:21", "expected `)`"),
        ("\n\n  what", "3:3", "expected `component`"),
        ('import "a', "1:8", "closing quote"),
        ("/* never closed", "1:1", "end of a comment"),
        ("component main() -> () { cells {} wires {} control { else; if", "1:62", "end of file"),
        ("component main() -> () { cells {} wires {} control { do { } } }", "1:57", "`do`"),
        ("component main() -> () { cells {} wires {} } extra", "1:46", "`extra`"),
        ("extern \"a\" { primitive p() -> () { } }", "1:38", "without a body"),
        ("component m(a: " + "9" * 30 + ") -> ()", "1:16", "2^64"),
    ],
)  # fmt: skip
def test_an_error_says_where_and_what(text: str, place: str, what: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_syntax(text.encode(), "p.futil")
    assert str(caught.value).startswith(f"p.futil:{place}: ")
    assert what in str(caught.value)


@pytest.mark.parametrize("opening", ["seq { ", "par {", "if a { } else ", "a = (", "a = !("])
def test_nesting_without_end_is_refused(opening: str) -> None:
    where = "wires { " if opening.startswith("a") else "wires {} control { "
    guard = opening.removeprefix("a = ")
    deep = f"a = {guard * 5000}" if opening.startswith("a") else opening * 5000
    with pytest.raises(SourceError, match="levels of nesting"):
        read_syntax(f"component m() -> () {{ cells {{}} {where}{deep}".encode(), "p.futil")


def test_deep_control_within_the_bound_is_read_and_printed() -> None:
    text = "seq { if a { " * 120 + "b;" + " } }" * 120
    data = f"component m() -> () {{ cells {{}} wires {{}} control {{ {text} }} }}".encode()
    printed = print_syntax(read_syntax(data, "p.futil"))
    assert printed == print_syntax(read_syntax(printed, "printed"))
    assert printed.count(b"if a {") == 120

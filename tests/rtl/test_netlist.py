from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.errors import ToolError
from cyclescope.rtl import External, Module, cat, choose, const, mux, sources
from cyclescope.rtl._names import KEYWORDS, Names, legal
from cyclescope.sim import on_ecp5
from rtl.benches import Expressions, checker, in_icarus, in_verilator, lint


def random_module(seed: int, steps: int) -> tuple[Module, Expressions]:
    module = Module("dut")
    expressions = Expressions(module, seed)
    for _ in range(steps):
        expressions.step()
    return module, expressions


def stimulus(module: Module, seed: int, count: int) -> list[dict[str, int]]:
    r = random.Random(seed)
    inputs = [p for p in module.ports() if p.direction == "input"]
    return [
        {
            p.name: r.choice([0, 1, (1 << p.width) - 1, 1 << p.width - 1, r.getrandbits(p.width)])
            for p in inputs
        }
        for _ in range(count)
    ]


def outputs(module: Module, expressions: Expressions) -> dict[str, object]:
    references = {}
    for width, known in expressions.known.items():
        for i, (expr, reference) in enumerate(known[2:]):
            name = f"out{width}_{i}"
            module.output(name, expr)
            references[name] = reference
    return references


@pytest.mark.long
@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_expressions_mean_in_verilog_what_they_mean_in_python(tmp_path, simulator) -> None:
    for seed in range(1 if simulator == "verilator" else 3):
        module, expressions = random_module(seed, 300)
        references = outputs(module, expressions)
        vectors = stimulus(module, seed, 40)
        expected = [{n: f(dict(v)) for n, f in references.items()} for v in vectors]
        texts = {**sources(module), "main.v": checker(module, vectors, expected)}
        said = in_verilator(texts) if simulator == "verilator" else in_icarus(tmp_path, texts)
        assert said.split("\n")[0] == "end", said[:2000]


def test_random_modules_have_no_warnings(tmp_path) -> None:
    for seed in range(10, 14):
        module, expressions = random_module(seed, 150)
        outputs(module, expressions)
        said = lint(tmp_path, sources(module), "dut")
        assert said == ""


GOLDEN = """\
// Multiplies and adds up.
module mac (
  input wire clk,
  input wire reset,
  input wire [15:0] a,
  input wire [15:0] b,
  input wire valid,
  output wire [31:0] sum,
  output wire [31:0] old
);
  wire [31:0] product = {16'd0, a} * {16'd0, b};  // mac.c:3
  reg [31:0] total;  // mac.c:4
  reg [31:0] store [0:9];
  wire [3:0] store_bytes = b[7:4];
  reg [31:0] store_out;
  wire busy;
  assign busy = valid & product[0];
  always @(posedge clk) begin
    if (reset) total <= 32'd0;
    else begin
      if (busy) total <= total + product;
    end
    store_out <= store[a[3:0]];
  end
  always @(posedge clk) begin
    if (valid) begin
      if (store_bytes[0]) store[b[3:0]][7:0] <= total[7:0];
      if (store_bytes[1]) store[b[3:0]][15:8] <= total[15:8];
      if (store_bytes[2]) store[b[3:0]][23:16] <= total[23:16];
      if (store_bytes[3]) store[b[3:0]][31:24] <= total[31:24];
    end
  end
  assign sum = total;
  assign old = store_out;
endmodule
"""


def mac() -> Module:
    m = Module("mac", "Multiplies and adds up.")
    a, b, valid = m.input("a", 16), m.input("b", 16), m.input("valid", 1)
    product = m.wire("product", a.zext(32) * b.zext(32), note="mac.c:3")
    with m.source("mac.c:4"):
        total = m.register("total", 32, reset=0)
    store = m.memory("store", 32, 10)
    store.write(b[3:0], total, valid, b[7:4])
    old = store.read(a[3:0])
    busy = m.forward_wire("busy", 1)
    m.assign(busy, valid & product[0])
    m.update(total, total + product, when=busy)
    m.wire("nobody reads this", total ^ 1)
    m.output("sum", total)
    m.output("old", old)
    return m


def test_a_module_prints_as_a_person_would_write_it(tmp_path) -> None:
    assert mac().verilog() == GOLDEN
    assert lint(tmp_path, sources(mac()), "mac") == ""


def clocked() -> tuple[Module, list[dict[str, int]], list[dict[str, int]]]:
    """Everything with a clock, and what it does cycle by cycle, by hand."""
    inner = Module("inner")
    x = inner.input("x", 8)
    inner.output("later", inner.delay(x, "x", 2))
    m = Module("dut")
    data, address, write, lanes = (
        m.input(n, w) for n, w in (("data", 16), ("address", 2), ("write", 1), ("lanes", 2))
    )
    count = m.register("count", 4, reset=3)
    m.update(count, count + 1)
    m.update(count, 9, when=write)
    m.update(count, count, when=write & data[0])
    memory = m.memory("memory", 16, 3)
    memory.write(address, data, write, lanes)
    m.output("count_now", count)
    m.output("read", memory.read(address))
    m.output("held", memory.read(address, write))
    m.output("seen", memory.at(address))
    m.output("own", m.delay(data, "mine", when=write, separate=True))
    m.output("later", m.instance(inner, "inner", {"x": data[7:0]})["later"])

    r = random.Random(5)
    vectors, expected = [], []
    words, number, read, held, own = [0, 0, 0], 3, 0, 0, 0
    for i in range(200):
        v = {"data": r.getrandbits(16), "write": int(i < 6 or r.random() < 0.4)}
        v |= {
            "address": i % 3 if i < 6 else r.randrange(3),
            "lanes": 3 if i < 6 else r.randrange(4),
        }
        vectors.append(v)
        # What has not been written yet is anything: the first comparisons come later.
        later = vectors[-3]["data"] & 255 if i > 2 else 0
        seen = words[v["address"]]
        expected.append(
            {"count_now": number, "read": read, "held": held, "seen": seen, "later": later}
            | {"own": own}
        )
        read = words[v["address"]]
        if v["write"]:
            held, own = words[v["address"]], v["data"]
            keep = (0xFFFF, 0xFF00, 0x00FF, 0)[v["lanes"]]
            words[v["address"]] = words[v["address"]] & keep | v["data"] & ~keep & 0xFFFF
            number = number if v["data"] & 1 else 9
        else:
            number = (number + 1) % 16
    return m, vectors, expected


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_registers_memories_and_instances(tmp_path, simulator) -> None:
    module, vectors, expected = clocked()
    assert lint(tmp_path, sources(module), "dut") == ""
    texts = {**sources(module), "main.v": checker(module, vectors, expected)}
    said = in_verilator(texts) if simulator == "verilator" else in_icarus(tmp_path, texts)
    wrong = [line for line in said.splitlines() if line.startswith(tuple(expected[0]))]
    # In the first cycles memory and delay line hold nothing yet.
    assert not [line for line in wrong if int(line.split()[2].rstrip(":")) > 3], wrong
    assert "end" in said


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_a_cleared_memory_begins_with_zeros(tmp_path, simulator) -> None:
    m = Module("dut")
    address, write, data = m.input("address", 3), m.input("write", 1), m.input("kept_number", 7)
    memory = m.memory("kept", 7, 5, cleared=True)
    memory.write(address, data, write)
    m.output("word", memory.at(address))
    vectors = [{"address": n % 5, "write": int(n > 6), "kept_number": n + 90} for n in range(15)]
    expected = [{"word": 0 if n < 12 else n + 85} for n in range(15)]
    texts = sources(m)
    assert lint(tmp_path, texts, "dut") == ""
    texts |= {"main.v": checker(m, vectors, expected)}
    said = in_verilator(texts) if simulator == "verilator" else in_icarus(tmp_path, texts)
    assert said.splitlines()[0] == "end"


def test_bits_that_nothing_reads_are_named_for_lint(tmp_path) -> None:
    m = Module("dut")
    a, b = m.input("a", 8), m.input("b", 70)
    m.input("alone", 3)
    kept = m.wire("kept", a + 1, keep=True)
    m.register("state", 2, reset=1, keep=True)
    m.output("x", a[6] ^ a[3] ^ b[69] ^ kept[0])
    text = m.verilog()
    assert "unused_bits = &{1'b0, a" not in text  # kept needs all of a
    assert "b[68:0], alone, kept[7:1], state" in text
    assert lint(tmp_path, sources(m), "dut") == ""


def doubled(*, separate: bool) -> Module:
    """Two factors of 18 bits, each with a register of the first in front of it."""
    half = Module("half")
    a, b = half.input("a", 18), half.input("b", 18)
    mine = half.delay(a, "mine", separate=separate)
    half.output("q", half.delay(mine.zext(36) * b.zext(36), "product"))
    m = Module("dut")
    a = m.input("a", 18)
    for n in range(2):
        b = m.input(f"b{n}", 18)
        m.output(f"q{n}", m.instance(half, f"half{n}", {"a": a, "b": b})["q"])
    return m


def test_separate_registers_have_a_block_of_their_own(tmp_path) -> None:
    texts = sources(doubled(separate=True))
    assert "  (* keep *) reg [17:0] mine;\n" in texts["half.v"]
    block = "  (* keep *) always @(posedge clk) begin\n    mine <= a;\n  end\n"
    assert block in texts["half.v"]
    assert "keep" not in "".join(sources(doubled(separate=False)).values())
    assert lint(tmp_path, texts, "dut") == ""


def test_synthesis_merges_registers_but_not_separate_ones() -> None:
    try:
        areas = [
            on_ecp5("".join(sources(doubled(separate=separate)).values()), "dut")
            for separate in (False, True)
        ]
    except ToolError as error:
        pytest.skip(f"{error}; the text is tested above")
    # The products' registers are in the multipliers.
    assert [area.ffs for area in areas] == [18, 2 * 18]
    assert [area.dsps for area in areas] == [2, 2]


def test_widths_are_checked() -> None:
    m, other = Module("m"), Module("other")
    a, b, c = m.input("a", 8), m.input("b", 9), other.input("c", 8)
    r = m.register("r", 8)
    memory = m.memory("memory", 12, 5)
    inner = External("inner", "", (("x", 4),), (("y", 4),))
    for wrong in (
        lambda: a + b,
        lambda: a & c,
        lambda: a + 256,
        lambda: a - 1 + -129,
        lambda: a.eq(b),
        lambda: a.slt(b),
        lambda: mux(a, b, b),
        lambda: mux(a[0], a, b),
        lambda: mux(a[0], 1, 0),
        lambda: a[8],
        lambda: a[0:3],
        lambda: b.zext(8),
        lambda: b.sext(8),
        lambda: const(4, 2),
        lambda: const(-3, 2),
        lambda: cat(),
        lambda: choose(a[0], [a, a, a]),
        lambda: a << -1,
        lambda: a.repeat(0),
        lambda: m.wire("w", a, 9),
        lambda: m.wire("w", 5),
        lambda: m.wire("w", c),
        lambda: m.update(r, b),
        lambda: m.update(r, a, when=a),
        lambda: m.update(a, a),
        lambda: m.assign(a, a),
        lambda: memory.write(a, const(0, 12), a[0]),
        lambda: memory.write(a[2:0], const(0, 12), a[0], a[0]),
        lambda: memory.read(a),
        lambda: m.memory("empty", 8, 0),
        lambda: m.input("a", 3),
        lambda: m.input("wire", 3),
        lambda: m.input("zero", 0),
        lambda: m.output("clk", a),
        lambda: m.instance(inner, "i", {}),
        lambda: m.instance(inner, "i", {"x": a}),
        lambda: Module("module"),
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong()
    with pytest.raises(ValueError, match=rf"bits {a.width - 1} to 0$"):
        a[a.width : 0]
    with pytest.raises(TypeError, match="mux"):
        assert a
    m.output("q", m.forward_wire("never", 1))
    with pytest.raises(ValueError, match="never"):
        m.verilog()


def test_two_modules_of_one_name_are_noticed() -> None:
    top = Module("top")
    for _ in range(2):
        inner = Module("inner")
        inner.output("y", const(1, 1))
        last = top.instance(inner, "inner", {})
    top.output("y", last["y"])
    with pytest.raises(ValueError, match="inner: two modules"):
        sources(top)


@given(st.lists(st.text(max_size=12) | st.sampled_from(sorted(KEYWORDS))))
def test_names_are_legal_and_unique(wanted: list[str]) -> None:
    names = Names()
    given_names = [names.take(name) for name in wanted]
    assert len(set(given_names)) == len(wanted)
    for name in given_names:
        assert name.isidentifier()
        assert name.isascii()
        assert name not in KEYWORDS
        assert "__" not in name
        assert legal(name) == name


@given(st.integers(1, 70), st.integers(0), st.integers(0), st.integers(0, 80))
def test_constants_compute_themselves(width: int, x: int, y: int, n: int) -> None:
    size = 1 << width
    x, y = x % size, y % size
    a, b = const(x, width), const(y, width)
    sx, sy = (v - size if v >= size // 2 else v for v in (x, y))
    assert [e.value for e in (a + b, a - b, a * b, ~a, a << n, a >> n)] == [
        (x + y) % size,
        (x - y) % size,
        x * y % size,
        size - 1 - x,
        (x << n) % size,
        x >> n,
    ]
    assert [e.value for e in (a.ult(b), a.ule(b), a.slt(b), a.sle(b), a.eq(b))] == [
        x < y,
        x <= y,
        sx < sy,
        sx <= sy,
        x == y,
    ]
    assert [e.value for e in (a << const(n, 7), a >> const(n, 7), a.ashr(const(n, 7)))] == [
        (x << n) % size,
        x >> n,
        (sx >> n) % size,
    ]
    assert [e.value for e in (a.any(), a.all(), a.parity(), a.none(), a.repeat(2))] == [
        x != 0,
        x == size - 1,
        x.bit_count() % 2,
        x == 0,
        x * size + x,
    ]
    assert cat(a, b).value == x * size + y
    assert cat(a, b)[width + width - 1 : width].value == x

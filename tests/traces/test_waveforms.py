"""Simulators' waveforms, form by form: each thing that a reader could get wrong, by itself."""

from __future__ import annotations

import contextlib
import gzip
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope._native import VcdBody
from cyclescope.cli import main
from cyclescope.errors import DataError
from cyclescope.model import check_laws
from cyclescope.traces import Limits, import_signals
from cyclescope.traces.wave import SignalKind, listing, open_waveform
from traces.test_signals import history

if TYPE_CHECKING:
    from cyclescope.model import Profile

DATA = Path(__file__).parent / "data"


def read(folder: Path, text: str, *signals: str, clock: str | None = None) -> Profile:
    path = folder / "w.vcd"
    path.write_text(text)
    profile = import_signals(path, signals, clock)
    check_laws(profile)
    return profile


HEAD = "$timescale 1 ns $end $scope module t $end {} $upscope $end $enddefinitions $end\n"
BIT = HEAD.format("$var wire 1 ! a $end $var wire 1 # b $end")


def test_what_stands_before_the_first_time_holds_from_0(tmp_path: Path) -> None:
    profile = read(tmp_path, BIT + "1!\n#10\n0!\n#20\n1!\n#30\n", "a")
    assert profile.cycles == 30
    assert history(profile, "t.a") == [(0, 10, "1"), (10, 20, "0"), (20, 30, "1")]
    # Also where it is another signal's: which ones are read does not say when the run begins.
    assert read(tmp_path, BIT + "1!\n#10\n0#\n#30\n", "b").cycles == 30
    # Without such values the run begins with the first time.
    assert read(tmp_path, BIT + "#10\n0!\n#30\n", "a").cycles == 20


@pytest.mark.parametrize(
    ("declared", "body", "expected"),
    [
        ("$var string 1 ! a $end", "sidle !\n#5\nsto\\040do\\x21 !\n#7\n", ["idle", "to do!"]),
        ("$var string 0 ! a $end", "s !\n#5\nsx !\n#7\n", ["''", "x"]),
        ("$var real 64 ! a $end", "r0.5 !\n#5\nr1e-7 !\n#7\n", ["0.5", "1e-7"]),
        ("$var wire 80 ! a [79:0] $end", "b1 !\n#5\nbx1 !\n#7\n", ["0x1", "x"]),
        ("$var wire 2 ! a [1:0] $end", "b0010 !\n#5\nbHL !\n#7\n", ["2"]),
        ("$var wire 2 ! a [1:0] $end", "b0b10 !\n#5\nb1 !\n#7\n", ["2", "1"]),
        ("$var wire 1 ! a $end", "1 !\n#5\n0\t!\n#7\n", ["1", "0"]),
        ("$var wire 1 ! a $end", "1!\r\n#5\r\n0!\r\n#7\r\n", ["1", "0"]),
        ("$var wire 1 ! a $end", "$comment 0! $end 1! #5 0! #7\n", ["1", "0"]),
        ("$var wire 1 abcdefghij a $end", "1abcdefghij\n#5\n0abcdefghij\n#7\n", ["1", "0"]),
        ("$var wire 0 ! n $end $var wire 1 # a $end", "b !\n1#\n#5\n0#\n#7\n", ["1", "0"]),
    ],
)
def test_values_of_every_form(
    tmp_path: Path, declared: str, body: str, expected: list[str]
) -> None:
    profile = read(tmp_path, HEAD.format(declared) + "#0\n" + body, "a")
    ends = [(0, 5), (5, 7)] if len(expected) == 2 else [(0, 7)]
    assert history(profile, "t.a") == [(*e, s) for e, s in zip(ends, expected, strict=True)]


def test_texts_are_the_same_in_every_part_of_a_long_file(tmp_path: Path) -> None:
    # A part is half a megabyte; the last one has texts of the first, in another order, and its own.
    noise = "".join(f"#{time}\n{time & 1}#\n" for time in range(3, 100_000))
    body = f"#0\nsidle !\n#1\nsread !\n#2\nswrite !\n{noise}#100000\nswrite !\n#100001\nsnew !\n"
    body += "#100002\nsread !\n#100003\nsidle !\n#100004\n"
    declared = "$var string 1 ! a $end $var wire 1 # b $end"
    profile = read(tmp_path, HEAD.format(declared) + body, "a")
    texts = ["idle", "read", "write", "new", "read", "idle"]
    times = [0, 1, 2, 100_001, 100_002, 100_003, 100_004]
    expected = [(times[i], times[i + 1], text) for i, text in enumerate(texts)]
    assert history(profile, "t.a") == expected


@pytest.mark.parametrize("order", ["down", "up"])
def test_bits_declared_one_by_one_are_one_vector(tmp_path: Path, order: str) -> None:
    bits = {2: "!", 1: "#", 0: "$"}
    declared = [f"$var wire 1 {key} a [{bit}] $end" for bit, key in bits.items()]
    if order == "up":
        declared.reverse()
    head = HEAD.format(" ".join(["$var wire 1 % clk $end", *declared]))
    profile = read(tmp_path, head + "#0\n1!\n#2\n0#\n1$\n#5\n0!\n1#\n#9\n", "a")
    assert history(profile, "t.a") == [(0, 2, "x"), (2, 5, "5"), (5, 9, "3")]


def test_wide_vectors_are_joined_too(tmp_path: Path) -> None:
    head = HEAD.format("$var wire 64 ! a [127:64] $end $var wire 64 # a [63:0] $end")
    profile = read(tmp_path, head + f"#0\nb1 !\nb0 #\n#2\nb{'1' * 64} #\n#3\n", "a")
    states = [state for *_, state in history(profile, "t.a")]
    assert states == [f"{1 << 64:#x}", f"{(1 << 65) - 1:#x}"]


def test_elements_of_arrays_are_no_bits(tmp_path: Path) -> None:
    head = HEAD.format("$var reg 8 ! m[0] [7:0] $end $var reg 8 # m[1] [7:0] $end")
    path = tmp_path / "w.vcd"
    path.write_text(head)
    assert [s.full_name for s in open_waveform(path).signals] == ["t.m[0]", "t.m[1]"]


def test_scopes_without_a_name(tmp_path: Path) -> None:
    text = BIT.replace("$scope module t $end", "$scope module $end $scope module t $end")
    text = text.replace("$upscope $end", "$upscope $end $upscope $end")
    assert history(read(tmp_path, text + "#0\n1!\n#5\n", "t.a"), "t.a") == [(0, 5, "1")]


@pytest.mark.parametrize(
    ("scale", "cycles", "period"),
    [
        ("1 ns", 62, 100),
        ("0.5 ns", 62, 50),
        ("100 fs", 62, None),
        ("10 as", 62, None),
        ("", 62, None),
    ],
)
def test_fractions_of_time(tmp_path: Path, scale: str, cycles: int, period: int | None) -> None:
    text = BIT.replace("1 ns", scale) + "#0\n1!\n#3.2\n0!\n#6.20\n"
    profile = read(tmp_path, text, "a")
    assert (profile.cycles, profile.meta.period_ps) == (cycles, period)
    assert history(profile, "t.a") == [(0, 32, "1"), (32, 62, "0")]


def test_declarations_that_do_not_end(tmp_path: Path) -> None:
    text = BIT.replace("$enddefinitions $end", "") + "$dumpvars\n$end\n#0\n1!\n#5\n0!\n#6\n"
    assert history(read(tmp_path, text, "a"), "t.a") == [(0, 5, "1"), (5, 6, "0")]


@pytest.mark.parametrize(
    ("end", "cycles", "anomalies"),
    [
        ("#10\n0!", 10, []),  # no other identifier begins so
        ("#10\n0!\n#12", 12, []),
        ("#10\n0!\n#1", 10, ["waveform cut"]),  # surely 1 and something
        ("#10\n0", 10, ["waveform cut"]),
        ("#10\n0?", 10, ["waveform cut"]),
        ("#10\n0!\n#5\n1!", 10, ["time runs back"]),
        ("#10\n$dumpoff", 10, []),
        ("#10\n$dump", 10, ["waveform cut"]),
    ],
)
def test_a_last_line_without_an_end(
    tmp_path: Path, end: str, cycles: int, anomalies: list[str]
) -> None:
    profile = read(tmp_path, BIT + "#0\n1!\n" + end, "a")
    assert profile.cycles == cycles
    assert [a.name for a in profile.meta.anomalies] == anomalies


def test_two_signals_of_one_name(tmp_path: Path) -> None:
    head = HEAD.format("$var wire 1 ! \x1b[31ma $end $var wire 1 # \x1b[31ma $end")
    text = head + "#0\n1!\n0#\n#5\n"
    with pytest.raises(DataError, match="#2"):
        read(tmp_path, text, "t.\x1b[31ma")
    found = history(read(tmp_path, text, "t.\x1b[31ma#2"), "t.\x1b[31ma")
    assert found == [(0, 5, "0")]
    lines = list(listing(open_waveform(tmp_path / "w.vcd")))
    assert lines[1:3] == ["  \\x1b[31ma    1 bit", "  \\x1b[31ma#2  1 bit"]


def test_the_command_lists_scopes_and_signals(capsys: pytest.CaptureFixture[str]) -> None:
    for file in ("counter.vcd", "counter.fst"):
        assert main(["import", "vcd", str(DATA / file), "--list"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "top",
            "  clk    1 bit",
            "  state  2 bits",
            "top.unit",
            "  busy   1 bit",
            "  clk    1 bit  = top.clk",
            "4 signals in 2 scopes",
        ]
        assert main(["import", "vcd", str(DATA / file), "--list", "*UNIT.b*"]) == 0
        assert capsys.readouterr().out.splitlines()[1:] == [
            "  busy  1 bit",
            "1 of 4 signals in 1 scopes",
        ]
    assert main(["import", "vcd", str(DATA / "counter.vcd")]) == 2
    assert "--list" in capsys.readouterr().err


def packed(content: bytes) -> bytes:
    """An FST that is packed as a whole."""
    inside = gzip.compress(content, mtime=0)
    return struct.pack(">BQQ", 254, len(inside) + 16, len(content)) + inside


def test_an_fst_packed_as_a_whole(tmp_path: Path) -> None:
    plain = (DATA / "counter.fst").read_bytes()
    path = tmp_path / "w.fst"
    path.write_bytes(packed(plain))
    expected = import_signals(DATA / "counter.fst", ["state", "busy"], "top.clk")
    profile = import_signals(path, ["state", "busy"], "top.clk")
    assert profile.schedule == expected.schedule
    assert profile.meta.anomalies == expected.meta.anomalies
    with pytest.raises(DataError, match="when unpacked"):
        import_signals(path, ["state"], limits=Limits(unpacked_bytes=100))
    path.write_bytes(packed(plain)[:-40])
    with pytest.raises(DataError, match="not closed"):
        import_signals(path, ["state"])
    path.write_bytes(packed(plain + struct.pack(">BQ", 8, 1000) + bytes(50)))
    assert "waveform cut" in [a.name for a in import_signals(path, ["state"]).meta.anomalies]


def test_what_is_whole_of_a_cut_fst_is_read(tmp_path: Path) -> None:
    path = tmp_path / "w.fst"
    plain = (DATA / "counter.fst").read_bytes()
    expected = import_signals(DATA / "counter.fst", ["state"])
    for rest in (b"\x08", struct.pack(">BQ", 8, 1000) + bytes(50), struct.pack(">BQ", 255, 0)):
        path.write_bytes(plain + rest)
        profile = import_signals(path, ["state"])
        assert profile.schedule == expected.schedule
        assert [a.name for a in profile.meta.anomalies] == ["waveform cut"]


def test_an_fst_whose_names_are_beside_it(tmp_path: Path) -> None:
    """As simulators leave it that were killed: the block of names is a file yet, unpacked."""
    whole, kept = (DATA / "counter.fst").read_bytes(), b""
    path, at = tmp_path / "w.fst", 0
    while at < len(whole):
        kind, length = struct.unpack(">BQ", whole[at : at + 9])
        block = whole[at : at + 1 + length]
        if kind == 4:
            (tmp_path / "w.fst.hier").write_bytes(gzip.decompress(block[17:]))
        else:
            kept += block
        at += len(block)
    path.write_bytes(kept)
    expected = import_signals(DATA / "counter.fst", ["state", "busy"], "top.clk")
    assert import_signals(path, ["state", "busy"], "top.clk").schedule == expected.schedule
    assert path.read_bytes() == kept


WORDS = [
    *("#0", "#17", "#17.50", "#999999999999999999", "#1000000000000000000", "#", "#1x", "#.5"),
    *("0!", "1!", "x!", "Z!", "h!", "L!", "01", "1#", '0"a', "1zz", "1abcdefghi", "0", "-!"),
    *('b1010 "a', 'B0 "a', 'bxz01 "a', 'b10101 "a', 'b00101 "a', 'b12 "a', "b101 nobody", "b1"),
    *(f"b{'1' * 62} abcdefgh", f"b{'1' * 63} abcdefgh", "b1 #", "b1 ! 1!", "b1  !", "r0.5 nobody"),
    *("$dumpvars", "$end", "", "junk", "$comment", "$comment 1! $end", "1! 0!", "1!\r", "$crash"),
]  # fmt: skip
KEYS = {b"!": 1, b'"a': 4, b"abcdefgh": 62, b"1": 1, b"#": 2}


class DamageError(Exception):
    """The error of the slow reader."""


def slowly(text: str) -> tuple[list[tuple[str, str]], int]:
    """(times and changes in order as (word, value), strange words): one word after the other."""
    found: list[tuple[str, str]] = []
    strange = 0
    lines = [line.split() for line in text.split("\n")]
    words = [(word, place) for place, line in enumerate(lines) for word in line]
    comment = False
    while words:
        word, line = words.pop(0)
        if comment:
            comment = word != "$end"
        elif word.startswith("#"):
            whole, _, part = word[1:].partition(".")
            part_kept = part.rstrip("0")
            if not whole.isdigit() or not f"0{part}".isdigit() or len(whole + part_kept) > 18:
                raise DamageError
            found.append(("time", f"{whole}.{part_kept}"))
        elif word[0] in "bBrRsS":
            if not words:
                strange += 1
                continue
            key = words.pop(0)[0].encode()
            if key in KEYS:
                bits = word[1:].replace("H", "1").replace("L", "0")
                if len(bits.lstrip("0")) > KEYS[key] or not bits or set(bits) - set("01xz"):
                    raise DamageError
                found.append((key.decode(), "x" if set(bits) - set("01") else str(int(bits, 2))))
        elif word[0] in "01xZhL-":
            key_word = word[1:]
            if not key_word and words and words[0][1] == line:
                key_word = words.pop(0)[0]
            strange += not key_word
            if key_word.encode() in KEYS:
                value = {"0": "0", "L": "0", "1": "1", "h": "1"}.get(word[0], "x")
                found.append((key_word, value))
        elif word[0] == "$":
            comment = word == "$comment"
        else:
            strange += 1
    return found, strange


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_the_quick_reader_of_text_gives_what_a_slow_one_gives(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    body = VcdBody(list(KEYS), list(KEYS.values()))
    try:
        expected, strange = slowly(text)
    except DamageError:
        with pytest.raises(ValueError, match=r"\('"):
            body.read(text.encode(), False)
        return
    times_of = [value for name, value in expected if name == "time"]
    places = max((len(time.partition(".")[2]) for time in times_of), default=0)
    if any(int(time.partition(".")[0]) * 10**places >> 63 for time in times_of):
        # Times of many digits and ones with a fraction do not go into one scale.
        with pytest.raises(ValueError, match="time"):
            body.read(text.encode(), False)
        return
    (times, step, signal, value, texts), decimals, odd, _, _ = body.read(text.encode(), False)
    assert (texts, odd) == ([], strange)
    names = [key.decode() for key in KEYS]
    at = memoryview(times).cast("q").tolist()
    columns = ((step, "i"), (signal, "i"), (value, "q"))
    rows = zip(*(memoryview(c).cast(form).tolist() for c, form in columns), strict=True)
    found: list[tuple[str, str]] = []
    shown = 0
    for where, place, number in rows:
        while shown <= where:
            found.append(("time", at[shown]))
            shown += 1
        found.append((names[place], "x" if number < 0 else str(number)))
    found += [("time", time) for time in at[shown:]]
    scaled = [
        (name, int(w.ljust(1, "0") + p.ljust(decimals, "0")) if name == "time" else value)
        for name, value in expected
        for w, _, p in (value.partition("."),)
    ]
    assert found == scaled


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_read_or_refused(content: bytes, comment: bool) -> None:
    body = VcdBody([*KEYS, b"a" * 20], [*KEYS.values(), 200])
    with contextlib.suppress(ValueError):
        body.read(content, comment)


@pytest.mark.parametrize("keys", [[b""], [b"a b"], [b"a", b"b"]])
def test_what_can_be_no_identifier_is_refused(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="identifiers"):
        VcdBody(keys, [1])


def test_many_identifiers_are_told_apart() -> None:
    keys = [f"{n:x}".encode() for n in range(5000)]
    text = "#1\n" + "".join(f"{n % 2}{n:x}\n" for n in range(6000))
    (_, _, signal, value, _), *_ = VcdBody(keys, [1] * 5000).read(text.encode(), False)
    assert memoryview(signal).cast("i").tolist() == list(range(5000))
    assert memoryview(value).cast("q").tolist() == [n % 2 for n in range(5000)]


def test_kinds_are_told() -> None:
    kinds = {s.kind for s in open_waveform(DATA / "counter.fst").signals}
    assert kinds == {SignalKind.BITS}

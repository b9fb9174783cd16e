"""Write three matrix products, (A·B)·(C·D), and their data: `python generate.py -o DIR`.

DIR gets `three_products.futil` and `three_products.json`. The first two products need nothing of
each other, and each has registers and operators of its own; the program says `seq` all the same,
as a compiler from a language without parallelism would write it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "packet_scheduler"))

from calyx_text import Component, Control, Par, Seq, While, program

if TYPE_CHECKING:
    from collections.abc import Sequence

WORD = 32
NAME = "three_products"
PRODUCTS = (("E", "A", "B"), ("F", "C", "D"), ("G", "E", "F"))
"""Result and factors of each product, in the program's order."""

Matrix = list[list[int]]


def _bits(size: int) -> int:
    """Bits of an index that has to reach `size`, where a loop ends."""
    return size.bit_length()


def _count(this: Component, register: str, size: int, body: Sequence[Control]) -> Control:
    """A loop over 0 … size-1 in a register; the step is the last thing of its body."""
    bits = _bits(size)
    this.cell(register, "std_reg", bits)
    less, step = this.cell(f"{register}_less", "std_lt", bits), f"{register}_step"
    this.cell(step, "std_add", bits)
    test = this.comb_group(
        f"{register}_more", f"{less}.left = {register}.out", f"{less}.right = {bits}'d{size}"
    )
    start = this.group(
        f"{register}_zero",
        f"{register}.in = {bits}'d0",
        f"{register}.write_en = 1'd1",
        done=f"{register}.done",
    )
    advance = this.group(
        f"{register}_next",
        f"{step}.left = {register}.out",
        f"{step}.right = {bits}'d1",
        f"{register}.in = {step}.out",
        f"{register}.write_en = 1'd1",
        done=f"{register}.done",
    )
    return Seq([start, While(f"{less}.out", Seq([*body, advance]), using=test, bound=size)])


def _product(this: Component, result: str, left: str, right: str, size: int) -> Control:
    """One product, element by element: read, multiply, add up, and write at the end of a row."""
    at = {axis: f"{axis}_{result}" for axis in ("row", "column", "term")}
    x, y, part, total = (f"{name}_{result}" for name in ("x", "y", "part", "total"))
    for register in (x, y, part, total):
        this.cell(register, "std_reg", WORD)
    times, plus = (
        this.cell(f"times_{result}", "std_mult_pipe", WORD),
        this.cell(f"plus_{result}", "std_add", WORD),
    )

    def read(register: str, memory: str, row: str, column: str) -> Control:
        return this.group(
            f"read_{register}",
            f"{memory}.addr0 = {row}.out",
            f"{memory}.addr1 = {column}.out",
            f"{register}.in = {memory}.read_data",
            f"{register}.write_en = 1'd1",
            done=f"{register}.done",
        )

    multiply = this.group(
        f"multiply_{result}",
        f"{times}.left = {x}.out",
        f"{times}.right = {y}.out",
        f"{times}.go = !{times}.done ? 1'd1",
        f"{part}.in = {times}.out",
        f"{part}.write_en = {times}.done",
        done=f"{part}.done",
    )
    add = this.group(
        f"add_{result}",
        f"{plus}.left = {total}.out",
        f"{plus}.right = {part}.out",
        f"{total}.in = {plus}.out",
        f"{total}.write_en = 1'd1",
        done=f"{total}.done",
    )
    clear = this.group(
        f"clear_{result}",
        f"{total}.in = {WORD}'d0",
        f"{total}.write_en = 1'd1",
        done=f"{total}.done",
    )
    write = this.group(
        f"write_{result}",
        f"{result}.addr0 = {at['row']}.out",
        f"{result}.addr1 = {at['column']}.out",
        f"{result}.write_data = {total}.out",
        f"{result}.write_en = 1'd1",
        done=f"{result}.done",
    )
    operands = Par([read(x, left, at["row"], at["term"]), read(y, right, at["term"], at["column"])])
    terms = _count(this, at["term"], size, [operands, multiply, add])
    columns = _count(this, at["column"], size, [clear, terms, write])
    return _count(this, at["row"], size, [columns])


def three_products(size: int) -> str:
    """Return the program as Calyx text."""
    main = Component("main", "E = A·B, F = C·D, G = E·F.")
    for memory in "ABCDEFG":
        bits = _bits(size)
        main.cell(memory, "comb_mem_d2", WORD, size, size, bits, bits, prefix="@external")
    main.control = Seq([_product(main, *names, size) for names in PRODUCTS])
    libraries = ("core", "memories/comb", "binary_operators")
    about = f"Three products of {size} by {size} matrices. Generated."
    return program(libraries, [main], about)


def matrices(size: int, seed: int) -> dict[str, Matrix]:
    """Return the four given matrices, small numbers, and zeros for the results."""
    source = random.Random(seed)
    given = {
        name: [[source.randrange(100) for _ in range(size)] for _ in range(size)] for name in "ABCD"
    }
    return given | {name: [[0] * size for _ in range(size)] for name in "EFG"}


def expected(given: dict[str, Matrix]) -> dict[str, Matrix]:
    """Return all matrices as they must be after the run."""
    after = dict(given)
    for result, left, right in PRODUCTS:
        columns = list(zip(*after[right], strict=True))
        after[result] = [
            [sum(a * b for a, b in zip(row, c, strict=True)) % 2**WORD for c in columns]
            for row in after[left]
        ]
    return after


def data(given: dict[str, Matrix]) -> dict[str, dict[str, object]]:
    """Return the matrices as Calyx data."""
    form = {"numeric_type": "bitnum", "is_signed": False, "width": WORD}
    return {name: {"data": values, "format": form} for name, values in given.items()}


def main() -> None:
    """Read the options, write the files, and print their paths."""
    parser = argparse.ArgumentParser(description="Write three matrix products.")
    parser.add_argument("--size", type=int, default=8, help="rows and columns (default: 8)")
    parser.add_argument("--seed", type=int, default=3, help="of the matrices")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write to")
    options = parser.parse_args()
    if options.size < 1:
        parser.error("size must be at least 1")
    files = {
        f"{NAME}.futil": three_products(options.size),
        f"{NAME}.json": json.dumps(data(matrices(options.size, options.seed))) + "\n",
    }
    try:
        options.output.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (options.output / name).write_text(text, encoding="utf-8")
            print(options.output / name)
    except OSError as error:
        parser.error(f"cannot write to {options.output}: {error.strerror}")


if __name__ == "__main__":
    main()

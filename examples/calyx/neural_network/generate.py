"""Write a feed-forward network and its data: `python generate.py --variant dynamic -o DIR`.

64 features, a fully connected layer of 48 with ReLU, a fully connected layer of 4: in fixed point,
16 bits before and 16 behind the point. Four threads of a `par` run in lockstep, each with weights
and a multiplier of its own; one fetches the feature for all. `forward` does everything; `main` has
the memories and calls it.

DIR gets `network_VARIANT.futil` and `network.json`, the data of both variants:

    dynamic   groups that say when they are done, as a compiler from a neural network emits them
    static    the same groups, and what consists of them only, with the cycles that they take
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "packet_scheduler"))

from calyx_text import Component, Control, Enable, Invoke, Par, Seq, While, program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Variant = Literal["dynamic", "static"]

WORD, POINT = 32, 16
INDEX = 10  # bits of an address: the largest memory has 768 words
INPUTS, HIDDEN, OUTPUTS, LANES = 64, 48, 4, 4
ROUNDS = HIDDEN // LANES
ONE = 1 << POINT

Memories = dict[str, list[int]]


def sizes() -> dict[str, int]:
    """Words of each memory; a lane has a bank of both layers' weights and biases."""
    result = {"features": INPUTS, "hidden": HIDDEN, "scores": OUTPUTS}
    for lane in range(LANES):
        result |= {f"weights_{lane}": ROUNDS * INPUTS, f"biases_{lane}": ROUNDS}
        result |= {f"last_weights_{lane}": HIDDEN, f"last_biases_{lane}": 1}
    return result


class Forward(Component):
    """The component that does the work, in one of the variants."""

    def __init__(self, variant: Variant) -> None:
        super().__init__("forward", "Both layers, four outputs at a time.")
        self.static = variant == "static"
        for memory, words in sizes().items():
            self.cell(memory, "seq_mem_d1", WORD, words, INDEX, prefix="ref")
        for register in ("feature", *self.lanes("weight"), *self.lanes("part"), *self.lanes("sum")):
            self.cell(register, "std_reg", WORD)
        for register in ("at", "place", "round"):
            self.cell(register, "std_reg", INDEX)
        for lane in range(LANES):
            self.cell(f"times_{lane}", "std_fp_smult_pipe", WORD, POINT, POINT)
            self.cell(f"plus_{lane}", "std_add", WORD)
            self.cell(f"negative_{lane}", "std_slt", WORD)
            self.always(
                f"negative_{lane}.left = sum_{lane}.out", f"negative_{lane}.right = {WORD}'d0"
            )
        first = self.layer("first", "features", INPUTS, "weights", "biases")
        last = self.layer("last", "hidden", HIDDEN, "last_weights", "last_biases")
        more = self.less("more_rounds", "round", ROUNDS)
        body = Seq([*first, *self.keep_hidden(), self.count("next_round", "round")])
        self.control = Seq(
            [
                self.clear("first_round", "round"),
                self.clear("first_place", "place"),
                While(more, body),
                self.clear("last_place", "place"),
                self.clear("last_round", "round"),
                *last,
                *self.keep_scores(),
            ]
        )

    @staticmethod
    def lanes(name: str) -> list[str]:
        """A name for each lane."""
        return [f"{name}_{lane}" for lane in range(LANES)]

    def work(self, group: str, *assignments: str, done: str) -> Enable:
        """A group of one cycle."""
        if self.static:
            return self.static_group(group, *assignments)
        return self.group(group, *assignments, done=done)

    def seq(self, *body: Control) -> Control:
        """A sequence, static if the design is."""
        return Seq(body, static=self.static)

    def par(self, *body: Control) -> Control:
        """A parallel block, static if the design is."""
        return Par(body, static=self.static)

    def set(self, group: str, register: str, value: str) -> Enable:
        """Write a register."""
        write = (f"{register}.in = {value}", f"{register}.write_en = 1'd1")
        return self.work(group, *write, done=f"{register}.done")

    def clear(self, group: str, register: str) -> Enable:
        """Write 0 into an index."""
        return self.set(group, register, f"{INDEX}'d0")

    def count(self, group: str, register: str) -> Enable:
        """Count an index up."""
        step = self.cell(f"{group}_step", "std_add", INDEX)
        return self.work(
            group,
            f"{step}.left = {register}.out",
            f"{step}.right = {INDEX}'d1",
            f"{register}.in = {step}.out",
            f"{register}.write_en = 1'd1",
            done=f"{register}.done",
        )

    def less(self, cell: str, register: str, bound: int) -> str:
        """A port that says all the time whether an index is below a bound."""
        self.cell(cell, "std_lt", INDEX)
        self.always(f"{cell}.left = {register}.out", f"{cell}.right = {INDEX}'d{bound}")
        return f"{cell}.out"

    def fetch(self, prefix: str, memory: str, address: str, register: str) -> Control:
        """Read a word into a register."""
        ask = self.work(
            f"{prefix}_ask_{memory}",
            f"{memory}.addr0 = {address}.out",
            f"{memory}.content_en = 1'd1",
            done=f"{memory}.done",
        )
        return self.seq(ask, self.set(f"{prefix}_get_{memory}", register, f"{memory}.read_data"))

    def multiply(self, prefix: str, lane: int) -> Enable:
        """Multiply a lane's weight with the feature: three cycles, and one to keep the product."""
        times, part = f"times_{lane}", f"part_{lane}"
        operands = (f"{times}.left = weight_{lane}.out", f"{times}.right = feature.out")
        name = f"{prefix}_multiply_{lane}"
        if self.static:
            return self.static_group(
                name,
                *operands,
                f"{times}.go = %[0:3] ? 1'd1",
                f"{part}.in = {times}.out",
                f"{part}.write_en = %3 ? 1'd1",
                cycles=4,
            )
        return self.group(
            name,
            *operands,
            f"{times}.go = !{times}.done ? 1'd1",
            f"{part}.in = {times}.out",
            f"{part}.write_en = {times}.done",
            done=f"{part}.done",
        )

    def layer(
        self, prefix: str, values: str, count: int, weights: str, biases: str
    ) -> Sequence[Control]:
        """One output of a layer in each lane: biases, then all values times their weights."""
        start = [
            self.fetch(prefix, f"{biases}_{lane}", "round", f"sum_{lane}") for lane in range(LANES)
        ]
        lanes = []
        for lane in range(LANES):
            weight = self.fetch(prefix, f"{weights}_{lane}", "place", f"weight_{lane}")
            plus, total = f"plus_{lane}", f"sum_{lane}"
            add = self.work(
                f"{prefix}_add_{lane}",
                f"{plus}.left = {total}.out",
                f"{plus}.right = part_{lane}.out",
                f"{total}.in = {plus}.out",
                f"{total}.write_en = 1'd1",
                done=f"{total}.done",
            )
            lanes.append(self.seq(weight, self.multiply(prefix, lane), add))
        steps = self.par(
            self.count(f"{prefix}_next_at", "at"), self.count(f"{prefix}_next_place", "place")
        )
        body = self.seq(self.fetch(prefix, values, "at", "feature"), self.par(*lanes), steps)
        more = self.less(f"{prefix}_more", "at", count)
        return [self.par(self.clear(f"{prefix}_at", "at"), *start), While(more, body)]

    def keep_hidden(self) -> Sequence[Control]:
        """Write what is positive of each lane's sum, 0 for the others."""
        stores = []
        for lane in range(LANES):
            address = self.cell(f"address_{lane}", "std_add", INDEX)
            self.always(
                f"{address}.left = round.out", f"{address}.right = {INDEX}'d{lane * ROUNDS}"
            )
            stores.append(
                self.work(
                    f"keep_hidden_{lane}",
                    f"hidden.addr0 = {address}.out",
                    f"hidden.write_data = negative_{lane}.out ? {WORD}'d0",
                    f"hidden.write_data = !negative_{lane}.out ? sum_{lane}.out",
                    "hidden.write_en = 1'd1",
                    "hidden.content_en = 1'd1",
                    done="hidden.done",
                )
            )
        return [self.seq(*stores)]

    def keep_scores(self) -> Sequence[Control]:
        """Write each lane's sum."""
        stores = [
            self.work(
                f"keep_score_{lane}",
                f"scores.addr0 = {INDEX}'d{lane}",
                f"scores.write_data = sum_{lane}.out",
                "scores.write_en = 1'd1",
                "scores.content_en = 1'd1",
                done="scores.done",
            )
            for lane in range(LANES)
        ]
        return [self.seq(*stores)]


def network(variant: Variant) -> str:
    """Return the program as Calyx text."""
    main = Component("main", "Memories and network.")
    for memory, words in sizes().items():
        main.cell(memory, "seq_mem_d1", WORD, words, INDEX, prefix="@external")
    main.cell("net", "forward")
    main.control = Invoke("net", {memory: memory for memory in sizes()})
    about = f"A feed-forward network, {INPUTS} to {HIDDEN} to {OUTPUTS}, {variant}. Generated."
    libraries = ("core", "memories/seq", "binary_operators")
    return program(libraries, [Forward(variant), main], about)


def memories(seed: int) -> Memories:
    """Return what the memories hold before the run: features, weights and biases in -1 … 1."""
    source = random.Random(seed)
    results = ("hidden", "scores")
    return {
        name: [0 if name in results else source.randint(-ONE, ONE) for _ in range(words)]
        for name, words in sizes().items()
    }


def _wrap(value: int) -> int:
    """A number as WORD bits have it, signed."""
    half = 1 << (WORD - 1)
    return (value + half) % (1 << WORD) - half


def _output(bias: int, weights: Sequence[int], values: Sequence[int]) -> int:
    total = bias
    for weight, value in zip(weights, values, strict=True):
        total = _wrap(total + _wrap(weight * value >> POINT))
    return total


def expected(before: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Return the hidden layer and the scores that the network must compute."""
    hidden = [
        max(
            _output(
                before[f"biases_{lane}"][turn],
                before[f"weights_{lane}"][turn * INPUTS : (turn + 1) * INPUTS],
                before["features"],
            ),
            0,
        )
        for lane in range(LANES)
        for turn in range(ROUNDS)
    ]
    scores = [
        _output(before[f"last_biases_{lane}"][0], before[f"last_weights_{lane}"], hidden)
        for lane in range(LANES)
    ]
    return {"hidden": hidden, "scores": scores}


def main() -> None:
    """Read the options, write the files, and print their paths."""
    parser = argparse.ArgumentParser(description="Write a feed-forward network.")
    parser.add_argument("--variant", choices=get_args(Variant), default="dynamic")
    parser.add_argument("--seed", type=int, default=64, help="of features and weights")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write to")
    options = parser.parse_args()
    form = {"numeric_type": "bitnum", "is_signed": True, "width": WORD}
    data = {name: {"data": words, "format": form} for name, words in memories(options.seed).items()}
    files = {
        f"network_{options.variant}.futil": network(options.variant),
        "network.json": json.dumps(data) + "\n",
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

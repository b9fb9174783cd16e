"""The packet scheduler as a Calyx program: six flows in strict order of priority.

Four layers of components, each calling the one below:

    main → dataplane → strict_queue → classifier, fifo (one instance a flow)

The dataplane fetches commands from memory. A push goes through the classifier, which finds the
packet's flow from its number, to that flow's FIFO. A pop asks the FIFOs one by one, the most urgent
first, until one has a packet. A FIFO refuses a push when it is full and a pop when it is empty.

The variants are steps, each with all before it:

    par      one of several things to be done: a `par` of one `if` a case
    nested   … as `if`s nested in one another
    wired    the conditions of loops computed by wires all the time, not by a group each round
    static   what takes a fixed time says so, in groups and in the blocks around them
    merged   what needs nothing of each other side by side, choices by multiplexers
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from calyx_text import Component, Control, Enable, If, Invoke, Par, Seq, While, program

if TYPE_CHECKING:
    from collections.abc import Mapping

Variant = Literal["par", "nested", "wired", "static", "merged"]

POP = 0
PUSH = 1
WORD = 32
"""Width of packets and counters, in bits."""


@dataclass(frozen=True)
class Design:
    """The options of a generated scheduler.

    Attributes:
        variant: how far it is rewritten.
        commands: how many commands the dataplane carries out.
        flows: number of flows, one FIFO each; flow 0 is served first.
        depth: packets that fit in one FIFO.
        flow_range: how many successive packet numbers belong to one flow.
    """

    variant: Variant
    commands: int
    flows: int = 6
    depth: int = 16
    flow_range: int = 1000

    def __post_init__(self) -> None:
        """Raise ValueError if a size is not positive."""
        for name in ("commands", "flows", "depth", "flow_range"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")

    def has(self, step: Variant) -> bool:
        """Return whether the variant is that step or one after it."""
        steps = get_args(Variant)
        return steps.index(self.variant) >= steps.index(step)


def switch(
    component: Component,
    variant: Variant,
    name: str,
    selector: str,
    width: int,
    cases: Mapping[int, Control],
) -> Control:
    """Return control that runs the case whose number is on a port; none if there is none.

    Args:
        component: gets a comparator for each case, driven all the time.
        variant: `par` compares all cases at once, `nested` one after another.
        name: of the comparators: `name_0`, `name_1`, …
        selector: the port that selects. It must not change while the switch runs.
        width: of that port, in bits.
        cases: what to do for each value.
    """
    tests: list[tuple[str, Control]] = []
    for value, body in cases.items():
        test = component.cell(f"{name}_{value}", "std_eq", width)
        component.always(f"{test}.left = {selector}", f"{test}.right = {width}'d{value}")
        tests.append((f"{test}.out", body))
    if variant == "par":
        return Par([If(port, body) for port, body in tests])
    chain: Control | None = None
    for port, body in reversed(tests):
        chain = If(port, body, chain)
    if chain is None:
        raise ValueError(f"switch {name} has no case")
    return chain


class Part(Component):
    """A component of the scheduler: what it adds is written as the design's variant has it."""

    def __init__(
        self,
        design: Design,
        name: str,
        about: str,
        inputs: Mapping[str, int] | None = None,
        outputs: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(name, about, inputs, outputs)
        self.design = design

    def work(self, group: str, *assignments: str, done: str) -> Enable:
        """A group of one cycle of work."""
        if self.design.has("static"):
            return self.static_group(group, *assignments)
        return self.group(group, *assignments, done=done)

    def set(self, group: str, register: str, value: str) -> Enable:
        """Write a register."""
        return self.work(
            group,
            f"{register}.in = {value}",
            f"{register}.write_en = 1'd1",
            done=f"{register}.done",
        )

    def bump(self, group: str, register: str, kind: str = "std_add") -> Enable:
        """Count a register up, or down with `std_sub`."""
        step = self.cell(f"{group}_step", kind, WORD)
        return self.work(
            group,
            f"{step}.left = {register}.out",
            f"{step}.right = {WORD}'d1",
            f"{register}.in = {step}.out",
            f"{register}.write_en = 1'd1",
            done=f"{register}.done",
        )

    def advance(self, pointer: str) -> Control:
        """Move a register to the next slot of a ring."""
        depth = self.design.depth
        last = self.cell(f"{pointer}_last", "std_eq", WORD)
        compare = (f"{last}.left = {pointer}.out", f"{last}.right = {WORD}'d{depth - 1}")
        if self.design.has("merged"):
            step = self.cell(f"{pointer}_next_step", "std_add", WORD)
            return self.static_group(
                f"{pointer}_next",
                *compare,
                f"{step}.left = {pointer}.out",
                f"{step}.right = {WORD}'d1",
                f"{pointer}.in = {last}.out ? {WORD}'d0",
                f"{pointer}.in = !{last}.out ? {step}.out",
                f"{pointer}.write_en = 1'd1",
            )
        test = self.comb_group(f"{pointer}_at_end", *compare)
        wrap = self.set(f"{pointer}_wrap", pointer, f"{WORD}'d0")
        return If(f"{last}.out", wrap, self.bump(f"{pointer}_next", pointer), using=test)

    def loop(self, port: str, group: str, *assignments: str, body: Control) -> Control:
        """A loop whose condition some assignments compute."""
        if self.design.has("wired"):
            self.always(*assignments)
            return While(port, body)
        return While(port, body, using=self.comb_group(group, *assignments))

    def choice(
        self, port: str, group: str, *assignments: str, then: Control, otherwise: Control
    ) -> Control:
        """One of two things, by a condition that some assignments compute."""
        if self.design.has("merged"):
            self.always(*assignments)
            return If(port, then, otherwise)
        return If(port, then, otherwise, using=self.comb_group(group, *assignments))

    def seq(self, *body: Control) -> Seq:
        """Statements of fixed time, one after another."""
        return Seq(body, static=self.design.has("static"))

    def par(self, *body: Control) -> Par:
        """Statements of fixed time, side by side."""
        return Par(body, static=self.design.has("static"))


def fifo(design: Design) -> Component:
    """Return the FIFO of one flow: a ring of packets in a memory."""
    this = Part(
        design,
        "fifo",
        "The packets of one flow, oldest first.",
        {"cmd": 1, "packet": WORD},
        {"oldest": WORD, "free": WORD, "waiting": WORD},
    )
    this.cell("answer", "std_reg", WORD, prefix="ref")
    this.cell("denied", "std_reg", 1, prefix="ref")
    this.cell("slots", "seq_mem_d1", WORD, design.depth, WORD)
    for register in ("head", "tail", "length"):
        this.cell(register, "std_reg", WORD)
    # These registers outlive a call. The compiler looks at one call only, in which they are not all
    # needed, and would make one register of two; it leaves alone what an output port shows.
    this.always("oldest = head.out", "free = tail.out", "waiting = length.out")
    this.cell("full", "std_eq", WORD)
    this.cell("empty", "std_eq", WORD)
    deny = this.set("deny", "denied", "1'd1")
    accept = this.set("accept", "denied", "1'd0")
    store = this.work(
        "store",
        "slots.addr0 = tail.out",
        "slots.write_data = packet",
        "slots.write_en = 1'd1",
        "slots.content_en = 1'd1",
        done="slots.done",
    )
    load = this.work("load", "slots.addr0 = head.out", "slots.content_en = 1'd1", done="slots.done")
    give = this.set("give", "answer", "slots.read_data")
    forward, grow = this.advance("tail"), this.bump("grow", "length")
    onward, shrink = this.advance("head"), this.bump("shrink", "length", "std_sub")
    if design.has("merged"):
        stored: Control = this.par(store, forward, grow, accept)
        taken: Control = this.seq(load, this.par(give, onward, shrink, accept))
    else:
        stored = Seq([store, Par([forward, grow]), accept])
        first = [this.seq(load, give)] if design.has("static") else [load, give]
        taken = Seq([*first, Par([onward, shrink]), accept])
    is_full = ("full.left = length.out", f"full.right = {WORD}'d{design.depth}")
    is_empty = ("empty.left = length.out", f"empty.right = {WORD}'d0")
    push = this.choice("full.out", "is_full", *is_full, then=deny, otherwise=stored)
    pop = this.choice("empty.out", "is_empty", *is_empty, then=deny, otherwise=taken)
    this.control = switch(this, design.variant, "cmd_is", "cmd", 1, {PUSH: push, POP: pop})
    return this


def classifier(design: Design) -> Component:
    """Return the component that finds the flow of a packet: its number over the flow's range."""
    this = Part(design, "classifier", "The flow of a packet, from its number.", {"packet": WORD})
    this.cell("flow", "std_reg", WORD, prefix="ref")
    this.cell("bound", "std_reg", WORD)
    this.cell("beyond", "std_ge", WORD)
    this.cell("widen", "std_add", WORD)
    start = this.par(
        this.set("first_flow", "flow", f"{WORD}'d0"),
        this.set("first_bound", "bound", f"{WORD}'d{design.flow_range}"),
    )
    next_bound = this.work(
        "next_bound",
        "widen.left = bound.out",
        f"widen.right = {WORD}'d{design.flow_range}",
        "bound.in = widen.out",
        "bound.write_en = 1'd1",
        done="bound.done",
    )
    search = this.loop(
        "beyond.out",
        "is_beyond",
        "beyond.left = packet",
        "beyond.right = bound.out",
        body=this.par(this.bump("next_flow", "flow"), next_bound),
    )
    this.control = Seq([start, search])
    return this


def strict_queue(design: Design) -> Component:
    """Return the queue of all flows, which serves them in strict order of priority."""
    this = Part(
        design,
        "strict_queue",
        "All flows: a pop takes from the first FIFO that has a packet.",
        {"cmd": 1, "packet": WORD},
    )
    this.cell("answer", "std_reg", WORD, prefix="ref")
    this.cell("denied", "std_reg", 1, prefix="ref")
    this.cell("flow", "std_reg", WORD)
    this.cell("classify", "classifier")
    for number in range(design.flows):
        this.cell(f"fifo_{number}", "fifo")
    this.cell("more", "std_lt", WORD)
    this.cell("search_on", "std_and", 1)

    def call(number: int, command: int) -> Control:
        return Invoke(
            f"fifo_{number}",
            {"answer": "answer", "denied": "denied"},
            {"cmd": f"1'd{command}", "packet": "packet"},
        )

    def chosen(name: str, command: int) -> Control:
        cases = {number: call(number, command) for number in range(design.flows)}
        return switch(this, design.variant, name, "flow.out", WORD, cases)

    push = Seq([Invoke("classify", {"flow": "flow"}, {"packet": "packet"}), chosen("into", PUSH)])
    most_urgent = this.par(
        this.set("first_flow", "flow", f"{WORD}'d0"), this.set("nothing_yet", "denied", "1'd1")
    )
    ask = Seq([chosen("from", POP), this.bump("less_urgent", "flow")])
    search = this.loop(
        "search_on.out",
        "unserved",
        "more.left = flow.out",
        f"more.right = {WORD}'d{design.flows}",
        "search_on.left = denied.out",
        "search_on.right = more.out",
        body=ask,
    )
    pop = Seq([most_urgent, search])
    this.control = switch(this, design.variant, "cmd_is", "cmd", 1, {PUSH: push, POP: pop})
    return this


def dataplane(design: Design) -> Component:
    """Return the component that carries out the commands in memory, one by one."""
    this = Part(design, "dataplane", "Fetches commands, has them done, keeps the answers.")
    size = design.commands
    this.cell("commands", "seq_mem_d1", 1, size, WORD, prefix="ref")
    this.cell("packets", "seq_mem_d1", WORD, size, WORD, prefix="ref")
    this.cell("answers", "seq_mem_d1", WORD, size, WORD, prefix="ref")
    this.cell("counts", "seq_mem_d1", WORD, 3, WORD, prefix="ref")
    for register in ("at", "pops", "dropped", "unanswered", "packet", "answer"):
        this.cell(register, "std_reg", WORD)
    this.cell("cmd", "std_reg", 1)
    this.cell("denied", "std_reg", 1)
    this.cell("queue", "strict_queue")
    this.cell("left", "std_lt", WORD)

    def fetch(memory: str, register: str) -> Control:
        ask = this.work(
            f"ask_{memory}",
            f"{memory}.addr0 = at.out",
            f"{memory}.content_en = 1'd1",
            done=f"{memory}.done",
        )
        return this.seq(ask, this.set(f"keep_{register}", register, f"{memory}.read_data"))

    def put(group: str, memory: str, address: str, value: str) -> Control:
        return this.work(
            group,
            f"{memory}.addr0 = {address}",
            f"{memory}.write_data = {value}",
            f"{memory}.write_en = 1'd1",
            f"{memory}.content_en = 1'd1",
            done=f"{memory}.done",
        )

    no_answer = this.par(
        put("write_none", "answers", "pops.out", f"{WORD}'d0"),
        this.bump("count_unanswered", "unanswered"),
    )
    answered = put("write_answer", "answers", "pops.out", "answer.out")
    outcome: dict[int, Control] = {
        PUSH: If("denied.out", this.bump("count_dropped", "dropped")),
        POP: Seq([If("denied.out", no_answer, answered), this.bump("count_pop", "pops")]),
    }
    once = Seq(
        [
            this.par(fetch("commands", "cmd"), fetch("packets", "packet")),
            Invoke(
                "queue",
                {"answer": "answer", "denied": "denied"},
                {"cmd": "cmd.out", "packet": "packet.out"},
            ),
            Par(
                [
                    switch(this, design.variant, "cmd_was", "cmd.out", 1, outcome),
                    this.bump("next_command", "at"),
                ]
            ),
        ]
    )
    totals = [
        put(f"write_{register}", "counts", f"{WORD}'d{place}", f"{register}.out")
        for place, register in enumerate(("pops", "dropped", "unanswered"))
    ]
    every = this.loop(
        "left.out",
        "more_commands",
        "left.left = at.out",
        f"left.right = {WORD}'d{size}",
        body=once,
    )
    this.control = Seq([every, *totals])
    return this


def main(design: Design) -> Component:
    """Return the top component: the memories, and one call of the dataplane."""
    this = Component("main", "Memories and dataplane.")
    memories = {"commands": (1, design.commands), "packets": (WORD, design.commands)}
    memories |= {"answers": (WORD, design.commands), "counts": (WORD, 3)}
    for memory, (width, size) in memories.items():
        this.cell(memory, "seq_mem_d1", width, size, WORD, prefix="@external")
    this.cell("plane", "dataplane")
    this.control = Invoke("plane", {memory: memory for memory in memories})
    return this


def scheduler(design: Design) -> str:
    """Return the whole program as Calyx text."""
    about = (
        f"A strict-priority packet scheduler: {design.flows} flows, {design.commands} commands,\n"
        f"variant {design.variant}. Generated."
    )
    parts = (fifo, classifier, strict_queue, dataplane, main)
    libraries = ("core", "memories/seq")
    return program(libraries, [part(design) for part in parts], about)

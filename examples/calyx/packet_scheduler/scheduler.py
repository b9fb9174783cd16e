"""The packet scheduler as a Calyx program: six flows in strict order of priority.

Four layers of components, each calling the one below:

    main → dataplane → strict_queue → classifier, fifo (one instance a flow)

The dataplane fetches commands from memory. A push goes through the classifier, which finds the
packet's flow from its number, to that flow's FIFO. A pop asks the FIFOs one by one, the most urgent
first, until one has a packet. A FIFO refuses a push when it is full and a pop when it is empty.

Everywhere one of several things is to be done, `switch` chooses how that is written: as a `par` of
one `if` a case, or as `if`s nested in one another. Nothing else differs between the variants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from calyx_text import Component, Control, If, Invoke, Par, Seq, While, program

if TYPE_CHECKING:
    from collections.abc import Mapping

Variant = Literal["par", "nested"]

POP = 0
PUSH = 1
WORD = 32
"""Width of packets and counters, in bits."""


@dataclass(frozen=True)
class Design:
    """What is to be generated.

    Attributes:
        variant: how a switch is written.
        commands: how many commands the dataplane carries out.
        flows: number of flows, one FIFO each; flow 0 is served first.
        depth: packets that one FIFO holds.
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


def _set(component: Component, group: str, register: str, value: str) -> Control:
    return component.group(
        group, f"{register}.in = {value}", f"{register}.write_en = 1'd1", done=f"{register}.done"
    )


def _bump(component: Component, group: str, register: str, kind: str = "std_add") -> Control:
    step = component.cell(f"{group}_step", kind, WORD)
    return component.group(
        group,
        f"{step}.left = {register}.out",
        f"{step}.right = {WORD}'d1",
        f"{register}.in = {step}.out",
        f"{register}.write_en = 1'd1",
        done=f"{register}.done",
    )


def _advance(component: Component, pointer: str, depth: int) -> Control:
    """Move a register to the next slot of a ring."""
    last = component.cell(f"{pointer}_last", "std_eq", WORD)
    test = component.comb_group(
        f"{pointer}_at_end", f"{last}.left = {pointer}.out", f"{last}.right = {WORD}'d{depth - 1}"
    )
    wrap = _set(component, f"{pointer}_wrap", pointer, f"{WORD}'d0")
    return If(f"{last}.out", wrap, _bump(component, f"{pointer}_next", pointer), using=test)


def fifo(design: Design) -> Component:
    """Return the FIFO of one flow: a ring of packets in a memory."""
    this = Component(
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
    is_full = this.comb_group(
        "is_full", "full.left = length.out", f"full.right = {WORD}'d{design.depth}"
    )
    is_empty = this.comb_group("is_empty", "empty.left = length.out", f"empty.right = {WORD}'d0")
    deny = _set(this, "deny", "denied", "1'd1")
    accept = _set(this, "accept", "denied", "1'd0")
    store = this.group(
        "store",
        "slots.addr0 = tail.out",
        "slots.write_data = packet",
        "slots.write_en = 1'd1",
        "slots.content_en = 1'd1",
        done="slots.done",
    )
    load = this.group(
        "load", "slots.addr0 = head.out", "slots.content_en = 1'd1", done="slots.done"
    )
    give = _set(this, "give", "answer", "slots.read_data")
    grow = Par([_advance(this, "tail", design.depth), _bump(this, "grow", "length")])
    shrink = Par([_advance(this, "head", design.depth), _bump(this, "shrink", "length", "std_sub")])
    push = If("full.out", deny, Seq([store, grow, accept]), using=is_full)
    pop = If("empty.out", deny, Seq([load, give, shrink, accept]), using=is_empty)
    this.control = switch(this, design.variant, "cmd_is", "cmd", 1, {PUSH: push, POP: pop})
    return this


def classifier(design: Design) -> Component:
    """Return the component that finds the flow of a packet: its number over the flow's range."""
    this = Component("classifier", "The flow of a packet, from its number.", {"packet": WORD})
    this.cell("flow", "std_reg", WORD, prefix="ref")
    this.cell("bound", "std_reg", WORD)
    this.cell("beyond", "std_ge", WORD)
    this.cell("widen", "std_add", WORD)
    start = Par(
        [
            _set(this, "first_flow", "flow", f"{WORD}'d0"),
            _set(this, "first_bound", "bound", f"{WORD}'d{design.flow_range}"),
        ]
    )
    next_bound = this.group(
        "next_bound",
        "widen.left = bound.out",
        f"widen.right = {WORD}'d{design.flow_range}",
        "bound.in = widen.out",
        "bound.write_en = 1'd1",
        done="bound.done",
    )
    is_beyond = this.comb_group("is_beyond", "beyond.left = packet", "beyond.right = bound.out")
    search = Par([_bump(this, "next_flow", "flow"), next_bound])
    this.control = Seq([start, While("beyond.out", search, using=is_beyond)])
    return this


def strict_queue(design: Design) -> Component:
    """Return the queue of all flows, which serves them in strict order of priority."""
    this = Component(
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

    unserved = this.comb_group(
        "unserved",
        "more.left = flow.out",
        f"more.right = {WORD}'d{design.flows}",
        "search_on.left = denied.out",
        "search_on.right = more.out",
    )
    push = Seq([Invoke("classify", {"flow": "flow"}, {"packet": "packet"}), chosen("into", PUSH)])
    most_urgent = Par(
        [
            _set(this, "first_flow", "flow", f"{WORD}'d0"),
            _set(this, "nothing_yet", "denied", "1'd1"),
        ]
    )
    ask = Seq([chosen("from", POP), _bump(this, "less_urgent", "flow")])
    pop = Seq([most_urgent, While("search_on.out", ask, using=unserved)])
    this.control = switch(this, design.variant, "cmd_is", "cmd", 1, {PUSH: push, POP: pop})
    return this


def dataplane(design: Design) -> Component:
    """Return the component that carries out the commands in memory, one by one."""
    this = Component("dataplane", "Fetches commands, has them done, keeps the answers.")
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
    more_commands = this.comb_group(
        "more_commands", "left.left = at.out", f"left.right = {WORD}'d{size}"
    )

    def fetch(memory: str, register: str) -> Control:
        ask = this.group(
            f"ask_{memory}",
            f"{memory}.addr0 = at.out",
            f"{memory}.content_en = 1'd1",
            done=f"{memory}.done",
        )
        return Seq([ask, _set(this, f"keep_{register}", register, f"{memory}.read_data")])

    def put(group: str, memory: str, address: str, value: str) -> Control:
        return this.group(
            group,
            f"{memory}.addr0 = {address}",
            f"{memory}.write_data = {value}",
            f"{memory}.write_en = 1'd1",
            f"{memory}.content_en = 1'd1",
            done=f"{memory}.done",
        )

    no_answer = Par(
        [
            put("write_none", "answers", "pops.out", f"{WORD}'d0"),
            _bump(this, "count_unanswered", "unanswered"),
        ]
    )
    answered = put("write_answer", "answers", "pops.out", "answer.out")
    outcome: dict[int, Control] = {
        PUSH: If("denied.out", _bump(this, "count_dropped", "dropped")),
        POP: Seq([If("denied.out", no_answer, answered), _bump(this, "count_pop", "pops")]),
    }
    once = Seq(
        [
            Par([fetch("commands", "cmd"), fetch("packets", "packet")]),
            Invoke(
                "queue",
                {"answer": "answer", "denied": "denied"},
                {"cmd": "cmd.out", "packet": "packet.out"},
            ),
            Par(
                [
                    switch(this, design.variant, "cmd_was", "cmd.out", 1, outcome),
                    _bump(this, "next_command", "at"),
                ]
            ),
        ]
    )
    totals = [
        put(f"write_{register}", "counts", f"{WORD}'d{place}", f"{register}.out")
        for place, register in enumerate(("pops", "dropped", "unanswered"))
    ]
    this.control = Seq([While("left.out", once, using=more_commands), *totals])
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
        f"switches as {'a par of ifs' if design.variant == 'par' else 'nested ifs'}. Generated."
    )
    parts = (fifo, classifier, strict_queue, dataplane, main)
    libraries = ("core", "memories/seq")
    return program(libraries, [part(design) for part in parts], about)

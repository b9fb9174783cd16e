"""A kernel as its process network: the arguments it is called with, its sources and sinks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._stack import deep_recursion
from cyclescope.bounds._calibration import PortRule
from cyclescope.bounds._counters import named, reached
from cyclescope.bounds._lower import Lowering
from cyclescope.bounds._network import Network, Port, Process, Storage
from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Call,
    Declare,
    Function,
    Name,
    Pointer,
    Scalar,
    Unary,
    Unit,
    Variable,
    expressions,
    fold,
    outermost,
    statements,
    walk,
)
from cyclescope.errors import InputError, SourceError

if TYPE_CHECKING:
    from cyclescope.bounds._calibration import Calibration

__all__ = ["called_with", "find_kernel", "network_of"]


def find_kernel(unit: Unit, name: str | None) -> Function:
    """The kernel by name; without a name the only function that could be one.

    Raises:
        SourceError: there is none, or there are several.
    """
    bodies = {n: f for n, f in unit.functions.items() if f.body is not None}
    known = ", ".join(sorted(bodies)) or "none"
    if name is not None:
        if name in bodies:
            return bodies[name]
        raise SourceError(f"{unit.file}: no function {name} with a body; there are: {known}")
    named = [f for n, f in bodies.items() if n.startswith("kernel")]
    candidates = named or [f for n, f in bodies.items() if n != "main"]
    if len(candidates) == 1:
        return candidates[0]
    raise SourceError(f"{unit.file}: which function is the kernel? --kernel one of: {known}")


def network_of(
    unit: Unit,
    kernel: Function,
    calibration: Calibration,
    arguments: dict[str, int | float],
    *,
    lenient: bool = False,
    hosted: bool = False,
    loose: frozenset[str] = frozenset(),
) -> tuple[Network, list[str]]:
    """The process network of a kernel, and the C declarations that its body needs.

    Args:
        unit: the text.
        kernel: its function.
        calibration: latencies, sources, sinks.
        arguments: the kernel's scalar parameters, and extents of its plain pointers; what is
            missing is taken from a caller in the same text that passes constants.
        hosted: the kernel is called by the user's program, on its memory.
        loose: parameters whose declared extents the program doesn't keep to.
        lenient: the calibration is another kernel's too; what it names may be missing here.

    Raises:
        SourceError: the kernel contains something that isn't supported.
        InputError: the calibration or the arguments name something that isn't there.
    """
    _check_arguments(unit, kernel, arguments)
    known = {**called_with(unit, kernel), **calibration.arguments, **arguments}
    network = Network(kernel.name, loose=loose)
    read = named(kernel)
    known |= {p.name: 0 for p in kernel.params if p not in read and isinstance(p.type, Scalar)}
    network.scalars = {p.name: known[p.name] for p in kernel.params if p.name in known}
    _check_calls(unit, kernel)
    lowering = Lowering(unit, network, calibration, known, hosted=hosted)
    with deep_recursion():
        lowering.kernel(kernel)
    for rule in calibration.statements:
        if rule.origin not in lowering.used_rules and not lenient:
            raise InputError(f"{rule.origin}: selects no statement of {kernel.name}")
    _ports(network, calibration, lenient=lenient)
    return network, lowering.declarations


def _check_arguments(unit: Unit, kernel: Function, arguments: dict[str, int | float]) -> None:
    names = {p.name for p in kernel.params} | set(unit.variables)
    for name in arguments:
        if name not in names:
            listed = ", ".join(sorted(names)) or "none"
            raise InputError(f"--arg {name}: {kernel.name} has no such parameter; it has: {listed}")


def _check_calls(unit: Unit, kernel: Function) -> None:
    """Refuse a call of a function that the caller's file has another one of."""
    for caller in reached(unit, kernel) if unit.doubled else ():
        for call in _calls(caller):
            function = unit.functions.get(call.function)
            if function is None or function.body is None or call.function not in unit.doubled:
                continue
            if function.where.file != caller.where.file:
                raise SourceError(
                    f"{call.where}: {call.function}, which is another function in "
                    f"{function.where}, is not supported here; rename one of them"
                )


def called_with(unit: Unit, kernel: Function) -> dict[str, int | float]:
    """Scalar parameters and pointers' extents, as the first call in the text passes them."""
    for function in unit.functions.values():
        for call in _calls(function):
            if call.function != kernel.name or function.name == kernel.name:
                continue
            constants = _constants(function)
            found: dict[str, int | float] = {}
            for formal, actual in zip(kernel.params, call.args, strict=False):
                if isinstance(formal.type, Scalar):
                    value = fold(actual, constants)
                    if value is not None:
                        found[formal.name] = value
                elif isinstance(formal.type, Pointer) and isinstance(actual.type, Array):
                    found[formal.name] = actual.type.extent or 1
            return found
    return {}


def _calls(function: Function) -> list[Call]:
    return [n for n in expressions(function.body) if isinstance(n, Call)]


def _constants(function: Function) -> dict[str, int | float]:
    """Local variables that are given a constant once and never touched again."""
    touched: set[Variable] = set()
    for expression in outermost(function.body):
        for node in walk(expression):
            target = node.target if isinstance(node, Assign) else None
            if isinstance(node, Unary) and node.op in ("&", *STEPS):
                target = node.operand
            if isinstance(target, Name):
                touched.add(target.variable)
    constants: dict[str, int | float] = {}
    declared = [s for s in statements(function.body) if isinstance(s, Declare)]
    for declaration in declared:
        for variable in declaration.variables:
            value = fold(variable.init, constants)
            if value is not None and variable not in touched:
                constants[variable.name] = value
    return constants


def _ports(network: Network, calibration: Calibration, *, lenient: bool) -> None:
    outer = [s for s in network.storages if s.is_outer]
    for kind, rules, automatic, into in (
        ("source", calibration.sources, calibration.automatic_sources, network.sources),
        ("sink", calibration.sinks, calibration.automatic_sinks, network.sinks),
    ):
        names = {s.name for s in outer} | {s.name.split(".")[0] for s in outer}
        for name in rules:
            if name not in names and not lenient:
                listed = ", ".join(sorted(names))
                raise InputError(
                    f"{calibration.origin}: {kind}s.{name}: no such array; there are: {listed}"
                )
        for storage in outer:
            rule = rules.get(storage.name, rules.get(storage.name.split(".")[0]))
            wanted = storage.reached or (storage.read if kind == "source" else storage.written)
            if rule is None:
                if not (automatic and wanted) or (storage.initialised and kind == "source"):
                    continue
                if kind == "source" and not storage.dims and storage.role == "global":
                    continue
            elif not rule.on:
                continue
            written = storage.written or storage.reached
            certain = rule is not None or (storage.written if kind == "sink" else not written)
            into.append(_port(network, storage, kind, rule or PortRule(), certain, calibration))


def _port(
    network: Network,
    storage: Storage,
    kind: str,
    rule: PortRule,
    certain: bool,
    calibration: Calibration,
) -> Port:
    where = f"{calibration.origin}: {kind}s.{storage.name}"
    ranges = rule.ranges or tuple((0, d) for d in storage.dims)
    if len(ranges) != len(storage.dims) or any(
        not 0 <= low <= high <= extent
        for (low, high), extent in zip(ranges, storage.dims, strict=False)
    ):
        raise InputError(f"{where}.ranges: the array is {list(storage.dims)}; fit the ranges to it")
    skip = []
    for element in rule.skip:
        inside = len(element) == len(storage.dims) and all(
            i < d for i, d in zip(element, storage.dims, strict=False)
        )
        if not inside:
            raise InputError(f"{where}.skip: no element {list(element)} in {list(storage.dims)}")
        offset = 0
        for i, d in zip(element, storage.dims, strict=True):
            offset = offset * d + i
        skip.append(offset)
    process = Process(
        index=len(network.processes),
        name=f"{kind} {storage.name}",
        kind=kind,
        where=storage.where,
        path=0,
        latency=rule.latency,
        interval=rule.interval,
        operands=[storage.name] if kind == "sink" else [],
        operand_storage=[storage.index] if kind == "sink" else [],
        targets=[storage.name] if kind == "source" else [],
    )
    network.processes.append(process)
    return Port(process.index, storage.index, ranges, tuple(skip), certain)

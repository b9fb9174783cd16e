"""The host's side of a program: its own text, with hooks around the target region."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    Declare,
    Name,
    Pointer,
    Unary,
    called,
    expressions,
    size_of,
    statements,
    walk,
    whole,
)
from cyclescope.hls.front import (
    PRINTED,
    SIZE,
    TEAM,
    PrintedPlace,
    directives,
    is_inside,
    meant,
    visible,
)
from cyclescope.hls.ir import Place

if TYPE_CHECKING:
    from typing import TypeGuard

    from cyclescope.c import Expr, Pragma, Stmt, Unit, Variable
    from cyclescope.hls._compile import Program
    from cyclescope.hls.front import MapItem

__all__ = ["host_text"]

# What a directive says about the device; the host's threads take the rest.
_DEVICE_WORDS = frozenset({"target", "teams", "distribute"})
_WORDS = frozenset({"for", "simd", "loop", "sections"})
# Constructs of the host's that one thread of a team executes.
_ONE_THREAD = frozenset({"single", "sections", "section", "task", "taskloop"})
_DISTRIBUTE = ("omp", "distribute")
_OWN = b"static _Thread_local "
_OF_ALL = b"static "
_DEVICE_CLAUSES = frozenset(
    {
        "map", "num_threads", "thread_limit", "num_teams", "device", "defaultmap", "dist_schedule",
        "nowait", "bind", "is_device_ptr", "has_device_addr", "depend", "in_reduction", "allocate",
    }
)  # fmt: skip


def host_text(program: Program, *, unmodified: bool = False) -> str:
    """The program with its region between hooks, to be compiled with OpenMP for the host.

    The region itself is run by as many threads of the host as the hardware has, or, on request,
    replaced by the results of another run.

    Args:
        program: compiled.
        unmodified: leave the region and its directives as they are.
    """
    unit, target = program.unit, program.target
    lines = unit.sources[unit.file].encode("utf-8", "surrogateescape").split(b"\n")
    where = target.stmt.where
    moved = 0  # of the region's end
    own = {} if unmodified else _own_arrays(program)
    for (line, column), kind in sorted(own.items(), reverse=True):
        written = lines[line - 1]
        lines[line - 1] = written[: column - 1] + kind + written[column - 1 :]
        moved += len(kind) * (line == where.end_line and column < where.end_column)
    first = target.pragmas[0].where.line
    # A comment may end in front of the directive.
    column = target.pragmas[0].where.column - 1
    before = [*lines[: first - 1], lines[first - 1][:column]]
    lines[first - 1] = b" " * column + lines[first - 1][column:]
    end = _end(lines, where.end_line - 1, where.end_column - 1 + moved)
    inside = lines[first - 1 : end[0] + 1]
    rest = inside[-1][end[1] :]
    inside[-1] = inside[-1][: end[1]]
    words = target.directive.words
    team = TEAM if program.team is not None else ""
    has_team = "1" if unmodified else f"!!({' '.join(target.team)})"
    size = SIZE if program.size else ""
    rewritten = (
        {} if unmodified else {p: _host_pragma(p, words, team, size) for p in target.pragmas}
    )
    if not unmodified:
        inner = [p for stmt in statements(target.body) for p in stmt.pragmas]
        shared = {("omp", "loop"), *([_DISTRIBUTE] if target.is_league else [])}
        rewritten |= {
            p: _shared_pragma(p, waits=not target.is_league)
            for p in inner
            if p.tokens[:2] in shared
        }
    for pragma, obeyed in rewritten.items():
        start = pragma.where.line - first
        stop = pragma.where.end_line - first
        # Comments that begin or end on these lines stay.
        ahead = inside[start][: pragma.where.column - 1]
        behind = inside[stop][pragma.where.end_column - 1 :]
        new = ahead + obeyed.encode() + behind
        inside[start : stop + 1] = [*[b""] * (stop - start), new]
    after = [rest, *lines[end[0] + 1 :]]
    hooks = (Path(__file__).parent / "_hooks.h").read_text(encoding="utf-8")
    name = str(Path(unit.file).resolve()).replace("\\", "\\\\").replace('"', '\\"')
    items = _items(program)
    wanted = " ".join(target.condition) or "1"
    is_league = not unmodified and (program.teams[0] > 1 or target.is_league)
    blocks = _blocks(program)
    # Calls in the region of functions with variants: the host's threads are in no target.
    variants = {n: f.name for n, f in unit.functions.items() if f.name != n and not unmodified}
    text = [
        b"#define CYCLESCOPE_LEAGUE" if is_league else b"",
        b"#define CYCLESCOPE_ANY_THREAD" if _has_one_thread(program) else b"",
        hooks.encode(),
        *map(str.encode, _statics(program)),
        f'#line 1 "{name}"'.encode(),
        *before,
        f"{{ {' '.join(f'cyclescope_note(0, (void *)&{v}, sizeof {v});' for v in blocks)}".encode(),
        *map(str.encode, _spans(program)),
        # The unmodified region evaluates its condition itself, once.
        f"int {team} = {has_team};".encode() if team else b"",
        f"int {size} = ({' '.join(program.size)});".encode() if size else b"",
        f"struct cyclescope_item cyclescope_items[] = {{ {items} }};".encode(),
        b"int cyclescope_count = sizeof cyclescope_items / sizeof *cyclescope_items;",
        f"int cyclescope_wanted = !!({wanted});".encode(),
        b"if (!cyclescope_wanted || !cyclescope_enter(cyclescope_items, cyclescope_count)) {",
        *(() if unmodified else map(str.encode, _copies(program))),
        *(f"#define {name} {variant}".encode() for name, variant in variants.items()),
        f"#line {first}".encode(),
        *inside,
        *(f"#undef {name}".encode() for name in variants),
        b"}" * (1 if unmodified or not program.copied else 3),
        *map(str.encode, _printing(program)),
        # The results of a region that is a task are there when it is over.
        b"#pragma omp taskwait" if target.directive.clause("nowait") is not None else b"",
        b"if (cyclescope_wanted) cyclescope_leave(cyclescope_items, cyclescope_count);",
        f"{' '.join(f'cyclescope_note((void *)&{v}, 0, 0);' for v in blocks)} }}".encode(),
        f"#line {end[0] + 1}".encode(),
        *after,
        _global_blocks(program).encode(),
    ]
    return b"\n".join(text).decode("utf-8", "surrogateescape")


def _has_one_thread(program: Program) -> bool:
    """Return whether one of the host's threads comes to the region, whichever it is."""
    function, region = program.target.function, program.target.stmt.where
    around = (
        stmt
        for stmt in statements(function.body)
        if stmt.where.start <= region.start and region.end <= stmt.where.end
    )
    return any(not _ONE_THREAD.isdisjoint(d.words) for s in around for d in directives(s.pragmas))


def _statics(program: Program) -> list[str]:
    """The memories of the region's static locals, with their initial contents."""
    shown = {name: ", ".join(map(str, data)) for name, data in program.statics.items()}
    return [
        f"static const unsigned char {name}[] __attribute__((aligned(64))) = {{ {data} }};"
        for name, data in shown.items()
    ]


def _copies(program: Program) -> list[str]:
    """The begin of blocks with the copies that the region has of variables which it writes."""
    names = [v.name for v in program.copied]
    if not names:
        return []
    places = [f"void *cyclescope_of_{name} = (void *)&{name};" for name in names]
    own = [f"__typeof__({name}) {name};" for name in names]
    given = [f"memcpy((void *)&{n}, cyclescope_of_{n}, sizeof {n});" for n in names]
    return [f"{{ {' '.join(places)}", f"{{ {' '.join([*own, *given])}"]


def _printing(program: Program) -> list[str]:
    """The calls with which the host prints what the region has recorded, in its place."""
    if not program.printing:
        return []
    mapped = {item.name: item for item in program.target.directive.maps}
    lines = [
        f"else for (uint64_t *cyclescope_at = {PRINTED}; *cyclescope_at;)",
        "switch (*cyclescope_at) {",
    ]
    for number, call in enumerate(program.printing, 1):
        words = 0
        args = []
        for part in call.parts:
            if isinstance(part, str):
                args.append(part)
                continue
            words += 1
            if isinstance(part, PrintedPlace):
                data, _ = _extent(part.variable, mapped.get(part.variable.name))
                args.append(f"(char *){data} + cyclescope_at[{words}]")
                continue
            args.append(f"cyclescope_{part.kind}{part.bits}(cyclescope_at[{words}])")
        lines.append(
            f"case {number}: {call.function}({', '.join(args)}); "
            f"cyclescope_at += {call.words}; break;"
        )
    return [*lines, "default: cyclescope_lost(); *cyclescope_at = 0; }"]


def _end(lines: list[bytes], line: int, column: int) -> tuple[int, int]:
    """The end of a statement; an expression's semicolon comes after its range."""
    text = lines[line][:column].rstrip()
    if text.endswith((b"}", b";")):
        return line, column
    while True:
        found = lines[line].find(b";", column)
        if found >= 0 or line + 1 == len(lines):
            return line, found + 1
        line, column = line + 1, 0


def _own_arrays(program: Program) -> dict[tuple[int, int], bytes]:
    """The places where the text declares arrays that are block RAM, and what they are there.

    As the hardware's, they begin with zeros, there is one for each thread, and they keep what is
    in them from one time to the next: programs that read what they have not written agree. Around
    `parallel` regions that have a team there is one for all.
    """
    unit, target = program.unit, program.target
    functions = called(expressions(target.body), unit.functions)
    found: dict[tuple[int, int], list[Stmt]] = {}
    shared: set[tuple[int, int]] = set()
    for body in (target.body, *(f.body for f in functions)):
        if body is None:
            continue
        forks = [f for f in program.forks if is_inside(f, body.where)]
        for stmt in statements(body):
            if stmt.where.file == unit.file:
                place = (stmt.where.line, stmt.where.column)
                found.setdefault(place, []).append(stmt)
                if forks and not any(is_inside(stmt.where, f) for f in forks):
                    shared.add(place)
    return {
        place: _OF_ALL if place in shared else _OWN
        for place, [stmt, *more] in found.items()
        if not more and _is_own(stmt)
    }


def _is_own(stmt: Stmt) -> bool:
    if not isinstance(stmt, Declare) or not stmt.variables:
        return False  # a type's declaration, or a function's
    return all(
        isinstance(v.type, Array) and v.init is None and v.scope == "local" for v in stmt.variables
    )


def _host_pragma(pragma: Pragma, words: tuple[str, ...], team: str, size: str) -> str:
    """A directive as the host's threads obey it.

    Args:
        pragma: where it is.
        words: of all directives of the region: one makes the team, one shares a loop's work.
        team: the variable that says whether there is a team; empty: what the text says.
        size: the variable that says how many threads there are; empty: all.
    """
    obeyed = meant(pragma)
    tokens = list(obeyed.tokens[1:]) if obeyed is not None else []
    if not {"for", "loop"} & set(words):
        tokens = ["for" if word == "distribute" else word for word in tokens]
    kept: list[str] = []
    is_parallel = ("parallel" if "parallel" in words else "teams") in tokens
    while tokens:
        word = tokens.pop(0)
        inside: list[str] = []
        if tokens[:1] == ["("]:
            depth = 0
            for position, other in enumerate(tokens):
                depth += other == "("
                depth -= other == ")"
                if depth == 0:
                    inside, tokens = tokens[: position + 1], tokens[position + 1 :]
                    break
        if word in _DEVICE_CLAUSES or (word in _DEVICE_WORDS and not inside):
            continue
        if word == "if" and inside[1:2] and inside[2:3] == [":"]:
            if inside[1] in _DEVICE_WORDS:
                continue
            if inside[1] == "simd":
                continue  # vectors of one element are as good
            inside[1:3] = []
        if word == "if" and team:
            inside = ["(", team, ")"]
        kept += [word, *inside]
    if not is_parallel and not _WORDS & set(kept):
        return ""
    if is_parallel and "parallel" not in kept:
        kept.insert(0, "parallel")
    kept = ["for" if word == "loop" else word for word in kept]
    most = "cyclescope_threads()"
    given = f"{size} < {most} ? {size} : {most}" if size else most
    clause = f" num_threads({given})" if is_parallel else ""
    return f"#pragma omp {' '.join(kept)}{clause}"


def _shared_pragma(pragma: Pragma, *, waits: bool) -> str:
    """A loop that a league distributes, or whose kind is open, as one that the host's team shares.

    Args:
        pragma: in front of the loop.
        waits: the threads wait for each other behind it.
    """
    (directive,) = directives([pragma])
    kept = [
        str(clause).replace("dist_schedule", "schedule")
        for clause in directive.clauses
        if clause.name == "dist_schedule" or clause.name not in _DEVICE_CLAUSES
    ]
    simd = " simd" if directive.has("simd") else ""
    return f"#pragma omp for{simd} {' '.join(kept)}{'' if waits else ' nowait'}"


def _items(program: Program) -> str:
    """The address and size of each external array and each scalar, in the host's C."""
    mapped = {item.name: item for item in program.target.directive.maps}
    items = []
    outside = [a for a in program.region.arrays if a.place is Place.EXTERNAL]
    number = {array.name: place for place, array in enumerate(outside, 1)}
    for array in outside:
        cells = ""
        if array.name in program.cells:
            own = program.cells[array.name]
            at = [
                f"{{ {place}, {number[heap]}, {int(is_whole)} }}"
                for place, heap, is_whole in own.at
                if heap in number
            ]
            listed = f"(const struct cyclescope_cell[]){{ {', '.join(at)} }}" if at else "0"
            cells = f", {own.bytes}, {len(at)}, {listed}"
        if array.name in program.heaps:
            kind = program.variables[array.name].type
            assert isinstance(kind, Pointer)
            cells = cells or f", {max(size_of(kind.target), 1)}, 0, 0"
            items.append(f"{{ 0, 0, 1, 1{cells}, .is_heap = 1 }}")
            continue
        if array.name in program.blocks:
            span = f"cyclescope_span_{list(program.blocks).index(array.name)}"
            items.append(f"{{ {span}.begin, {span}.bytes, 1, 1{cells} }}")
            continue
        variable = program.variables[array.name]
        item = mapped.get(variable.name)
        data, size = _extent(variable, item)
        items.append(f"{{ (void *){data}, {size}, 1, {int(array.from_device)}{cells} }}")
    roots = {w: (v, h) for h, own in program.heaps.items() for v, w in own.items()}
    for scalar in program.scalars:
        root = ""
        if scalar in roots and roots[scalar][1] in number:
            variable, heap = roots[scalar]
            data, extent = _extent(variable, mapped.get(variable.name))
            root = f", .heap = {number[heap]}, .root = (char *){data}, .extent = {extent}"
        items.append(f"{{ (void *)&{scalar.name}, sizeof {scalar.name}, 0, 0{root} }}")
    return ", ".join(items) or "{ 0, 0, 0, 0 }"


def _spans(program: Program) -> list[str]:
    """The declarations of memories that several of the host's variables lead to."""
    mapped = {item.name: item for item in program.target.directive.maps}
    own = (where for roots in program.heaps.values() for where in roots.values())
    lines = [f"uint64_t {where.name} = 0;" for where in own]
    for number, parts in enumerate(program.blocks.values()):
        places = [_extent(v, mapped.get(v.name)) for v in parts]
        listed = ", ".join(f"{{ (char *){data}, {size}, 0 }}" for data, size in places)
        span = f"cyclescope_span_{number}"
        lines.append(
            f"struct cyclescope_part {span} = cyclescope_span({len(parts)}, "
            f"(struct cyclescope_part[]){{ {listed} }});"
        )
        for where, (data, _) in zip(parts.values(), places, strict=True):
            lines.append(f"uint64_t {where.name} = (uint64_t)((char *){data} - {span}.begin);")
    return lines


def _blocks(program: Program) -> list[str]:
    """The local objects in scope that pointers which nothing maps may point into."""
    if not _has_open_pointers(program):
        return []
    seen = visible(program.unit, program.target.directive.where).values()
    addressed = _addressed(program.unit)
    return [
        v.name
        for v in seen
        if v.scope not in ("param", "global") and (v.extents or _has_address(v, addressed))
    ]


def _has_address(variable: Variable, addressed: set[Variable]) -> bool:
    """Return whether a pointer may lead to a variable: an array, or one whose address is taken."""
    return bool(size_of(variable.type)) and (
        isinstance(variable.type, Array) or variable in addressed
    )


def _addressed(unit: Unit) -> set[Variable]:
    """The variables whose addresses the text takes, or those of parts of them."""
    bodies = [expressions(f.body) for f in unit.functions.values()]
    first = [walk(v.init) for v in unit.variables.values() if v.init is not None]
    found = (e.operand for part in (*bodies, *first) for e in part if _is_address(e))
    return {o.variable for o in map(whole, found) if isinstance(o, Name)}


def _is_address(expr: Expr) -> TypeGuard[Unary]:
    return isinstance(expr, Unary) and expr.op == "&"


def _global_blocks(program: Program) -> str:
    """The global objects that such pointers may point into, wherever the text declares them."""
    unit = program.unit
    addressed = _addressed(unit)
    arrays = [
        v.name
        for v in unit.variables.values()
        if v.scope == "global" and _has_address(v, addressed)
    ]
    if not arrays or not _has_open_pointers(program):
        return ""
    notes = " ".join(f"cyclescope_note(0, (void *)&{name}, sizeof {name});" for name in arrays)
    return f"static void __attribute__((constructor)) cyclescope_globals(void) {{ {notes} }}"


def _has_open_pointers(program: Program) -> bool:
    """Return whether there are pointers of the host whose extent nothing says."""
    if program.heaps:
        return True
    mapped = {item.name for item in program.target.directive.maps if item.count}
    joined = (v for parts in program.blocks.values() for v in parts)
    pointers = [v for v in (*program.variables.values(), *joined) if v.name not in mapped]
    return any(isinstance(v.type, Pointer) or v.scope == "param" for v in pointers)


def _extent(variable: Variable, item: MapItem | None) -> tuple[str, str]:
    name, kind = variable.name, variable.type
    if item is None or not item.count:
        if isinstance(kind, Pointer) or (isinstance(kind, Array) and variable.scope == "param"):
            return name, f"cyclescope_extent((void *){name})"
        return f"&{name}", f"sizeof {name}"
    low, count = " ".join(item.low), " ".join(item.count)
    return f"{name}", f"(uint64_t)(({low}) + ({count})) * sizeof *{name}"

"""The clauses that each OpenMP construct may have in a target region, and their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.errors import SourceError
from cyclescope.hls.front.omp._directives import Clause, is_name, item_of, linear_of, split

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.c import Range
    from cyclescope.hls.front.omp._directives import Directive

__all__ = ["check", "check_file_level", "clauses_of"]

_ORDERS = frozenset({"seq_cst", "acq_rel", "acquire", "release", "relaxed"})
_PRIVATE = frozenset({"private", "firstprivate"})
_OF_TASKS = _PRIVATE | {
    "default", "shared", "if", "final", "untied", "mergeable", "priority", "in_reduction",
    "allocate",
}  # fmt: skip
# Word of a construct's name → clauses. A combined construct has those of all its words.
_ALLOWED = {
    "target": _PRIVATE
    | {
        "map", "device", "defaultmap", "nowait", "if", "thread_limit", "is_device_ptr",
        "has_device_addr", "depend", "in_reduction", "allocate",
    },
    "teams": _PRIVATE
    | {"num_teams", "thread_limit", "default", "shared", "reduction", "allocate"},
    "distribute": _PRIVATE | {"lastprivate", "collapse", "dist_schedule", "order", "allocate"},
    "parallel": _PRIVATE
    | {"num_threads", "default", "shared", "reduction", "proc_bind", "if", "allocate", "copyin"},
    "for": _PRIVATE
    | {
        "lastprivate", "reduction", "schedule", "collapse", "nowait", "order", "allocate",
        "ordered", "linear",
    },
    "sections": _PRIVATE | {"lastprivate", "reduction", "nowait", "allocate"},
    "scope": _PRIVATE | {"reduction", "nowait", "allocate"},
    "section": frozenset[str](),
    "simd": frozenset(
        {
            "simdlen", "safelen", "aligned", "private", "lastprivate", "reduction", "if",
            "collapse", "nontemporal", "order", "linear",
        }
    ),
    "loop": frozenset({"bind", "collapse", "private", "lastprivate", "reduction", "order"}),
    "ordered": frozenset({"threads", "simd", "depend"}),
    "critical": frozenset({"name", "hint"}),
    "atomic": _ORDERS | {"read", "write", "update", "capture", "hint"},
    "flush": _ORDERS - {"relaxed"} | {"list"},
    "barrier": frozenset[str](),
    "task": _OF_TASKS | {"depend", "affinity"},
    "taskloop": _OF_TASKS
    | {"lastprivate", "reduction", "grainsize", "num_tasks", "collapse", "nogroup"},
    "taskgroup": frozenset({"task_reduction", "allocate"}),
    "taskwait": frozenset({"depend"}),
    "taskyield": frozenset[str](),
    "single": _PRIVATE | {"nowait", "allocate", "copyprivate"},
    "threadprivate": frozenset({"list"}),
    "master": frozenset[str](),
    "masked": frozenset[str](),
}  # fmt: skip
_ONCE = frozenset(
    {
        "num_threads", "num_teams", "thread_limit", "device", "schedule", "dist_schedule",
        "collapse", "ordered", "nowait", "default", "proc_bind", "simdlen", "safelen", "bind",
        "order", "hint", "name", "list",
    }
)  # fmt: skip
_KINDS = ("read", "write", "update", "capture")


def clauses_of(words: tuple[str, ...]) -> list[str]:
    """The clauses that a construct may have, as they are written."""
    found = frozenset[str]().union(*(_ALLOWED.get(word, frozenset()) for word in words))
    return sorted(found - {"name", "list"})


def check(directive: Directive) -> None:
    """Return whether all that a directive of a target region says is understood.

    Raises:
        SourceError: it is not.
    """
    where, words = directive.where, directive.words
    name = f"omp {' '.join(words)}"
    if directive.rest:
        shown = " ".join(directive.rest)
        raise SourceError(f"{where}: {name}: `{shown}` is not a clause; remove it")
    allowed = frozenset[str]().union(*(_ALLOWED.get(word, frozenset()) for word in words))
    seen: set[str] = set()
    for clause in directive.clauses:
        if clause.name not in allowed:
            have = ", ".join(clauses_of(words)) or "no clause"
            raise SourceError(
                f"{where}: the clause {clause.name} of {name} isn't supported; it can have {have}"
            )
        if clause.name in seen & _ONCE:
            raise SourceError(f"{where}: {name} has {clause.name} twice; write it once")
        seen.add(clause.name)
        wanted = _WANTED.get(clause.name, _names)(clause)
        if wanted:
            raise SourceError(f"{where}: {name}: `{clause}` isn't supported; write {wanted}")
    for kinds in (_KINDS, sorted(_ORDERS)):
        several = [kind for kind in kinds if kind in seen]
        if len(several) > 1:
            raise SourceError(f"{where}: {name}: {' and '.join(several)} exclude each other")
    _check_lists(directive, where)


def _check_lists(directive: Directive, where: Range) -> None:
    for kind, listed in (
        ("map", [item.name for item in directive.maps]),
        ("reduction", [one.name for one in directive.reductions]),
    ):
        twice = next((name for name in listed if listed.count(name) > 1), None)
        if twice is not None:
            raise SourceError(f"{where}: {twice} is in {kind} twice; name it once")


def check_file_level(directive: Directive) -> None:
    """Return whether a directive outside of functions leaves what a target region means as it is.

    Raises:
        SourceError: it does not, or it isn't known.
    """
    words, where = directive.words, directive.where
    if words in (("declare", "target"), ("end", "declare", "target"), ("declare", "simd")):
        return
    if words in (("begin", "declare", "target"), ("threadprivate",), ("declare", "variant")):
        return
    if words == ("requires",):
        harmless = {"unified_address", "unified_shared_memory", "atomic_default_mem_order"}
        harmless |= {"dynamic_allocators"}
        unknown = next((str(c) for c in directive.clauses if c.name not in harmless), None)
        if unknown is None:
            return
        raise SourceError(f"{where}: omp requires {unknown} isn't supported; remove it")
    name = " ".join(words) or " ".join(map(str, directive.clauses))
    raise SourceError(f"{where}: omp {name} isn't supported with a target region; remove it")


# What a clause should be, given one that is not; empty if it is right.


def _flag(clause: Clause) -> str:
    return f"{clause.name} alone" if clause.words is not None else ""


def _names(clause: Clause) -> str:
    words = clause.words or ()
    good = words and all(len(p) == 1 and is_name(p[0]) for p in split(words, ","))
    return "" if good else f"{clause.name}(x, y) with names of variables"


def _name(clause: Clause) -> str:
    words = clause.words or ()
    return "" if len(words) == 1 and is_name(words[0]) else "critical(name)"


def _last(clause: Clause) -> str:
    words = clause.words or ()
    if words[:2] == ("conditional", ":"):
        return "" if not _names(Clause(clause.name, words[2:])) else "lastprivate(conditional: x)"
    return _names(clause)


def _number(clause: Clause) -> str:
    parts = split(clause.words or (), ",")
    bad = len(parts) != 1 or not parts[0] or ";" in parts[0]
    bad = bad or (":" in parts[0] and "?" not in parts[0])
    return f"{clause.name}(n)" if bad else ""


def _device(clause: Clause) -> str:
    words = clause.words or ()
    return _number(clause) if words[:2] != ("device_num", ":") else "device(n)"


def _condition(clause: Clause) -> str:
    words = clause.words or ()
    if words[1:2] == (":",):
        if words[0] not in ("target", "parallel", "simd", "task", "taskloop"):
            return "if(target: …) or if(parallel: …)"
        words = words[2:]
    bad = not words or len(split(words, ",")) > 1 or ";" in words
    return "if(condition)" if bad else ""


def _one_of(*values: str) -> Callable[[Clause], str]:
    def wanted(clause: Clause) -> str:
        given = " ".join(clause.words or ())
        return "" if given in values else f"{clause.name}({values[0]})"

    return wanted


def _schedule(clause: Clause) -> str:
    words = clause.words or ()
    while words[1:2] in ((":",), (",",)) and words[0] in ("monotonic", "nonmonotonic"):
        words = words[2:]
    kind, *chunk = split(words, ",")
    sized = ("static", "dynamic", "guided")
    if len(kind) != 1 or kind[0] not in (*sized, "auto", "runtime"):
        return "schedule(static), schedule(dynamic) or schedule(guided)"
    if len(chunk) > 1 or (chunk and (not chunk[0] or kind[0] not in sized)):
        return "schedule(static, chunk)"
    return ""


def _shares(clause: Clause) -> str:
    kind, *chunk = split(clause.words or (), ",")
    good = kind == ("static",) and len(chunk) < 2 and all(chunk)
    return "" if good else "dist_schedule(static, chunk)"


def _map(clause: Clause) -> str:
    words = clause.words or ()
    right = "map(to: …), map(from: …), map(tofrom: …) or map(alloc: …) of x or x[low:count]"
    if ":" in words and "[" not in words[: words.index(":")]:
        cut = words.index(":")
        kind = [w for w in words[:cut] if w not in ("always", "close", ",")]
        if kind not in (["to"], ["from"], ["tofrom"], ["alloc"]):
            return right
        words = words[cut + 1 :]
    return "" if all(item_of(part, "", fields=True) for part in split(words, ",")) else right


def _reduction(clause: Clause) -> str:
    words = clause.words or ()
    right = "reduction(operator: x, y[low:count])"
    if words[1:2] == (",",) and words[0] in ("default", "task"):
        words = words[2:]
    if words[1:2] != (":",):
        return right
    return "" if all(item_of(part, "") for part in split(words[2:], ",")) else right


def _allocate(clause: Clause) -> str:
    words = clause.words or ()
    if ":" in words:
        words = words[words.index(":") + 1 :]
    good = words and all(item_of(part, "") for part in split(words, ","))
    return "" if good else "allocate(x) or allocate(allocator: x)"


def _affinity(clause: Clause) -> str:
    words = clause.words or ()
    if words[:1] == ("iterator",):
        words = split(words, ":")[-1]
    good = words and all(item_of(part, "") for part in split(words, ","))
    return "" if good else "affinity(x) or affinity(x[low:count])"


def _depend(clause: Clause) -> str:
    kind, *listed = split(clause.words or (), ":")
    if kind == ("source",) and not listed:
        return ""
    known = kind in (("sink",), ("in",), ("out",), ("inout",), ("mutexinoutset",), ("inoutset",))
    return "" if known and listed else "depend(in: x), depend(out: x) or depend(inout: x)"


def _default_map(clause: Clause) -> str:
    behaviour, *category = split(clause.words or (), ":")
    kept = ("default", "none", "tofrom", "to", "from", "alloc", "present", "firstprivate")
    good = len(category) < 2 and behaviour in [(kind,) for kind in kept]
    good = good and (not category or category[0] in (("scalar",), ("aggregate",), ("pointer",)))
    if good:
        return ""
    return "defaultmap(tofrom: scalar) or defaultmap(default)"


def _section_list(clause: Clause) -> str:
    words = split(clause.words or (), ":")[0]
    good = words and all(item_of(part, "") for part in split(words, ","))
    return "" if good else f"{clause.name}(x)"


def _linear(clause: Clause) -> str:
    return "" if linear_of(clause) else "linear(x), or linear(x: step)"


_WANTED: dict[str, Callable[[Clause], str]] = {
    **dict.fromkeys(("threads", "simd"), _flag),
    "ordered": lambda clause: _number(clause) if clause.words is not None else "",
    **dict.fromkeys(("untied", "mergeable", "nogroup"), _flag),
    **dict.fromkeys(("priority", "grainsize", "num_tasks"), _number),
    **dict.fromkeys(("nowait", *_KINDS, *_ORDERS), _flag),
    **dict.fromkeys(("num_threads", "num_teams", "thread_limit", "collapse"), _number),
    **dict.fromkeys(("simdlen", "safelen", "hint"), _number),
    **dict.fromkeys(("aligned", "nontemporal", "list"), _section_list),
    "device": _device,
    "if": _condition,
    "name": _name,
    "lastprivate": _last,
    "map": _map,
    "reduction": _reduction,
    "schedule": _schedule,
    "dist_schedule": _shares,
    "default": _one_of("shared", "none"),
    "proc_bind": _one_of("close", "master", "primary", "spread"),
    "bind": _one_of("parallel", "teams", "thread"),
    "order": _one_of("concurrent", "reproducible : concurrent", "unconstrained : concurrent"),
    "defaultmap": _default_map,
    "allocate": _allocate,
    "depend": _depend,
    "in_reduction": _reduction,
    "task_reduction": _reduction,
    "final": _condition,
    "affinity": _affinity,
    "linear": _linear,
}

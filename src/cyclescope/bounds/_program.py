"""The C program that runs a kernel with time stamps."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from cyclescope.bounds._forms import literal

if TYPE_CHECKING:
    from cyclescope.bounds._network import Memory, Network, Port, Storage

__all__ = ["parameters", "program_text"]


@cache
def _shared(name: str) -> str:
    return (resources.files("cyclescope.bounds") / name).read_text(encoding="utf-8")


def program_text(
    network: Network, declarations: list[str], *, hosted: bool = False, made_up: bool = True
) -> str:
    """The program; macros choose the estimates and the width of time stamps.

    The compiler sets TIME_STAMP, ABSOLUTE, UNBOUNDED, LIMITED, DETAIL, TRACE and PERIODS with
    -D. If `hosted`, it is part of the user's own program, which calls `cyclescope_before` where it
    calls the kernel; its values are `made_up` where that has no `main` of its own.
    """
    storages = [s for s in network.storages if s.memory is not None]
    feeds = [s for s in storages if s.is_outer]
    result = network.result
    statements = sum(p.kind in ("statement", "constant") for p in network.processes)
    lines = [
        "#include <math.h>",
        f"#define PROCESSES {len(network.processes)}",
        f"#define STATEMENTS {statements}",
        f"#define STORAGES {len(network.storages)}",
        f"#define MEMORIES {len(network.memories)}",
        f"#define MOVING {int(network.moving)}",
        f"#define HOSTED {int(hosted)}",
        f"#define RESULT_SIZE {result.type.bits // 8 if result else 0}",
        "enum { R_PLAIN = 100, R_PLAIN_RESULT, R_RESULT, R_PLAIN_TIME };",
        f"#define LOOPS {network.loops}",
        "#if TRACE",
        "/* of each process: values of the control in a row of its trace, and results */",
        f"static const unsigned trace_width[][2] = {{{_trace_widths(network)}}};",
        "#endif",
        _shared("_runtime.h"),
        "#if PERIODS",
        _shared("_periods.h"),
        "#endif",
        f"static u64 tests[{len(network.tests) + 1}];",
        f"static u64 seen[{len(network.storages) + 1}];",
        "enum { WROTE = 2 }; /* in `seen`: a moving pointer wrote it */",
        "static u64 dump;",
    ]
    lines += [f"static char *b{m.index};" for m in network.memories]
    lines += [f"static TimeStamp *h{s.index};" for s in storages]
    lines += [f"static TimeStamp *k{s.index};" for s in storages if s.twice]
    if network.moving:
        lines.append(_shared("_hosted.h").split("/* ---- the user's own program")[0])
    lines.append("/* ---- the user's own program" + _shared("_hosted.h").split(
        "/* ---- the user's own program")[1])  # fmt: skip
    for storage in feeds:
        changes = storage.written or storage.reached
        noted = f"SEE(f{storage.index}, s)" if changes else "(void)0"
        lines.append(f"#define SEE{storage.index}(s) {noted}")
    lines += _kernel(network, declarations, storages, feeds)
    lines += _bind(network, hosted=hosted)
    lines += _make_up(storages, feeds, made_up=made_up, hosted=hosted)
    lines += _prepare(network, storages, feeds)
    lines += _conclude(network, feeds)
    if not hosted:
        lines += [
            "int main(int argc, char **argv)\n{",
            'if (argc < 3 || !(result = fopen(argv[2], "wb"))) return 4;',
            "setvbuf(result, 0, _IOFBF, 1 << 20);",
            "load_parameters(argv[1]);",
            "bind(0);",
            "make_up(argc > 3 ? argv[3] : 0);",
            "prepare();",
            "kernel(0);",
            "leave(0);\n}",
        ]
    return "\n".join(lines) + "\n"


def _trace_widths(network: Network) -> str:
    """Of a source's row the last word is the element's offset, of a sink's the last but none."""
    rows = []
    for process in network.processes:
        match process.kind:
            case "source":
                widths = (0, 1)
            case "sink":
                widths = (1, 0)
            case _:
                widths = (len(process.function.givens), len(process.targets))
        rows.append(f"{{{widths[0]}, {widths[1]}}}")
    return ", ".join(rows) or "{0, 0}"


def _kernel(
    network: Network, declarations: list[str], storages: list[Storage], feeds: list[Storage]
) -> list[str]:
    lines = [
        "static void kernel(void **args)\n{",
        "(void)args;",
    ]
    lines += [f"char *const m{m.index} = b{m.index};" for m in network.memories]
    for s in storages:
        assert s.memory is not None
        if s.is_plain:
            lines.append(f"{s.type} *const v{s.index} = ({s.type} *)m{s.memory.index};")
        lines.append(f"TimeStamp *const s{s.index} = h{s.index};")
        if s.twice:
            lines.append(f"TimeStamp *const x{s.index} = k{s.index};")
    lines += [f"u64 f{s.index} = 0;" for s in feeds]
    lines += declarations
    lines += _ranges(network)
    lines += network.body
    lines += [f"seen[{s.index}] |= f{s.index} & 1;" for s in feeds]
    if network.result is not None:
        kind = network.result.type
        lines.append(
            f"if (dump) {{ {kind} value = {network.result.cell('0')}; "
            f"put(R_RESULT, 0, 1, sizeof value, &value); }}"
        )
    lines.append("}")
    return lines


def _ranges(network: Network) -> list[str]:
    """Tell `_periods.h` where time stamps are, and which processes write them."""
    lines = ["#if PERIODS"]
    writers: dict[int, list[int]] = {}
    sources = {port.storage: port for port in network.sources}
    for process in network.processes:
        for storage in process.target_storage:
            writers.setdefault(storage, []).append(process.index)
    for port in network.sources:
        writers.setdefault(port.storage, []).append(port.process)
    for s in network.storages:
        own = writers.get(s.index, [])
        listed = ", ".join([*map(str, own), "CONSTANT"])
        noted = int(s.is_outer and (s.written or s.reached))
        base = f"&s{s.index}" if s.in_registers else f"s{s.index}"
        step = "-1" if own else "0"
        source = sources.get(s.index)
        if source is not None and own == [source.process] and not s.written and not s.reached:
            whole = source.ranges == tuple((0, extent) for extent in s.dims) and not source.skip
            step = f"(int64_t)process[{source.process}].interval" if whole else "-1"
        lines.append(f"static const u32 w{s.index}[] = {{{listed}}};")
        lines.append(f"register_range({base}, {s.size}ull, {noted}, w{s.index}, {step});")
    return [*lines, "#endif"]


def _bind(network: Network, *, hosted: bool) -> list[str]:
    """Find the memory of each variable: the caller's, or memory of the program's own."""
    lines = []
    if hosted:
        lines += [
            f"extern void *cyclescope_global_{m.name}(void);"
            for m in network.memories
            if m.role == "global"
        ]
    lines.append("static void bind(void **args)\n{\n(void)args;")
    for m in network.memories:
        if hosted and m.role == "param":
            where = f"args[{m.parameter}]" if m.by_value else f"*(char **)args[{m.parameter}]"
            lines.append(f"b{m.index} = {where};")
        elif hosted and m.role == "global":
            lines.append(f"b{m.index} = cyclescope_global_{m.name}();")
        else:
            lines.append(f"if (!b{m.index}) b{m.index} = claim({m.size}ull, 1);")
    lines.append("}")
    return lines


def _leaves(memory: Memory) -> str:
    rows = []
    for s in memory.storages:
        inner = 1
        for extent, _ in s.steps:
            inner *= extent
        dims = ", ".join(f"{{{extent}, {size}}}" for extent, size in s.steps)
        rows.append(
            f"{{{s.start}, {s.type.bits // 8}, {s.index}, {len(s.steps)}, {{{dims}}}, {inner}}}"
        )
    return ", ".join(rows)


def _make_up(
    storages: list[Storage], feeds: list[Storage], *, made_up: bool, hosted: bool
) -> list[str]:
    """Give parameters and globals values, from a file or from nothing."""
    if not made_up:
        return []
    lines = ["static void make_up(const char *file)\n{"]
    memories = {s.memory.index: s.memory for s in storages if s.memory is not None}
    lines += [f"char *const m{n} = b{n}; (void)m{n};" for n in memories]
    for s in storages:
        if s.role == "param" or (s.role == "global" and not (hosted and s.initialised)):
            lines += _fill(s)
    lines.append("if (!file) return;")
    lines.append('FILE *data = fopen(file, "rb"); if (!data) exit(4);')
    for s in feeds:
        keeps = hosted and s.initialised and s.role == "global"
        lines.append(
            f"for (u64 i = 0; i < {s.size}ull; i++) {{ {s.type} value; "
            f"if (fread(&value, sizeof value, 1, data) != 1) exit(4); "
            + ("" if keeps else f"{_cell(s, 'i')} = value; ")
            + "}"
        )
    lines.append("fclose(data);\n}")
    if hosted:
        lines.append("void cyclescope_make_up(void **args)\n{")
        lines.append('bind(args); make_up(getenv("CYCLESCOPE_DATA"));\n}')
    return lines


def _prepare(network: Network, storages: list[Storage], feeds: list[Storage]) -> list[str]:
    """Shadows, initial values, sources."""
    ports = (("source", network.sources), ("sink", network.sinks))
    lines = [f"static Port {kind}[{len(given) + 1}];" for kind, given in ports]
    lines.append("static void prepare(void)\n{")
    lines += [f"char *const m{m.index} = b{m.index}; (void)m{m.index};" for m in network.memories]
    lines.append("dump = next();")
    lines.append("#if PERIODS")
    lines.append("periods_on = 1; log_limit = (u32)(memory_for_work / 4096 + 1024);")
    lines.append("#endif")
    for s in storages:
        lines.append(f"h{s.index} = claim({s.size}ull, sizeof *h{s.index});")
    for s in storages:
        if s.role == "static":
            lines += _fill(s)
    for s in feeds:
        lines.append(f"unwritten(h{s.index}, {s.size}ull);")
    for kind, given in ports:
        lines.append(f"for (int i = 0; i < {len(given)}; i++) read_port(&{kind}[i]);")
    if network.moving:
        for m in network.memories:
            lines.append(f"static const Leaf leaf{m.index}[] = {{{_leaves(m)}}};")
            lines.append(
                f"region[{m.index}] = (Region){{b{m.index}, {m.size}ull, {m.element}, "
                f"leaf{m.index}, {len(m.storages)}}};"
            )
        lines += [f"shadow_of[{s.index}] = &h{s.index};" for s in storages]
    lines.append("if (dump) dump_values(R_INITIAL);")
    for n, port in enumerate(network.sources):
        lines.append(f"feed(&source[{n}], h{port.storage});")
    for s in storages:
        if s.twice:
            lines.append(f"k{s.index} = claim({s.size}ull, sizeof *k{s.index});")
            lines.append(f"memcpy(k{s.index}, h{s.index}, {s.size}ull * sizeof *k{s.index});")
    lines.append("}")
    lines.append("static void dump_values(u32 tag)\n{")
    lines += [f"char *const m{m.index} = b{m.index}; (void)m{m.index};" for m in network.memories]
    for s in feeds:
        if s.is_plain:
            lines.append(f"put(tag, {s.index}, {s.type.bits // 8}, {s.size}ull, m{_memory(s)});")
            continue
        lines.append(
            f"{{ {s.type} *all = claim({s.size}ull, sizeof *all); "
            f"for (u64 i = 0; i < {s.size}ull; i++) all[i] = {_cell(s, 'i')}; "
            f"put(tag, {s.index}, sizeof *all, {s.size}ull, all); free(all); }}"
        )
    lines.append("(void)tag;\n}")
    return lines


def _memory(storage: Storage) -> int:
    assert storage.memory is not None
    return storage.memory.index


def _cell(storage: Storage, offset: str) -> str:
    """An element, where the storage has no name of its own."""
    if storage.is_plain:
        return f"(({storage.type} *)m{_memory(storage)})[{offset}]"
    return storage.cell(offset)


def _conclude(network: Network, feeds: list[Storage]) -> list[str]:
    lines = ["static void conclude(void)\n{"]
    for n, port in enumerate(network.sources):
        lines.append(f"fed(&source[{n}], seen[{port.storage}]);")
    sources = {port.storage: n for n, port in enumerate(network.sources)}
    for n, port in enumerate(network.sinks):
        source = sources.get(port.storage)
        live = "0" if source is None else f"is_fed(&source[{source}], seen[{port.storage}])"
        drain = f"drain(&sink[{n}], h{port.storage}, {live});"
        lines.append(drain if port.certain else f"if (seen[{port.storage}] & WROTE) {drain}")
    lines.append("put_processes();")
    lines.append("#if PERIODS")
    lines.append("put(R_SKIPPED, 0, sizeof(u64), 1, &skipped);")
    lines.append("#endif")
    lines.append("put(R_SEEN, 0, sizeof(u64), STORAGES, seen);")
    lines.append(f"put(R_TESTS, 0, sizeof(u64), {len(network.tests)}, tests);")
    if feeds:
        lines.append("if (dump) dump_values(R_FINAL);")
    lines.append("}")
    return lines


def _fill(storage: Storage) -> list[str]:
    size = f"{storage.size}ull"
    if storage.initialised or storage.role == "static":
        given = [
            (at, literal(value, storage.type)) for at, value in storage.initial.items() if value
        ]
        if not given:
            return []
        # A statement for each would take a compiler minutes.
        table = ", ".join(f"{{{at}, {value}}}" for at, value in given)
        return [
            f"{{ static const struct {{ u64 at; {storage.type} value; }} given[] = {{{table}}};",
            "for (u64 i = 0; i < sizeof given / sizeof *given; i++) "
            f"{_cell(storage, 'given[i].at')} = given[i].value; }}",
        ]
    if storage.pointer:
        return []
    if not storage.is_plain:
        value = f"1 + scatter(i + ((u64){storage.index} << 40)) % 7"
        if storage.type.is_float:
            value = f"0.5 + (double)scatter(i + ((u64){storage.index} << 40)) / (1 << 24)"
        return [f"for (u64 i = 0; i < {size}; i++) {_cell(storage, 'i')} = {value};"]
    name = f"(({storage.type} *)m{_memory(storage)})"
    if storage.type.is_float:
        return [f"FILL_FLOAT({name}, {size}, {storage.index});"]
    return [f"FILL_INT({name}, {size}, {storage.index});"]


def parameters(
    network: Network,
    *,
    read: int,
    write: int,
    memory: int,
    detail_limit: int,
    dump: bool,
    resources: int = 0,
) -> list[int]:
    """The words of the parameter file, in the order in which the program takes them."""
    words = [read, write, memory, detail_limit, resources]
    for process in network.processes:
        words += [process.latency, process.interval, len(process.operands)]
    words.append(int(dump))
    for port in (*network.sources, *network.sinks):
        words += _port(network, port)
    return words


def _port(network: Network, port: Port) -> list[int]:
    storage = network.storages[port.storage]
    words = [2 if port.certain else 1, port.process, len(storage.dims)]
    for extent, (low, high) in zip(storage.dims, port.ranges, strict=True):
        words += [extent, low, high]
    return [*words, len(port.skip), *port.skip]

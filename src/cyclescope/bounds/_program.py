"""The C program that runs a kernel with time stamps."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from cyclescope.bounds._forms import literal

if TYPE_CHECKING:
    from cyclescope.bounds._network import Network, Port, Storage

__all__ = ["parameters", "program_text"]


@cache
def _runtime() -> str:
    return (resources.files("cyclescope.bounds") / "_runtime.h").read_text(encoding="utf-8")


def program_text(network: Network, declarations: list[str]) -> str:
    """The program; which estimates and how wide its stamps are is left to macros.

    The compiler sets STAMP, ABSOLUTE, UNBOUNDED and DETAIL with -D.
    """
    storages = [s for s in network.storages if not s.in_registers]
    lines = [
        "#include <math.h>",
        f"#define PROCESSES {len(network.processes)}",
        f"#define STORAGES {len(network.storages)}",
        _runtime(),
        f"static u64 tests[{len(network.tests) + 1}];",
        f"static u64 seen[{len(network.storages) + 1}];",
    ]
    lines += [f"static {s.type} *g{s.index}; static Stamp *h{s.index};" for s in storages]
    lines += [f"static Stamp *k{s.index};" for s in storages if s.twice]
    feeds = [s for s in storages if s.is_outer]
    for storage in feeds:
        noted = f"SEE(f{storage.index}, s)" if storage.written else "(void)0"
        lines.append(f"#define SEE{storage.index}(s) {noted}")
    lines.append("static void kernel(void)\n{")
    for s in storages:
        lines.append(f"{s.type} *const v{s.index} = g{s.index};")
        lines.append(f"Stamp *const s{s.index} = h{s.index};")
        if s.twice:
            lines.append(f"Stamp *const x{s.index} = k{s.index};")
    lines += [f"u64 f{s.index} = 0;" for s in feeds]
    lines += declarations
    lines += network.body
    lines += [f"seen[{s.index}] = f{s.index};" for s in feeds]
    lines.append("}")
    lines += _main(network, storages, feeds)
    return "\n".join(lines) + "\n"


def _main(network: Network, storages: list[Storage], feeds: list[Storage]) -> list[str]:
    lines = ["int main(int argc, char **argv)\n{"]
    lines.append('if (argc < 3 || !(result = fopen(argv[2], "wb"))) return 4;')
    lines.append("setvbuf(result, 0, _IOFBF, 1 << 20);")
    lines.append("load_parameters(argv[1]);")
    lines.append("u64 dump = next();")
    for s in storages:
        lines.append(f"g{s.index} = claim({s.size}ull, sizeof *g{s.index});")
        lines.append(f"h{s.index} = claim({s.size}ull, sizeof *h{s.index});")
    for s in storages:
        if s.is_outer or s.initialised:
            lines += _fill(s)
    for s in feeds:
        lines.append(f"unwritten(h{s.index}, {s.size}ull);")
    ports = (("source", network.sources), ("sink", network.sinks))
    for kind, given in ports:
        lines.append(f"static Port {kind}[{len(given) + 1}];")
        lines.append(f"for (int i = 0; i < {len(given)}; i++) read_port(&{kind}[i]);")
    lines.append("if (argc > 3) {")
    lines.append('FILE *data = fopen(argv[3], "rb"); if (!data) return 4;')
    for s in feeds:
        size = f"sizeof *g{s.index}"
        lines.append(f"if (fread(g{s.index}, {size}, {s.size}ull, data) != {s.size}ull) return 4;")
    lines.append("fclose(data); }")
    for s in feeds:
        lines.append(
            f"if (dump) put(R_INITIAL, {s.index}, sizeof *g{s.index}, {s.size}ull, g{s.index});"
        )
    for n, port in enumerate(network.sources):
        lines.append(f"feed(&source[{n}], h{port.storage});")
    for s in storages:
        if s.twice:
            lines.append(f"k{s.index} = claim({s.size}ull, sizeof *k{s.index});")
            lines.append(f"memcpy(k{s.index}, h{s.index}, {s.size}ull * sizeof *k{s.index});")
    lines.append("kernel();")
    for n, port in enumerate(network.sources):
        lines.append(f"fed(&source[{n}], seen[{port.storage}]);")
    sources = {port.storage: n for n, port in enumerate(network.sources)}
    for n, port in enumerate(network.sinks):
        source = sources.get(port.storage)
        live = "0" if source is None else f"is_fed(&source[{source}], seen[{port.storage}])"
        lines.append(f"drain(&sink[{n}], h{port.storage}, {live});")
    lines.append("put_processes();")
    lines.append("put(R_SEEN, 0, sizeof(u64), STORAGES, seen);")
    lines.append(f"put(R_TESTS, 0, sizeof(u64), {len(network.tests)}, tests);")
    for s in feeds:
        lines.append(
            f"if (dump) put(R_FINAL, {s.index}, sizeof *g{s.index}, {s.size}ull, g{s.index});"
        )
    lines.append("return fclose(result) ? 4 : 0;\n}")
    return lines


def _fill(storage: Storage) -> list[str]:
    name, size = f"g{storage.index}", f"{storage.size}ull"
    if storage.initialised:
        return [
            f"{name}[{offset}] = {literal(number, storage.type)};"
            for offset, number in storage.initial.items()
        ]
    if storage.type.is_float:
        return [f"FILL_FLOAT({name}, {size}, {storage.index});"]
    return [f"FILL_INT({name}, {size}, {storage.index});"]


def parameters(
    network: Network, *, read: int, write: int, memory: int, detail_limit: int, dump: bool
) -> list[int]:
    """The words of the parameter file, in the order in which the program takes them."""
    words = [read, write, memory, detail_limit]
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

"""One list of the C that is refused, for `bounds` and `hls`: each row is tried with both."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclescope import bounds, hls
from cyclescope.c import Construct, Tool, refused_table
from cyclescope.errors import SourceError

HEAD = """#include <math.h>
#include <stdio.h>
union both { int n; float x; };
struct packed { int n : 3; };
typedef float v4 __attribute__((vector_size(16)));
int again(int n) { if (n > 1) return again(n - 1) * 2; return n; }
int other(int n);
int one(int n) { return n + 1; }
"""
# Statements on `int a[8], float f[8]`: the least that has the construct.
EXAMPLES = {
    Construct.RECURSION: "a[0] = again(a[1]);",
    Construct.UNION: "union both u; u.n = a[1]; a[0] = u.n;",
    Construct.PACKED: "struct packed p; p.n = a[1]; a[0] = p.n;",
    Construct.NUMBER: "long double d = a[1]; a[0] = d;",
    Construct.VECTOR: "v4 v = {1, 2, 3, 4}; v = v + v; f[0] = v[1];",
    Construct.FUNCTION_POINTER: "int (*p)(int) = one; a[0] = p(a[1]);",
    Construct.NO_BODY: "a[0] = other(a[1]);",
    Construct.MATHS: "f[0] = tanf(f[1]);",
    Construct.FMA: "f[0] = fmaf(f[1], f[2], f[3]);",
    Construct.ASSEMBLY: '__asm__("nop"); a[0] = a[1] + 1;',
    Construct.GOTO: "if (a[1] > 3) goto in; if (a[2]) { in: a[2] = 1; }",
    Construct.SWITCH: "switch (a[1]) { case 1 ... 300: a[0] = a[2] + 1; }",
    Construct.INITIAL: "int t[2000] = {1}; a[0] = t[a[1] & 1];",
    Construct.STRING: 'const char *s = "abc"; a[0] = s[1];',
    Construct.COMPOUND: "a[0] = ((int[]){1, 2, 3})[a[1] & 1];",
    Construct.OTHER: "a[0] = ({ int t = a[1]; t + 1; });",
}
BOUNDS = "void kernel(int a[8], float f[8]) {{\n{}\n}}\n"
HLS = """void kernel(int a[8], float f[8]) {{
#pragma omp target map(tofrom: a[0:8], f[0:8])
{{
{}
}}
}}
"""


def told(tool: Tool, construct: Construct) -> str:
    """Return a tool's message about an example; empty if it accepts it."""
    body = EXAMPLES[construct]
    try:
        if tool is Tool.BOUNDS:
            bounds.estimate("k.c", text=HEAD + BOUNDS.format(body), kernel="kernel")
        else:
            hls.compile_c("k.c", text=HEAD + HLS.format(body))
    except SourceError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("construct", list(Construct))
@pytest.mark.parametrize("tool", list(Tool))
def test_each_tool_takes_or_refuses_what_the_list_says(tool: Tool, construct: Construct) -> None:
    message = told(tool, construct)
    reason = construct.reason(tool)
    if not reason:
        assert message == ""
        return
    assert message.startswith("k.c:")
    assert message.endswith(f" is not supported: {reason}; {construct.instead}")


def test_the_page_has_the_list() -> None:
    page = Path(__file__).parent.parent / "docs" / "c-language.md"
    assert refused_table() in page.read_text(encoding="utf-8")

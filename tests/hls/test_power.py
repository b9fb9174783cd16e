"""`pow` and `powf`: special cases as the host's library has them, and how near the rest is."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from cyclescope.errors import SourceError
from cyclescope.hls import Host, compile_c, interpret

SPECIAL = (
    "0", "-0.0f", "1", "-1", "2", "-2", "0.5f", "-0.5f", "3", "-3", "INFINITY", "-INFINITY", "NAN",
    "1e-40f", "-1e-40f", "3e38f", "-3e38f", "16777216", "16777215", "-16777215", "33554432", "2.5f",
)  # fmt: skip
TEXT = f"""\
#include <math.h>
#include <stdlib.h>
float special[] = {{ {", ".join(SPECIAL)} }}, x[1024], y[1024], z[1024];
int main(void) {{
    int count = sizeof special / sizeof *special;
    unsigned r = 1;
    for (int i = 0; i < 1024; i++) {{
        r = r * 1664525 + 1013904223;
        x[i] = i < count * count ? special[i / count] : ldexpf(r >> 8, (int)(r >> 3) % 60 - 54);
        r = r * 1664525 + 1013904223;
        y[i] = i < count * count ? special[i % count] : ldexpf((int)r, -(int)(r >> 5) % 6 - 26);
    }}
#pragma omp target map(to: x, y) map(from: z)
    for (int i = 0; i < 1024; i++)
        z[i] = powf(x[i], y[i]);
}}
"""


@pytest.mark.usefixtures("host_compiler")
def test_a_power_of_floats_is_rounded_once() -> None:
    program = compile_c("p.c", text=TEXT)
    with Host(program) as host:
        native = host.run()
    found = interpret(program.region, native.inputs, native.scalars)["z"]
    x, y = (np.frombuffer(native.inputs[n], "<f4") for n in "xy")
    z, library = (np.frombuffer(data, "<f4") for data in (found, native.outputs["z"]))
    count = len(SPECIAL) ** 2
    bits, wanted = z[:count].view("<u4"), library[:count].view("<u4")
    nan = np.isnan(z[:count]) & np.isnan(library[:count])
    assert np.array_equal(bits[~nan], wanted[~nan])
    with np.errstate(all="ignore"):
        exact = np.power(x.astype("f8"), y.astype("f8"))
        normal = (np.abs(exact) > 2.0**-125) & (np.abs(exact) < 2.0**127)
        unit = np.spacing(np.abs(exact[normal]).astype("f4")).astype("f8")
        assert normal.sum() > 500
        # Beside a power of two the spacing below is half of that above.
        assert np.max(np.abs(z[normal] - exact[normal]) / unit) < 0.501


@pytest.mark.parametrize("kind", ["double", "float"])
def test_powers_that_are_exact_need_no_function(kind: str) -> None:
    f = "f" if kind == "float" else ""
    program = compile_c(
        "p.c",
        text=f"#include <math.h>\n{kind} a[5];\nint main(void) {{\n#pragma omp target\n{{ "
        f"{kind} x = a[0]; a[1] = pow{f}(x, 2); a[2] = pow{f}(x, -1); a[3] = pow{f}(x, 0);"
        f"a[4] = pow{f}(x, 1); }} }}",
    )
    form = "<5f" if f else "<5d"
    outputs = interpret(program.region, {"a": struct.pack(form, -2.0, 0, 0, 0, 0)}, ())
    x, *powers = struct.unpack(form, outputs["a"])
    assert powers == [x * x, 1 / x, 1, x]


def test_others_of_doubles_are_refused() -> None:
    text = "#include <math.h>\ndouble a[2];\nint main(void) {\n#pragma omp target\na[0] = {}; }}"
    with pytest.raises(SourceError, match=r"p.c:5:.*pow\(\) is not supported: .* for powf"):
        compile_c("p.c", text=text.replace("{}", "pow(a[0], a[1])").replace("}}", "}"))

"""Loops that are not executed to the end, against runs that do."""

from __future__ import annotations

import pytest

from bounds.periods import Outcome, Writer, differences, run
from cyclescope.bounds import estimate
from cyclescope.errors import SourceError


def same(text: str, **options: int) -> Outcome:
    outcome = run(text, **options)
    assert differences(outcome) == []
    return outcome


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("seed", range(12))
def test_random_nests(seed: int) -> None:
    same(Writer(seed).kernel())


PRODUCT = """
void kernel(double C[{n}][{n}], double A[{n}][{n}], double B[{n}][{n}])
{{
    for (int i = 0; i < {n}; i++)
        for (int k = 0; k < {n}; k++)
            for (int j = 0; j < {n}; j++)
                C[i][j] += A[i][k] * B[k][j];
}}
"""


@pytest.mark.parametrize("memory", [256 << 20, 1 << 16])
def test_a_product_is_skipped_nearly_whole(memory: int) -> None:
    outcome = same(PRODUCT.format(n=48), memory=memory)
    assert outcome.skipped > 0.8 * outcome.full.firings
    assert (outcome.full.absolute.resolution > 1) == (memory < 1 << 20)


def test_a_product_of_many_firings() -> None:
    found = estimate("k.c", text=PRODUCT.format(n=1000))
    assert found.firings == 1000**3
    assert found.records.skipped > 0.99 * found.firings


# Where skipping must end, or must not begin.
@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize(
    ("body", "skips"),
    [
        # a write meets what another access reads, in the middle of the loop
        ("for (int i = 0; i < 60; i++) a[i] = a[30] + b[i];", True),
        ("for (int i = 0; i < 30; i++) a[2 * i] = a[i] + 1.0;", None),
        ("for (int i = 0; i < 60; i++) a[63 - i] = a[i] * b[i];", True),
        # a condition changes
        ("for (int i = 0; i < 60; i++) if (i < 40) s += a[i]; else s += a[i] * b[i];", True),
        ("for (int i = 0; i < 60; i++) if (i == 31) s = b[i]; else s += a[i];", True),
        # an operand that was early comes late
        ("for (int i = 0; i < 60; i++) t += a[i] * b[i];\n"
         "for (int i = 0; i < 60; i++) b[i] = i == 44 ? t : a[i];\n"
         "for (int i = 0; i < 60; i++) s += b[i];", True),
        # steps that grow, counters that go on behind their loop
        ("for (int i = 1; i < 60; i = 2 * i) s += a[i];", False),
        ("int k; for (int i = 0; i < 7; i++) {\n"
         "for (k = 0; k < i; k++) s += a[k]; b[k] = s; }", None),
        ("for (int i = 0, n = 0; i < 10; i++, n += i) s += a[n];", False),
        # values that decide
        ("for (int i = 0; i < 60; i++) if (a[i] > 1.0) s += b[i];", False),
        ("for (int i = 0; i < 60; i++) c[i] = c[i] + 1;\n"
         "for (int i = 0; i < 60; i++) s += a[c[i]];", False),
        ("for (int i = 0; i < 60; i++) s += a[i] > 1.0 ? b[i] : a[i];", False),
        ("for (int i = 0; i < 60; i++) s += a[i] > b[i] ? b[i] : a[i];", True),
        ("for (int i = 0; i < 60; i++) s += a[i / 2];", False),
        ("for (int i = 0; i < 60; i++) c[i] = c[i] / c[0];", False),
        # leaving the loop
        ("for (int i = 0; i < 60; i++) { if (i == 50) break; s += a[i]; }", True),
        ("for (int i = 0; i < 60; i++) { if (i > 50) continue; s += a[i]; }", True),
        ("for (int i = 59; i >= 0; i--) a[i] = a[i + 1] * b[i];", True),
    ],
)  # fmt: skip
def test_where_it_ends(body: str, skips: bool | None) -> None:
    head = "void kernel(double a[64], double b[64], int c[64])\n{\ndouble s = 0, t = 0;\n"
    text = f"{head}{body}\na[0] = s + t;\n}}\n"
    outcome = same(text)
    if skips is not None:
        assert (outcome.skipped > 0) == skips


def test_a_subscript_that_leaves_its_array_is_named_as_without_skipping() -> None:
    text = (
        "void kernel(double a[4][8])\n{\nfor (int i = 0; i < 30; i++) a[1][i] = a[0][i] * 2;\n}\n"
    )
    with pytest.raises(SourceError, match="subscript 8 of a, extent 8"):
        estimate("k.c", text=text)


def test_values_are_computed_to_the_end_when_they_are_asked_for() -> None:
    text = "void kernel(double a[99])\n{\nfor (int i = 1; i < 99; i++) a[i] = a[i - 1] + 1;\n}\n"
    found = estimate("k.c", text=text, values=True, data={"a": [0.0] * 99})
    assert found.records.skipped == 0
    assert found.values["a"].tolist() == [float(i) for i in range(99)]

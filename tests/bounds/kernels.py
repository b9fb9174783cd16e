"""Random small affine kernels."""

from __future__ import annotations

from hypothesis import strategies as st

from bounds.reference import Loop, N, Ref, Statement

RANKS = {"a": 1, "b": 1, "M": 2, "P": 2}


@st.composite
def references(draw: st.DrawFn, variables: tuple[str, ...]) -> Ref:
    array = draw(st.sampled_from(sorted(RANKS)))
    subscripts: list[tuple[str, str | int]] = []
    for _ in range(RANKS[array]):
        how = draw(st.sampled_from(["at", "at", "mirror", "number"] if variables else ["number"]))
        what = draw(st.sampled_from(variables) if how != "number" else st.integers(0, N - 1))
        subscripts.append((how, what))
    return Ref(array, tuple(subscripts))


@st.composite
def statements(draw: st.DrawFn, variables: tuple[str, ...], label: str) -> Statement:
    reads = tuple(draw(st.lists(references(variables), max_size=3)))
    operators = draw(
        st.lists(st.sampled_from("+-*/"), min_size=len(reads) - 1, max_size=len(reads) - 1)
        if len(reads) > 1
        else st.just([])
    )
    return Statement(
        label=label,
        target=draw(references(variables)),
        accumulates=draw(st.booleans()),
        reads=reads,
        operators=tuple(operators),
        latency=draw(st.one_of(st.none(), st.integers(0, 6))),
        interval=draw(st.sampled_from([1, 1, 1, 2, 5])),
    )


@st.composite
def kernels(draw: st.DrawFn) -> tuple[Loop | Statement, ...]:
    counter = [0]

    def nest(depth: int, variables: tuple[str, ...]) -> Loop:
        variable = f"v{depth}"
        inner = (*variables, variable)
        body: list[Loop | Statement] = []
        for _ in range(draw(st.integers(1, 2))):
            if depth < 2 and draw(st.booleans()):
                body.append(nest(depth + 1, inner))
            else:
                counter[0] += 1
                body.append(draw(statements(inner, f"s{counter[0]}")))
        low = draw(st.sampled_from([0, 0, 1, *variables]))
        high = draw(st.sampled_from([N, N, *variables]))
        return Loop(variable, low, high, tuple(body))

    return tuple(nest(0, ()) for _ in range(draw(st.integers(1, 2))))

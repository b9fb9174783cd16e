"""Calls in a region that end the program: the region stops there, and only there."""

from __future__ import annotations

import pytest

from cyclescope.errors import RunError
from cyclescope.hls import compile_c, interpret, measure

TEXT = """\
#include <stdio.h>
#include <stdlib.h>
static int root(int n) {
  if (n < 0) CALL;
  int r = 0;
  while ((r + 1) * (r + 1) <= n) r++;
  return r;
}
int a[2] = {30, 99};
int main(int argc, char **argv) {
  if (argc > 1) a[1] = -1;
#pragma omp target map(tofrom: a)
  for (int i = 0; i < 2; i++) a[i] = root(a[i]);
  printf("%d %d\\n", a[0], a[1]);
}
"""


@pytest.mark.parametrize("call", ["exit(3)", "abort()"])
def test_the_end_of_the_program_stops_the_region(call: str) -> None:
    program = compile_c("e.c", text=TEXT.replace("CALL", call))
    name = call.partition("(")[0]

    def run(first: int, second: int) -> bytes:
        given = first.to_bytes(4, "little") + second.to_bytes(4, "little", signed=True)
        return interpret(program.region, {"a": given}, [])["a"]

    assert run(30, 99) == bytes([5, 0, 0, 0, 9, 0, 0, 0])
    with pytest.raises(RunError, match=rf"e.c:4: thread 0 calls {name}: the region stops; "):
        run(30, -1)


@pytest.mark.long
@pytest.mark.usefixtures("host_compiler")
def test_so_it_does_in_hardware() -> None:
    program = compile_c("e.c", text=TEXT.replace("CALL", "exit(3)"))
    assert measure(program).stdout == b"5 9\n"
    with pytest.raises(RunError, match=r"e.c:4: thread 0 calls exit: the region stops; "):
        measure(program, ["x"])

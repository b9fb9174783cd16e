"""Data races of tasks that the text shows are warnings; what is ordered is none."""

from __future__ import annotations

import pytest

from cyclescope.hls import compile_c

HEAD = """\
int a[8], s, t;
static int f(int n) {
  int i = 0, j = 0;
  FUNCTION
  return i + j + n;
}
int main(void) {
#pragma omp target parallel num_threads(2) map(tofrom: a, s, t)
#pragma omp single
{
  BODY
}
}
"""
TASK = "\n#pragma omp task DATA\n"
WAIT = "\n#pragma omp taskwait\n"


def task(data: str, body: str) -> str:
    return TASK.replace("DATA", data) + body


def warned(body: str, function: str = "") -> list[str]:
    text = HEAD.replace("BODY", body).replace("FUNCTION", function)
    return [w for w in compile_c("t.c", text=text).warnings if "a task" in w]


@pytest.mark.parametrize(
    ("body", "function", "message"),
    [
        (task("", "s = 1;") + task("", "s = 2;"), "", "a task writes s (t.c:1"),
        (task("", "s = 1;") + "t = s;", "", "a task writes s"),
        (task("", "t = s;") + "s = 3;", "", "a task reads s"),
        (task("", "a[2] = 1;") + "t = a[2] + a[1];", "", "a task writes a[2]"),
        (task("", "{" + task("", "s = 1;") + "t = 2; }") + WAIT + "t = s;", "", "a task writes s"),
        (task("depend(out: t)", "s = 1;") + task("", "s++;"), "", "a task writes s"),
        (f"for (int i = 0; i < 4; i++) {task('', 's += i;')}", "", "a task reads s"),
        ("t = f(1);", task("shared(i)", "i = n;") + "j = i;" + WAIT, "a task writes i (t.c:6)"),
        ("if (t)" + task("", "s = 1;") + "s++;", "", "a task writes s"),
        (
            task("depend(out: s)", "s = 1;")
            + task("depend(in: s) depend(out: t)", "t = s;")
            + "\n#pragma omp taskwait depend(in: s)\ns = t;",
            "",
            "a task writes t",
        ),
    ],
)
def test_what_nothing_waits_for_is_a_race(body: str, function: str, message: str) -> None:
    found = warned(body, function)
    assert found
    assert all(w.startswith("t.c:") and ": data race: a task " in w for w in found)
    assert any(message in w for w in found)


@pytest.mark.parametrize(
    ("body", "function"),
    [
        (task("", "s = 1;") + WAIT + "t = s;", ""),
        (task("depend(out: s)", "s = 1;") + task("depend(in: s)", "t = s;"), ""),
        (task("if(0)", "s = 1;") + "t = s;", ""),
        (task("firstprivate(s)", "s = 1;") + "t = s;", ""),
        ("#pragma omp taskgroup\n{" + task("", "s = 1;") + "}\nt = s;", ""),
        (task("", "\n#pragma omp atomic\ns++;") + task("", "\n#pragma omp atomic\ns++;"), ""),
        (task("", "a[0] = 1;") + "a[1] = 2;", ""),
        (task("", "{ int x = s; x++; }") + task("", "{ int x = s; x--; }"), ""),
        ("t = f(1);", task("", "{ i = n; a[0] = i; }") + "j = i;"),
        (
            task("depend(out: s)", "s = 1;") + "\n#pragma omp taskwait depend(in: s)\nt = s;",
            "",
        ),
        ("\n#pragma omp taskloop private(t)\nfor (s = 0; s < 4; s++) t = s;", ""),
        ("if (t)" + task("", "s = 1;") + "else s = 2;", ""),
    ],
)
def test_what_is_waited_for_or_its_own_is_none(body: str, function: str) -> None:
    assert not warned(body, function)


def test_so_is_a_variable_that_the_tasks_of_a_loop_share() -> None:
    text = HEAD.replace("FUNCTION", "").replace(
        "BODY", "\n#pragma omp taskloop\nfor (s = 0; s < 4; s++) for (t = 0; t < 2; t++) a[s] = t;"
    )
    assert [w for w in compile_c("t.c", text=text).warnings if "tasks of the loop write t" in w]


def test_one_thread_has_no_races() -> None:
    text = HEAD.replace("BODY", task("", "s = 1;") + "t = s;").replace("FUNCTION", "")
    assert not compile_c("t.c", text=text, threads=1).warnings

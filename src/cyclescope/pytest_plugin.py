"""A pytest plugin: cycle budgets as tests.

    def test_the_queue(cyclescope):
        run = cyclescope.calyx("queue.futil", "queue.json")
        cyclescope.check(run.profile, "cycles <= 1200", "useful >= 30%")

    def test_the_product(cyclescope):
        cyclescope.check(cyclescope.profile("hls", "gemm.c", "-D", "DIM=8"), "cycles <= 13_000")

Installed with the package, it offers the fixture `cyclescope`. Relative paths are relative to the
folder of the test's file. Cycles of everything checked go into pytest's own JUnit file
(`--junitxml`) as properties.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cyclescope.calyx import CalyxRun
    from cyclescope.model import Profile

__all__ = ["Cyclescope", "cyclescope"]


class Cyclescope:
    """The value of the fixture: profiles, and checks that fail the test."""

    def __init__(self, folder: Path, record: Callable[[str, object], None]) -> None:
        self._folder = folder
        self._record = record

    def load(self, path: str | Path) -> Profile:
        """Load a profile."""
        __tracebackhide__ = True
        from cyclescope.model import load

        with _in_one_line():
            return load(self._folder / path)

    def calyx(
        self, program: str | Path, data: str | Path | None = None, **options: Any
    ) -> CalyxRun:
        """Profile a Calyx program; options as those of `cyclescope.calyx.CalyxOptions`.

        Returns:
            The run: `profile` and `memories` (their contents at the end).
        """
        __tracebackhide__ = True
        from cyclescope.calyx import CalyxOptions, profile_program

        chosen = CalyxOptions(**options)
        values = None if data is None else self._folder / data
        with _in_one_line():
            return profile_program(self._folder / program, values, chosen)

    def profile(self, command: str, *arguments: str | Path) -> Profile:
        """Profile with any source, as on the command line, without the output.

        Args:
            command: `calyx`, `bounds`, `hls`.
            arguments: what follows it; paths are relative to the folder of the test's file.
        """
        __tracebackhide__ = True
        from cyclescope._files import scratch
        from cyclescope.model import load
        from cyclescope.sim import Policy, finish

        with scratch("pytest") as folder:
            made = folder / "made.cyc"
            done = finish(
                [sys.executable, "-m", "cyclescope", command, *map(str, arguments), "-o", made],
                Policy(confined=False),
                cwd=self._folder,
            )
            if done.end.status:
                said = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
                pytest.fail(said[-1] if said else f"{command} failed", pytrace=False)
            with _in_one_line():
                return load(made)

    def check(
        self,
        profile: Profile,
        *budgets: str,
        against: Profile | str | Path | None = None,
        fail_on: Sequence[str] = ("cycles > +0",),
        strict: bool = False,
    ) -> None:
        """Fail the test unless all budgets hold and nothing in `fail_on` does.

        Args:
            profile: what to check.
            budgets: limits as of `cyclescope check --budget`.
            against: a profile or its file to compare with.
            fail_on: changes since `against`, as of `--fail-on`.
            strict: fail on lost data too.
        """
        __tracebackhide__ = True
        from cyclescope.analyse import check, diff
        from cyclescope.views import check_text, diff_text

        base = self.load(against) if isinstance(against, (str, Path)) else against
        self._record("cycles", profile.cycles)
        changes = fail_on if base else ()
        with _in_one_line():
            findings = check(profile, budgets, against=base, fail_on=changes, strict=strict)
        if all(finding.passed for finding in findings):
            return
        message = check_text(profile, findings)
        if base is not None:
            message += "\n" + diff_text(diff(base, profile), top=10)
        pytest.fail(message, pytrace=False)


@contextmanager
def _in_one_line() -> Iterator[None]:
    """Our errors say all in their line; a traceback through our code would say nothing more."""
    __tracebackhide__ = True
    from cyclescope.errors import CyclescopeError

    try:
        yield
    except CyclescopeError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.fixture
def cyclescope(request: pytest.FixtureRequest) -> Cyclescope:
    """Profiles and cycle budgets; see `cyclescope.pytest_plugin`."""
    # As pytest's own `record_property` does, but that warns wherever a JUnit file is written.
    properties = request.node.user_properties
    return Cyclescope(request.path.parent, lambda name, value: properties.append((name, value)))

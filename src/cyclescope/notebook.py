"""Profiles in Python and in notebooks: tables as Polars frames, pictures that show themselves.

    import cyclescope
    run = cyclescope.load("run.cyc")
    run                                 # the summary
    run.frame("groups")                 # a Polars frame
    run.flamegraph()                    # interactive where scripts may run
    run.timeline(start=100, end=300).save("part.pftrace")
    run.diff(cyclescope.load("other.cyc"))

What a source made in this process becomes such a profile by `Profile.of`. Pictures and texts have
`save`, which never writes over a file unless told to.
"""

from __future__ import annotations

import html
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope import model
from cyclescope.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    import polars as pl

    from cyclescope import analyse

__all__ = ["Advices", "Comparison", "Findings", "Picture", "Profile", "load"]

_KINDS = {
    "cells": model.Kind.CELL,
    "groups": model.Kind.GROUP,
    "control": model.Kind.CONTROL,
    "primitives": model.Kind.PRIMITIVE,
    "processes": model.Kind.PROCESS,
    "threads": model.Kind.THREAD,
    "states": model.Kind.STATE,
    "loops": model.Kind.LOOP,
    "stages": model.Kind.STAGE,
}
_PARTS = ("frames", "paths", "trees", "runs", "counters")

Bundle = dict[str, str]


def load(path: str | os.PathLike[str]) -> Profile:
    """Read a profile.

    Raises:
        ProfileFileError: the file is absent, not a profile, damaged, cut, or of a newer version.
    """
    return Profile.of(model.load(path))


class Picture:
    """Something to look at: shows itself in a notebook, and can be saved.

    Attributes:
        title: one line.
    """

    def __init__(
        self,
        title: str,
        writers: dict[str, Callable[[], bytes]],
        bundle: Callable[[], Bundle],
    ) -> None:
        self.title = title
        self._writers = writers
        self._bundle = bundle

    def __repr__(self) -> str:
        return f"<{self.title}; save it as {', '.join(self._writers)}>"

    def _repr_mimebundle_(self, **_: Any) -> Bundle:
        """The forms that a notebook chooses from: it shows the best that it can."""
        return {"text/plain": repr(self), **self._bundle()}

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write it to a file, in the format of the name's ending.

        Raises:
            InputError: there is no such format.
            OutputError: the file exists and `force` is not set, or it cannot be written.
        """
        from cyclescope._files import write_whole

        target = Path(path)
        ending = next((e for e in self._writers if target.name.endswith(e)), None)
        if ending is None:
            raise InputError(f"{target}: unknown ending; there are {', '.join(self._writers)}")
        with write_whole(target, force=force) as stream:
            stream.write(self._writers[ending]())


class Comparison(Picture):
    """Two profiles compared; `found` is the `analyse.Diff`, `frame` its changes as a table."""

    def __init__(self, found: analyse.Diff) -> None:
        from cyclescope import views

        self.found = found
        super().__init__(
            views.diff_text(found, top=0).splitlines()[0],
            {
                ".html": lambda: views.diff_html(found),
                ".svg": lambda: views.diff_flamegraph(found),
                ".md": lambda: views.diff_markdown(found).encode(),
                ".json": lambda: views.diff_json(found).encode(),
                ".txt": lambda: views.diff_text(found).encode(),
            },
            lambda: {
                "text/plain": views.diff_text(found),
                "text/markdown": views.diff_markdown(found),
                "text/html": _framed(views.diff_html(found).decode(), 800),
            },
        )

    def frame(self) -> pl.DataFrame:
        """One row a change: status, own (cycles), active, and both sides' instance, stack, line."""
        import json

        from cyclescope import views
        from cyclescope._polars import pl

        rows = []
        for change in json.loads(views.diff_json(self.found))["changes"]:
            row = {key: change[key] for key in ("status", "own", "active")}
            for side in ("before", "after"):
                spot = change[side] or {}
                row[f"{side}_instance"] = spot.get("instance")
                row[f"{side}_stack"] = spot.get("stack")
                row[f"{side}_line"] = spot.get("line")
            rows.append(row)
        schema: dict[str, Any] = {"status": pl.String, "own": pl.Float64, "active": pl.Int64}
        for side in ("before", "after"):
            schema |= {
                f"{side}_instance": pl.String,
                f"{side}_stack": pl.List(pl.String),
                f"{side}_line": pl.Int64,
            }
        return pl.DataFrame(rows, schema=schema)


class _Shown(tuple[Any, ...]):
    """A tuple that a notebook shows as text for people."""

    _text: str
    _markdown: str

    @classmethod
    def make(cls, items: Sequence[Any], text: str, markdown: str) -> Any:
        """The items, and how they are shown."""
        made = cls(items)
        made._text, made._markdown = text, markdown
        return made

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_markdown_(self) -> str:
        return self._markdown


class Advices(_Shown):
    """The advice that `Profile.advise` gives, each an `analyse.Advice`, most cycles first."""

    _html: str

    def _repr_html_(self) -> str:
        return self._html

    def frame(self) -> pl.DataFrame:
        """One row a place: rank, rule, title, name, component, file, line, evidence, cycles saved.

        `saving` is an estimate between `at_least` and `at_most` cycles.
        """
        from cyclescope._polars import pl
        from cyclescope.views import place_record

        schema: dict[str, Any] = {
            "rank": pl.Int64,
            **dict.fromkeys(("rule", "title", "name", "component", "file"), pl.String),
            "line": pl.Int64,
            "evidence": pl.String,
            **dict.fromkeys(("saving", "at_least", "at_most"), pl.Int64),
        }
        rows = [
            {"rank": finding.rank, "rule": finding.rule.name, "title": finding.rule.title}
            | place_record(place)
            for finding in self
            for place in finding.places
        ]
        return pl.DataFrame(rows, schema=schema)


class Findings(_Shown):
    """The findings of `Profile.check`, each an `analyse.Finding`."""

    @property
    def passed(self) -> bool:
        """Return whether all is as it should be."""
        return all(finding.passed for finding in self)


class Profile(model.Profile):
    """A profile that shows itself. All that `cyclescope.model.Profile` has, and these."""

    @classmethod
    def of(cls, profile: model.Profile) -> Profile:
        """The same profile, with everything here."""
        return cls(**{field.name: getattr(profile, field.name) for field in fields(profile)})

    def __eq__(self, other: object) -> bool:
        """Equal contents, however it is shown."""
        if not isinstance(other, model.Profile):
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in fields(self))

    __hash__ = None

    def __repr__(self) -> str:
        from cyclescope.views import summary_text

        return summary_text(self).rstrip("\n")

    def _repr_html_(self) -> str:
        from cyclescope.views import summary_html

        return summary_html(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write it to a `.cyc` file.

        Raises:
            OutputError: the file exists and `force` is not set, or it cannot be written.
        """
        model.save(self, path, force=force)

    def frame(self, what: str = "groups") -> pl.DataFrame:
        """A table of the profile as a Polars frame.

        Args:
            what: `account`: one row a use, with its cycles and share; `cells`, `groups`,
                `control`, `primitives`, `processes`, `threads`, `states`, `loops`, `stages`:
                one row each, with the columns of `cyclescope table`; or
                `frames`, `paths`, `trees`, `runs`, `counters`: the profile's own parts.

        Raises:
            InputError: there is no such table.
        """
        if what in _PARTS:
            part: pl.DataFrame = getattr(self, what)
            return part
        if what not in _KINDS and what != "account":
            known = ("account", *_KINDS, *_PARTS)
            raise InputError(f"no table {what}; there are {', '.join(known)}")
        import io

        from cyclescope._polars import pl

        if what == "account":
            from cyclescope.analyse import account

            whole = account(self)
            schema = {"use": pl.String, "units": pl.Int64, "share": pl.Float64}
            uses = whole.parts.items()
            rows = [(use.label, units, float(whole.share(units))) for use, units in uses]
            return pl.DataFrame(rows, schema=schema, orient="row")
        from cyclescope.views import table_view

        return pl.read_parquet(io.BytesIO(table_view(self, _KINDS[what], "parquet")))

    def flamegraph(self, *, scaled: bool = True) -> Picture:
        """The flame graph; `scaled` splits a cycle among what runs in parallel."""
        from cyclescope.views import flamegraph

        def svg() -> bytes:
            return flamegraph(self, scaled=scaled)

        return Picture(
            f"flame graph of {self.meta.title}",
            {".svg": svg},
            lambda: {"image/svg+xml": svg().decode(), "text/html": _framed_svg(svg())},
        )

    def timeline(self, *, start: int = 0, end: int | None = None) -> Picture:
        """The timeline of some cycles: a still picture here, a Perfetto trace when saved.

        Args:
            start: first cycle to show.
            end: cycle after the last to show; None for the run's end.

        Raises:
            InputError: no cycle of the run is in the window.
        """
        from cyclescope.views import timeline_svg

        svg = timeline_svg([self], start=start, end=end)
        return Picture(
            f"timeline of {self.meta.title}",
            {
                ".svg": lambda: svg,
                ".pftrace": lambda: self._trace(start, end, compress=False),
                ".pftrace.gz": lambda: self._trace(start, end, compress=True),
            },
            lambda: {"image/svg+xml": svg.decode()},
        )

    def _trace(self, start: int, end: int | None, *, compress: bool) -> bytes:
        import io

        from cyclescope.views import write_timeline

        buffer = io.BytesIO()
        write_timeline(
            self, buffer, period_ps=self.meta.period_ps, start=start, end=end, compress=compress
        )
        return buffer.getvalue()

    def diff(self, after: model.Profile) -> Comparison:
        """Compare: this one is before, the other after."""
        from cyclescope.analyse import diff

        return Comparison(diff(self, after))

    def advise(self) -> Advices:
        """List the changes that save cycles, most cycles first."""
        from cyclescope import analyse, views

        found = analyse.advise(self)
        shown = views.advice_text(self, found), views.advice_markdown(self, found)
        advices: Advices = Advices.make(found, *shown)
        advices._html = views.advice_html(self, found)
        return advices

    def check(
        self,
        *budgets: str,
        against: model.Profile | None = None,
        fail_on: Sequence[str] = ("cycles > +0",),
        strict: bool = False,
    ) -> Findings:
        """Check it with budgets, or compare it with an earlier profile; see `analyse.check`."""
        from cyclescope import analyse, views

        changes = fail_on if against is not None else ()
        found = analyse.check(self, budgets, against=against, fail_on=changes, strict=strict)
        shown = views.check_text(self, found), views.check_markdown(self, found)
        findings: Findings = Findings.make(found, *shown)
        return findings

    def query(self, sql: str) -> pl.DataFrame:
        """Ask in SQL; needs the extra `query`. Tables as in `cyclescope query`."""
        from cyclescope.analyse import query

        return query(self, sql).frame()


def _framed_svg(svg: bytes) -> str:
    """A picture in a frame as high as it is, as wide as the notebook."""
    height = re.search(rb'<svg[^>]* height="(\d+)', svg)
    style = "<style>body{margin:0}svg{max-width:100%;height:auto}</style>"
    document = style + svg.decode().partition("?>")[2].strip()
    return _framed(document, min(int(height[1]) + 20, 900) if height else 600)


def _framed(document: str, height: int) -> str:
    """A document of its own inside a notebook: its scripts run, and reach nothing else."""
    return (
        f'<iframe sandbox="allow-scripts" width="100%" height="{height}" style="border:0" '
        f'srcdoc="{html.escape(document, quote=True)}"></iframe>'
    )

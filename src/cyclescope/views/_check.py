"""The findings of a check: for the terminal, for programs, for a CI server, for a pull request."""

from __future__ import annotations

import io
import json
import math
from typing import TYPE_CHECKING
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from cyclescope.views._diff import diff_markdown
from cyclescope.views._text import clip, markdown_cell, visible, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.analyse import Diff, Finding
    from cyclescope.model import Profile

__all__ = ["check_json", "check_junit", "check_markdown", "check_text"]

_NAME = 60


def _passed(findings: Sequence[Finding]) -> bool:
    return all(finding.passed for finding in findings)


def check_text(profile: Profile, findings: Sequence[Finding]) -> str:
    """A line for each finding."""
    names = [clip(visible(finding.name), _NAME) for finding in findings]
    width = max(map(width_of, names), default=0)
    lines = [
        f"{'ok  ' if finding.passed else 'FAIL'}  {name}{' ' * (width - width_of(name))}  "
        f"{clip(visible(finding.detail), 2 * _NAME)}"
        for finding, name in zip(findings, names, strict=True)
    ]
    failed = sum(not finding.passed for finding in findings)
    result = f"{failed} of {len(findings)} failed" if failed else f"all {len(findings)} hold"
    return "\n".join([*lines, f"{clip(visible(profile.meta.title), _NAME)}: {result}"]) + "\n"


def check_json(profile: Profile, findings: Sequence[Finding]) -> str:
    """One JSON object, ASCII only: `title`, `cycles`, `passed`, `findings`.

    Each finding has `name`, `passed`, `measured`, `base`, `figure` (what was compared; null if it
    is none or without bound), `detail`.
    """
    records = [
        {
            "name": finding.name,
            "passed": finding.passed,
            "measured": finding.measured,
            "base": finding.base,
            "figure": None
            if finding.figure is None or math.isinf(finding.figure)
            else float(finding.figure),
            "detail": finding.detail,
        }
        for finding in findings
    ]
    head = {
        "title": profile.meta.title,
        "cycles": profile.cycles,
        "passed": _passed(findings),
        "findings": records,
    }
    return json.dumps(head, indent=2) + "\n"


def check_junit(profile: Profile, findings: Sequence[Finding]) -> bytes:
    """JUnit's XML, as CI servers read it: a test case for each finding. No times, no dates."""
    buffer = io.StringIO()
    xml = XMLGenerator(buffer, encoding="utf-8", short_empty_elements=True)
    title = visible(profile.meta.title)
    counts = {
        "tests": str(len(findings)),
        "failures": str(sum(not finding.passed for finding in findings)),
        "errors": "0",
    }
    xml.startDocument()
    xml.startElement("testsuites", AttributesImpl(counts))
    xml.startElement("testsuite", AttributesImpl({"name": "cyclescope", **counts}))
    for finding in findings:
        case = {"classname": title, "name": visible(finding.name)}
        xml.startElement("testcase", AttributesImpl(case))
        if not finding.passed:
            said = visible(finding.detail)
            xml.startElement("failure", AttributesImpl({"message": said}))
            xml.characters(f"{visible(finding.name)}: {said}")
            xml.endElement("failure")
        xml.endElement("testcase")
    xml.endElement("testsuite")
    xml.endElement("testsuites")
    xml.endDocument()
    return (buffer.getvalue() + "\n").encode()


def check_markdown(
    profile: Profile, findings: Sequence[Finding], compared: Diff | None = None, *, top: int = 10
) -> str:
    """For a pull request: the findings as a table, and what changed if a profile was compared."""
    verdict = "passed" if _passed(findings) else "FAILED"
    lines = [
        f"### {markdown_cell(profile.meta.title)}: {profile.cycles:,} cycles, {verdict}",
        "",
        "| | limit | measured |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {'ok' if finding.passed else '**FAIL**'} | {markdown_cell(finding.name)} "
        f"| {markdown_cell(finding.detail)} |"
        for finding in findings
    ]
    text = "\n".join(lines) + "\n"
    return f"{text}\n{diff_markdown(compared, top=top)}" if compared is not None else text

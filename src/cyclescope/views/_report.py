"""The report: profiles as one HTML file that opens from disk, without a network.

The page is written in TypeScript (`web/`) and built into `data/report.html`: one file with one
script and one style sheet, and a content policy that allows nothing but these two, by their hashes.
Here the profiles are put into it, as data that no browser takes for anything else: base64.
"""

from __future__ import annotations

import base64
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from cyclescope.views._report_data import EMBED, pack
from cyclescope.views._text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from cyclescope.model import Profile

__all__ = ["EMBED", "write_report"]

_TITLE = b"<title>cyclescope</title>"
_DATA = b"<!-- profiles -->"


def write_report(
    profiles: Sequence[tuple[str, Profile]], stream: BinaryIO, *, embed: str = "used"
) -> None:
    """Write a report of one or several profiles.

    Args:
        profiles: what to show, each under a name that tells it apart from the others.
        stream: where to write; nothing is read back.
        embed: source text to carry: `none`, `used` (the lines around those that some frame comes
            from) or `all` of what the profiles carry.
    """
    page = (resources.files("cyclescope.views") / "data" / "report.html").read_bytes()
    before, after = page.split(_DATA)
    title = " \u00b7 ".join(visible(name) for name, _ in profiles)
    heading = f"<title>{escape(title)} \u2013 cyclescope</title>".encode()
    stream.write(before.replace(_TITLE, heading))
    for name, profile in profiles:
        attribute = escape(visible(name), quote=True).encode()
        stream.write(b'<script type="application/vnd.cyclescope" data-name="%s">' % attribute)
        stream.write(base64.b64encode(pack(profile, embed=embed)))
        stream.write(b"</script>\n")
    stream.write(after)

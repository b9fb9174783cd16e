"""An SVG document that is being written; all text passes through the XML library's escaping."""

from __future__ import annotations

import io
from importlib import resources
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

__all__ = ["Svg", "own_file"]


def own_file(name: str) -> str:
    """The text of one of our own styles or scripts."""
    return (resources.files("cyclescope.views") / "data" / name).read_text("utf-8")


class Svg:
    """A document, written from its beginning to its end.

    Attributes are keywords: an underscore within a name stands for a hyphen, one behind it keeps
    Python's words apart (`class_`). A line break follows each end, but for `tight` ones.
    """

    def __init__(self) -> None:
        self._buffer = io.StringIO()
        self._xml = XMLGenerator(self._buffer, encoding="utf-8", short_empty_elements=True)

    def begin(self, **attributes: str) -> None:
        """The document's head and its root."""
        self._xml.startDocument()
        self.open("svg", xmlns="http://www.w3.org/2000/svg", **attributes)

    def end(self, *, tight: bool = False) -> bytes:
        """Close the root; gives the document in UTF-8."""
        self.close("svg", tight=tight)
        self._xml.endDocument()
        return self._buffer.getvalue().encode()

    def open(self, name: str, **attributes: str) -> None:
        """Begin an element that has others in it."""
        named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
        self._xml.startElement(name, AttributesImpl(named))

    def close(self, name: str, *, tight: bool = False) -> None:
        """End it."""
        self._xml.endElement(name)
        if not tight:
            self.line()

    def leaf(self, name: str, text: str = "", **attributes: str) -> None:
        """An element with nothing but text in it."""
        self.tight(name, text, **attributes)
        self.line()

    def tight(self, name: str, text: str = "", **attributes: str) -> None:
        """The same without a line break behind it."""
        self.open(name, **attributes)
        self._xml.characters(text)
        self.close(name, tight=True)

    def text(self, text: str, x: float, y: float, style: str, **more: str) -> None:
        """A line of text in a class of the document's style."""
        self.leaf("text", text, x=f"{x:g}", y=f"{y:g}", class_=style, **more)

    def raw(self, name: str, *files: str) -> None:
        """Some of our own files as they are: a CDATA section keeps scripts readable."""
        self.open(name)
        self._xml.ignorableWhitespace(f"<![CDATA[\n{''.join(map(own_file, files))}]]>")
        self.close(name)

    def line(self) -> None:
        """A line break."""
        self._xml.ignorableWhitespace("\n")

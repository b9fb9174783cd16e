"""Text in one line of characters that can be seen.

Whoever says that memory is short, or that the work was interrupted, may load nothing for it: so
this needs no other module, except for characters beyond ASCII.
"""

from __future__ import annotations

__all__ = ["visible"]

# Controls, surrogates, unassigned and private code points, format characters (bidirectional
# overrides, byte order marks), and the line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cs", "Cn", "Co", "Cf", "Zl", "Zp"})


def visible(text: str, *, also: str = "") -> str:
    """The text in one line of characters that can be seen; others become escapes.

    Args:
        text: any text.
        also: further characters that mean something where the text goes.
    """
    if text.isascii() and text.isprintable() and not any(c in text for c in also):
        return text
    return "".join(_escape(c) if c in also or _is_hidden(c) else c for c in text)


def _is_hidden(char: str) -> bool:
    if char.isascii():
        return not char.isprintable()
    try:
        import unicodedata
    except ImportError:  # memory is short
        return True
    return unicodedata.category(char) in _HIDDEN


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

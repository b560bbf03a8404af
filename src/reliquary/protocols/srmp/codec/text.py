"""Text inside elements: what XML reserves is escaped, and what it cannot hold is refused."""

from __future__ import annotations

import re
from typing import Final

from reliquary.base.faults import UsageError

_SPECIAL: Final = re.compile("[^\t\n -%'-;=?-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}


def escaped(text: str) -> str:
    """Text as the content of an element.

    >>> escaped("R&D <1>")
    'R&amp;D &lt;1&gt;'
    """
    return text if _SPECIAL.search(text) is None else _SPECIAL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character not in _ESCAPES:
        raise UsageError(f"XML cannot hold the character U+{ord(character):04X}")
    return _ESCAPES[character]

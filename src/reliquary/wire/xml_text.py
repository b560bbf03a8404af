"""Escapes text for elements and attributes, and refuses characters that XML does not allow."""

from __future__ import annotations

import re
from typing import Final

from reliquary.base.faults import UsageError

_SPECIAL: Final = re.compile("[^\t\n -%'-;=?-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL_IN_ATTRIBUTES: Final = re.compile("[^ !#-%'-;=?-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IMPOSSIBLE: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES: Final = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
}


def escaped(text: str) -> str:
    """Return text as the content of an element.

    >>> escaped("R&D <1>")
    'R&amp;D &lt;1&gt;'
    """
    return text if _SPECIAL.search(text) is None else _SPECIAL.sub(_escape, text)


def quoted(text: str) -> str:
    """Return text as a quoted attribute value; its white space is escaped, so that readers return it
    unchanged.

    >>> quoted('5" disks')
    '"5&quot; disks"'
    """
    return f'"{_SPECIAL_IN_ATTRIBUTES.sub(_escape, text)}"'


def without_impossible(text: str) -> str:
    r"""Return text with a question mark in place of each character that XML does not allow.

    >>> without_impossible("a\x00b")
    'a?b'
    """
    return _IMPOSSIBLE.sub("?", text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character not in _ESCAPES:
        raise UsageError(f"XML cannot hold the character U+{ord(character):04X}")
    return _ESCAPES[character]

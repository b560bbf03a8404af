r"""Finds the encoding of text by the first of these rules that matches.

    its type             VT_BSTR and VT_LPWSTR are UTF-16, VT_LPSTR is UTF-8 or else Windows-1252
    a byte order mark    UTF-8, UTF-16, UTF-32
    an XML declaration   the named encoding; other bytes are damaged, not binary
    zeros                `<\0` and `{\0` begin markup in UTF-16 without a mark
    nothing of these     UTF-8

All other bytes are binary, and so is a text with controls (`has_controls`): documents are asked by
their parsers, which is why that is a question of its own.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from reliquary.wire.xml import declared_encoding

VT_BSTR: Final = 8
VT_LPSTR: Final = 30
VT_LPWSTR: Final = 31

_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),  # before the shorter mark that it begins with
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_MARKED: Final = frozenset(mark[0] for mark, _ in _MARKS)
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]").search
_KNOWN: Final = re.compile(
    r"utf-?(8|16|32)([-_]?[lb]e)?|us-ascii|ascii|iso-8859-\d{1,2}|windows-125\d|shift_jis|euc-(jp|kr)|gb18030|gbk|big5|koi8-[ru]"
)
"""The supported encodings; Python has more, and some of them are none for documents."""
_DECLARATION: Final = re.compile(r"\ufeff?<\?xml[^>]*\?>")


class Text(NamedTuple):
    """The text of the bytes, without a byte order mark."""

    text: str
    encoding: str


class NotInItsEncoding(Exception):
    """A document that violates its own encoding; `at` is the wrong byte, if it is known."""

    def __init__(self, why: str, at: int | None) -> None:
        super().__init__(why)
        self.why = why
        self.at = at


def text_of(data: bytes, body_type: int = 0) -> Text | None:
    """Return the text of these bytes; None for binary ones."""
    if body_type in (VT_BSTR, VT_LPWSTR):
        if (found := _decoded(data, "utf-16-le")) is not None:
            return found
    elif data[0] in _MARKED:
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                return _decoded(data[len(mark) :], encoding)
    if data.startswith(b"<?xml") and (declared := declared_encoding(data)) not in ("", "utf-8", "us-ascii"):
        return _as_declared(data, declared)
    if len(data) > 1 and 0 in data[:2]:
        return _decoded(data, "utf-16-le" if data[0] else "utf-16-be")
    found = _decoded(data, "utf-8")
    if found is None and body_type == VT_LPSTR:
        return _decoded(data, "windows-1252")
    return found


def _decoded(data: bytes, encoding: str) -> Text | None:
    try:
        return Text(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        return None


def _as_declared(data: bytes, encoding: str) -> Text:
    if not _KNOWN.fullmatch(encoding):
        raise NotInItsEncoding(
            f"its XML declaration names the encoding {encoding[:40]!r}, which is not known", None
        )
    try:
        return Text(data.decode(encoding), encoding)
    except UnicodeDecodeError as why:
        raise NotInItsEncoding(
            f"it is not {encoding}, as its XML declaration says: {why.reason}", why.start
        ) from None


def has_controls(text: str) -> bool:
    """Return whether a text has control characters, which show that it is binary."""
    return _CONTROLS(text) is not None


def without_declaration(text: str) -> str:
    """Return a document without its XML declaration, whose encoding applies only to the former bytes."""
    found = _DECLARATION.match(text)
    return text if found is None else text[found.end() :]

"""Reads XML documents; refuses those that could fetch data, expand entities or nest deeply.

A document type is refused, so no entity is ever declared, fetched or expanded; a document cannot be
nested deeper than libxml2 allows without `huge_tree` (256 levels).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from lxml import etree

Element = Any
"""An element of lxml; its stubs do not know that the tags of these trees are always text."""

_PROLOG: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\r\n]|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_ENCODING: Final = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"']*)[\"']")
_UTF8: Final = ("", "utf-8", "utf8", "us-ascii")
_LONGEST_DECLARATION: Final = 512

_PARSER: Final = etree.XMLParser(
    encoding="utf-8",
    resolve_entities=False,
    load_dtd=False,
    no_network=True,
    huge_tree=False,
    remove_comments=True,
    remove_pis=True,
    collect_ids=False,
)


class XmlFault(Exception):
    """Says that bytes are no plain document in UTF-8.

    `why` is the rest of a sentence that begins with "it"; `at` is the offset of the error, if it is
    known.
    """

    def __init__(self, why: str, at: int | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.at = at


def root_of(data: bytes) -> Element:
    """Return the root of a document that is written in UTF-8."""
    if not data.startswith(b"<") or data.startswith((b"<?", b"<!")):
        _check_prolog(data)
    try:
        root = etree.fromstring(data, _PARSER)
    except etree.XMLSyntaxError as why:
        line, column = why.position
        raise XmlFault(f"is not well-formed XML: {str(why)[:200]}", _offset(data, line, column)) from None
    except ValueError as why:
        raise XmlFault(f"is not well-formed XML: {str(why)[:200]}") from None
    if len(_PARSER.error_log):
        _check_log(data)
    return root


def _check_log(data: bytes) -> None:
    """Raise the error that libxml2 hides if a warning follows it.

    libxml2 warns of each namespace that is no absolute URI, for example that of MSMQ.
    """
    errors = _PARSER.error_log.filter_from_errors()
    if len(errors):
        first = errors[0]
        at = _offset(data, first.line, first.column)
        raise XmlFault(f"is not well-formed XML: {first.message[:200]}", at)


def declared_encoding(data: bytes) -> str:
    """Return the encoding in the XML declaration; empty without a declaration."""
    return _declared(data[: data.find(b">", 0, _LONGEST_DECLARATION) + 1])


@lru_cache(maxsize=256)
def _declared(declaration: bytes) -> str:
    """Return the encoding in a declaration; cached, because most documents have equal declarations."""
    found = _ENCODING.match(declaration)
    return "" if found is None else found[1].decode("latin-1").strip().lower()


def _check_prolog(data: bytes) -> None:
    prolog = _PROLOG.match(data)
    assert prolog is not None  # it may be empty
    if data.startswith(b"<!", prolog.end()):
        raise XmlFault("has a document type definition", prolog.end())
    if declared_encoding(data) not in _UTF8:
        declared = _ENCODING.match(data)
        raise XmlFault("is not written in UTF-8", None if declared is None else declared.start(1))


def _offset(data: bytes, line: int, column: int) -> int:
    """Return the offset of a line and a column, both counted from 1."""
    at = 0
    for _ in range(line - 1):
        at = data.find(b"\n", at) + 1
    return min(at + max(column - 1, 0), len(data))

"""Shows the body of a message in readable forms: text, indented XML or JSON, hexadecimal digits.

    bytes --> text?  the encoding follows from the type of the body, a mark, or UTF-8
          --> XML?   indented by the hardened parser of `wire.xml`
          --> JSON?  indented
          --> hex    always

Each form exists only if the bytes have it and its text is short enough for a page.  The first form of the
answer is shown first.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import Final, NamedTuple

import msgspec
from lxml import etree

from reliquary.wire.xml import XmlFault, root_of

MOST: Final = 64 * 1024
"""The most bytes of a body that are shown; the whole body can be downloaded."""
HEX_MOST: Final = 8 * 1024
INDENTED_MOST: Final = 8 * MOST
"""The most letters of indented XML or JSON: in deep nesting, two bytes become a line of many spaces."""
PREVIEW: Final = 80
"""The letters of a body that a list of messages shows."""
_LINE: Final = 16
_WIDE_TYPES: Final = frozenset({8, 31})
"""The types VT_BSTR and VT_LPWSTR: UTF-16 without a mark, [MS-MQMQ] 2.2.12."""
_DECLARATION: Final = re.compile(r"^\s*<\?xml[^>]*\?>")
_MARKS: Final = ((BOM_UTF8, "utf-8-sig"), (BOM_UTF16_LE, "utf-16"), (BOM_UTF16_BE, "utf-16"))


class Form(NamedTuple):
    """A way to show a body."""

    name: str
    """The name of the form: xml, json, text or hex."""
    text: str


def forms_of(body: bytes, body_type: int = 0) -> list[Form]:
    """Return all forms that a body has, the most readable first."""
    shown = body[:MOST]
    text = _text(shown, body_type, whole=len(body) <= MOST)
    found = [Form("hex", hex_dump(body[:HEX_MOST]))]
    if text is not None:
        found.insert(0, Form("text", text))
        if len(body) <= MOST:
            found[:0] = [form for form in (_xml(text), _json(text)) if form is not None]
    return found


def preview(body: bytes, body_type: int = 0) -> str:
    r"""Return the beginning of a body in one line, for a list of messages.

    >>> preview(b"two\n lamps"), preview(b"\x00\xff"), preview(b"a" * 200) == "a" * 80
    ('two lamps', 'binary', True)
    """
    begin = body[: 4 * PREVIEW]
    text = _text(begin, body_type, whole=len(body) <= len(begin))
    return "binary" if text is None else " ".join(text.split())[:PREVIEW]


def hex_dump(data: bytes) -> str:
    r"""Return lines of an offset, sixteen bytes in hexadecimal digits and the ASCII letters among them.

    >>> print(hex_dump(b"two lamps\n"))
    00000000  74 77 6f 20 6c 61 6d 70  73 0a                    two lamps.
    """
    lines = []
    for offset in range(0, len(data), _LINE):
        part = data[offset : offset + _LINE]
        halves = part[:8].hex(" "), part[8:].hex(" ")
        letters = "".join(chr(each) if 0x20 <= each < 0x7F else "." for each in part)
        lines.append(f"{offset:08x}  {halves[0]:<23}  {halves[1]:<23}  {letters}")
    return "\n".join(lines)


def _text(data: bytes, body_type: int, *, whole: bool) -> str | None:
    """Return the text of the first bytes of a body, or None if they are no text."""
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    encoding = marked or ("utf-16-le" if body_type in _WIDE_TYPES else "utf-8")
    for cut in range(1 if whole else 4):  # the last letter may be incomplete
        try:
            text = data[: len(data) - cut].decode(encoding).rstrip("\0")
        except UnicodeDecodeError:
            continue
        return text if _is_printable(text) else None
    return None


def _is_printable(text: str) -> bool:
    return all(each.isprintable() or each in "\t\r\n" for each in text)


def _xml(text: str) -> Form | None:
    if not text.lstrip().startswith("<"):
        return None
    try:
        # the text is UTF-8 here, in any encoding of the body
        root = root_of(_DECLARATION.sub("", text, count=1).encode())
    except XmlFault:
        return None
    etree.indent(root)
    return _unless_too_large(Form("xml", etree.tostring(root, encoding="unicode")))


def _json(text: str) -> Form | None:
    """Indent JSON, and keep every number, name and escape as it is written."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return _unless_too_large(Form("json", msgspec.json.format(text, indent=2)))
    except (msgspec.DecodeError, RecursionError):
        return None


def _unless_too_large(form: Form) -> Form | None:
    return form if len(form.text) <= INDENTED_MOST else None

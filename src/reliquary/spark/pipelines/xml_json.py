"""Converts an XML document to JSON text, from which Spark makes the VARIANT of silver.

    <a x="1">text<b>2</b><b>3.50</b><c/></a>   -->   {"_x":1,"_VALUE":"text","b":[2,3.50],"c":null}

The reading is the one of Spark's `from_xml`, which needs five times as long: the name of the root is left
out, an attribute has `_` before its name, names keep their prefixes, declarations of namespaces are
attributes, an element that comes more than once is an array, an element without attributes and children is
its text, an empty one is null, and text beside other content is `_VALUE`.  Numbers and booleans are
recognized (`scalar`).

Three things differ, because `from_xml` loses content there: text behind a comment or a processing instruction
is kept, elements that are named `_VALUE` are kept beside text, and names that differ in case stay apart.

The document was checked before by the parser of `wire.xml`; expat is used here because it gives names and
attributes as they are written, the declarations of namespaces among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final
from xml.parsers import expat

import msgspec

from reliquary.spark.pipelines.text import without_declaration

SPACES: Final = " \t\r\n"
VALUE: Final = "_VALUE"
"""The name of text beside attributes and elements."""
_AS_JSON: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?").fullmatch
"""The pattern of a number that JSON writes in this form, too, as most numbers."""
_MAY_BE_MORE: Final = re.compile(r"[-+.,\dtTfF]").match
"""The first characters of numbers and booleans."""
_WHOLE: Final = re.compile(r"[+-]?\d{1,19}").fullmatch
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?").fullmatch
_LONGEST: Final = 38
"""Digits of a decimal of VARIANT, and of those behind its point."""
_LARGEST: Final = 1 << 63
_BOOLEANS: Final = frozenset({"true", "false"})
_SHORT: Final = 64
_REMEMBERED: Final = 16_384
_encode: Final = msgspec.json.Encoder().encode

Scalar = Callable[[str], str]
"""A function that makes JSON from a text or from the value of an attribute."""


class NotReadable(Exception):
    """A document that expat does not take: it knows the names of XML 1.0 before the fifth edition."""


def quoted(text: str) -> str:
    """Return a text as a string of JSON."""
    return _encode(text).decode()


def scalar(text: str) -> str:
    """Return the JSON of a text: a number, a boolean, or else a string without the spaces around it."""
    text = text.strip(SPACES)
    if _AS_JSON(text) is not None:
        return text
    if _MAY_BE_MORE(text) is None:
        return quoted(text)
    if _WHOLE(text) is not None and -_LARGEST <= (number := int(text)) < _LARGEST:
        return str(number)
    if (found := _decimal(text)) is not None:
        return found
    lower = text.lower()
    return lower if lower in _BOOLEANS else quoted(text)


def _decimal(text: str) -> str | None:
    """Return a decimal in the form of JSON; None for another text, or one too long for a VARIANT."""
    plain = text.replace(",", "")  # as `from_xml` does with the English digit groups
    if _DECIMAL(plain) is None:
        return None
    found = Decimal(plain)
    _, digits, exponent = found.as_tuple()
    assert isinstance(exponent, int)  # it is neither infinite nor no number
    if len(digits) + max(exponent, 0) > _LONGEST or -exponent > _LONGEST:
        return None
    return f"{found:f}"


class Remembered(dict[str, str]):
    """The JSON of texts, cached because most values and all names of a queue are repeated."""

    def __init__(self, make: Scalar) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> str:
        found = self._make(text)
        if len(text) <= _SHORT:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[text] = found
        return found


SCALARS: Final = Remembered(scalar)
_NAMES: Final = Remembered(lambda name: f"{quoted(name)}:")


def json_of(text: str, scalar: Scalar = SCALARS.__getitem__, attribute: Scalar | None = None) -> str:
    """Return a document as JSON; `attribute` converts the values of attributes that declare no namespace."""
    reading = _Reading(scalar, attribute or scalar)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.ordered_attributes = True
    parser.StartElementHandler = reading.begin
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text
    try:
        parser.Parse(without_declaration(text.strip()), True)
    except expat.ExpatError as why:
        raise NotReadable(str(why)) from None
    return reading.fields[""][0]


class _Reading:
    """The open elements, each with the JSON of its content by name."""

    __slots__ = ("_attribute", "_open", "_scalar", "fields")

    def __init__(self, scalar: Scalar, attribute: Scalar) -> None:
        self.fields: dict[str, list[str]] = {}
        self._open: list[dict[str, list[str]]] = []
        self._scalar = scalar
        self._attribute = attribute

    def begin(self, _: str, attributes: list[str]) -> None:
        self._open.append(self.fields)
        self.fields = {}
        if attributes:
            self._take_attributes(attributes)

    def _take_attributes(self, attributes: list[str]) -> None:
        for place in range(0, len(attributes), 2):
            name, value = attributes[place], attributes[place + 1]
            declares = name == "xmlns" or name.startswith("xmlns:")
            self.fields[f"_{name}"] = [SCALARS[value] if declares else self._attribute(value)]

    def text(self, text: str) -> None:
        if text.strip(SPACES):
            self.fields.setdefault(VALUE, []).append(self._scalar(text))

    def end(self, name: str) -> None:
        fields = self.fields
        if not fields:
            value = "null"
        elif len(fields) == 1 and VALUE in fields and len(fields[VALUE]) == 1:
            value = fields[VALUE][0]
        else:
            value = _object(fields)
        self.fields = fields = self._open.pop()
        if not self._open:
            name = ""
        if name in fields:
            fields[name].append(value)
        else:
            fields[name] = [value]


def _object(fields: dict[str, list[str]]) -> str:
    parts = [
        _NAMES[name] + (values[0] if len(values) == 1 else f"[{','.join(values)}]")
        for name, values in fields.items()
    ]
    return f"{{{','.join(parts)}}}"

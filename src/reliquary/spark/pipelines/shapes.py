r"""Reads documents of one shape by one plan, without a parser.

    <line><item>lamp</item><count>2</count></line>       a document
    <line><item>\0</item><count>\0</count></line>        its shape: the markup, with a mark for each text
    {"item":%s,"count":%s}                               the plan: the template for its values

An application writes its messages with a few templates, so a queue has few shapes.  A document is cut at its
texts by one regular expression; if its shape is known, only its values are processed.

**Why a parser would have an equal result.**  A plan is made from a document that the parser of `wire.xml` has
taken, and only if the texts and attributes that expat finds in it are exactly those that the expression cut
out.  So each mark is a text, or the value of an attribute, and all markup is in the shape.  Another document
of that shape differs in these values alone, and a value with a character that means something to a parser
(`&`, `>`, a carriage return, a control) is left to the parser, as is any document with comments, CDATA or
instructions.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from reliquary.spark.pipelines.content import Content
from reliquary.spark.pipelines.text import without_declaration
from reliquary.spark.pipelines.xml_json import SCALARS, NotReadable, json_of

MOST_SHAPES: Final = 512
LONGEST_SHAPE: Final = 16_384
"""The most characters of a shape; for longer ones the time of the parser matters less."""
_MOST_SEEN: Final = 4096
_MARK: Final = "\0"
"""A character that no document has, so that it marks a value."""
_TEXTS: Final = re.compile(r">(\s*[^<\s][^<]*)").split
_ATTRIBUTES: Final = re.compile(r'(\s(?!xmlns[:=])[^\s=<>"\'/]+=")([^"<]*)"').split
_MEANS_SOMETHING: Final = re.compile("[&>\x00-\x08\x0b-\x1f\ufffe\uffff]").search
_SPACES_OF_ATTRIBUTES: Final = re.compile("[\t\n]").search
"""White space that a parser converts to spaces in attributes."""
_MARKED: Final = re.compile(f"{_MARK}(\\d+){_MARK}")


class Plan(NamedTuple):
    """The plan by which documents of one shape are read."""

    content: Content
    """The content of the first document; all values of the shape are common to all documents."""
    template: str
    order: tuple[int, ...]
    """The value for each position of the template."""


class Cut(NamedTuple):
    """A document without its values."""

    text: str
    shape: str
    values: list[str]
    """The texts of the element, then the values of its attributes."""
    attributes: list[str]
    """The values of its attributes alone."""


def cut(text: str) -> Cut:
    """Cut the texts and the values of attributes out of a document, as far as an expression finds them."""
    begin = text.find("?>") + 2 if text.startswith("<?xml ") else 0
    parts = _TEXTS(text[begin:] if begin else text)
    shape = f">{_MARK}".join(parts[::2])
    values = parts[1::2]
    attributes: list[str] = []
    if shape.count('="') > shape.count(" xmlns"):  # the attributes are not only declarations of namespaces
        pieces = _ATTRIBUTES(shape)
        attributes = pieces[2::3]
        pieces[2::3] = [_MARK] * len(attributes)
        shape = "".join(pieces)
        values += attributes
    return Cut(text, text[:begin] + shape if begin else shape, values, attributes)


class Shapes:
    """The plans of one process; a shape gets one when it comes for the second time."""

    def __init__(self) -> None:
        self._plans: dict[str, Plan | None] = {}
        self._seen: set[int] = set()

    def read(self, found: Cut) -> Content | None:
        """Return the content of a document whose shape is known; None leaves it to the parser."""
        plan = self._plans.get(found.shape)
        if plan is None or _MEANS_SOMETHING("".join(found.values)) is not None:
            return None
        if found.attributes and _SPACES_OF_ATTRIBUTES("".join(found.attributes)) is not None:
            return None
        first, values = plan.content, found.values
        data = plan.template % tuple([SCALARS[values[place]] for place in plan.order])
        return Content(first.kind, first.encoding, found.text, soap=first.soap, data=data)

    def learn(self, found: Cut, content: Content) -> None:
        """Record a document that the parser has read."""
        shape = found.shape
        if len(shape) > LONGEST_SHAPE or shape in self._plans:
            return
        if hash(shape) not in self._seen:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            self._seen.add(hash(shape))
            return
        if len(self._plans) >= MOST_SHAPES:
            self._plans.clear()
        self._plans[shape] = plan_of(found, content)


def plan_of(found: Cut, content: Content) -> Plan | None:
    """Make the plan of a shape from a document of it; None if a parser must read each of them."""
    if "<!" in found.shape or "<?" in without_declaration(found.shape):
        return None
    texts: list[str] = []
    attributes: list[str] = []
    behind = len(found.values) - len(found.attributes)

    def a_text(value: str) -> str:
        texts.append(value)
        return f"{_MARK}{len(texts) - 1}{_MARK}"

    def an_attribute(value: str) -> str:
        attributes.append(value)
        return f"{_MARK}{behind + len(attributes) - 1}{_MARK}"

    try:
        marked = json_of(found.text, a_text, an_attribute)
    except NotReadable:
        return None
    if [*texts, *attributes] != found.values or attributes != found.attributes:
        return None
    template = _MARKED.sub("%s", marked.replace("%", "%%"))
    return Plan(content, template, tuple(int(place) for place in _MARKED.findall(marked)))


SHAPES: Final = Shapes()

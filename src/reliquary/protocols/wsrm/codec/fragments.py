"""Extracts the bytes between the tags of an element, and makes them independent of their surroundings.

    <s:Body xmlns:n="urn:n"> <n:order/> </s:Body>    -->    b' <n:order xmlns:n="urn:n"/> '

Prefixes that the content uses and does not declare are declared in the start tags of its top elements.  A
prefix counts as used where `prefix:` stands, also in text: it may be a QName there (`xsi:type="xsd:int"`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from reliquary.wire.xml import Element
from reliquary.wire.xml_text import quoted

Namespaces = Mapping[str | None, str]
"""Namespaces by prefix; None is the default one."""

_NAME: Final = rb"[^\s<>/=\"'!?]+"
_START_TAG: Final = re.compile(rb"<" + _NAME + rb"([^\"'>]*(?:(?:\"[^\"]*\"|'[^']*')[^\"'>]*)*)>")
_TOKENS: Final = re.compile(
    rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|(?P<closing></)"
    rb"|(?P<opening><" + _NAME + rb"[^\"'>]*(?:(?:\"[^\"]*\"|'[^']*')[^\"'>]*)*>)",
    re.DOTALL,
)
"""The markup of a well-formed document; text outside the groups is skipped."""
_SLASH: Final = ord("/")
_ONLY_ELEMENT: Final = re.compile(rb"[ \t\r\n]*<" + _NAME)
_UNPREFIXED: Final = re.compile(rb"<[^\s<>/=\"'!?:]+[\s/>]")
_LONG_PREFIX: Final = 100
_DEFAULT: Final = re.compile(rb"\sxmlns\s*=")


class _Span(NamedTuple):
    """The offsets of the content of an element in a document, and of its child elements."""

    begin: int
    end: int
    tops: list[int]


def body_content(data: bytes, root: Element, body: Element) -> bytes:
    """Return the content of the Body of a well-formed envelope."""
    opening, closing = _tags(body.prefix)
    at = data.find(opening)
    if data.find(opening, at + 1) >= 0:  # a comment may contain it: the parser knows the right one
        return content_of(data, root, body)
    tag = _START_TAG.match(data, at)
    assert tag is not None  # lxml has read it
    begin = tag.end()
    if data[begin - 2] == _SLASH:  # <Body/>
        return b""
    end = data.find(closing, begin)
    if data.find(closing, end + 1) >= 0:
        return content_of(data, root, body)
    content = standing_alone(data[begin:end], body, body.nsmap)
    return content_of(data, root, body) if content is None else content


def standing_alone(content: bytes, element: Element, namespaces: Namespaces) -> bytes | None:
    """Return the content of an element in a form that needs no namespace from outside.

    None if it begins with no element, or has several; `content_of` finds them.
    """
    missing = _missing(content, namespaces)
    if not missing:
        return content
    first = _ONLY_ELEMENT.match(content)
    if first is None or len(element) != 1:
        return None
    return _declared(content, [first.end() - len(first[0].lstrip())], missing)


def content_of(data: bytes, root: Element, element: Element) -> bytes:
    """Return the content of any element of a well-formed document."""
    if not len(element) and element.text is None:
        return b""
    index = next(index for index, each in enumerate(root.iter()) if each is element)
    span = _span(data, index)
    content = data[span.begin : span.end]
    missing = _missing(content, element.nsmap)
    return _declared(content, [at - span.begin for at in span.tops], missing) if missing else content


def with_attribute(content: bytes, attribute: str) -> bytes:
    """Return consecutive XML elements, each with one more attribute in its start tag."""
    span = _span(b"<e>" + content + b"</e>", 0)
    return _inserted(content, [(at - 3, attribute) for at in span.tops])


@lru_cache(maxsize=256)
def _tags(prefix: str | None) -> tuple[bytes, bytes]:
    name = (f"{prefix}:Body" if prefix else "Body").encode()
    return b"<" + name, b"</" + name


def _missing(content: bytes, namespaces: Namespaces) -> dict[str | None, str]:
    """Return the namespaces, by prefix, that the content may need from around it."""
    missing: dict[str | None, str] = {}
    for prefix, namespace in namespaces.items():
        if prefix is None:
            if namespace and _UNPREFIXED.search(content):
                missing[None] = namespace
        elif f"{prefix}:".encode() in content and (
            len(prefix) > _LONG_PREFIX or _use(prefix).search(content)
        ):
            missing[prefix] = namespace
    return missing


@lru_cache(maxsize=256)
def _use(prefix: str) -> re.Pattern[bytes]:
    """Return a pattern for names with a prefix that follow a character outside of names."""
    return re.compile(rb"(?<![\w.\-:\x80-\xff])" + re.escape(prefix.encode()) + rb":")


def _declared(content: bytes, tops: list[int], missing: dict[str | None, str]) -> bytes:
    inserts = []
    for at in tops:
        tag = _START_TAG.match(content, at)
        assert tag is not None  # a parser has read it
        text = ""
        for prefix, namespace in missing.items():
            if prefix is None:
                if not _DEFAULT.search(tag[1]):
                    text += f" xmlns={quoted(namespace)}"
            elif not re.search(rb"\sxmlns:" + re.escape(prefix.encode()) + rb"\s*=", tag[1]):
                text += f" xmlns:{prefix}={quoted(namespace)}"
        inserts.append((at, text))
    return _inserted(content, inserts)


def _inserted(content: bytes, inserts: list[tuple[int, str]]) -> bytes:
    """Return the content with text inserted after the names of these start tags."""
    parts: list[bytes] = []
    done = 0
    for at, text in inserts:
        tag = _START_TAG.match(content, at)
        assert tag is not None
        end = tag.start(1)
        parts += (content[done:end], text.encode())
        done = end
    return b"".join((*parts, content[done:]))


def _span(data: bytes, index: int) -> _Span:
    """Return the span of an element of a well-formed document: number `index` in the order of start tags."""
    count, depth, inside, begin = -1, 0, 0, -1
    tops: list[int] = []
    for token in _TOKENS.finditer(data):
        kind = token.lastgroup
        if kind is None:  # a comment, a processing instruction, or text that looks like markup
            continue
        if kind == "closing":
            if depth == inside and begin >= 0:
                return _Span(begin, token.start(), tops)
            depth -= 1
            continue
        count += 1
        is_empty = data[token.end() - 2] == _SLASH
        if count == index:
            if is_empty:
                return _Span(token.end(), token.end(), tops)
            inside, begin = depth + 1, token.end()
        elif begin >= 0 and depth == inside:
            tops.append(token.start())
        if not is_empty:
            depth += 1
    raise AssertionError("the element is in the document, which a parser has read")

"""Refuses a field that a body does not have, with the field that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from msgspec import inspect

_UNKNOWN: Final = re.compile(r"unknown field `([^`]{1,80})`")


def with_likely_field(sentence: str, kind: Any) -> str:
    """Return a refusal of msgspec; for an unknown field add the field of `kind` that resembles it.

    >>> from reliquary.net.api.messages import MessageIn
    >>> with_likely_field("Object contains unknown field `lable`", MessageIn)
    'Object contains unknown field `lable`; did you mean `label`?'
    """
    found = _UNKNOWN.search(sentence)
    close = get_close_matches(found[1], _fields_of(kind), n=1) if found else []
    return f"{sentence}; did you mean `{close[0]}`?" if close else sentence


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    """Return the names of all fields of a body, and of the records in it."""
    return tuple(sorted(set(_names(inspect.type_info(kind)))))


def _names(kind: inspect.Type) -> Iterator[str]:
    match kind:
        case inspect.StructType():
            for field in kind.fields:
                yield field.encode_name
                yield from _names(field.type)
        case inspect.UnionType():
            for each in kind.types:
                yield from _names(each)
        case inspect.CollectionType():
            yield from _names(kind.item_type)
        case _:
            return

"""What is asked of the directory: filters, attribute lists and the order of results, 3.1.7.1.20 and .21."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import partial
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, get_type_hints
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.queueing.model.directory.objects import TYPES, DirectoryObject, Kind


class Operator(Enum):
    """How an attribute is compared (DM-243)."""

    EQUALS = "="
    NOT_EQUALS = "!="
    LESS_THAN = "<"
    GREATER_THAN = ">"
    LESS_THAN_OR_EQUAL = "<="
    GREATER_THAN_OR_EQUAL = ">="


class Filter(msgspec.Struct, frozen=True):
    """An attribute-filter expression: the attribute stands on the left."""

    attribute: str
    operator: Operator
    value: Any


class SortOrder(msgspec.Struct, frozen=True):
    """Where an attribute stands in the order of results (DM-250); 0 is nowhere."""

    priority: int = 0
    ascending: bool = True


class AttributeMissing(Exception):
    """AttributeNotFound: the type has no such attribute, or the object has no value of it."""


COMPARE: Final[dict[Operator, Callable[[Any, Any], bool]]] = {
    Operator.EQUALS: eq,
    Operator.NOT_EQUALS: ne,
    Operator.LESS_THAN: lt,
    Operator.GREATER_THAN: gt,
    Operator.LESS_THAN_OR_EQUAL: le,
    Operator.GREATER_THAN_OR_EQUAL: ge,
}
MEANS_ABSENT: Final = frozenset({"non_ldap_notification"})
"""Attributes that an object may not have at all: None is no value of theirs."""

_HINTS: Final = {kind: get_type_hints(type_) for kind, type_ in TYPES.items()}

Matches = Callable[[DirectoryObject], bool]


def matcher(kind: Kind, filters: Sequence[Filter]) -> Matches:
    """Whether an object satisfies all the filters; none of them lets every object through."""
    tests = [_test(kind, each) for each in filters]
    return lambda subject: all(test(subject) for test in tests)


def _test(kind: Kind, each: Filter) -> Matches:
    hint = _attribute(kind, each.attribute)
    try:
        wanted = msgspec.convert(each.value, hint, strict=False)
    except msgspec.ValidationError as why:
        raise UsageError(f"{each.attribute} cannot be {each.value!r}: {why}") from why
    if each.operator not in (Operator.EQUALS, Operator.NOT_EQUALS) and not _is_ordered(wanted):
        raise UsageError(f"{each.attribute} has no order: compare it with = or !=")
    wanted, compare, attribute = _comparable(wanted), COMPARE[each.operator], each.attribute

    def test(subject: DirectoryObject) -> bool:
        value = _comparable(getattr(subject, attribute))
        if value is None and each.operator not in (Operator.EQUALS, Operator.NOT_EQUALS):
            return False
        return compare(value, wanted)

    return test


def _is_ordered(value: object) -> bool:
    return isinstance(value, int | str | bytes | UUID) and not isinstance(value, bool)


def _comparable(value: Any) -> Any:
    """Text compares without regard to case, as in a directory."""
    return value.casefold() if isinstance(value, str) else value


def _attribute(kind: Kind, name: str) -> Any:
    hint = _HINTS[kind].get(name)
    if hint is None:
        raise AttributeMissing(f"{kind.value} has no attribute {name!r}")
    return hint


def project(subject: DirectoryObject, attributes: Sequence[str] | None) -> DirectoryObject:
    """Only the attributes that were asked for; the others have their defaults (DM-244)."""
    if attributes is None:
        return subject
    chosen = {name: getattr(subject, name) for name in attributes}
    for name in MEANS_ABSENT & chosen.keys():
        if chosen[name] is None:
            raise AttributeMissing(f"the directory does not say {name}")
    return type(subject)(**{"identifier": subject.identifier} | chosen)


def check_attributes(kind: Kind, attributes: Iterable[str] | None) -> None:
    """Each of them is an attribute of this type."""
    for name in attributes or ():
        _attribute(kind, name)


def in_order(
    subjects: Iterable[DirectoryObject],
    kind: Kind,
    attributes: Sequence[str] | None,
    order: Sequence[SortOrder],
) -> list[DirectoryObject]:
    """Sorted by the attributes with a priority, the highest first; what is equal goes by Identifier."""
    if order and len(order) != len(attributes or ()):
        raise UsageError(f"{len(order)} sort orders are given for {len(attributes or ())} attributes")
    found = sorted(subjects, key=lambda each: each.identifier.bytes)
    used = [(each, name) for each, name in zip(order, attributes or (), strict=False) if each.priority]
    for each, name in sorted(used, key=lambda pair: pair[0].priority):
        if _is_list(kind, name):
            raise UsageError(f"{name} has no order")
        found.sort(key=partial(_sort_key, name), reverse=not each.ascending)
    return found


def _is_list(kind: Kind, name: str) -> bool:
    """Whether an attribute holds several values."""
    return getattr(_HINTS[kind][name], "__origin__", None) is tuple


def _sort_key(name: str, subject: DirectoryObject) -> tuple[bool, Any]:
    """None comes first; an enumeration goes by its word."""
    value = getattr(subject, name)
    value = value.value if isinstance(value, Enum) else _comparable(value)
    return (value is not None, value)

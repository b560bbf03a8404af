"""Filter, project and sort directory objects: what a read of the directory asks for, 3.1.7.1.20 and .21."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import partial
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, get_type_hints
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.queueing.model.directory.objects import TYPES, DirectoryObject, ObjectKind


class Operator(Enum):
    """A comparison of an attribute with a value (DM-243)."""

    EQUALS = "="
    NOT_EQUALS = "!="
    LESS_THAN = "<"
    GREATER_THAN = ">"
    LESS_THAN_OR_EQUAL = "<="
    GREATER_THAN_OR_EQUAL = ">="


class Filter(msgspec.Struct, frozen=True):
    """An attribute-filter expression: the attribute is on the left side of the operator."""

    attribute: str
    operator: Operator
    value: Any


class SortOrder(msgspec.Struct, frozen=True):
    """The priority of an attribute in the order of results (DM-250); 0 means that it is not used."""

    priority: int = 0
    ascending: bool = True


class AttributeMissing(Exception):
    """AttributeNotFound: the type does not have the attribute, or the object has no value for it."""


COMPARE: Final[dict[Operator, Callable[[Any, Any], bool]]] = {
    Operator.EQUALS: eq,
    Operator.NOT_EQUALS: ne,
    Operator.LESS_THAN: lt,
    Operator.GREATER_THAN: gt,
    Operator.LESS_THAN_OR_EQUAL: le,
    Operator.GREATER_THAN_OR_EQUAL: ge,
}
OPTIONAL_ATTRIBUTES: Final = frozenset({"non_ldap_notification"})
"""Attributes that an object may lack: None means that the attribute is absent."""

_HINTS: Final = {kind: get_type_hints(type_) for kind, type_ in TYPES.items()}

Matches = Callable[[DirectoryObject], bool]


def matcher(kind: ObjectKind, filters: Sequence[Filter]) -> Matches:
    """Return a test whether an object passes all filters; without filters every object passes."""
    tests = [_test(kind, each) for each in filters]
    return lambda subject: all(test(subject) for test in tests)


def _test(kind: ObjectKind, each: Filter) -> Matches:
    """Return a test for one filter; raise UsageError if its value does not fit the attribute."""
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
    """Return the value in the form that is compared: text without regard to case."""
    return value.casefold() if isinstance(value, str) else value


def _attribute(kind: ObjectKind, name: str) -> Any:
    """Return the type hint of an attribute; raise AttributeMissing if the type does not have it."""
    hint = _HINTS[kind].get(name)
    if hint is None:
        raise AttributeMissing(f"{kind.value} has no attribute {name!r}")
    return hint


def project(subject: DirectoryObject, attributes: Sequence[str] | None) -> DirectoryObject:
    """Return a copy with only the requested attributes set; the others have their defaults (DM-244)."""
    if attributes is None:
        return subject
    chosen = {name: getattr(subject, name) for name in attributes}
    for name in OPTIONAL_ATTRIBUTES & chosen.keys():
        if chosen[name] is None:
            raise AttributeMissing(f"the directory does not say {name}")
    return type(subject)(**{"identifier": subject.identifier} | chosen)


def check_attributes(kind: ObjectKind, attributes: Iterable[str] | None) -> None:
    """Raise AttributeMissing if one of these names is not an attribute of the type."""
    for name in attributes or ():
        _attribute(kind, name)


def in_order(
    subjects: Iterable[DirectoryObject],
    kind: ObjectKind,
    attributes: Sequence[str] | None,
    order: Sequence[SortOrder],
) -> list[DirectoryObject]:
    """Sort objects by the attributes that have a priority, the highest first, and then by Identifier."""
    if order and len(order) != len(attributes or ()):
        raise UsageError(f"{len(order)} sort orders are given for {len(attributes or ())} attributes")
    found = sorted(subjects, key=lambda each: each.identifier.bytes)
    used = [(each, name) for each, name in zip(order, attributes or (), strict=False) if each.priority]
    for each, name in sorted(used, key=lambda pair: pair[0].priority):
        if _is_list(kind, name):
            raise UsageError(f"{name} has no order")
        found.sort(key=partial(_sort_key, name), reverse=not each.ascending)
    return found


def _is_list(kind: ObjectKind, name: str) -> bool:
    """Return whether an attribute holds a list of values."""
    return getattr(_HINTS[kind][name], "__origin__", None) is tuple


def _sort_key(name: str, subject: DirectoryObject) -> tuple[bool, Any]:
    """Return a key that sorts None first and an enumeration by its text."""
    value = getattr(subject, name)
    value = value.value if isinstance(value, Enum) else _comparable(value)
    return (value is not None, value)

"""Shows the directory to consoles and command lines: its status, its objects, its export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

import msgspec

from reliquary.queueing.directory.exchange import conditions, export_text, fields_of
from reliquary.queueing.directory.operations import is_connected
from reliquary.queueing.directory.queries import AttributeMissing, matcher
from reliquary.queueing.directory.results import DirectoryAnswer, DirectoryResult, answer_of
from reliquary.queueing.model.directory.objects import DirectoryObject, ObjectKind, name_of
from reliquary.queueing.model.state import State


class DirectoryView(msgspec.Struct, frozen=True, kw_only=True):
    """The status of the directory, from the view of this manager."""

    integrated: bool
    """This manager takes part in the directory."""
    attached: bool
    """The directory can be reached: no administrator has detached it."""
    connection: str
    """The state of the connection: apart, online or offline."""
    servers: tuple[str, ...]
    objects: dict[str, int]
    """The number of objects of each type."""


class NotShown(Exception):
    """The directory cannot show this object; `answer` has the reason."""

    def __init__(self, answer: DirectoryAnswer) -> None:
        super().__init__(answer.why)
        self.answer = answer


def status(state: State) -> DirectoryView:
    """Return the status of the directory, also while it cannot be reached."""
    identity = state.identity()
    return DirectoryView(
        integrated=identity.directory_integrated,
        attached=is_connected(state),
        connection=state.directory.connection.value,
        servers=identity.directory_servers,
        objects={kind.value: len(found) for kind, found in state.directory.objects.items()},
    )


def listed(state: State, kind: ObjectKind, where: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
    """Return the fields of each object of a type that meets all conditions, sorted by identifier."""
    _must_be_connected(state)
    try:
        matches = matcher(kind, conditions(where))
    except AttributeMissing as why:
        raise NotShown(answer_of(DirectoryResult.ATTRIBUTE_NOT_FOUND, str(why))) from why
    return (fields_of(each) for _, each in sorted(state.directory.objects[kind].items()) if matches(each))


def shown(state: State, kind: ObjectKind, which: str) -> dict[str, Any]:
    """Return the fields of the object with this identifier or name."""
    return fields_of(found(state, kind, which))


def found(state: State, kind: ObjectKind, which: str) -> DirectoryObject:
    """Return the object with this identifier or name."""
    _must_be_connected(state)
    objects, identifier = state.directory.objects[kind], _guid(which)
    if identifier in objects:
        return objects[identifier]
    named = [each for each in objects.values() if name_of(each).casefold() == which.casefold()]
    if len(named) != 1:  # descriptions of links may repeat: then only the identifier finds the link
        why = f"the directory has no {kind.value.replace('-', ' ')} {which[:80]!r}"
        raise NotShown(answer_of(DirectoryResult.OBJECT_NOT_FOUND, why))
    return named[0]


def exported(state: State) -> str:
    """Return the whole directory as the text of a TOML file."""
    _must_be_connected(state)
    return export_text(state.directory)


def _must_be_connected(state: State) -> None:
    if not is_connected(state):
        raise NotShown(answer_of(DirectoryResult.NOT_CONNECTED))


def _guid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None

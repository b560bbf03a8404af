"""Reads and writes offsets: the position of each queue of each manager in Spark's checkpoint.

    {"v": 2, "managers": {"north": {"orders": {"inc": "1f...@17...", "id": 41}}, "south": {...}}}

`inc` is the incarnation: the identifier of the queue, and the era of the manager if its store was restored
from a backup.  `id` is the place in the feed up to which the queue was read.

Version 1, `{"v": 1, "queues": {"orders": {...}}}`, has no managers: it was written for one server, and is
read as the offset of a manager without a name.

Managers may come, go and be renamed between the runs of a query:

    a manager that is new            its queues are read from their beginning
    a manager that is not named now  its places stay in the offset, and it is read on from there when it is
                                     named again
    a manager with a new name        the identifiers of its queues show which one it was (`renamed`), also if
                                     another manager had that name before
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from reliquary.spark.errors import BadOffset

VERSION: Final = 2
UNNAMED: Final = ""
"""The name of the manager in offsets of version 1."""
_ERA: Final = "@"


class QueueKey(NamedTuple):
    """A queue of a manager."""

    manager: str
    queue: str


class QueueOffset(NamedTuple):
    """The position up to which a queue was read."""

    incarnation: str
    id: int

    @property
    def identifier(self) -> str:
        """The identifier of the queue, without the era of its manager."""
        return identifier_of(self.incarnation)


Offset = Mapping[QueueKey, QueueOffset]


class _Written(msgspec.Struct):
    inc: str
    id: int


class _First(msgspec.Struct):
    """An offset of version 1, which has one manager without a name."""

    queues: dict[str, _Written]


class _Second(msgspec.Struct):
    """An offset of version 2, which has named managers."""

    managers: dict[str, dict[str, _Written]]


def identifier_of(incarnation: str) -> str:
    """Return the identifier of a queue, without the era of its manager."""
    return incarnation.partition(_ERA)[0]


def to_json(offset: Offset) -> dict[str, Any]:
    """Return an offset in the form of Spark, sorted by name, so that equal offsets are equal texts."""
    managers: dict[str, dict[str, Any]] = {}
    for key, place in sorted(offset.items()):
        managers.setdefault(key.manager, {})[key.queue] = {"inc": place.incarnation, "id": place.id}
    return {"v": VERSION, "managers": managers}


def from_json(written: Mapping[str, Any], managers: Iterable[str]) -> dict[QueueKey, QueueOffset]:
    """Return an offset from a checkpoint; `managers` are the present names of the query.

    The position of a single manager is used for the single manager of the query, with any name.
    """
    version = written.get("v")
    if version not in {1, VERSION} and isinstance(version, int):
        raise BadOffset(
            f"the checkpoint holds an offset of version {version}, and this is version {VERSION}: use the "
            "release that wrote it, or start with a new checkpoint"
        )
    try:
        if version == 1:
            read = {UNNAMED: msgspec.convert(dict(written), _First).queues}
        else:
            read = msgspec.convert(dict(written), _Second).managers
    except msgspec.ValidationError as why:
        raise BadOffset(
            f"the checkpoint holds an offset that this source did not write ({why}): has the query another "
            "source now?  Start it with a new checkpoint"
        ) from why
    now = tuple(managers)
    if len(read) == 1 and len(now) == 1:
        read = dict(zip(now, read.values(), strict=True))
    return {
        QueueKey(manager, queue): QueueOffset(place.inc, place.id)
        for manager, queues in read.items()
        for queue, place in queues.items()
    }


def renamed(
    offset: Offset, there: Mapping[QueueKey, str], managers: Iterable[str]
) -> dict[QueueKey, QueueOffset]:
    """Return the offset with the queues of each manager under its present name.

    `there` are the incarnations of the existing queues.  A manager is recognized by the identifiers
    of its queues.  It keeps its name if they are found there, or nowhere.
    """
    names = _new_names(offset, there, managers)
    return {QueueKey(names.get(key.manager, key.manager), key.queue): place for key, place in offset.items()}


def _new_names(offset: Offset, there: Mapping[QueueKey, str], managers: Iterable[str]) -> dict[str, str]:
    """Return the managers of an offset that have other names now, with these.

    Refuse a name of two managers.
    """
    holders: dict[str, set[str]] = {}
    for key, incarnation in there.items():
        holders.setdefault(identifier_of(incarnation), set()).add(key.manager)
    found: dict[str, set[str]] = {}
    for key, place in offset.items():
        found.setdefault(key.manager, set()).update(holders.get(place.identifier, ()))
    kept = {before for before, now in found.items() if before in now}
    free = [name for name in managers if name not in kept]
    names: dict[str, str] = {}
    for before, now in found.items():
        name = next((name for name in free if name in now and name not in names.values()), None)
        if before not in kept and name is not None:
            names[before] = name
    for before, name in names.items():
        if name in found and name not in names:
            raise BadOffset(
                f"the manager {name} has the queues that the checkpoint has for {before}, and no manager "
                f"that answers has those that it has for {name}: give it another name in the option url, so "
                "that the checkpoint keeps both, or name the other manager too"
            )
    return names


def check_managers(offset: Offset, managers: Iterable[str], *, all_there: bool) -> None:
    """Refuse an offset without any manager of the query; `all_there` means that every manager was asked.

    Call it after `renamed`.  An offset of version 1 must belong to one of the managers.
    """
    named, before = set(managers), {key.manager for key in offset}
    if not all_there or not before or (before & named and UNNAMED not in before):
        return
    if UNNAMED in before:
        queues = ", ".join(sorted(key.queue for key in offset if key.manager == UNNAMED))
        raise BadOffset(
            f"the checkpoint was written for one server, and none of the managers {_list(named)} has the "
            f"queues that it read ({queues}): name that server too, or start with a new checkpoint"
        )
    raise BadOffset(
        f"the checkpoint is of the managers {_list(before)}, and the query names {_list(named)}: name one of "
        "them too, or start with a new checkpoint"
    )


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))

"""Converts between the MessageID of WS-Addressing and the identifier of a message.

    uuid:43@5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10        Reliquary: the number 43 of that manager
    urn:uuid:5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10       of most peers: number 1 of that GUID
    any other text                                      number 1 of a GUID that is made of the text

The first two are written again as they came; of other text the message keeps a copy (`kept`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid5

from reliquary.queueing.model.message import FOREVER, NO_OBJECT, ObjectId

_GUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_OURS: Final = re.compile(rf"uuid:(0|[1-9][0-9]{{0,9}})@({_GUID})")
_PEERS: Final = re.compile(rf"urn:uuid:({_GUID})")


def message_id_of(identifier: ObjectId) -> str:
    """Return the MessageID of a message."""
    lineage = _text(identifier.lineage.int)
    if identifier.uniquifier == 1:
        return f"urn:uuid:{lineage}"
    return f"uuid:{identifier.uniquifier}@{lineage}"


def identifier_of(message_id: str) -> ObjectId:
    """Return the identifier for a MessageID; NO_OBJECT for an empty one."""
    return read_message_id(message_id)[0]


def is_reversible(message_id: str) -> bool:
    """Return whether `message_id_of` returns this text for the identifier that is made of it."""
    return read_message_id(message_id)[1]


def read_message_id(message_id: str) -> tuple[ObjectId, bool]:
    """Return the identifier for a MessageID, and whether that is reversible."""
    if not message_id:
        return NO_OBJECT, False
    found = _reversible(message_id)
    return (ObjectId(uuid5(NAMESPACE_URL, message_id), 1), False) if found is None else (found, True)


def read_object(text: str) -> ObjectId:
    """Return the identifier that `object_text` wrote; ValueError for other text."""
    found = _OURS.fullmatch(text)
    if found is None or int(found[1]) > FOREVER:
        raise ValueError(f"{text[:80]!r} is no uuid:number@guid")
    return ObjectId(UUID(found[2]), int(found[1]))


def object_text(identifier: ObjectId) -> str:
    """Return any identifier as `uuid:number@guid`."""
    return f"uuid:{identifier.uniquifier}@{identifier.lineage}"


def _reversible(text: str) -> ObjectId | None:
    if (found := _PEERS.fullmatch(text)) is not None:
        return ObjectId(UUID(int=int(found[1].replace("-", ""), 16)), 1)  # quicker than to let UUID read it
    found = _OURS.fullmatch(text)
    if found is None:
        return None
    number = int(found[1])
    identifier = ObjectId(_guid(found[2]), number)
    return identifier if number <= FOREVER and number != 1 and identifier != NO_OBJECT else None


_guid: Final = lru_cache(maxsize=256)(UUID)
"""A cache of GUIDs, because managers send many messages."""


@lru_cache(maxsize=256)
def _text(number: int) -> str:
    """Return a GUID as text; the cache is by its number, because a UUID hashes slowly."""
    return str(UUID(int=number))

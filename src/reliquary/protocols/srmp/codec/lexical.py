r"""Reads and writes single values, [MC-MQSRM] 2.2.1.

    ULONG     43                                             decimal, at most 64 bits
    GUID      5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10           RFC 4122, written in lower case
    DATE      20130801T120000                                UTC
    id        uuid:43@5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10
    streamId  uid:5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10\5907119348278886407

Values that repeat from message to message (managers, seconds, destinations) are cached.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.queueing.model.message import FOREVER, NO_OBJECT, ObjectId

ULONG: Final = 0xFFFF_FFFF_FFFF_FFFF
SPACE: Final = " \t\r\n"
"""The characters that XML calls white space."""
KEPT_LIMIT: Final = 256
"""The most characters of a cached GUID or date, white space included."""
LAST_MOMENT: Final = 253_402_300_799
"""The end of the year 9999."""

_GUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_DATE: Final = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})")
_CORRELATION_SIZE: Final = 20


def spec(section: str) -> str:
    """Return a section of [MC-MQSRM] as faults cite it."""
    return f"MC-MQSRM {section}"


# -- numbers


def number(text: str, element: str, section: str, limit: int = ULONG) -> int:
    """Return a ULONG, at most the limit of its attribute."""
    digits = text if text.isdigit() else text.strip(SPACE)
    if digits.isascii() and digits.isdigit() and len(digits) <= 20:
        value = int(digits)
        if value <= limit:
            return value
    raise SrmpFault(
        element, f"<{element}> is a number from 0 to {limit}, not {digits[:40]!r}", spec=spec(section)
    )


# -- GUIDs


@lru_cache(maxsize=4096)
def _guid(text: str) -> UUID | None:
    text = text.strip(SPACE)
    return UUID(text) if _GUID.fullmatch(text) else None


def guid(text: str, element: str, section: str) -> UUID:
    """Return a GUID in its text form, without braces."""
    value = _guid(text) if len(text) <= KEPT_LIMIT else None
    if value is None:
        raise SrmpFault(element, f"<{element}> is a GUID, not {text[:60]!r}", spec=spec(section))
    return value


guid_text = lru_cache(maxsize=4096)(str)
"""Returns a GUID as text, from a cache."""


# -- moments


@lru_cache(maxsize=4096)
def _moment(text: str) -> int:
    found = _DATE.fullmatch(text.strip(SPACE))
    if found is None:
        return -1
    try:
        return int(datetime(*map(int, found.groups()), tzinfo=UTC).timestamp())  # type: ignore[arg-type, misc]
    except ValueError:
        return -1


def moment(text: str, element: str, section: str) -> int:
    """Return a DATE as seconds since 1970."""
    value = _moment(text) if len(text) <= KEPT_LIMIT else -1
    if value < 0:
        raise SrmpFault(
            element,
            f"<{element}> is a date since 1970 as YYYYMMDDThhmmss, not {text[:40]!r}",
            spec=spec(section),
        )
    return value


@lru_cache(maxsize=4096)
def moment_text(value: int) -> str:
    """Return seconds since 1970 as a DATE.

    >>> moment_text(1_375_358_400)
    '20130801T120000'
    """
    if not 0 <= value <= LAST_MOMENT:
        raise UsageError(f"{value} seconds since 1970 are no date of four digits")
    date = datetime.fromtimestamp(value, UTC)
    return f"{date.year:04}{date.month:02}{date.day:02}T{date.hour:02}{date.minute:02}{date.second:02}"


# -- identifiers


def message_id(text: str, section: str = "2.2.4.3") -> ObjectId:
    """Return the identifier in `uuid:number@GUID`; the number has 32 bits, as in an OBJECTID."""
    head, at, tail = text.strip(SPACE).partition("@")
    if not at or not head.startswith("uuid:"):
        raise SrmpFault("id", f"<id> is uuid:number@GUID, not {text[:80]!r}", spec=spec(section))
    return ObjectId(guid(tail, "id", section), number(head[5:], "id", section, FOREVER))


def message_id_text(identifier: ObjectId) -> str:
    """Return an identifier as `path/id` has it (SR-275)."""
    return f"uuid:{identifier.uniquifier}@{guid_text(identifier.lineage)}"


def stream_id(text: str, section: str) -> tuple[UUID, int]:
    r"""Return the manager and the number of `uid:GUID\number`."""
    head, found, tail = text.strip(SPACE).partition("\\")
    if not found or not head.startswith("uid:"):
        raise SrmpFault("streamId", f"<streamId> is uid:GUID\\number, not {text[:80]!r}", spec=spec(section))
    return guid(head[4:], "streamId", section), number(tail, "streamId", section)


def stream_id_text(sender: UUID, value: int) -> str:
    """Return the name of a stream (SR-279)."""
    return f"uid:{guid_text(sender)}\\{value}"


# -- correlation


def correlation(text: str) -> ObjectId:
    """Return the identifier in base64 of GUID and number, both little-endian.

    Shorter text is filled with zeros.
    """
    try:
        raw = b64decode("".join(text.split()), validate=True)
    except (NotBase64, ValueError):
        raw = None
    if raw is None or len(raw) > _CORRELATION_SIZE:
        raise SrmpFault(
            "Correlation", f"<Correlation> is {_CORRELATION_SIZE} bytes in base64", spec=spec("2.2.6.5")
        )
    raw = raw.ljust(_CORRELATION_SIZE, b"\0")
    if not any(raw):
        return NO_OBJECT
    return ObjectId(UUID(bytes_le=raw[:16]), int.from_bytes(raw[16:], "little"))


def correlation_text(value: ObjectId) -> str:
    """Return a correlation identifier as 28 characters."""
    return b64encode(value.lineage.bytes_le + value.uniquifier.to_bytes(4, "little")).decode()

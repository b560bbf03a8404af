"""Reads and writes single values; invalid text raises `ValueError`.

xs:duration        PT00H00M30S, P1DT2H, PT0.5S       microseconds; a year has 365 days, a month 30
xs:unsignedLong    18446744073709551615              message numbers
xs:boolean         true, false, 1, 0
BufferRemaining    [+-]?[0-9]+, 0 to 2147483647      [MS-WSRVCRM] 2.2.3
xs:QName           wsrm:UnknownSequence              as `{namespace}name`
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from reliquary.base.time import DAY, HOUR, MINUTE, SECOND, Duration
from reliquary.protocols.wsrm.codec.values import LARGEST_BUFFER, NO_BUFFER

SPACE: Final = " \t\r\n"
"""The characters that XML calls white space."""
LARGEST_NUMBER: Final = 2**64 - 1
LONGEST_DURATION: Final = Duration(10_000 * 365 * DAY)
"""A longer duration is read as this one."""

_DURATION: Final = re.compile(
    r"P(?:([0-9]{1,9})Y)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})D)?"
    r"(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,12})(?:\.([0-9]{1,18}))?S)?)?"
)
_BUFFER: Final = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}
_UNITS: Final = (365 * DAY, 30 * DAY, DAY, HOUR, MINUTE, SECOND)


def trimmed(text: str | None) -> str:
    """Return the text of an element without the white space around it."""
    return "" if text is None else text.strip(SPACE)


def number(text: str) -> int:
    """Return the value of an xs:unsignedLong.

    >>> number("+007")
    7
    """
    digits = text.strip(SPACE)
    digits = digits.removeprefix("+")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 40 or int(digits) > LARGEST_NUMBER:
        raise ValueError(f"{text[:40]!r} is no number from 0 to {LARGEST_NUMBER}")
    return int(digits)


def boolean(text: str) -> bool:
    """Return the value of an xs:boolean."""
    value = _BOOLEANS.get(text.strip(SPACE))
    if value is None:
        raise ValueError(f"{text[:40]!r} is neither true nor false")
    return value


def buffer(text: str | None) -> int:
    """Return a BufferRemaining; NO_BUFFER for invalid text (FC-008, H-18).

    >>> buffer(" +5 "), buffer("-1"), buffer("1_0")
    (5, -1, -1)
    """
    digits = trimmed(text)
    if not _BUFFER.fullmatch(digits):
        return NO_BUFFER
    value = int(digits)
    return value if 0 <= value <= LARGEST_BUFFER else NO_BUFFER


def duration(text: str) -> Duration:
    """Return the microseconds of an xs:duration that is not negative.

    >>> duration("PT00H00M30S")
    30000000
    """
    text = text.strip(SPACE)
    found = _DURATION.fullmatch(text)
    if found is None or text.endswith(("P", "T")):
        raise ValueError(f"{text[:40]!r} is no duration")
    *whole, fraction = found.groups()
    total = sum(int(count) * unit for count, unit in zip(whole, _UNITS, strict=True) if count)
    total += int((fraction or "")[:6].ljust(6, "0"))
    return Duration(min(total, LONGEST_DURATION))


def duration_text(value: Duration) -> str:
    """Return an xs:duration in seconds.

    >>> duration_text(Duration(1_500_000))
    'PT1.5S'
    """
    whole, fraction = divmod(value, SECOND)
    return f"PT{whole}.{fraction:06}".rstrip("0") + "S" if fraction else f"PT{whole}S"


def resolved(text: str, namespaces: Mapping[str | None, str]) -> tuple[str, str]:
    """Return the namespace and the local name of a QName; no namespace if its prefix has none."""
    prefix, colon, name = text.strip(SPACE).rpartition(":")
    return namespaces.get(prefix if colon else None) or "", name

r"""Reads and writes single values, 2.3 and 6.1.8 to 6.2.11.

id      00000000000001A7          64 bits; sixteen digits are written, any number is read (H-26)
date    06 Nov 1994 08:49:37      http-r-date: GMT, one blank each, case-sensitive
word    plain  or  "a, b \" c"    quoted if it has separators (HR-122)
fold    name: one <CRLF> two      a line that begins with a blank continues the line before
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import LARGEST_ID, ErrorNumber

CRLF: Final = "\r\n"
LWS: Final = " \t"
TOKEN: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
"""Any character except controls and separators."""
TEXT: Final = r"[^\x00-\x08\x0a-\x1f\x7f]*"
"""Any character except controls; a tab counts as a blank."""
LARGEST_NUMBER: Final = 0x7FFF_FFFF_FFFF_FFFF
"""The largest number that is kept: a peer may write "no limit" as a number of any length."""

_ID: Final = re.compile(r"[0-9A-Fa-f]{16}")
_HEX: Final = re.compile(r"[0-9A-Fa-f]+")
_DIGITS: Final = re.compile(r"[0-9]+")
_FOLD: Final = re.compile(rb"(?:\r\n[ \t]+)+")
_PLAIN: Final = re.compile(TOKEN)
_QUOTED: Final = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')
_PAIR: Final = re.compile(r"\\(.)")
_ELEMENT: Final = re.compile(r'[^",;]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^",;]*)*')

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DATE: Final = re.compile(
    r"([0-9]{2}) (" + "|".join(_MONTHS) + r") ([0-9]{4}) ([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])"
)
_EPOCH: Final = date(1970, 1, 1).toordinal()
_EARLIEST: Final = (date.min.toordinal() - _EPOCH) * 86_400
_LATEST: Final = (date.max.toordinal() - _EPOCH + 1) * 86_400 - 1


def malformed(why: str, section: str) -> HttprFault:
    """Return error 520 with the section that is violated."""
    return HttprFault(ErrorNumber.HTTP_R_PROTOCOL_ERROR, why, spec=f"HTTPR {section}")


def shortened(text: str) -> str:
    """Return text of a peer, shortened for a log."""
    return ascii(text if len(text) <= 60 else f"{text[:60]}...")


# -- ids and numbers


def id_text(value: int) -> str:
    """Write a transaction id as sixteen hexadecimal digits."""
    if not 0 <= value <= LARGEST_ID:
        raise UsageError(f"a transaction id is a number of 64 bits, not {value}")
    return f"{value:016X}"


def read_id(text: str) -> int:
    """Return a transaction id; its digits may be fewer or have blanks between them, as in the examples."""
    if not _ID.fullmatch(text):
        text = text.replace(" ", "").replace("\t", "")
        if not _HEX.fullmatch(text) or len(text.lstrip("0")) > 16:
            raise malformed(f"an id has sixteen hexadecimal digits, not {shortened(text)}", "6.1.8")
    return int(text, 16)


def read_number(text: str, name: str, section: str) -> int:
    """Return the number of a text of digits (1*DIGIT), at most LARGEST_NUMBER."""
    if not _DIGITS.fullmatch(text):
        raise malformed(f"{name} is a number, not {shortened(text)}", section)
    digits = text.lstrip("0")
    return min(int(digits or "0"), LARGEST_NUMBER) if len(digits) < 20 else LARGEST_NUMBER


# -- dates


def date_text(seconds: int) -> str:
    """Return a time, in seconds since 1970, as an http-r-date (HR-112)."""
    if not _EARLIEST <= seconds <= _LATEST:
        raise UsageError(f"a date is between the years 1 and 9999, not {seconds} seconds after 1970")
    days, second = divmod(seconds, 86_400)
    day = date.fromordinal(_EPOCH + days)
    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"{day.day:02} {_MONTHS[day.month - 1]} {day.year:04} {clock}"


def read_date(text: str) -> int:
    """Return the seconds since 1970; earlier dates are negative."""
    found = _DATE.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        day, month, year, hour, minute, second = found.groups()
        days = date(int(year), _MONTHS.index(month) + 1, int(day)).toordinal() - _EPOCH
    except ValueError:
        raise malformed(f"a date is like 06 Nov 1994 08:49:37, not {shortened(text)}", "6.2.11") from None
    return days * 86_400 + int(hour) * 3600 + int(minute) * 60 + int(second)


# -- words and lists


def word_text(value: str) -> str:
    """Return a value, quoted if it is not a token."""
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def read_word(text: str) -> str:
    """Return a value with or without quotes."""
    found = _QUOTED.fullmatch(text)
    return text if found is None else _PAIR.sub(r"\1", found[1])


def elements(text: str) -> list[str]:
    """Return the parts between `,` or `;` (H-13) outside of quotes; empty elements are ignored (HR-121)."""
    found, at = [], 0
    while True:
        match = _ELEMENT.match(text, at)
        assert match  # it matches the empty text
        found.append(match[0].strip(LWS))
        at = match.end() + 1
        if at > len(text):
            return [each for each in found if each]
        if text[at - 1] == '"':
            raise malformed(f"a quote is not closed in {shortened(text)}", "2.3")


# -- lines


def unfolded(block: bytes) -> bytes:
    """Return a header in which each field has one line (HR-004)."""
    return _FOLD.sub(b" ", block) if b"\r\n " in block or b"\r\n\t" in block else block

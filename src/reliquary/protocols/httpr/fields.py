"""Reads the header of a message as fields, 6.2.1: the header it came with, or the fields of its sender.

    target-uri:httpr://here/httpr/mq#orders CRLF      it came with the message, and leaves with it (6.2.14)
    content-type:text/xml LF                          chosen here; the attributes of the message are added

`Message.carrier_header` is one of these, and its line ends show which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec.lexical import CRLF, LWS, TOKEN, malformed, shortened
from reliquary.queueing.model.message import Message

CHOSEN_END: Final = "\n"
"""The end of a line that an application chose."""
NO_FIELDS: Final = CRLF
"""The header of a message that came without any field."""
CHOOSABLE: Final = ("content-type", "user-id", "encoding", "message-id", "correlation-id")
"""Fields of HTTPR that an application may choose; the others are attributes of its message."""
PRODUCT: Final = "app-"
OURS: Final = "app-reliquary-"
"""The prefix of fields for attributes that HTTPR has no field for."""
CHOSEN_LIMIT: Final = 64 * 1024
"""The most characters of chosen fields, which any other agent may be expected to take."""
DEFAULT_PRIORITY: Final = 4
"""The priority of a message whose header has none (6.2.5)."""
REMEMBERED: Final = 1024
"""The most headers that encoding and decoding remember, each."""
LONGEST_REMEMBERED: Final = 4096
"""The most characters of a header that is remembered, which limits the memory that peers can use."""

_TOKENS: Final = ("user-id", "message-id", "correlation-id")
_TOKEN: Final = re.compile(TOKEN)
_VALUE: Final = re.compile(r"[\x21-\x7e\xa0-\xff](?:[\t\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?")
_ENCODINGS: Final = {
    "integer-normal": 0,
    "integer-reversed": 0,
    "float-ieee-normal": 1,
    "float-ieee-reversed": 1,
    "float-s390": 1,
    "decimal-normal": 2,
    "decimal-reversed": 2,
}
"""The encodings, and the kind of each."""


def lines_of(header: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a header in their order: names in lower case, values without blanks around them."""
    end = CRLF if header.endswith(CRLF) else CHOSEN_END
    for line in header.removesuffix(end).split(end) if header not in ("", NO_FIELDS) else ():
        name, colon, value = line.partition(":")
        if not colon or not _TOKEN.fullmatch(name.rstrip(LWS)):
            raise malformed(
                f"a field of a message is a name, a colon and a value, not {shortened(line)}", "6.2"
            )
        yield name.rstrip(LWS).lower(), value.strip(LWS)


def read_fields(header: str) -> dict[str, str]:
    """Return the fields by their names; a field may stand twice only with one value (H-38)."""
    fields: dict[str, str] = {}
    for name, value in lines_of(header):
        if fields.setdefault(name, value) != value:
            raise malformed(f"a message has two different fields {name}", "6.2")
    return fields


def fields_of(message: Message) -> dict[str, str]:
    """Return the fields of a message; empty if it neither came by HTTPR nor has chosen fields."""
    return read_fields(message.carrier_header)


# -- what an application chooses


def chosen_header(fields: Mapping[str, str]) -> str:
    """Return `Message.carrier_header` for fields that a sender chose; UsageError if one is not allowed."""
    lines: dict[str, str] = {}
    for given, value in fields.items():
        name = given.lower()
        if name in lines:
            raise UsageError(f"the HTTPR field {name} is given twice")
        _check_name(given, name)
        _check_value(name, value)
        lines[name] = value
    header = "".join(f"{name}:{value}{CHOSEN_END}" for name, value in lines.items())
    if len(header) > CHOSEN_LIMIT:
        raise UsageError(f"HTTPR fields have at most {CHOSEN_LIMIT} characters, these have {len(header)}")
    return header


def _check_name(given: str, name: str) -> None:
    if name.startswith(OURS):
        raise UsageError(f"fields that begin with {OURS} are written by the queue manager, not {given!r}")
    if name in CHOOSABLE or (name.startswith(PRODUCT) and name != PRODUCT and _TOKEN.fullmatch(name)):
        return
    raise UsageError(
        f"an HTTPR field is one of {', '.join(CHOOSABLE)} or begins with {PRODUCT}, not {given!r}"
    )


def _check_value(name: str, value: str) -> None:
    if not _VALUE.fullmatch(value):
        raise UsageError(
            f"the HTTPR field {name} has a value of printable characters (Latin-1), with none of them a blank"
            f" at either end, not {shortened(value)}"
        )
    if name in _TOKENS and not _TOKEN.fullmatch(value):
        raise UsageError(f"the HTTPR field {name} is one word without separators, not {shortened(value)}")
    if name == "encoding" and not is_encoding(value):
        raise UsageError(
            f"the HTTPR field encoding is some of {', '.join(_ENCODINGS)}, not {shortened(value)}"
        )


def is_encoding(value: str) -> bool:
    """Return whether this is a valid `encoding` of numbers in the data, each kind at most once (6.2.7)."""
    words = [word.strip(LWS).lower() for word in value.split(",")]
    kinds = [_ENCODINGS.get(word) for word in words if word]  # empty elements do not count (HR-121)
    return None not in kinds and len(set(kinds)) == len(kinds) > 0

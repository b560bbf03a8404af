"""Reads and writes the reason of a refusal in a header field of the answer; MSMQ reads only the status.

    400 Bad Request
    X-Reliquary-Refusal: nack-bad-dest-queue; to: ...

A sender that reads it can recognize a temporary refusal: a missing queue may be created a minute later.
The status of HTTP is 400 for all of them (SR-192).
"""

from __future__ import annotations

from typing import Final

from reliquary.queueing.model.message import MessageClass

FIELD: Final = b"x-reliquary-refusal"
LONGEST: Final = 1000
"""The most characters of the explanation that are written and read."""
_WORDS: Final = {each: each.name.lower().replace("_", "-") for each in MessageClass if each.is_failure}
_CLASSES: Final = {word: each for each, word in _WORDS.items()}
_MALFORMED: Final = "malformed"
"""The word for a message that violates [MC-MQSRM]."""


def refusal_field(reason: MessageClass, why: str) -> tuple[bytes, bytes]:
    """Return the header field with the reason of a refusal.

    >>> refusal_field(MessageClass.NACK_ACCESS_DENIED, "no")[1]
    b'nack-access-denied; no'
    """
    plain = "".join(each if " " <= each <= "~" else "?" for each in why[:LONGEST])
    return FIELD, f"{_WORDS.get(reason, _MALFORMED)}; {plain}".encode("ascii")


def read_refusal(value: bytes) -> tuple[MessageClass, str]:
    """Return the reason and the words of a header field; NORMAL for an unknown reason.

    >>> read_refusal(b"nack-access-denied; no")
    (<MessageClass.NACK_ACCESS_DENIED: 32772>, 'no')
    """
    word, _, why = value.decode("latin-1")[:LONGEST].partition(";")
    return _CLASSES.get(word.strip().lower(), MessageClass.NORMAL), why.strip()

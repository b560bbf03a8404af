"""Sends the reason of an error as a sentence, in a product field beside `error` (6.1.13, HR-107).

error:518 SINK-NOT-KNOWN
app-reliquary-reason:there is no queue orders
"""

from __future__ import annotations

from typing import Final

from reliquary.protocols.httpr.codec.values import Fields, ResponseHeader

REASON: Final = "app-reliquary-reason"
_LONGEST: Final = 200
"""The most characters of a sentence that are sent or read; it may quote text of a peer."""


def reason_fields(why: str) -> Fields:
    """Return the field with the reason; no field for an empty sentence.

    >>> reason_fields("there is no queue x")
    (('app-reliquary-reason', 'there is no queue x'),)
    """
    sentence = _printable(why)
    return ((REASON, sentence),) if sentence else ()


def reason_in(header: ResponseHeader) -> str:
    """Return the reason why a peer refused a request; empty if the header has none."""
    return next((_printable(value) for name, value in header.product if name == REASON), "")


def _printable(text: str) -> str:
    return "".join([each if " " <= each <= "~" else "?" for each in text[:_LONGEST]]).strip()

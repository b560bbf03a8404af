"""Tests APDUs that wait at a source: an APDU that was begun is not withdrawn."""

from __future__ import annotations

from reliquary.protocols.pgm.unsent import Apdu, Unsent

FIRST, SECOND = Apdu(1, b"first"), Apdu(2, b"second")


def waiting() -> Unsent:
    unsent = Unsent()
    unsent.apdus += (FIRST, SECOND)
    return unsent


def test_all_that_was_not_begun_is_withdrawn() -> None:
    unsent = waiting()
    unsent.withdraw()
    assert not unsent.apdus


def test_an_apdu_that_was_begun_stays() -> None:
    unsent = waiting()
    unsent.offset = 2
    unsent.withdraw()
    assert (list(unsent.apdus), unsent.offset) == ([FIRST], 2)


def test_an_apdu_that_was_begun_is_forgotten_with_all_others() -> None:
    unsent = waiting()
    unsent.offset = 2
    unsent.clear()
    assert (list(unsent.apdus), unsent.offset) == ([], 0)

"""Tests a batch while it comes, without a network: one piece at a time, in the order of the messages."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.hresult import HResult
from reliquary.net.httpr.bodies import Stored
from reliquary.net.httpr.intake import Intake
from reliquary.protocols.httpr.codec.reader import (
    BatchEnded,
    BodyPart,
    LargeBegun,
    LargeEnded,
    LargePiece,
)
from reliquary.protocols.httpr.codec.values import Carried, Disposition
from reliquary.queueing.model.events import Answer, PieceStored
from reliquary.queueing.model.message import StoredBody


class ManualStore:
    """A store of bodies; a test says when a piece is stored."""

    def __init__(self) -> None:
        self.kept: dict[int, list[bytes]] = {}
        self.due: list[tuple[int, bytes, Stored]] = []
        self._last = 0

    def read(self, spool: int, index: int) -> bytes:
        return self.kept[spool][index]

    def store(self, spool: int, data: bytes, stored: Stored) -> None:
        assert not self.due, "one piece at a time"
        self.due.append((spool, data, stored))

    def drop(self, spool: int) -> None:
        del self.kept[spool]

    def settle(self) -> None:
        spool, data, stored = self.due.pop()
        if not spool:
            self._last = spool = self._last + 1
        pieces = self.kept.setdefault(spool, [])
        pieces.append(data)
        stored(PieceStored(HResult.OK, "", spool, len(pieces), sum(map(len, pieces))))

    def refuse(self) -> None:
        self.due.pop()[2](Answer(HResult.INSUFFICIENT_RESOURCES, "it is full"))


SMALL = Carried("a:1\r\n", b"small")
LARGE: list[BodyPart] = [LargeBegun("b:2\r\n", None), LargePiece(b"one"), LargePiece(b"three"), LargeEnded()]
PARTS: list[BodyPart] = [SMALL, *LARGE, SMALL, *LARGE, BatchEnded(Disposition.LAST)]


def ignore() -> None:
    """Do nothing: no caller wants this notification."""


@given(st.lists(st.integers(0, len(PARTS)), max_size=6).map(sorted), st.integers(0, 5))
def test_a_batch_is_equal_however_its_bytes_are_cut(cuts: list[int], late: int) -> None:
    manual_store = ManualStore()
    intake = Intake(manual_store, ignore)
    places = [0, *cuts, len(PARTS)]
    for number, (start, stop) in enumerate(pairwise(places)):
        intake.take(PARTS[start:stop])
        if number >= late and manual_store.due:
            manual_store.settle()
    while manual_store.due:
        manual_store.settle()
    one, two = StoredBody(1, 8, 2), StoredBody(2, 8, 2)
    large = Carried("b:2\r\n", b"", one)
    assert intake.batch == [SMALL, large, SMALL, Carried("b:2\r\n", b"", two)]
    assert intake.disposition is Disposition.LAST
    assert not intake.is_storing
    assert manual_store.kept == {1: [b"one", b"three"], 2: [b"one", b"three"]}


def test_a_waiter_is_notified_when_a_piece_is_stored() -> None:
    manual_store, reported = ManualStore(), []
    intake = Intake(manual_store, lambda: reported.append(intake.is_storing))
    intake.take(PARTS)
    manual_store.settle()
    manual_store.settle()
    assert reported == [True, True]  # the next piece, and that of the next message
    manual_store.settle()
    manual_store.settle()
    assert reported == [True, True, True, False]


def test_a_piece_that_cannot_be_stored_ends_the_batch() -> None:
    manual_store, reported = ManualStore(), []
    intake = Intake(manual_store, lambda: reported.append(intake.refusal))
    intake.take(PARTS)
    manual_store.settle()
    manual_store.refuse()
    assert reported == ["", "it is full"]
    assert not manual_store.due
    intake.give_up()
    assert (manual_store.kept, intake.batch) == ({}, [])


def test_what_is_given_up_goes_with_the_piece_that_is_on_its_way() -> None:
    manual_store, reported = ManualStore(), []
    intake = Intake(manual_store, lambda: reported.append("stored"))
    intake.take(PARTS)
    manual_store.settle()
    intake.give_up()
    assert manual_store.kept == {1: [b"one"]}
    manual_store.settle()
    assert (manual_store.kept, manual_store.due, reported) == ({}, [], ["stored"])

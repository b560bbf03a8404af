"""Tests facts in memory and on disk: what is rebuilt from the rows equals what was live."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.turn import Fact
from reliquary.protocols.wsrm.codec.values import Dialect, Reference
from reliquary.protocols.wsrm.destination import apply as applying
from reliquary.protocols.wsrm.destination import facts
from reliquary.protocols.wsrm.destination.apply import APPLIED, apply
from reliquary.protocols.wsrm.destination.phases import Phase
from reliquary.protocols.wsrm.destination.tables import BUFFERED, TABLES, Inbound, Request, message_key
from reliquary.queueing.model.message import Message, ObjectId
from tests.protocols.wsrm.destination.rmd import ANONYMOUS, Rmd

ROW = Inbound(1, "urn:one", "orders", "orders", Dialect(), ANONYMOUS, 5, 10, "S-1-5-7", offer="urn:offer")
OTHER = Inbound(2, "urn:two", "", "replies", Dialect(), Reference("http://peer.example/"), 6, 10)
LIFE: tuple[Fact, ...] = (
    facts.SequenceOpened(ROW),
    facts.SequenceOpened(OTHER),
    facts.SequencePaired(1, 9),
    facts.MessageReceived(1, 1),
    facts.MessageBuffered(1, 4, Message(body=b"four")),
    facts.MessageBuffered(1, 3, Message(body=b"three")),
    facts.RequestNoted(1, 3, Request(ObjectId(UUID(int=3), 1), "three")),
    facts.MessageReceived(1, 2, released=(3, 4)),
    facts.MessageBuffered(1, 6, Message(body=b"six"), last=True),
    facts.BufferReleased(1, (6,)),
    facts.SequenceClosed(1),
    facts.SequencesRetired((1,)),
    facts.SequenceEnded(2, 70, 8),
    facts.SequenceEnded(1, 80),
    facts.SequencesForgotten((1,)),
)


def applied(rmd: Rmd, *reported: Fact) -> dict[str, Any]:
    for fact in reported:
        rmd.turn(lambda fact=fact: apply(rmd.state, fact))  # type: ignore[misc]
    return rmd.durable()


@pytest.mark.wsrm("T24")
def test_the_rebuilt_state_equals_the_live_state_after_each_fact() -> None:
    assert {type(fact) for fact in LIFE} == set(APPLIED)
    rmd = Rmd()
    for fact in LIFE:
        live = applied(rmd, fact)
        rmd.restart()
        assert rmd.durable() == live, fact
    assert rmd.facts[: len(LIFE)] == list(LIFE)


def test_a_forgotten_sequence_leaves_no_row() -> None:
    rmd = Rmd()
    applied(rmd, *LIFE, facts.SequencesForgotten((2,)))
    assert all(not rmd.disk.range(name, b"", b"\xff" * 64, limit=9) for name in TABLES)
    assert rmd.durable() == Rmd().durable()


def test_the_ranges_the_last_number_and_the_phase_follow_the_facts() -> None:
    rmd = Rmd()
    applied(rmd, *LIFE[:9])
    sequence = rmd.sequence("urn:one")
    assert (sequence.received.ranges, sequence.received.last) == (((1, 4), (6, 6)), 6)
    assert (sequence.next, sequence.ahead, sequence.highest) == (5, 1, 6)
    assert sequence.target.buffered_bytes == sum(sequence.buffered.values()) > 0
    assert rmd.rows.get(BUFFERED, message_key(1, 6)) is not None
    assert rmd.rows.get(BUFFERED, message_key(1, 3)) is None
    applied(rmd, *LIFE[9:11])
    assert sequence.received.phase is Phase.CLOSED
    assert sequence.target.buffered_bytes == 0


def test_a_number_is_received_only_once() -> None:
    rmd = Rmd()
    applied(rmd, *LIFE[:4])
    with pytest.raises(AssertionError, match="came before"):
        apply(rmd.state, facts.MessageReceived(1, 1))


def test_an_identifier_belongs_to_one_sequence() -> None:
    rmd = Rmd()
    applied(rmd, LIFE[0])
    with pytest.raises(AssertionError, match="two sequences"):
        apply(rmd.state, facts.SequenceOpened(ROW))


def test_a_sequence_that_holds_messages_is_not_forgotten() -> None:
    rmd = Rmd()
    applied(rmd, *LIFE[:5], facts.SequenceEnded(1, 80))
    with pytest.raises(AssertionError, match="holds messages"):
        apply(rmd.state, facts.SequencesForgotten((1,)))


def test_an_ended_sequence_is_in_no_index_of_open_ones() -> None:
    rmd = Rmd()
    applied(rmd, LIFE[0])
    assert rmd.here.created
    assert rmd.here.open_counts["orders"] == 1
    applied(rmd, facts.SequenceEnded(1, 80))
    assert not rmd.here.created
    assert rmd.here.open_counts["orders"] == 0
    assert not rmd.sequence("urn:one").target.open


def test_the_kept_message_ids_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applying, "MOST_REQUESTS", 2)
    rmd = Rmd()
    noted = [facts.RequestNoted(1, n, Request(ObjectId(UUID(int=n), 1), str(n))) for n in (1, 2, 3)]
    live = applied(rmd, LIFE[0], *noted)
    assert sorted(rmd.here.requests.values()) == ["2", "3"]
    rmd.restart()
    assert rmd.durable() == live

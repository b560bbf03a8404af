"""Tests the record of a run: what applications record, and a digest of everything."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.message import Message, MessageClass, ObjectId
from reliquary.sim.history import History, SenderKnowledge, Sending, Turned, named, shown
from tests.sim.written_history import NOW, Nothing


def sending(body: bytes) -> Sending:
    return Sending(body, "label", "producer", 1, "orders", 3, express=False, request=1)


def test_the_digests_of_two_runs_differ() -> None:
    one, same, other = History(), History(), History()
    for history, word in ((one, "a"), (same, "a"), (other, "b")):
        history.note(1, "begin")
        history.note(2, word)
    assert one.digest == same.digest != other.digest


def test_every_line_can_be_printed() -> None:
    said: list[str] = []
    History(said.append).note(1_500_000, "the power goes")
    assert said == ["  1.500000  the power goes"]


def test_what_is_sent_stands_open_until_its_sender_knows_more() -> None:
    history = History()
    history.sending(sending(b"a"))
    known = [history.sendings[b"a"].standing]
    history.settle([history.sendings[b"a"]], SenderKnowledge.CONFIRMED)
    known.append(history.sendings[b"a"].standing)
    assert known == [SenderKnowledge.OPEN, SenderKnowledge.CONFIRMED]


def test_each_message_has_a_different_name() -> None:
    history = History()
    history.sending(sending(b"a"))
    with pytest.raises(AssertionError, match="twice"):
        history.sending(sending(b"a"))


def test_the_first_turn_that_gave_a_message_permanently_counts() -> None:
    history = History()
    history.consume([b"a"], 5)
    history.consume([b"a"], 9)
    assert history.consumed == {b"a": 5}


def test_a_body_is_shown_without_its_padding() -> None:
    assert shown(b"producer1.7|xxxx") == "producer1.7"


def test_a_receipt_that_travels_is_known_by_its_own_identifier() -> None:
    reported = Message.of(
        label="m1", message_class=MessageClass.ACK_RECEIVE, identifier=ObjectId(uniquifier=7)
    )
    assert named(reported) == b"ACK_RECEIVE of m1"
    assert named(reported.changed(soap_header="<commitmentReceipt/>")).endswith(b"\\7")
    assert named(reported.changed(soap_envelope="<Envelope/>")).endswith(b"\\7")


def history_of(count: int) -> History:
    history = History()
    history.turns = [Turned(number, 1, number, Nothing(), (), (), NOW) for number in range(count)]
    return history


def test_a_restore_forgets_the_turns_that_its_backup_has_not() -> None:
    history = history_of(4)
    history.turns[1].lost = True
    history.restore(frozenset({0, 1}))
    assert [turned.forgotten for turned in history.turns] == [False, False, True, True]
    assert [turned.kept for turned in history.turns] == [True, False, False, False]
    assert history.is_forgotten(3)
    assert not history.is_forgotten(0)


def test_what_was_received_since_the_backup_is_not_received_any_more() -> None:
    history = history_of(4)
    history.consume([b"a"], 1)
    history.consume([b"b"], 3)
    history.restore({0, 1})
    history.consume([b"c"], 2)  # an answer that was on its way when the store was restored
    assert history.consumed == {b"a": 1}
    history.restore({0, 1, 2})
    assert history.consumed == {b"a": 1, b"c": 2}


def test_what_a_reader_of_a_feed_was_given_since_the_backup_is_given_again() -> None:
    history = history_of(3)
    history.read_feed(7, "lake", {1: (1, 1)}, 0)
    history.read_feed(7, "lake", {2: (2, 2)}, 2)
    history.restore({0, 1})
    assert history.feeds == {(7, "lake"): {1: (1, 1)}}

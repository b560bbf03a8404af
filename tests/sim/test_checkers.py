"""Tests that each checker finds the errors that it is for, and no others."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import Duration
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import MoveMessage, PeekMessage, ReceiveMessages
from reliquary.queueing.model.message import Acknowledgement, MessageClass
from reliquary.queueing.model.tables import Copy
from reliquary.sim.checkers import (
    check_acknowledgements,
    check_cursors,
    check_history,
    check_identifiers,
    check_loss,
    check_nothing_leaks,
    check_order,
    check_outcomes,
)
from reliquary.sim.history import Decision, SenderKnowledge, Violation, acknowledged
from reliquary.sim.ledger import Ledger
from tests.queueing.manager_harness import Bench
from tests.sim.written_history import Story, delivered, message, moved, position, removed, stored


def check(story: Story) -> None:
    check_history(story.history, Ledger.of(story.history.turns, 1))


def receive(story: Story, *numbers: int, to: int, lost: bool = False) -> None:
    """Record a plain receive; the caller owns the messages permanently."""
    turned = story.turn(
        removed(*numbers), event=ReceiveMessages(to, "q1"), answers={to: delivered(*numbers)}, lost=lost
    )
    if not lost:
        story.history.consume([b"m%d" % number for number in numbers], turned.number)


def test_a_run_without_errors_passes() -> None:
    story = Story()
    story.sent(1, 2, 3)
    story.turn(stored(1, 2, 3))
    receive(story, 1, 2, to=5)
    check(story)


def test_a_confirmed_message_that_is_not_there_is_a_loss() -> None:
    story = Story()
    story.sent(1)
    story.turn(stored(1), lost=True)
    with pytest.raises(Violation, match="loss: m1"):
        check(story)


def test_a_restore_excuses_what_came_after_the_backup_and_nothing_else() -> None:
    story = Story()
    story.sent(1, 2, 3)
    kept = story.turn(stored(1))
    story.turn(stored(2))
    replaced = Ledger.of(story.history.turns, 1)
    story.history.restore({kept.number} | {turned.number for turned in story.history.turns[: kept.number]})
    with pytest.raises(Violation, match="loss: m3"):
        check_loss(story.history, Ledger.of(story.history.turns, 1), [replaced])
    del story.history.sendings[b"m3"]
    check_loss(story.history, Ledger.of(story.history.turns, 1), [replaced])
    with pytest.raises(Violation, match="loss: m2"):
        check_loss(story.history, Ledger.of(story.history.turns, 1))


def test_a_queue_that_was_deleted_before_the_restore_took_its_messages_along() -> None:
    story = Story()
    story.sent(1)
    story.history.restore(set())
    ledger = Ledger.of(story.history.turns, 1)
    with pytest.raises(Violation, match="loss: m1"):
        check_loss(story.history, ledger, [Ledger()])
    replaced = Ledger()
    replaced.deleted.add(f"sim\\private$\\{story.history.sendings[b'm1'].queue}")
    check_loss(story.history, ledger, [replaced])


def test_what_was_received_since_the_backup_may_be_received_again() -> None:
    story = Story()
    story.sent(1)
    kept = story.turn(stored(1)).number
    receive(story, 1, to=5)
    story.history.restore(set(range(kept + 1)))
    receive(story, 1, to=6)
    check(story)


def test_two_messages_of_one_lookup_identifier_are_found_also_after_a_restore() -> None:
    story = Story()
    kept = story.turn(stored(1)).number
    story.turn(stored(2))
    story.history.restore(set(range(kept + 1)))
    again = facts.MessagesStored(1, (position(2),), (message(b"m9"),))
    story.turn(again)
    with pytest.raises(Violation, match="identifiers: m9 and m2"):
        check_identifiers([story.history])


@pytest.mark.parametrize("standing", [SenderKnowledge.UNKNOWN, SenderKnowledge.REFUSED, SenderKnowledge.OPEN])
def test_what_was_not_confirmed_may_be_missing(standing: SenderKnowledge) -> None:
    story = Story()
    story.sent(1, standing=standing)
    check(story)


def test_what_was_refused_must_not_be_there_unless_it_came_too_late() -> None:
    story = Story()
    story.sent(1, 2, standing=SenderKnowledge.REFUSED)
    story.turn(stored(1, reason=MessageClass.NACK_REACH_QUEUE_TIMEOUT))
    check(story)
    story.turn(stored(2))
    with pytest.raises(Violation, match="m2 was refused"):
        check(story)


def test_the_messages_of_one_request_are_stored_together() -> None:
    story = Story()
    story.sent(1, 2, standing=SenderKnowledge.UNKNOWN, request=9)
    check(story)
    story.turn(stored(1))
    with pytest.raises(Violation, match="only some"):
        check(story)


def test_a_message_that_is_handed_out_again_is_a_duplicate() -> None:
    story = Story()
    story.sent(1)
    story.turn(stored(1))
    receive(story, 1, to=5)
    story.turn(event=ReceiveMessages(6, "q1", hold=Duration(1)), answers={6: delivered(1)})
    with pytest.raises(Violation, match="duplication: m1"):
        check(story)


def test_a_copy_in_a_journal_is_no_duplicate() -> None:
    story = Story()
    story.sent(1)
    story.turn(stored(1))
    receive(story, 1, to=5)
    story.turn(
        event=ReceiveMessages(6, "q1;journal"), answers={6: delivered(1, reason=MessageClass.ACK_RECEIVE)}
    )
    check(story)


def test_a_receive_that_a_crash_took_is_no_receive() -> None:
    story = Story()
    story.sent(1)
    story.turn(stored(1))
    receive(story, 1, to=5, lost=True)
    receive(story, 1, to=6)
    check(story)


def test_a_message_that_a_reader_consumed_must_have_left() -> None:
    story = Story()
    story.sent(1)
    story.turn(stored(1))
    story.history.consume([b"m1"], 2)
    with pytest.raises(Violation, match="is there"):
        check(story)


def test_messages_of_one_sender_come_out_as_they_went_in() -> None:
    story = Story()
    story.sent(1, 2)
    story.turn(stored(1, 2))
    receive(story, 2, to=5)
    receive(story, 1, to=6)
    with pytest.raises(Violation, match="order: m1 came out"):
        check(story)


def test_a_message_that_was_held_or_moved_may_come_out_of_turn() -> None:
    for event, answers in (
        (ReceiveMessages(4, "q1", hold=Duration(1)), {4: delivered(1)}),
        (ReceiveMessages(4, "q1", transaction=UUID(int=1)), {4: delivered(1)}),
        (MoveMessage(4, "q1", 1, "q2", UUID(int=1)), {}),
    ):
        story = Story()
        story.sent(1, 2)
        story.turn(stored(1, 2))
        story.turn(event=event, answers=dict(answers))
        receive(story, 2, to=5)
        receive(story, 1, to=6)
        check_order(story.history)


def test_moved_messages_are_not_asked_for_their_order() -> None:
    story = Story()
    story.sent(1, 2)
    story.turn(stored(1, 2))
    story.turn(moved(1), event=MoveMessage(4, "q1", 1, "q2"))
    receive(story, 2, to=5)
    check_order(story.history)


def test_nothing_is_left_behind_in_an_idle_manager() -> None:
    bench = Bench("orders")
    check_nothing_leaks(bench.state)
    bench.send("orders", b"a")
    with pytest.raises(Violation, match="left behind: messages"):
        check_nothing_leaks(bench.state)
    bench.receive("orders", hold=5)
    with pytest.raises(Violation, match="left behind: handles"):
        check_nothing_leaks(bench.state)
    bench.begin()
    with pytest.raises(Violation, match="left behind: transactions"):
        check_nothing_leaks(bench.state)


def walk(story: Story, to: int, number: int, *, following: bool = False, waited: bool = False) -> None:
    """Show a message under a cursor, at once or after a wait."""
    event = PeekMessage(to, 7, cursor=9, next=following)
    if waited:
        story.turn(event=event)
    story.turn(event=None if waited else event, answers={to: delivered(number)})


def test_a_cursor_goes_forward() -> None:
    story = Story()
    walk(story, 1, 4)
    walk(story, 2, 4)
    walk(story, 3, 6, following=True)
    walk(story, 4, 5, following=True, waited=True)
    walk(story, 5, 6, following=True)
    check_cursors(story.history)


@pytest.mark.parametrize(("number", "following"), [(3, False), (4, True)])
def test_a_cursor_that_goes_back_or_stands_still_is_found(number: int, following: bool) -> None:
    story = Story()
    walk(story, 1, 4)
    walk(story, 2, number, following=following)
    with pytest.raises(Violation, match=f"cursor: m{number}"):
        check_cursors(story.history)


# -- outcomes

YES, NO = HResult.OK, HResult.TRANSACTION_SEQUENCE


def ended(decision: tuple[bool, bool], outcome: bool | None, *answers: tuple[bool, HResult]) -> None:
    """Check a transaction with this decision, this preparation and this end."""
    story, ledger, identifier = Story(), Ledger(), UUID(int=1)
    story.history.decisions.append(Decision(identifier, *decision, list(answers)))
    if outcome is not None:
        ledger.outcomes[identifier] = outcome
    check_outcomes(story.history, ledger)


def test_a_transaction_that_ends_as_was_decided_is_fine() -> None:
    ended((True, True), True, (True, YES), (False, NO), (True, YES))
    ended((False, True), False, (False, YES), (True, NO))
    ended((False, False), None, (False, NO), (True, NO))
    ended((False, False), False, (False, YES))


@pytest.mark.parametrize(
    ("decision", "outcome"),
    [((True, True), False), ((True, True), None), ((False, True), True), ((False, False), True)],
)
def test_a_transaction_that_ends_otherwise_is_found(
    decision: tuple[bool, bool], outcome: bool | None
) -> None:
    with pytest.raises(Violation, match="and has ended otherwise"):
        ended(decision, outcome)


@pytest.mark.parametrize("commit", [True, False])
def test_an_outcome_that_is_refused_or_confirmed_both_ways_is_found(commit: bool) -> None:
    with pytest.raises(Violation, match="and this was refused"):
        ended((commit, True), commit, (commit, YES), (commit, NO))
    with pytest.raises(Violation, match="the opposite was confirmed"):
        ended((commit, True), commit, (commit, YES), (not commit, YES))


# -- acknowledgements


def news(asks: Acknowledgement, left: MessageClass | None, *reported: MessageClass, unkept: int = 0) -> None:
    """Check a message that came to its queue, left it or not, and was acknowledged in this way."""
    story, ledger = Story(), Ledger()
    story.sent(1)
    story.history.sendings[b"m1"].asks = asks
    ledger.reached.add(b"m1")
    ledger.unkept[Copy.ACKNOWLEDGEMENT] = unkept
    if left is not None:
        ledger.left[b"m1"] = (1, left)
    ledger.stored.update({acknowledged("m1", each): 1 for each in reported})
    check_acknowledgements(story.history, ledger)


FULL_RECEIVE, FULL_REACH = Acknowledgement.FULL_RECEIVE, Acknowledgement.FULL_REACH_QUEUE
RECEIVED, PURGED = MessageClass.ACK_RECEIVE, MessageClass.NACK_QUEUE_PURGED
REACHED = MessageClass.ACK_REACH_QUEUE


def test_one_true_acknowledgement_is_fine() -> None:
    news(FULL_RECEIVE, RECEIVED, RECEIVED)
    news(FULL_RECEIVE, PURGED, PURGED)
    news(FULL_RECEIVE, None)
    news(FULL_REACH, PURGED, REACHED)
    news(FULL_RECEIVE, RECEIVED, unkept=1)


@pytest.mark.parametrize(
    ("asks", "left", "reported"),
    [
        (FULL_RECEIVE, PURGED, [RECEIVED]),
        (FULL_RECEIVE, RECEIVED, [PURGED]),
        (FULL_RECEIVE, RECEIVED, [RECEIVED, PURGED]),
        (FULL_RECEIVE, RECEIVED, []),
        (FULL_RECEIVE, None, [RECEIVED]),
        (FULL_REACH, None, [MessageClass.NACK_BAD_DEST_QUEUE]),
        (FULL_REACH, None, []),
    ],
)
def test_an_acknowledgement_that_is_missing_doubled_or_untrue_is_found(
    asks: Acknowledgement, left: MessageClass | None, reported: list[MessageClass]
) -> None:
    with pytest.raises(Violation, match="news"):
        news(asks, left, *reported)

"""Messages of an older era become dead letters where their outcome is unknown."""

from __future__ import annotations

from reliquary.base.turn import Warn
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.travel.transfer import Outcome, SendUserMessage, TransferEnded
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.closing import NOT_CONFIRMED, in_this_era, make_dead_letters
from tests.streams.streams_harness import begin, new_state

QUEUE, THERE = 7, "DIRECT=OS:there\\private$\\q"


def send(lookup_id: int, *, older: bool) -> SendUserMessage:
    return SendUserMessage("carrier", QUEUE, lookup_id, THERE, Message(), older)


def test_messages_that_may_have_had_a_number_after_the_backup_are_given_up() -> None:
    state = new_state()
    new = [send(2, older=False), send(4, older=False)]
    assert in_this_era(state, QUEUE, THERE, [send(1, older=True), new[0], send(3, older=True), new[1]]) == new
    turn = state.draft.take()
    assert turn.signals == (TransferEnded(QUEUE, (1, 3), Outcome.REFUSED, NOT_KNOWN),)
    (warning,) = turn.effects
    assert isinstance(warning, Warn)
    assert (warning.about, warning.what) == (THERE, NOT_CONFIRMED)


def test_messages_of_this_era_are_sent_without_a_warning() -> None:
    state = new_state()
    assert in_this_era(state, QUEUE, THERE, [send(1, older=False)]) == [send(1, older=False)]
    assert not state.draft.take().effects


def test_all_remaining_messages_of_a_stream_become_dead_letters() -> None:
    state = new_state()
    begin(state, 11, 12, 13, queue=QUEUE)
    state.draft.take()
    assert make_dead_letters(state, QUEUE, THERE, "the outcome is not known") == (11, 12, 13)
    turn = state.draft.take()
    assert turn.signals == (TransferEnded(QUEUE, (11, 12, 13), Outcome.REFUSED, NOT_KNOWN, by_receipt=True),)

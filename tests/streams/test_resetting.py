"""An administrator resets a stream that cannot go on; the two protocols with streams test the rest."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.time import SECOND, Instant
from reliquary.base.turn import Reply, Warn
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.travel.transfer import Outcome, TransferEnded
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.apply import apply
from reliquary.streams.events import ResetStream
from reliquary.streams.facts import StreamAcknowledged, StreamAdvanced
from reliquary.streams.records import incoming_name, outgoing_name
from reliquary.streams.resetting import WHAT, reset
from reliquary.streams.state import StreamState
from reliquary.streams.tables import IncomingStream
from tests.streams.streams_harness import begin, new_state, reborn

NOW = Instant(12 * SECOND)
QUEUE = 4


def ask(state: StreamState, name: str, *, renumber: bool = False) -> list[tuple[int, tuple[int, ...]]]:
    """Reset a stream; return what was given up, by queue."""
    given_up: list[tuple[int, tuple[int, ...]]] = []
    event = ResetStream(3, name, renumber)
    reset(state, event, NOW, lambda queue, gone: given_up.append((queue, gone)))
    return given_up


@pytest.mark.parametrize("renumber", [True, False])
def test_unconfirmed_messages_get_numbers_of_a_new_stream_or_are_given_up(renumber: bool) -> None:
    state = new_state()
    begin(state, 31, 32, 33, finals=(31, 33))
    apply(state, StreamAcknowledged(QUEUE, 1))
    old = state.sent[QUEUE].stream.number
    state.draft.take()
    gone = (31,) if renumber else (31, 32, 33)
    assert ask(state, outgoing_name(QUEUE), renumber=renumber) == [(QUEUE, gone)]
    turn = state.draft.take()
    assert turn.signals == (TransferEnded(QUEUE, gone, Outcome.REFUSED, NOT_KNOWN, by_receipt=True),)
    warning, answer = turn.effects
    assert isinstance(warning, Warn)
    assert warning.what == WHAT
    assert answer == Reply(3, Done(True))
    for each in (state, reborn(state)):
        if not renumber:
            assert each.sent == {}
            continue
        sent = each.sent[QUEUE]
        assert sent.numbers == {32: 1, 33: 2}
        assert sent.finals == {33: 3}
        assert sent.stream.number > old


def test_an_incoming_stream_is_marked_until_its_next_message_comes() -> None:
    state = new_state()
    key = (UUID(int=9), "there")
    apply(state, StreamAdvanced(*key, IncomingStream(5, 3, 2)))
    assert ask(state, incoming_name(key)) == []
    for each in (state, reborn(state)):
        assert each.incoming[key].stream == IncomingStream(5, 3, 2, reset=True)


def test_a_name_that_no_stream_has_is_refused() -> None:
    state = new_state()
    begin(state, 31)
    state.draft.take()
    assert ask(state, "out-5") == []
    turn = state.draft.take()
    assert (turn.facts, turn.effects) == ((), (Reply(3, Done(False, "there is no stream out-5")),))

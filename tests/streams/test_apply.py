"""Tests that each fact changes the durable state of streams."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.turn import Fact
from reliquary.store.staging import StagedRows
from reliquary.streams import facts
from reliquary.streams.apply import FACTS, apply
from reliquary.streams.state import StreamState
from reliquary.streams.tables import IncomingStream, Ordinals, OutgoingStream, Remembered
from tests.streams.streams_harness import SENDER, TABLES, new_state, reborn

OTHER = UUID(int=8)
ORDERS = "bench/orders"


def test_every_fact_of_the_room_is_applied() -> None:
    defined = {each for each in vars(facts).values() if isinstance(each, type) and issubclass(each, Fact)}
    assert defined - {Fact} == set(FACTS)


# -- what comes in


@pytest.mark.spec("SR-127", "SR-128")
def test_a_stream_that_comes_in_is_unchanged_in_another_process() -> None:
    state = new_state()
    stream = IncomingStream(5, 3, 2, "alpha/receipts", "alpha 5", f"DIRECT={ORDERS}", 99)
    apply(state, facts.StreamAdvanced(SENDER, ORDERS, stream))
    apply(state, facts.StreamAdvanced(OTHER, ORDERS, IncomingStream(1, 1)))
    assert {key: each.stream for key, each in reborn(state).incoming.items()} == {
        (SENDER, ORDERS): stream,
        (OTHER, ORDERS): IncomingStream(1, 1),
    }


def test_a_stream_that_advances_keeps_its_place() -> None:
    state = new_state()
    for sender in (SENDER, OTHER, SENDER):
        last = len(state.places)
        apply(state, facts.StreamAdvanced(sender, ORDERS, IncomingStream(5, last)))
    assert [(each.place, each.key[0], each.stream.last) for each in state.places] == [
        (0, SENDER, 2),
        (1, OTHER, 1),
    ]


@pytest.mark.spec("SR-125", "SR-155")
@given(
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=40),
    st.integers(1, 8),
)
def test_identifiers_are_unchanged_in_another_process(came: list[tuple[int, bool]], size: int) -> None:
    """Identifiers of express messages are gone, and have removed none of the others."""
    state = new_state(history_size=size)
    for number, express in came:
        entry = Remembered(SENDER, number, 1, 0 if express else state.history.next, ORDERS)
        apply(state, facts.IdentifierRemembered(entry, express))
    again = reborn(state).history
    assert list(again.durable.items()) == list(state.history.durable.items())
    assert again.next == state.history.next
    assert not again.express


def test_an_identifier_of_an_express_message_makes_no_answer_wait_for_the_disk() -> None:
    entry = Remembered(SENDER, 1, 1, 0, ORDERS)
    assert facts.IdentifierRemembered(entry, express=True).volatile
    assert not facts.IdentifierRemembered(entry).volatile


# -- what goes out

ACT = st.sampled_from(["number", "start", "close", "receiver", "acknowledge", "free", "end"])


@pytest.mark.spec("SR-118", "SR-123", "SR-127", "SR-128", "SR-157", "SR-160")
@given(st.lists(st.tuples(ACT, st.integers(1, 90), st.booleans()), max_size=25))
def test_a_stream_that_goes_out_is_unchanged_in_another_process(acts: list[tuple[str, int, bool]]) -> None:
    """Numbers over several rows are freed in any order, in one batch or in several."""
    state = new_state()
    apply(state, facts.StreamBegun(4, OutgoingStream(9 << 32 | 1, sender=SENDER)))
    given = 0
    for act, count, flush in acts:
        sent = state.sent.get(4)
        if sent is None:
            apply(state, facts.StreamBegun(4, OutgoingStream(9 << 32 | state.ordinals.stream, sender=SENDER)))
        elif act == "number":
            lookup_ids = tuple(range(given + 1, given + count + 1))
            given += count
            first = sent.stream.last + 1
            apply(
                state,
                facts.MessagesNumbered(4, first, lookup_ids, tuple((each, 7) for each in lookup_ids[::3])),
            )
        elif act == "start":
            apply(state, facts.StreamStarted(4))
        elif act == "close":
            apply(state, facts.StreamClosed(4))
        elif act == "receiver":
            apply(state, facts.ReceiverKnown(4, OTHER))
        elif act == "acknowledge" and sent.stream.acknowledged < sent.stream.last:
            last = min(sent.stream.acknowledged + count, sent.stream.last)
            apply(state, facts.StreamAcknowledged(4, last))
        elif act == "free" and sent.numbers:
            apply(state, facts.NumbersFreed(4, tuple(sent.numbers)[count % 7 :: count]))
        elif act == "end":
            apply(state, facts.StreamEnded(4))
        if flush:
            write(state)
    again = reborn(state)
    assert (again.sent, again.ordinals, again.queue_of) == (state.sent, state.ordinals, state.queue_of)
    rows = state.rows.range(TABLES.numbers, b"", b"\xff" * 20, limit=1000)
    assert len(rows) == sum(len(sent.rows) for sent in state.sent.values()), "a row is left behind"


def write(state: StreamState) -> None:
    """Write the staged rows to disk, as at the end of a batch."""
    rows = state.rows
    assert isinstance(rows, StagedRows)
    rows._disk.apply(rows.take())  # type: ignore[attr-defined]


def test_the_number_of_a_stream_is_never_used_again() -> None:
    state = new_state()
    for ordinal in (1, 2, 3):
        assert state.ordinals.stream == ordinal
        apply(state, facts.StreamBegun(4, OutgoingStream(9 << 32 | ordinal)))
        apply(state, facts.StreamEnded(4))
    assert reborn(state).ordinals == Ordinals(4, 9)

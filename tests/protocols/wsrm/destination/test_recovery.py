"""Tests the destination in another process."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.wsrm.codec.values import (
    CloseSequence,
    Dialect,
    Envelope,
    Incomplete,
    TerminateSequence,
)
from tests.protocols.wsrm.destination.rmd import ADDRESS, ANONYMOUS, Rmd, message

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), st.integers(0, 1)),
        st.tuples(st.just("message"), st.integers(1, 9)),
        st.tuples(st.just("close"), st.integers(0, 3)),
        st.tuples(st.just("terminate"), st.integers(0, 3)),
        st.tuples(st.just("wait"), st.sampled_from([1, 400, 90_000])),
        st.tuples(st.just("read"), st.just(1)),
    ),
    max_size=25,
)


@pytest.mark.wsrm("T24")
@settings(max_examples=60)
@given(STEPS, st.sampled_from(Incomplete), st.booleans(), st.sampled_from([None, 1500, 100_000]))
def test_all_received_messages_are_known_after_a_restart(
    steps: list[tuple[str, int]], incomplete: Incomplete, ordered: bool, quota: int | None
) -> None:
    rmd = Rmd(quota=quota, ordered=ordered, incomplete=incomplete)
    sequences = [rmd.create()]
    for place, (what, number) in enumerate(steps):
        chosen = sequences[number % len(sequences)]
        if what == "create":
            sequences.append(rmd.create((ANONYMOUS, ADDRESS)[number], message_id=f"opaque {place}"))
        elif what == "message":
            rmd.post(message(chosen, number, message_id=f"message {place}", reply_to=ADDRESS))
        elif what == "close":
            rmd.post(Envelope(dialect=Dialect(), body=CloseSequence(chosen)))
        elif what == "terminate":
            rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(chosen)))
        elif what == "wait":
            rmd.advance(number)
        elif rmd.queues["orders"]:
            rmd.read()
    live = rmd.durable()
    other = Rmd(quota=quota, ordered=ordered, incomplete=incomplete)
    other.disk = rmd.disk
    other._build()
    assert other.durable() == live


def test_a_first_start_finds_nothing() -> None:
    rmd = Rmd()
    empty = rmd.durable()
    rmd.restart()
    assert rmd.durable() == empty
    assert not rmd.timers
    assert not rmd.watched


def test_a_recovered_sequence_goes_on_where_it_was() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1, 2, 4)
    rmd.restart()
    got = rmd.send(sequence, 4, 2, 3)
    assert got is not None
    assert got.ranges == ((1, 4),)
    assert [each.body for each in rmd.queues["orders"]] == [b"<m>%d</m>" % n for n in (1, 2, 3, 4)]


def test_an_acknowledgement_of_another_process_is_not_withdrawn() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    before = rmd.send(sequence, 1, 2, 4)
    rmd.restart()
    assert rmd.ask(sequence) == before


def test_a_repeated_create_sequence_is_recognized_by_another_process() -> None:
    rmd = Rmd()
    sequence = rmd.create(message_id="create 1")
    rmd.restart()
    assert rmd.create(message_id="create 1") == sequence


def test_a_sequence_that_replaced_an_ended_one_is_recognized_by_another_process() -> None:
    rmd = Rmd()
    ended = rmd.create(message_id="create 1")
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(ended)))
    sequence = rmd.create(message_id="create 1")
    rmd.restart()
    assert rmd.create(message_id="create 1") == sequence != ended


def test_numbers_of_sequences_go_on() -> None:
    rmd = Rmd()
    one = rmd.create()
    rmd.advance(1)
    rmd.restart()
    other = rmd.create()
    assert [rmd.sequence(each).number for each in (one, other)] == [1, 2]

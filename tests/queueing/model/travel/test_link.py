"""Tests the states of an outgoing queue, and the history of its connections."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.queueing.model.queue import Outgoing
from reliquary.queueing.model.travel.link import (
    HISTORY,
    NEXT,
    SILENT,
    ConnectionRecord,
    ConnectionStatus,
    DispatchEntry,
    Link,
    OutgoingEvent,
    OutgoingState,
)


@pytest.mark.spec("DM-030")
def test_the_table_answers_every_case() -> None:
    assert len(OutgoingState) == 8
    assert set(NEXT) == set(product(OutgoingState, OutgoingEvent))


@pytest.mark.spec("DM-030")
def test_every_state_but_those_of_other_protocols_is_reached_from_a_new_queue() -> None:
    reached, more = set(), {OutgoingState.INACTIVE}
    while more:
        reached |= more
        more = {after for (before, _), after in NEXT.items() if before in reached and after} - reached
    assert reached == set(OutgoingState)


@pytest.mark.spec("DM-031", "DM-292", "DM-293")
@pytest.mark.parametrize("silent", [OutgoingState.ON_HOLD, OutgoingState.LOCKED])
def test_no_word_of_a_protocol_gets_a_queue_out_of_silence(silent: OutgoingState) -> None:
    ends = {OutgoingState.ON_HOLD: OutgoingEvent.RESUMED, OutgoingState.LOCKED: OutgoingEvent.UNHARDENED}
    for event in set(OutgoingEvent) - {ends[silent]}:
        link = Link(state=silent)
        link.happen(event)
        assert link.state in SILENT, event


@pytest.mark.spec("DM-292")
@pytest.mark.parametrize("state", OutgoingState)
def test_any_queue_can_be_paused(state: OutgoingState) -> None:
    link = Link(state=state)
    link.happen(OutgoingEvent.PAUSED)
    assert link.state is OutgoingState.ON_HOLD


@pytest.mark.spec("DM-293")
@pytest.mark.parametrize("state", OutgoingState)
def test_resuming_concerns_only_a_queue_on_hold(state: OutgoingState) -> None:
    link = Link(state=state)
    link.happen(OutgoingEvent.RESUMED)
    assert link.state is (OutgoingState.INACTIVE if state is OutgoingState.ON_HOLD else state)


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ("CONNECT_BEGUN", "WAITING"),
        ("CONNECT_BEGUN CONNECTED", "CONNECTED"),
        ("CONNECT_BEGUN FAILED", "INACTIVE"),
        ("CONNECT_BEGUN CONNECTED FAILED", "INACTIVE"),
        ("CONNECT_BEGUN CONNECTED SESSION_CLEANED_UP", "DISCONNECTED"),
        ("CONNECT_BEGUN CONNECTED DISCONNECT_BEGUN", "DISCONNECTING"),
        ("CONNECT_BEGUN CONNECTED DISCONNECT_BEGUN CONNECTED", "DISCONNECTING"),
        ("CONNECT_BEGUN CONNECTED DISCONNECT_BEGUN DISCONNECTED", "DISCONNECTED"),
        ("CONNECT_BEGUN CONNECTED SESSION_CLEANED_UP CONNECT_BEGUN", "WAITING"),
        ("VALIDATION_NEEDED", "NEED_VALIDATION"),
        ("VALIDATION_NEEDED VALIDATED", "WAITING"),
        ("VALIDATION_NEEDED FAILED", "INACTIVE"),
        ("HARDENED UNHARDENED", "WAITING"),
        ("HARDENED PAUSED RESUMED", "INACTIVE"),
        ("VALIDATED", "INACTIVE"),
    ],
)
def test_a_sequence_of_events_ends_in_the_documented_state(events: str, state: str) -> None:
    link = Link()
    for name in events.split():
        link.happen(OutgoingEvent[name])
    assert link.state is OutgoingState[state]


@pytest.mark.parametrize(
    ("on_hold", "locked", "state"),
    [
        (False, False, OutgoingState.INACTIVE),
        (False, True, OutgoingState.LOCKED),
        (True, False, OutgoingState.ON_HOLD),
        (True, True, OutgoingState.ON_HOLD),
    ],
)
def test_a_record_says_whether_its_queue_is_silent(on_hold: bool, locked: bool, state: OutgoingState) -> None:
    outgoing = Outgoing(destination=r"DIRECT=OS:a\b", on_hold=on_hold, locked=locked)
    assert Link.of(outgoing).state is state


@pytest.mark.spec("DM-032")
def test_the_history_knows_seventeen_outcomes_and_a_bounded_number_of_attempts() -> None:
    assert len(ConnectionStatus) == 17
    link = Link()
    for moment in range(HISTORY + 5):
        link.history.append(ConnectionRecord(ConnectionStatus.DNS_FAILURE, moment))
    assert [record.time for record in link.history] == list(range(5, HISTORY + 5))


@pytest.mark.spec("DM-071")
def test_transfer_info_has_all_its_attributes_and_starts_empty() -> None:
    transfer = Link().transfer
    assert len(transfer.__struct_fields__) == 11
    assert not any(getattr(transfer, name) for name in transfer.__struct_fields__)


def sending(*numbers: int) -> Link:
    """Return a link on which these messages of ten bytes are being sent."""
    link = Link(most_bytes=100)
    for number in numbers:
        link.begin(DispatchEntry(1, number, 3, size=10))
    return link


def test_what_has_its_outcome_is_forgotten_wherever_it_was() -> None:
    link = sending(0, 1, 2)
    assert (link.accept((1, 2, 9)), link.reach((2, 9))) == ([1, 2], [2])
    assert link.end((2, 0, 9)) == [2, 0]
    assert (link.sending, list(link.accepted), link.reached) == ({}, [1], {})
    assert link.end((0,)) == []


def test_only_what_is_being_sent_counts_against_the_bytes_that_may_be_under_way() -> None:
    link = sending(0, 1, 2, 3)
    assert link.bytes_left() == 60
    link.accept((0,))
    link.reach((1,))
    link.end((2,))
    assert link.bytes_left() == 90
    assert link.take_back() == (3,)
    assert (link.bytes_left(), link.sending, list(link.accepted)) == (100, {}, [0])


def test_what_the_peer_accepted_is_taken_back_behind_what_is_being_sent() -> None:
    link = sending(4, 2, 3)
    link.accept((4,))
    assert link.take_back(accepted=True) == (2, 3, 4)
    assert not link.accepted
    assert link.reach((4,)) == []

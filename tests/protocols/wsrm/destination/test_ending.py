"""Sequences are closed, end, and are forgotten."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.time import seconds
from reliquary.base.turn import Warn
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    CloseSequence,
    CloseSequenceResponse,
    Dialect,
    Envelope,
    Fault,
    TerminateSequence,
    TerminateSequenceResponse,
    Version,
)
from reliquary.protocols.wsrm.destination import ending
from reliquary.protocols.wsrm.destination.acknowledging import due_to
from reliquary.protocols.wsrm.destination.phases import Phase
from reliquary.protocols.wsrm.settings import Assurance
from reliquary.protocols.wsrm.state import Count
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.queue import Era
from reliquary.queueing.model.security.principals import Principal
from reliquary.queueing.model.travel.transfer import EraBegan
from reliquary.wire.security import Sid
from tests.protocols.wsrm.destination.rmd import ADDRESS, POLLED, Rmd, message, numbered

RM10 = Dialect(version=Version.RM10)


def closing(sequence: str, last: int = 0) -> Envelope:
    return Envelope(dialect=Dialect(), message_id="urn:close", body=CloseSequence(sequence, last))


def terminating(sequence: str, last: int = 0, dialect: Dialect = Dialect()) -> Envelope:  # noqa: B008
    return Envelope(dialect=dialect, message_id="urn:end", body=TerminateSequence(sequence, last))


# -- CloseSequence


def test_a_close_is_answered_with_the_final_acknowledgement() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1, 2)
    response = rmd.post(closing(sequence, 2))
    assert response is not None
    assert response.body == CloseSequenceResponse(sequence)
    assert response.relates_to == "urn:close"
    (final,) = response.acknowledgements
    assert (final.ranges, final.final, final.buffer) == (((1, 2),), True, 0), "it takes no more messages"
    assert rmd.waits
    assert rmd.post(closing(sequence, 2)) == response, "it may be repeated"


def test_the_final_acknowledgement_is_in_the_response_wherever_that_is_sent() -> None:
    rmd = Rmd()
    sequence = rmd.create(ADDRESS)
    rmd.send(sequence, 1)
    rmd.post(closing(sequence, 1))
    assert rmd.exchange.response is not None
    assert [each.final for each in rmd.exchange.response.acknowledgements] == [True]
    assert due_to(rmd.state, ADDRESS.address) == []


def test_a_closed_sequence_takes_no_new_message_and_still_acknowledges() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1)
    rmd.post(closing(sequence, 2))
    code, (final,) = rmd.fault(message(sequence, 2))
    assert code is FaultCode.SEQUENCE_CLOSED
    assert (final.ranges, final.final) == (((1, 1),), True)
    got = rmd.send(sequence, 1)
    assert got is not None
    assert got.final, "a duplicate is no reason for a fault"
    got = rmd.ask(sequence)
    assert got is not None
    assert got.final
    assert rmd.bodies == numbered(1)


def test_a_closed_sequence_is_not_notified_of_room() -> None:
    rmd = Rmd(bounded=True, window=1)
    sequence = rmd.create(ADDRESS)
    rmd.send(sequence, 1)
    rmd.post(closing(sequence, 1))
    before = len(rmd.sent)
    rmd.read()
    assert len(rmd.sent) == before


@pytest.mark.parametrize("last", [1, 2])
def test_a_last_number_that_contradicts_the_messages_is_refused(last: int) -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1, 2, 3)
    assert rmd.fault(closing(sequence, last))[0] is FaultCode.SENDER
    assert rmd.fault(terminating(sequence, last))[0] is FaultCode.SENDER


def test_the_last_number_of_close_and_terminate_must_agree() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1)
    rmd.post(closing(sequence, 3))
    assert rmd.fault(terminating(sequence, 4))[0] is FaultCode.SENDER
    assert rmd.fault(closing(sequence, 4))[0] is FaultCode.SENDER
    assert rmd.post(terminating(sequence)) is not None


@pytest.mark.parametrize("wrong", [closing, terminating])
def test_an_unknown_sequence_is_refused(wrong: Any) -> None:
    assert Rmd().fault(wrong("urn:nothing")) == (FaultCode.UNKNOWN_SEQUENCE, ())


@pytest.mark.parametrize("wrong", [closing, terminating])
def test_another_user_ends_nothing(wrong: Any) -> None:
    rmd = Rmd()
    sequence = rmd.create(by=Principal(Sid(5, (21, 1))))
    other = Principal(Sid(5, (21, 2)))
    assert rmd.fault(wrong(sequence), by=other)[0] is FaultCode.UNKNOWN_SEQUENCE


# -- TerminateSequence


def test_a_terminate_is_answered_and_can_be_repeated() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1)
    response = rmd.post(terminating(sequence, 1))
    assert response is not None
    assert response.body == TerminateSequenceResponse(sequence)
    (final,) = response.acknowledgements
    assert (final.ranges, final.final) == (((1, 1),), True)
    assert rmd.state.turn.ended == [1]
    again = rmd.post(terminating(sequence, 1))
    assert again is not None
    assert (again.body, again.acknowledgements) == (response.body, response.acknowledgements)
    assert rmd.state.turn.ended == [1], "it ended once"


def test_a_terminate_of_version_1_0_has_no_response() -> None:
    rmd = Rmd()
    sequence = rmd.create(dialect=RM10)
    assert rmd.post(terminating(sequence, dialect=RM10)) is None
    assert rmd.post(terminating(sequence, dialect=RM10)) is None
    assert rmd.sequence(sequence).phase is Phase.ENDED


def test_version_1_0_has_no_final_acknowledgement() -> None:
    rmd = Rmd()
    sequence = rmd.create(dialect=RM10)
    rmd.send(sequence, 1, dialect=RM10)
    rmd.post(terminating(sequence, dialect=RM10))
    code, (got,) = rmd.fault(message(sequence, 1, dialect=RM10))
    assert code is FaultCode.SEQUENCE_TERMINATED
    assert (got.ranges, got.final) == (((1, 1),), False)


@pytest.mark.parametrize("number", [1, 2], ids=["a late duplicate", "a late message"])
def test_what_comes_after_the_end_gets_the_final_acknowledgement_with_the_fault(number: int) -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1)
    rmd.post(terminating(sequence, 1))
    rmd.restart()
    code, (final,) = rmd.fault(message(sequence, number))
    assert code is FaultCode.SEQUENCE_TERMINATED
    assert (final.ranges, final.final) == (((1, 1),), True)
    assert rmd.fault(closing(sequence))[0] is FaultCode.SEQUENCE_TERMINATED
    assert rmd.bodies == numbered(1)


@pytest.mark.parametrize("dialect", [Dialect(), RM10])
def test_nothing_is_due_after_the_end(dialect: Dialect) -> None:
    rmd = Rmd()
    sequence = rmd.create(ADDRESS, dialect=dialect)
    rmd.send(sequence, 1)
    rmd.post(terminating(sequence, dialect=dialect))
    assert due_to(rmd.state, ADDRESS.address) == []
    rmd.advance(10)
    assert not rmd.sent


# -- time


def test_a_silent_sequence_ends_and_its_source_is_notified() -> None:
    rmd = Rmd()
    sequence = rmd.create(ADDRESS)
    rmd.send(sequence, 1)
    rmd.advance(1)
    before = len(rmd.sent)
    rmd.advance(598.9)
    assert rmd.sequence(sequence).phase is Phase.OPEN
    rmd.advance(0.2)
    assert rmd.sequence(sequence).phase is Phase.ENDED
    assert rmd.state.turn.ended == [1]
    ((url, envelope),) = rmd.sent[before:]
    assert url == ADDRESS.address
    assert envelope.body == Fault(FaultCode.SEQUENCE_TERMINATED, identifier=sequence)
    assert [(each.ranges, each.final) for each in envelope.acknowledgements] == [(((1, 1),), True)]
    assert rmd.warnings == [f"a sequence was ended: {sequence}: no message came for too long"]


def test_a_silent_source_that_cannot_be_reached_is_only_logged() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.advance(601)
    assert rmd.sequence(sequence).phase is Phase.ENDED
    assert not rmd.sent


def test_a_source_that_polls_finds_the_fault() -> None:
    rmd = Rmd()
    rmd.create(POLLED)
    rmd.advance(601)
    assert [url for url, _ in rmd.sent] == [POLLED.address]


def test_a_sequence_ends_when_its_life_is_over_however_busy_it_is() -> None:
    rmd = Rmd()
    sequence = rmd.create(expires=30)
    for number in range(1, 4):
        rmd.advance(9)
        rmd.send(sequence, number)
    rmd.advance(3)
    assert rmd.sequence(sequence).phase is Phase.ENDED
    assert rmd.warnings == [f"a sequence was ended: {sequence}: its Expires has passed"]


def test_after_a_restart_sequences_still_time_out() -> None:
    rmd = Rmd()
    silent, short = rmd.create(message_id="a"), rmd.create(message_id="b", expires=700)
    rmd.advance(400)
    rmd.ask(short)
    rmd.restart()
    rmd.advance(301)
    assert [rmd.sequence(each).phase for each in (silent, short)] == [Phase.OPEN, Phase.ENDED]
    rmd.advance(300)
    assert rmd.sequence(silent).phase is Phase.ENDED


def test_a_start_counts_as_a_sign_of_life() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.restart()
    rmd.turn(lambda: ending.on_inactivity(rmd.state, 1, rmd.now))
    assert rmd.sequence(sequence).phase is Phase.OPEN


def test_buffered_messages_of_a_silent_sequence_are_delivered() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 2)
    rmd.advance(601)
    assert rmd.bodies == numbered(2)
    assert rmd.state.counts[Count.GAPS] == 1
    assert sequence in rmd.here.by_identifier


def test_an_ended_sequence_is_forgotten_after_a_while() -> None:
    rmd = Rmd(most={"remembered": seconds(100)})
    one = rmd.create()
    rmd.post(terminating(one))
    rmd.advance(60)
    two = rmd.create()
    rmd.post(terminating(two))
    rmd.advance(41)
    assert list(rmd.here.by_identifier) == [two]
    assert rmd.fault(message(one, 1)) == (FaultCode.UNKNOWN_SEQUENCE, ())
    rmd.restart()
    rmd.advance(100)
    assert not rmd.here.sequences
    assert not rmd.timers


def test_the_remembered_ended_sequences_are_limited() -> None:
    rmd = Rmd(most={"most_remembered": 2})
    sequences = [rmd.create() for _ in range(5)]
    for each in sequences:
        rmd.post(terminating(each))
    rmd.advance(1)
    assert list(rmd.here.by_identifier) == sequences[3:]


def test_the_sequences_that_one_turn_forgets_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "_MOST_FORGOTTEN", 2)
    rmd = Rmd(most={"remembered": seconds(1)})
    for _ in range(5):
        rmd.post(terminating(rmd.create()))
    rmd.advance(1)
    assert len(rmd.here.sequences) == 3
    rmd.advance(1)
    assert not rmd.here.sequences


def test_timers_of_forgotten_sequences_have_no_effect() -> None:
    rmd = Rmd()
    for rule in (ending.on_inactivity, ending.on_forget):
        rmd.turn(lambda rule=rule: rule(rmd.state, 77, rmd.now))  # type: ignore[misc]
    sequence = rmd.create()
    rmd.post(terminating(sequence))
    rmd.turn(lambda: ending.on_inactivity(rmd.state, 1, rmd.now))
    assert not [each for each in rmd.effects if isinstance(each, Warn)]


# -- faults of the source


@pytest.mark.parametrize("code", [FaultCode.SEQUENCE_TERMINATED, FaultCode.UNKNOWN_SEQUENCE])
def test_a_source_may_give_its_sequence_up(code: FaultCode) -> None:
    rmd = Rmd()
    sequence = rmd.create(ADDRESS)
    rmd.post(Envelope(dialect=Dialect(), body=Fault(code, "gone", sequence)), to=0, endpoint="")
    assert rmd.sequence(sequence).phase is Phase.ENDED
    assert rmd.state.turn.ended == [1]
    assert rmd.warnings == [f"its source reports a fault: {sequence}: {code.value} gone"]
    rmd.post(Envelope(dialect=Dialect(), body=Fault(code, "gone", sequence)), to=0, endpoint="")
    assert rmd.state.turn.ended == [1]


def test_another_fault_of_the_source_is_only_logged() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    fault = Fault(FaultCode.INVALID_ACKNOWLEDGEMENT, identifier=sequence)
    rmd.post(Envelope(dialect=Dialect(), body=fault))
    assert rmd.sequence(sequence).phase is Phase.OPEN
    assert rmd.warnings == [f"its source reports a fault: {sequence}: InvalidAcknowledgement"]


def test_a_fault_about_another_sequence_or_of_another_user_changes_nothing() -> None:
    rmd = Rmd()
    sequence = rmd.create(by=Principal(Sid(5, (21, 1))))
    before = rmd.durable()
    for identifier in (sequence, "", "urn:nothing"):
        fault = Fault(FaultCode.SEQUENCE_TERMINATED, identifier=identifier)
        rmd.post(Envelope(dialect=Dialect(), body=fault))
    assert rmd.durable() == before
    assert rmd.warnings == []


# -- administrators


def test_an_administrator_closes_a_sequence() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 2)
    rmd.turn(lambda: ending.close(rmd.state, 7, 1, rmd.now))
    assert rmd.replies == [Done(True)]
    assert rmd.bodies == numbered(2)
    assert rmd.fault(message(sequence, 1))[0] is FaultCode.SEQUENCE_CLOSED
    rmd.turn(lambda: ending.close(rmd.state, 7, 1, rmd.now))
    assert rmd.replies[-1] == Done(False, "sequence 1 is closed")


def test_an_administrator_ends_a_sequence_and_its_source_is_notified() -> None:
    rmd = Rmd()
    sequence = rmd.create(ADDRESS)
    rmd.turn(lambda: ending.terminate(rmd.state, 7, 1, rmd.now))
    assert rmd.replies == [Done(True)]
    assert rmd.sequence(sequence).phase is Phase.ENDED
    assert [envelope.body for _, envelope in rmd.sent] == [
        Fault(FaultCode.SEQUENCE_TERMINATED, identifier=sequence)
    ]
    rmd.turn(lambda: ending.terminate(rmd.state, 7, 1, rmd.now))
    assert rmd.replies[-1] == Done(False, "sequence 1 is ended")
    rmd.turn(lambda: ending.close(rmd.state, 7, 1, rmd.now))
    assert rmd.replies[-1] == Done(False, "sequence 1 is ended")


# -- the store was restored


def restored(rmd: Rmd) -> None:
    """Let the store be one that was restored from a backup."""
    era = Era(1, UUID(int=1), UUID(int=2), rmd.now, rmd.now, 0)
    rmd.restart()
    rmd.turn(lambda: ending.on_era(rmd.state, EraBegan(era), rmd.now))


def test_after_a_restore_every_kept_sequence_is_faulted_so_that_its_source_begins_another() -> None:
    rmd = Rmd()
    kept, ended = rmd.create(ADDRESS), rmd.create()
    rmd.send(kept, 1, 2)
    rmd.post(terminating(ended, 0))
    restored(rmd)
    [(address, envelope)] = rmd.sent[-1:]
    assert address == ADDRESS.address
    assert (envelope.body, envelope.acknowledgements) == (
        Fault(FaultCode.UNKNOWN_SEQUENCE, identifier=kept),
        (),
    )
    for number in (2, 3, 9):
        assert rmd.fault(message(kept, number)) == (FaultCode.UNKNOWN_SEQUENCE, ())
    rmd.restart()
    assert rmd.fault(message(kept, 3))[0] is FaultCode.UNKNOWN_SEQUENCE
    assert rmd.bodies == numbered(1, 2)
    rmd.send(rmd.create(), 1)
    assert len(rmd.bodies) == 3


@pytest.mark.parametrize("assurance", Assurance)
def test_only_an_endpoint_that_delivers_once_puts_aside_what_may_have_come_before(
    assurance: Assurance,
) -> None:
    rmd = Rmd(assurance=assurance)
    rmd.send(rmd.create(), 1)
    assert rmd.batches[-1].once is (assurance is Assurance.EXACTLY_ONCE)

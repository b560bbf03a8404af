"""Tests what ends a sequence: faults, an administrator, nothing to send."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import Dialect, Envelope, Fault, TerminateSequenceResponse, Version
from reliquary.protocols.wsrm.events import CloseSequence, TerminateSequence
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.ending import REACTIONS, Reaction
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.travel.link import OutgoingState
from tests.protocols.wsrm.source.source_bench import FIRST, Came, SourceBench, closed

LOST = sorted(
    (code for code, each in REACTIONS.items() if each is Reaction.LOST), key=lambda each: each.value
)
CLOSED = sorted((code for code, each in REACTIONS.items() if each is Reaction.CLOSED), key=lambda e: e.value)
IGNORED = [code for code, each in REACTIONS.items() if each in (Reaction.NOTHING, Reaction.REFUSED)]


def sent(*words: str, **peer: object) -> SourceBench:
    bench = SourceBench(settings=WsrmSettings(peers=(PeerSettings(address="*", **peer),)))  # type: ignore[arg-type]
    bench.put(*words)
    bench.open()
    bench.acknowledge((1, 1))
    return bench


def test_every_fault_has_its_reaction() -> None:
    assert set(REACTIONS) == set(FaultCode)


# -- the peer


@pytest.mark.parametrize("code", LOST)
@pytest.mark.parametrize("identifier", [FIRST, ""])
def test_a_lost_sequence_is_replaced_and_the_rest_goes_on_in_its_order(
    code: FaultCode, identifier: str
) -> None:
    bench = sent("a", "b", "c")
    bench.fault(bench.take()[0], code, identifier)
    assert bench.kinds() == ["CreateSequence"]
    bench.open("urn:uuid:second")
    bench.acknowledge((1, 1))
    assert (bench.numbers, bench.words) == ([2], ["c"])


@pytest.mark.parametrize("code", LOST)
def test_what_a_fault_acknowledges_is_applied_first(code: FaultCode) -> None:
    bench = sent("a", "b", "c")
    said = bench.acknowledgement((1, 2), final=True).acknowledgements
    body = Fault(code, identifier=FIRST)
    bench.answer(bench.take()[0], Envelope(dialect=Dialect(), acknowledgements=said, body=body), 400)
    assert bench.waiting() == 1
    assert "CreateSequence" in bench.kinds()
    bench.open("urn:uuid:second")
    assert bench.words == ["c"]


@pytest.mark.parametrize("code", LOST)
def test_a_peer_that_forgets_each_sequence_is_not_asked_without_end(code: FaultCode) -> None:
    bench = SourceBench()
    bench.put("a")
    creations = 0
    for second in range(100):
        for _ in range(5):
            if not bench.posts:
                break
            if bench.kinds() == ["CreateSequence"]:
                creations += 1
                bench.open(f"urn:uuid:{second}-{creations}")
            else:
                bench.fault(bench.take()[0], code, "")
        bench.advance(1)
    assert creations < 9  # the queue rests 1, 2, 5, 10, 30 and 60 seconds
    assert bench.waiting() == 1


@pytest.mark.parametrize("code", CLOSED)
def test_a_sequence_that_takes_no_more_is_closed(code: FaultCode) -> None:
    bench = sent("a", "b", "c")
    bench.fault(bench.take()[0], code)
    assert bench.kinds() == ["CloseSequence"]
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 2)))
    bench.open("urn:uuid:second")
    assert bench.words == ["c"]


@pytest.mark.parametrize("code", IGNORED)
def test_any_other_fault_is_an_answer_without_an_acknowledgement(code: FaultCode) -> None:
    bench = sent("a", "b")
    bench.fault(bench.take()[0], code)
    assert bench.posts == []
    bench.advance(2)
    assert bench.numbers == [2]


def test_a_fault_about_another_sequence_is_ignored() -> None:
    bench = sent("a", "b")
    for identifier in ("urn:uuid:other", ""):
        bench.handle(
            Came(Envelope(dialect=Dialect(), body=Fault(FaultCode.UNKNOWN_SEQUENCE, identifier=identifier)))
        )
    assert bench.sequence.phase is Phase.OPEN


@pytest.mark.parametrize("code", LOST)
def test_a_peer_that_has_forgotten_what_is_to_end_ends_it(code: FaultCode) -> None:
    bench = sent("a")
    bench.advance(300)
    bench.fault(bench.take()[0], code)
    assert bench.wsrm.source.sequences == {}
    assert bench.posts == []


@pytest.mark.parametrize("code", LOST)
def test_a_peer_that_has_forgotten_what_is_terminated_ends_it(code: FaultCode) -> None:
    bench = sent("a")
    bench.advance(300)
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 1)))
    assert bench.kinds() == ["TerminateSequence"]
    bench.fault(bench.take()[0], code)
    assert bench.wsrm.source.sequences == {}
    assert bench.link().state is OutgoingState.DISCONNECTED


def test_a_response_that_was_not_waited_for_changes_nothing() -> None:
    bench = sent("a", "b")
    bench.handle(Came(Envelope(dialect=Dialect(), body=TerminateSequenceResponse(FIRST))))
    assert bench.sequence.phase is Phase.OPEN


# -- an administrator


def test_close_ends_the_sequence_when_all_is_acknowledged() -> None:
    bench = sent("a", "b")
    assert bench.ask(CloseSequence(0, bench.sequence.number)) == Done(True)
    bench.put("c")
    assert bench.numbers == [2]
    bench.acknowledge((1, 2))
    assert bench.kinds() == ["CloseSequence"]
    assert bench.waiting() == 1


def test_close_of_a_sequence_that_has_nothing_to_wait_for() -> None:
    bench = sent("a")
    assert bench.ask(CloseSequence(0, bench.sequence.number)) == Done(True)
    assert bench.kinds() == ["CloseSequence"]


def test_terminate_asks_first_what_arrived() -> None:
    bench = sent("a", "b", "c")
    for post in bench.take():
        bench.answer(post)
    assert bench.ask(TerminateSequence(0, bench.sequence.number)) == Done(True)
    assert bench.kinds() == ["CloseSequence"]
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 2)))
    bench.open("urn:uuid:second")
    assert bench.words == ["c"]


def test_terminate_twice_does_not_wait_for_the_answer() -> None:
    bench = sent("a", "b")
    number = bench.sequence.number
    bench.ask(TerminateSequence(0, number))
    bench.forget()
    assert bench.ask(TerminateSequence(0, number)) == Done(True)
    assert bench.kinds() == ["TerminateSequence", "CreateSequence"]
    assert bench.ask(TerminateSequence(0, number)) == Done(True)
    assert number not in bench.wsrm.source.sequences


@pytest.mark.parametrize("event", [CloseSequence, TerminateSequence])
def test_an_administrator_gets_the_reason_of_a_refusal(
    event: type[CloseSequence] | type[TerminateSequence],
) -> None:
    bench = SourceBench()
    assert bench.ask(event(0, 7)) == Done(False, "no sequence 7 goes out")
    bench.put("a")
    number = bench.sequence.number
    assert bench.ask(event(0, number)) == Done(False, f"sequence {number} is not created yet")


# -- nothing to send


def test_acknowledgements_that_say_nothing_new_do_not_keep_a_sequence() -> None:
    """gSOAP's services send them without end to clients with an address."""
    bench = sent("a", addressable=True)
    for _ in range(31):
        bench.advance(10)
        bench.hear((1, 1))
    assert bench.kinds() == ["CloseSequence"]


@pytest.mark.parametrize("version", Version)
def test_only_a_sequence_without_messages_is_idle(version: Version) -> None:
    bench = sent("a", dialect=Dialect(version=version))
    for _ in range(4):
        bench.advance(290)
        bench.put("x")
        assert len(bench.posts) == 1
        last = bench.sequence.row.last
        bench.acknowledge((1, last))
    bench.advance(300)
    assert len(bench.posts) == 1


@pytest.mark.parametrize("code", CLOSED)
def test_a_message_that_comes_behind_the_close_is_refused_there_and_that_is_known(code: FaultCode) -> None:
    bench = sent("a", "b")
    [message] = bench.take()
    bench.ask(TerminateSequence(0, bench.sequence.number))
    bench.fault(message, code)
    assert bench.kinds() == ["CloseSequence"]
    assert bench.sequence.phase is Phase.CLOSING

"""Administrators close and end sequences of both directions."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Fault,
)
from reliquary.protocols.wsrm.codec.values import CloseSequence as CloseOnTheWire
from reliquary.protocols.wsrm.events import CloseSequence, TerminateSequence
from reliquary.queueing.model.administration import Done
from tests.protocols.wsrm.wsrm_harness import WsrmBench, acknowledged, message


def ask(bench: WsrmBench, kind: Any, sequence: int) -> Done:
    """Return the answer to a request of an administrator."""
    caller = bench.new_caller()
    bench.handle(kind(caller, sequence))
    answer = bench.answer_to(caller)
    assert isinstance(answer, Done)
    return answer


@pytest.mark.parametrize("kind", [CloseSequence, TerminateSequence])
def test_a_sequence_that_is_not_known_is_refused(kind: Any) -> None:
    done = ask(WsrmBench(), kind, 7)
    assert (done.done, done.why) == (False, "there is no sequence 7")


@pytest.mark.parametrize(
    ("kind", "code"),
    [(CloseSequence, FaultCode.SEQUENCE_CLOSED), (TerminateSequence, FaultCode.SEQUENCE_TERMINATED)],
)
def test_a_closed_incoming_sequence_takes_no_new_messages(kind: Any, code: FaultCode) -> None:
    bench = WsrmBench()
    sequence = bench.sequence()
    bench.post(message(sequence, 1))
    assert ask(bench, kind, 1).done
    response = bench.post(message(sequence, 2))
    assert response is not None
    assert isinstance(response.body, Fault)
    assert response.body.code is code
    assert acknowledged(response).final  # a source that lost our last acknowledgement has it now
    assert bench.bodies() == [b"<a/>"]


@pytest.mark.parametrize("kind", [CloseSequence, TerminateSequence])
def test_a_closed_outgoing_sequence_is_ended(kind: Any) -> None:
    bench = WsrmBench()
    bench.send("DIRECT=WSRM://far.example/svc", b"<a/>")
    (number,) = bench.wsrm.source.sequences
    assert ask(bench, kind, number).why == f"sequence {number} is not created yet"
    ((create, _),) = bench.posted
    bench.answer(create, Envelope(dialect=Dialect(), body=CreateSequenceResponse("urn:far")))
    (sent, _) = bench.posted[-1]
    bench.answer(sent, Envelope(dialect=Dialect(), acknowledgements=(Acknowledgement("urn:far", ((1, 1),)),)))
    assert ask(bench, kind, number).done
    (_, left) = bench.posted[-1]
    assert left.body == CloseOnTheWire("urn:far", 1)

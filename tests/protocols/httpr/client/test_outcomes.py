"""Tests what a response says of batches in doubt, and the guard that makes it safe."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reliquary.protocols.httpr import transactions
from reliquary.protocols.httpr.codec.values import (
    Command,
    Error,
    ErrorNumber,
    Outcome,
)
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.protocols.httpr.transactions import RESOLUTIONS, OutcomeMessage, Resolution
from tests.protocols.httpr.far_server import AGENT, ORDERS, ClientBench, Far

GRI, PUSH, PULL, EXCHANGE, REPORT = Command


def careless() -> Mapping[tuple[OutcomeMessage, transactions.BatchPosition, Outcome], Resolution]:
    """Return the table of 3.4 by the letter: GET-RESPONDER-INFO gives back what it does not name."""
    return {
        (by, place, outcome): RESOLUTIONS[
            OutcomeMessage.REPORT if by is OutcomeMessage.INFO_ANSWER else by, place, outcome
        ]
        for by, place, outcome in RESOLUTIONS
    }


@pytest.mark.spec("HR-020", "HR-021", "HR-082", "HR-125")
@pytest.mark.httpr("T14")
@pytest.mark.parametrize("guarded", [True, False])
def test_a_late_request_doubles_messages_only_where_the_greeting_settles_what_it_does_not_name(
    guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not guarded:
        monkeypatch.setattr(transactions, "RESOLUTIONS", careless())
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    late = bench.next_request()  # it is still on the way
    bench.fail(late)
    bench.answer(far)  # GET-RESPONDER-INFO: nothing has come
    again = bench.next_request()
    if guarded:
        assert again.header.command is REPORT
        header, _ = far.take(again)  # from now on what comes late is refused
        bench.respond(again, header)
        assert far.take(late)[0].error == Error.of(ErrorNumber.OUT_OF_SEQUENCE_TRANSACTION_DISCARDED)
        bench.talk(far)
        assert far.stored == [b"a"]
    else:
        assert again.header.command is PUSH
        far.take(late)
        far.take(again)
        assert far.stored == [b"a", b"a"]


@pytest.mark.spec("HR-021", "HR-054", "HR-080")
@pytest.mark.httpr("T08")
def test_while_something_is_in_doubt_nothing_else_is_sent() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    bench.fail(bench.next_request())
    bench.answer(far)
    report = bench.next_request()
    assert (report.header.command, report.header.last_pushed_id) == (REPORT, 1)
    bench.send(ORDERS, b"b")
    assert not bench.unanswered
    bench.respond(report, far.take(report)[0])
    bench.talk(far)
    assert far.stored == [b"a", b"b"]


@pytest.mark.spec("HR-103")
@pytest.mark.parametrize("sessions", [True, False])
def test_a_server_that_knows_higher_ids_than_we_do_gets_still_higher_ones(sessions: bool) -> None:
    """Our store was lost: batches that it does not know count as not taken, and no id is used again."""
    settings = HttprSettings(peers=(Peer(responder=AGENT, sessions=sessions),))
    bench, far = ClientBench(settings=settings), Far(sessions=sessions, received=(Outcome.COMMIT, 100))
    bench.send(ORDERS, b"a")
    bench.talk(far)
    assert far.stored == [b"a"]
    assert bench.channel().last_source_id == 101

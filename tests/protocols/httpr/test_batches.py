"""Tests what follows for messages and bodies when a batch is settled, refused or repeated."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.turn import Turn
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.batches import end_batches, report_duplicates
from reliquary.protocols.httpr.codec.values import (
    Carried,
    Command,
    Disposition,
    ErrorNumber,
)
from reliquary.protocols.httpr.facts import BatchesSettled, BatchPrepared, ChannelOpened
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.protocols.httpr.transactions import Settlement
from reliquary.queueing.model.message import NO_OBJECT, ObjectId, StoredBody
from reliquary.queueing.model.travel import transfer
from reliquary.queueing.model.travel.transfer import BodiesUnwanted, DuplicatesDropped, ReservationsEnded
from tests.protocols.httpr.client_harness import (
    Client,
)
from tests.protocols.httpr.httpr_harness import HttprBench


@pytest.mark.parametrize(
    "options", [{"disposition": Disposition.ABORT}, {"session_id": "NOBODY"}, {"fault": ErrorNumber(520)}]
)
def test_large_bodies_of_a_refused_batch_are_given_up(options: dict[str, Any]) -> None:
    client = Client(HttprBench())
    client.ask(Command.PUSH, Carried("", stored=StoredBody(9, 2_000_000, 8)), transaction_id=1, **options)
    assert BodiesUnwanted((9,)) in client.bench.signals


def test_large_bodies_of_what_an_older_connection_brings_are_given_up() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=3, max_wait_batch=5000)
    large = Carried("", stored=StoredBody(9, 2_000_000, 8))
    client.pull_later(0)
    client.ask_later(Command.PUSH, large, transaction_id=1)
    older = client.connection
    client.connect()
    client.report()
    assert client.bench.signals.count(BodiesUnwanted((9,))) == 1
    client.push(2, large, connection=older)
    assert client.bench.signals.count(BodiesUnwanted((9,))) == 2


def test_messages_of_a_batch_that_comes_again_are_reported_as_duplicates() -> None:
    client = Client(HttprBench())
    client.push(1, b"a", b"b")
    client.push(1, b"a", b"b")
    peer, batch = client.requester, f"{client.row.number}:1"
    dropped = DuplicatesDropped("httpr", "", (NO_OBJECT, NO_OBJECT), peer=peer, batch=batch)
    assert client.bench.signals.count(dropped) == 1


def test_duplicates_are_reported_with_the_identifiers_of_their_messages() -> None:
    client = Client(HttprBench())
    lineage = UUID(int=77)
    batch = [Carried(f"message-id:{lineage}.{number}\r\n", b"x") for number in (5, 6)]
    unreadable = Carried("message-id:?", b"x")
    for _ in range(2):
        client.ask(Command.PUSH, *batch, transaction_id=1)
    report_duplicates(client.bench.httpr.state, client.row.number, 1, (unreadable,))
    signals = [*client.bench.signals, *client.bench.httpr.state.draft.take().signals]
    reported = [signal for signal in signals if isinstance(signal, DuplicatesDropped)]
    assert [signal.identifiers for signal in reported] == [
        (ObjectId(lineage, 5), ObjectId(lineage, 6)),
        (NO_OBJECT,),
    ]


def test_settled_batches_leave_doubt_and_their_messages_leave_or_return() -> None:
    client = Client(HttprBench())
    state, number = client.bench.httpr.state, 1
    apply(state, ChannelOpened(Channel(number, Role.SERVER, "httpr://a/b", "c", "httpr://d/e")))
    for batch in (1, 2, 3):
        apply(state, BatchPrepared(number, batch))
        state.begun[number, batch] = client.bench.now
    state.draft.take()
    end_batches(state, number, Settlement())
    assert state.draft.take() == Turn()
    end_batches(state, number, Settlement(committed=(1,), returned=(3,)))
    turn = state.draft.take()
    assert turn.facts == (BatchesSettled(number, (1,), (3,)),)
    assert turn.signals == (
        ReservationsEnded("httpr", ((number, 1),), transfer.Outcome.DELIVERED),
        ReservationsEnded("httpr", ((number, 3),), transfer.Outcome.TRY_LATER),
    )
    assert (state.channels[number].in_doubt, [*state.begun]) == ((2,), [(number, 2)])

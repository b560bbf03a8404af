"""Tests the registry of carriers: which carrier a destination has, and which carrier a signal is for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.turn import DirectedSignal
from reliquary.queueing.model.events import Access, SendMessages
from reliquary.queueing.model.message import Message, ObjectId, SequenceId
from reliquary.queueing.model.names.formats import DirectName, SingleName, parse_single
from reliquary.queueing.model.parts.name_index import RemoteTarget
from reliquary.queueing.model.security.principals import ANONYMOUS, MANAGER, Principal
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.carriers import Carrier, Carriers, RemoteReader
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.model.travel.transfer import ConnectionWanted, ReceiptDue
from reliquary.queueing.rules import destinations
from tests.queueing.answers import everything
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check

STRANGER = UUID(int=7)
FAR, NEAR = r"DIRECT=OS:far\private$\orders", r"DIRECT=OS:near\private$\orders"


def reaches(*hosts: str) -> Carrier:
    """Return a carrier to these hosts, which is called like the first of them."""
    return Carrier(
        name=hosts[0], claims=lambda name: isinstance(name, DirectName) and name.host.casefold() in hosts
    )


def test_the_first_that_claims_a_name_has_it_and_a_name_may_be_unclaimed() -> None:
    first, second = reaches("far"), reaches("near", "far")
    carriers = Carriers((first, second))
    assert carriers.of(parse_single(FAR)) is first
    assert carriers.of(parse_single(NEAR)) is second
    assert carriers.of(parse_single("MULTICAST=234.1.1.1:8001")) is None
    assert (carriers.any, Carriers().any) == (True, False)


def test_two_carriers_or_readers_of_one_name_are_a_programming_error() -> None:
    with pytest.raises(AssertionError, match="one name"):
        Carriers((reaches("far"), reaches("far")))
    reader = RemoteReader(name="reader", claims=lambda _: True)
    with pytest.raises(AssertionError, match="one name"):
        Carriers((), (reader, reader))


def directed(bench: Bench) -> list[tuple[type, str]]:
    return [(type(each), each.to) for each in bench.signals if isinstance(each, DirectedSignal)]


def test_a_connection_is_wanted_of_the_carrier_of_its_destination_alone() -> None:
    bench = Bench(carriers=(reaches("far"), reaches("near")))
    bench.send(NEAR, b"a")
    assert directed(bench) == [(ConnectionWanted, "near")]


def test_a_name_that_is_not_claimed_waits_in_an_outgoing_queue() -> None:
    bench = Bench(carriers=(reaches("far"),))
    assert bench.send(NEAR, b"a").status is HResult.OK
    (queue,) = bench.state.names.outgoing.values()
    assert queue.link is not None
    assert (queue.link.carrier, queue.link.state) == (None, OutgoingState.WAITING)
    assert directed(bench) == []
    bench.restart()
    assert [len(each.order) for each in bench.state.names.outgoing.values()] == [1]


def test_what_a_carrier_refuses_is_not_accepted_and_makes_no_queue() -> None:
    seen: list[tuple[str, bytes, bool]] = []

    def refuse(state: State, name: SingleName, message: Message, *, in_transaction: bool) -> None:
        assert isinstance(state, State)
        seen.append((str(name), message.body, in_transaction))
        if message.body == b"bad":
            raise UsageError("a bad message")

    bench = Bench(carriers=(replace(reaches("far"), check=refuse),))
    before = everything(bench.state)
    assert bench.send(FAR, b"good", b"bad").why == "a bad message"
    assert seen == [(FAR, b"good", False), (FAR, b"bad", False)]
    assert everything(bench.state) == before


def test_receipts_are_asked_of_the_carrier_that_brought_the_message() -> None:
    brought: dict[str, Any] = {
        "final_ack_required": True,
        "sequence": SequenceId(1, 1),
        "source_machine": STRANGER,
    }
    far = replace(reaches("far"), brought=lambda message: message.label == "far")
    near = replace(reaches("near"), brought=lambda message: message.label == "near")
    bench = Bench(carriers=(far, near))
    for number, label in enumerate(("near", "nobody", "far")):
        bench.send("orders", b"m", label=label, identifier=ObjectId(STRANGER, number), **brought)
    bench.receive("orders", count=3)
    assert directed(bench) == [(ReceiptDue, "near"), (ReceiptDue, "far")]
    check(bench.state)


def test_the_history_shows_the_label_of_a_destination() -> None:
    plain = reaches("far")
    labelled = replace(plain, labels=lambda name: f"to {name}")
    assert plain.label(parse_single(FAR)) == "far"
    assert labelled.label(parse_single(FAR)) == f"to {FAR}"


@pytest.mark.parametrize("by", [MANAGER, ANONYMOUS], ids=["the manager", "somebody"])
def test_a_destination_is_looked_up_once_for_all_sends(
    by: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(carriers=(reaches("far"),))
    looked: list[object] = []
    real = destinations.look_up

    def look_up(state: State, name: Any, access: Access) -> Any:
        looked.append(name)
        return real(state, name, access)

    monkeypatch.setattr(destinations, "look_up", look_up)
    for _ in range(3):
        assert bench.ask(SendMessages(0, FAR, (Message(body=b"m"),), by=by)).status is HResult.OK
    # once before its queue is created, which makes all names be looked up anew, and once afterwards
    assert looked == [parse_single(FAR)] * 2
    bench.create("another")
    assert bench.send(FAR, b"m").status is HResult.OK
    assert len(looked) == 3
    looked.clear()
    several = f"{FAR},{NEAR}"
    for _ in range(2):
        assert bench.ask(SendMessages(0, several, (Message(body=b"m"),), by=by)).status is HResult.OK
    # what names the directory is asked for is found out in each send, and once in it
    assert looked == [parse_single(FAR), parse_single(NEAR)] * 2


def test_looking_up_a_name_creates_nothing() -> None:
    bench = Bench(carriers=(reaches("far"),))
    before = everything(bench.state)
    ways = destinations.ways(bench.state, FAR)
    assert isinstance(ways, tuple)
    (way,) = ways
    assert isinstance(way.to, RemoteTarget)
    assert way.carrier is not None
    assert everything(bench.state) == before

"""Tests of one message that is sent to several queues."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import (
    Access,
    CloseQueue,
    CommitTransaction,
    DeleteQueue,
    OpenQueue,
    Share,
)
from reliquary.queueing.model.message import AuthenticationLevel
from tests.queueing.answers import everything
from tests.queueing.exchange import carriers
from tests.queueing.manager_harness import Bench

A, B, MISSING = (f"DIRECT=OS:.\\private$\\{name}" for name in ("a", "b", "missing"))


def open_to_send(bench: Bench, name: str) -> int:
    answer = bench.ask(OpenQueue(0, name, Access.SEND))
    assert answer.status is HResult.OK
    handle: int = answer.handle
    return handle


@pytest.mark.spec("DM-263")
def test_a_handle_on_one_queue_sends_there() -> None:
    bench = Bench("a")
    assert bench.send(open_to_send(bench, A), b"one").status is HResult.OK
    assert bench.bodies("a") == [b"one"]


@pytest.mark.spec("DM-161", "DM-264", "DM-067")
def test_a_handle_on_several_queues_sends_a_copy_to_each() -> None:
    bench = Bench("a", "b")
    handle = open_to_send(bench, f"{B},{A}")
    parent = bench.state.open.handles[handle]
    assert parent.queue is None
    assert len(parent.children) == 2
    assert len({handle, *parent.children}) == 3
    sent = bench.send(handle, b"one", b"two")
    assert bench.bodies("a") == bench.bodies("b") == [b"one", b"two"]
    for name, destination in (("a", A), ("b", B)):
        copies = [each.message for each in bench.receive(name, count=2).messages]
        assert [copy.identifier for copy in copies] == sent.identifiers()
        assert {copy.destination_queue for copy in copies} == {destination}
        assert {copy.destination_queues for copy in copies} == {(A, B)}
    bench.restart(crash=True)


@pytest.mark.spec("DM-264")
def test_several_queues_can_be_named_without_a_handle() -> None:
    bench = Bench("a", "b")
    assert bench.send(f"{A},{B},{A.lower()}", b"one").status is HResult.OK
    assert bench.bodies("a") == bench.bodies("b") == [b"one"]


@pytest.mark.spec("DM-265")
def test_the_first_refusal_ends_the_send_and_earlier_copies_stay() -> None:
    bench = Bench("a")
    bench.create("b", quota=0)
    answer = bench.send(open_to_send(bench, f"{A},{B}"), b"one")
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert "0 kilobytes" in answer.why
    assert (bench.bodies("a"), bench.bodies("b")) == ([b"one"], [])


@pytest.mark.spec("DM-264")
def test_in_a_transaction_all_copies_come_with_its_commit() -> None:
    bench = Bench("a", "b")
    transaction = bench.begin()
    bench.send(f"{A},{B}", b"one", transaction=transaction)
    assert bench.bodies("a") == bench.bodies("b") == []
    bench.ask(CommitTransaction(0, transaction))
    assert bench.bodies("a") == bench.bodies("b") == [b"one"]


@pytest.mark.spec("DM-160")
def test_several_queues_are_only_for_sending_and_for_sharing() -> None:
    bench = Bench("a", "b")
    before = everything(bench.state)
    received = bench.ask(OpenQueue(0, f"{A},{B}", Access.RECEIVE))
    assert received.status is HResult.UNSUPPORTED_FORMATNAME_OPERATION
    denied = bench.ask(OpenQueue(0, f"{A},{B}", Access.SEND, Share.DENY_RECEIVE))
    assert denied.status is HResult.UNSUPPORTED_ACCESS_MODE
    assert everything(bench.state) == before


@pytest.mark.spec("DM-162")
def test_several_queues_open_all_or_none() -> None:
    bench = Bench("a")
    before = everything(bench.state)
    assert bench.ask(OpenQueue(0, f"{A},{MISSING}", Access.SEND)).status is HResult.QUEUE_NOT_FOUND
    assert everything(bench.state) == before
    assert bench.send(f"{A},{MISSING}", b"one").status is HResult.QUEUE_NOT_FOUND
    assert everything(bench.state) == before


@pytest.mark.spec("DM-180")
def test_closing_the_parent_closes_its_children() -> None:
    bench = Bench("a", "b")
    before = everything(bench.state)
    handle = open_to_send(bench, f"{A},{B}")
    assert bench.ask(CloseQueue(0, handle)).status is HResult.OK
    assert everything(bench.state) == before


def test_a_queue_that_was_deleted_under_its_handle_takes_nothing() -> None:
    bench = Bench("a", "b")
    single, several = open_to_send(bench, B), open_to_send(bench, f"{A},{B}")
    bench.ask(DeleteQueue(0, "b"))
    for handle in (single, several):
        assert bench.send(handle, b"one").status is HResult.QUEUE_NOT_AVAILABLE
    assert bench.bodies("a") == []


@pytest.mark.spec("DM-052")
def test_a_message_whose_destination_is_a_list_is_refused() -> None:
    bench = Bench("a")
    before = everything(bench.state)
    for attributes in ({"destination_queue": f"{A},{B}"}, {"destination_queues": (f"{A},{B}", A)}):
        answer = bench.send("a", b"one", **attributes)
        assert answer.status is HResult.ILLEGAL_FORMATNAME
        assert "where one is wanted" in answer.why
    assert everything(bench.state) == before


WEB, GROUP = "DIRECT=http://other.example/msmq/private$/q", "MULTICAST=234.1.1.1:8001"
SIGNED: dict[str, Any] = {"authentication": AuthenticationLevel.XML_SIG}


@pytest.mark.spec("SR-286")
@pytest.mark.parametrize("name", [WEB, GROUP, f"{WEB},{GROUP}"])
def test_what_leaves_by_http_or_multicast_may_be_signed(name: str) -> None:
    bench = Bench("a", signs=True, carriers=carriers())
    assert bench.send(name, b"one", **SIGNED).status is HResult.OK
    assert bench.send(name, b"", extension=b"one", **SIGNED).status is HResult.OK


@pytest.mark.parametrize(
    ("signs", "name", "body", "why"),
    [
        pytest.param(False, WEB, b"one", "this manager has no signing key", id="no key"),
        pytest.param(True, WEB, b"", "neither a body nor an extension", id="nothing to sign"),
        pytest.param(True, A, b"one", "only what leaves by HTTP or multicast is signed", id="stays here"),
        pytest.param(True, f"{WEB},{A}", b"one", f"and {A} is reached otherwise", id="one of two stays"),
        pytest.param(True, "DIRECT=OS:other\\q", b"one", "is reached otherwise", id="another protocol"),
    ],
)
def test_what_cannot_be_signed_is_refused_with_a_sentence(
    signs: bool, name: str, body: bytes, why: str
) -> None:
    bench = Bench("a", signs=signs, carriers=carriers())
    answer = bench.send(name, body, **SIGNED)
    assert answer.status is HResult.INVALID_PARAMETER
    assert why in answer.why
    assert bench.bodies("a") == []
    assert all(not queue.total_bytes for queue in bench.state.names.outgoing.values())
    assert bench.send(A, b"two").status is HResult.OK

"""Tests of Open Queue and Close Queue: handles, leases, and what an access mode refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.base.turn import Event
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Access,
    BrowseMessages,
    CallerGone,
    CancelRead,
    CloseCursor,
    CloseQueue,
    DeleteQueue,
    LookUpMessage,
    MoveMessage,
    OpenCursor,
    OpenQueue,
    PeekMessage,
    ReceiveMessages,
    SendMessages,
    Share,
)
from tests.queueing.answers import bodies, body, everything
from tests.queueing.manager_harness import Bench, message
from tests.queueing.state_checks import check


def opened(bench: Bench, access: Access = Access.RECEIVE, path: str = "orders", **mode: Any) -> int:
    answer = bench.ask(OpenQueue(0, path, access, **mode))
    assert answer.status is HResult.OK
    handle: int = answer.handle
    return handle


# -- open


@pytest.mark.spec("DM-166", "DM-178")
@pytest.mark.parametrize(
    "path", ["orders", "ORDERS", r"private$\orders", r".\private$\Orders", r"BENCH\private$\orders"]
)
def test_a_queue_is_found_under_each_of_its_names(path: str) -> None:
    bench = Bench()
    handle = opened(bench, path=path)
    assert bench.state.open.handles[handle].queue == bench.queue().number
    assert bench.state.open.handles[handle].format_name == path


@pytest.mark.spec("DM-167", "DM-168")
@pytest.mark.parametrize("access", list(Access))
def test_a_queue_that_is_not_there_cannot_be_opened(access: Access) -> None:
    """T20, an unknown local queue: queue not found."""
    bench = Bench()
    before = everything(bench.state)
    assert bench.ask(OpenQueue(0, "nowhere", access)).status is HResult.QUEUE_NOT_FOUND
    assert everything(bench.state) == before


@pytest.mark.spec("DM-164")
@pytest.mark.parametrize(
    "path", ["system$;deadletter", "system$;deadxact", "system$;journal", "orders;journal"]
)
def test_no_client_sends_to_a_journal_or_a_dead_letter_queue(path: str) -> None:
    """T18, a dead-letter queue is opened to send: refused; peeking is allowed."""
    bench = Bench()
    refused = HResult.UNSUPPORTED_FORMATNAME_OPERATION
    assert bench.ask(OpenQueue(0, path, Access.SEND)).status is refused
    assert bench.send(path, b"x").status is refused
    for access in (Access.RECEIVE, Access.PEEK, Access.MOVE, Access.PEEK_ADMIN, Access.RECEIVE_ADMIN):
        assert bench.ask(OpenQueue(0, path, access)).status is HResult.OK


@pytest.mark.spec("DM-094")
@pytest.mark.parametrize("path", ["system$;order-ack", "system$;notification"])
@pytest.mark.parametrize("access", list(Access))
def test_two_queues_of_the_manager_are_closed_to_applications(path: str, access: Access) -> None:
    bench = Bench()
    for refused in (bench.ask(OpenQueue(0, path, access)), bench.receive(path)):
        assert refused.status is HResult.ACCESS_DENIED
        assert refused.why == f"only the manager itself uses the queue {path}"


@pytest.mark.spec("DM-066")
def test_handles_are_never_used_again() -> None:
    bench = Bench()
    seen = set()
    for _ in range(5):
        handle = opened(bench)
        seen.add(handle)
        bench.ask(CloseQueue(0, handle))
    assert len(seen) == 5


@pytest.mark.spec("DM-026")
def test_a_queue_is_active_while_it_is_open() -> None:
    bench = Bench()
    assert not bench.queue().active
    first, second = opened(bench), opened(bench, Access.SEND)
    assert bench.queue().active
    bench.ask(CloseQueue(0, first))
    assert bench.queue().active
    bench.ask(CloseQueue(0, second))
    assert not bench.queue().active


# -- what a mode refuses

USES: dict[str, tuple[Access, Callable[[int], Event]]] = {
    "send": (Access.SEND, lambda queue: SendMessages(0, queue, (message(b"x"),))),
    "receive": (Access.RECEIVE, lambda queue: ReceiveMessages(0, queue)),
    "peek": (Access.PEEK, lambda queue: PeekMessage(0, queue)),
    "browse": (Access.PEEK, lambda queue: BrowseMessages(0, queue)),
    "look up to peek": (Access.PEEK, lambda queue: LookUpMessage(0, queue, 1)),
    "look up to receive": (Access.RECEIVE, lambda queue: LookUpMessage(0, queue, 1, peek=False)),
    "move": (Access.MOVE, lambda queue: MoveMessage(0, queue, 1, "other")),
    "cursor": (Access.PEEK, lambda queue: OpenCursor(0, queue)),
}
MAY = {
    Access.SEND: {Access.SEND},
    Access.PEEK: {Access.PEEK},
    Access.PEEK_ADMIN: {Access.PEEK},
    Access.RECEIVE: {Access.PEEK, Access.RECEIVE},
    Access.RECEIVE_ADMIN: {Access.PEEK, Access.RECEIVE},
    Access.MOVE: {Access.PEEK, Access.RECEIVE, Access.MOVE},
}


@pytest.mark.parametrize("use", list(USES))
@pytest.mark.parametrize("access", list(Access))
def test_a_handle_serves_only_what_it_was_opened_for(access: Access, use: str) -> None:
    bench = Bench("orders", "other")
    handle = opened(bench, access)
    before = everything(bench.state)
    needed, event = USES[use]
    answer = bench.ask(event(handle))
    if needed in MAY[access]:
        assert answer.status is not HResult.ACCESS_DENIED
    else:
        assert answer.status is HResult.ACCESS_DENIED
        assert answer.why == "the handle was not opened for this access: open the queue for it"
        assert everything(bench.state) == before


@pytest.mark.parametrize("use", list(USES))
def test_a_handle_that_is_not_open_serves_nothing(use: str) -> None:
    bench = Bench("orders", "other")
    handle = opened(bench)
    bench.ask(CloseQueue(0, handle))
    before = everything(bench.state)
    for stranger in (handle, 999_999, 0, -1):
        assert bench.ask(USES[use][1](stranger)).status is HResult.INVALID_HANDLE
    assert everything(bench.state) == before


@pytest.mark.spec("DM-131", "DM-155", "DM-179", "DM-199", "DM-209", "DM-217", "DM-223", "DM-226")
@pytest.mark.parametrize("use", list(USES))
def test_a_handle_of_a_deleted_queue_says_that_the_queue_is_gone(use: str) -> None:
    bench = Bench("orders", "other")
    handle = opened(bench, USES[use][0])
    bench.ask(DeleteQueue(0, "orders"))
    assert bench.ask(USES[use][1](handle)).status is HResult.QUEUE_NOT_AVAILABLE
    assert bench.ask(CloseQueue(0, handle)).status is HResult.OK
    assert bench.ask(USES[use][1](handle)).status is HResult.INVALID_HANDLE


def test_a_handle_of_a_deleted_queue_is_not_one_of_its_successor() -> None:
    bench = Bench()
    handle = opened(bench)
    bench.ask(DeleteQueue(0, "orders"))
    bench.create("orders")
    bench.send("orders", b"for the new one")
    assert bench.receive(handle).status is HResult.QUEUE_NOT_AVAILABLE
    assert not bench.queue().active


# -- close


@pytest.mark.spec("DM-133", "DM-181", "DM-182", "DM-183")
def test_closing_ends_waits_closes_cursors_and_gives_back_what_was_held() -> None:
    """A wait without a tag ends too (T27, AN-24)."""
    bench = Bench()
    bench.send("orders", b"held")
    handle, other = opened(bench), opened(bench)
    bench.receive(handle, hold=600)
    cursors = [bench.ask(OpenCursor(0, handle)).handle for _ in range(2)]
    foreign = bench.ask(OpenCursor(0, other)).handle
    tagged = bench.begin_asking(ReceiveMessages(0, handle, timeout=FOREVER_WAIT, tag=7))
    untagged = bench.begin_asking(PeekMessage(0, handle, FOREVER_WAIT, cursors[0]))
    elsewhere = bench.begin_asking(ReceiveMessages(0, other, timeout=FOREVER_WAIT, tag=8))

    assert bench.ask(CloseQueue(0, handle)).status is HResult.OK

    assert body(bench.answer_to(tagged)) is HResult.OPERATION_CANCELLED
    assert body(bench.answer_to(untagged)) is HResult.OPERATION_CANCELLED
    assert body(bench.answer_to(elsewhere)) == b"held"
    assert set(bench.state.open.cursors) == {foreign}
    assert set(bench.queue().readers.descriptors) == {other}
    assert bench.ask(CloseCursor(0, cursors[1])).status is HResult.INVALID_HANDLE
    check(bench.state)


def test_closing_twice_is_refused() -> None:
    bench = Bench()
    handle = opened(bench)
    assert bench.ask(CloseQueue(0, handle)).status is HResult.OK
    assert bench.ask(CloseQueue(0, handle)).status is HResult.INVALID_HANDLE


def test_what_a_transaction_locked_stays_locked_when_the_handle_closes() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    handle = opened(bench)
    bench.receive(handle, transaction=bench.begin())
    bench.ask(CloseQueue(0, handle))
    assert bench.bodies() == []
    assert len(bench.queue().order.locked) == 1


# -- leases


def test_a_lease_ends_when_the_handle_is_not_used() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    handle = opened(bench, lease=seconds(30))
    bench.receive(handle, hold=600)
    bench.advance(20)
    assert bench.ask(PeekMessage(0, handle)).status is HResult.IO_TIMEOUT  # used: it starts again
    bench.advance(20)
    assert bench.queue().active
    bench.advance(10)
    assert not bench.queue().active
    assert bench.bodies() == [b"m1"]
    assert bench.receive(handle).status is HResult.INVALID_HANDLE
    check(bench.state)


def test_a_lease_does_not_end_while_a_read_waits_under_it() -> None:
    bench = Bench()
    handle = opened(bench, lease=seconds(30))
    caller = bench.begin_asking(ReceiveMessages(0, handle, timeout=seconds(300)))
    bench.advance(100)
    bench.send("orders", b"m1")
    assert body(bench.answer_to(caller)) == b"m1"
    bench.advance(31)
    assert handle not in bench.state.open.handles


def test_a_closed_handle_takes_its_lease_along() -> None:
    bench = Bench()
    handle = opened(bench, lease=seconds(30))
    bench.ask(CloseQueue(0, handle))
    assert ("lease", handle) not in bench.timers


def test_a_lease_of_a_deleted_queue_ends_too() -> None:
    bench = Bench()
    handle = opened(bench, lease=seconds(30))
    bench.ask(DeleteQueue(0, "orders"))
    bench.advance(30)
    assert handle not in bench.state.open.handles


def test_a_handle_without_a_lease_stays_open() -> None:
    bench = Bench()
    opened(bench)
    bench.advance(10**9)
    assert bench.queue().active


# -- a queue that is opened for one request


PASSING: list[tuple[str, Event]] = [
    ("send", SendMessages(0, "orders", (message(b"x"),))),
    ("receive", ReceiveMessages(0, "orders")),
    ("receive from an empty queue", ReceiveMessages(0, "empty")),
    ("peek", PeekMessage(0, "orders")),
    ("peek into an empty queue", PeekMessage(0, "empty")),
    ("browse", BrowseMessages(0, "orders")),
    ("look up", LookUpMessage(0, "orders", 1, peek=False)),
    ("move", MoveMessage(0, "orders", 1, "nowhere")),
]


@pytest.mark.parametrize("event", [pytest.param(event, id=name) for name, event in PASSING])
def test_a_queue_opened_for_one_request_is_closed_after_it(event: Event) -> None:
    bench = Bench("orders", "empty")
    bench.send("orders", b"m1")
    assert bench.ask(event) is not None
    assert not bench.state.open.handles
    assert not any(queue.active for queue in bench.state.queues.values())


def _time_out(bench: Bench, caller: int) -> None:
    del caller
    bench.advance(5)


def _cancel(bench: Bench, caller: int) -> None:
    del caller
    assert bench.ask(CancelRead(0, "orders", 7)).status is HResult.OK


def _go_away(bench: Bench, caller: int) -> None:
    bench.handle(CallerGone(caller))


def _arrive(bench: Bench, caller: int) -> None:
    del caller
    bench.send("orders", b"m1")


@pytest.mark.parametrize("end", [_time_out, _cancel, _go_away, _arrive])
def test_a_wait_on_a_queue_opened_for_it_leaves_nothing_open(end: Any) -> None:
    """Otherwise no handle could open the queue exclusively again."""
    bench = Bench()
    caller = bench.begin_asking(ReceiveMessages(0, "orders", timeout=seconds(5), tag=7))
    assert bench.queue().active
    end(bench, caller)
    assert not bench.queue().readers.waiting
    assert not bench.state.open.handles
    assert opened(bench, share=Share.DENY_RECEIVE)


def test_no_client_uses_or_closes_a_queue_that_was_opened_for_the_request_of_another() -> None:
    bench = Bench()
    caller = bench.begin_asking(ReceiveMessages(0, "orders", timeout=FOREVER_WAIT))
    (foreign,) = bench.state.open.handles
    assert bench.receive(foreign).status is HResult.INVALID_HANDLE
    assert bench.ask(CloseQueue(0, foreign)).status is HResult.INVALID_HANDLE
    bench.send("orders", b"m1")
    assert body(bench.answer_to(caller)) == b"m1"


@pytest.mark.spec("DM-175")
def test_a_request_by_name_respects_those_who_have_the_queue_alone() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    alone = opened(bench, share=Share.DENY_RECEIVE)
    assert bench.receive("orders").status is HResult.SHARING_VIOLATION
    assert bench.ask(PeekMessage(0, "orders")).status is HResult.OK
    assert bench.send("orders", b"m2").status is HResult.OK
    assert bodies(bench.receive(alone, count=2)) == [b"m1", b"m2"]


# -- cursors


@pytest.mark.spec("DM-131", "DM-132")
def test_a_cursor_needs_an_open_handle() -> None:
    bench = Bench()
    assert bench.ask(OpenCursor(0, 12345)).status is HResult.INVALID_HANDLE
    handle = opened(bench, Access.PEEK)
    number = bench.ask(OpenCursor(0, handle)).handle
    assert bench.state.open.handles[handle].cursors == {number}


def test_a_cursor_works_only_with_its_own_handle() -> None:
    bench = Bench()
    mine, other = opened(bench), opened(bench)
    cursor = bench.ask(OpenCursor(0, mine)).handle
    for queue in (other, "orders"):
        for event in (PeekMessage(0, queue, cursor=cursor), ReceiveMessages(0, queue, cursor=cursor)):
            answer = bench.ask(event)
            assert answer.status is HResult.INVALID_PARAMETER
            assert str(cursor) in answer.why


def test_a_next_message_needs_a_cursor() -> None:
    bench = Bench()
    assert bench.ask(PeekMessage(0, "orders", next=True)).status is HResult.INVALID_PARAMETER


def test_cursors_of_a_deleted_queue_can_still_be_closed() -> None:
    bench = Bench()
    handle = opened(bench)
    cursor = bench.ask(OpenCursor(0, handle)).handle
    bench.ask(DeleteQueue(0, "orders"))
    assert bench.ask(PeekMessage(0, handle, cursor=cursor)).status is HResult.QUEUE_NOT_AVAILABLE
    assert bench.ask(CloseCursor(0, cursor)).status is HResult.OK

"""The table of [MS-MQDMPR] 3.2 has an entry for every case, and a cursor walks through a queue by it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import Duration, seconds
from reliquary.queueing.model.cursors import (
    ARRIVED,
    END,
    NEXT,
    START,
    STATUS,
    TIMED_OUT,
    Ask,
    Cursor,
    CursorState,
    Outcome,
    Seen,
)
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Access,
    BeginTransaction,
    CloseCursor,
    OpenCursor,
    OpenQueue,
    PeekMessage,
    ReceiveMessages,
)
from tests.queueing.answers import body, sleep_through
from tests.queueing.manager_harness import Bench

UNREAD, READ = CursorState.UNREAD, CursorState.READ
WAIT_PEEK, WAIT_RECEIVE = CursorState.WAIT_PEEK, CursorState.WAIT_RECEIVE
NO_TIME = Duration(0)


# -- the table


@pytest.mark.spec("DM-069", "DM-326", "DM-327", "DM-328")
def test_the_table_answers_every_case() -> None:
    assert set(NEXT) == set(product(CursorState, Ask, Seen))


def test_every_outcome_has_its_status() -> None:
    assert set(STATUS) == set(Outcome)


@pytest.mark.spec("DM-326", "DM-327", "DM-328", "DM-329")
@pytest.mark.parametrize(
    ("state", "ask", "seen", "then", "outcome"),
    [
        pytest.param(UNREAD, Ask.PEEK, Seen.HIT, READ, Outcome.SUCCEEDED, id="unread peeks and finds"),
        pytest.param(UNREAD, Ask.PEEK, Seen.MISS, WAIT_PEEK, Outcome.WAITING, id="unread peeks and waits"),
        pytest.param(READ, Ask.PEEK, Seen.HIT, READ, Outcome.SUCCEEDED, id="read peeks again"),
        pytest.param(READ, Ask.PEEK, Seen.MISS, READ, Outcome.ALREADY_RECEIVED, id="read peeks, it is gone"),
        pytest.param(UNREAD, Ask.PEEK_NEXT, Seen.HIT, UNREAD, Outcome.ILLEGAL, id="unread has no next"),
        pytest.param(
            UNREAD, Ask.PEEK_NEXT, Seen.MISS, UNREAD, Outcome.ILLEGAL, id="unread has no next, empty"
        ),
        pytest.param(READ, Ask.PEEK_NEXT, Seen.HIT, READ, Outcome.SUCCEEDED, id="read goes on"),
        pytest.param(READ, Ask.PEEK_NEXT, Seen.MISS, WAIT_PEEK, Outcome.WAITING, id="read waits for more"),
        pytest.param(UNREAD, Ask.RECEIVE, Seen.HIT, UNREAD, Outcome.SUCCEEDED, id="unread receives"),
        pytest.param(
            UNREAD, Ask.RECEIVE, Seen.MISS, WAIT_RECEIVE, Outcome.WAITING, id="unread waits to receive"
        ),
        pytest.param(
            UNREAD, Ask.RECEIVE_NOW, Seen.MISS, UNREAD, Outcome.NOT_FOUND, id="unread does not wait"
        ),
        pytest.param(UNREAD, Ask.RECEIVE_NOW, Seen.HIT, UNREAD, Outcome.SUCCEEDED, id="unread receives now"),
        pytest.param(READ, Ask.RECEIVE, Seen.HIT, UNREAD, Outcome.SUCCEEDED, id="read receives what it saw"),
        pytest.param(
            READ, Ask.RECEIVE, Seen.MISS, READ, Outcome.ALREADY_RECEIVED, id="read receives, it is gone"
        ),
        pytest.param(READ, Ask.RECEIVE_NOW, Seen.HIT, UNREAD, Outcome.SUCCEEDED, id="read receives now"),
        pytest.param(
            READ, Ask.RECEIVE_NOW, Seen.MISS, READ, Outcome.ALREADY_RECEIVED, id="read now, it is gone"
        ),
    ],
)
def test_each_event_leads_where_the_specification_says(
    state: CursorState, ask: Ask, seen: Seen, then: CursorState, outcome: Outcome
) -> None:
    cursor = Cursor(1, 2, place=50, state=state)
    found = None if seen is Seen.MISS else 70
    assert cursor.step(ask, found) is outcome
    assert cursor.state is then
    assert cursor.place == (70 if outcome is Outcome.SUCCEEDED else 50)


@pytest.mark.parametrize(("state", "ask", "seen"), list(product((WAIT_PEEK, WAIT_RECEIVE), Ask, Seen)))
def test_a_cursor_that_waits_takes_no_second_event(state: CursorState, ask: Ask, seen: Seen) -> None:
    """AN-33: a cursor waits once at a time; after the end is the end."""
    assert NEXT[state, ask, seen] == (state, Outcome.ILLEGAL)


@pytest.mark.spec("DM-330")
@pytest.mark.parametrize(("state", "then"), [(WAIT_PEEK, READ), (WAIT_RECEIVE, UNREAD)])
def test_an_arrival_ends_the_wait_at_the_new_message(state: CursorState, then: CursorState) -> None:
    cursor = Cursor(1, 2, place=50, state=state)
    cursor.arrived(30)
    assert (cursor.state, cursor.place) == (then, 30)
    assert set(ARRIVED) == {WAIT_PEEK, WAIT_RECEIVE}


@pytest.mark.spec("DM-331")
@pytest.mark.parametrize(("state", "place"), [(WAIT_PEEK, 50), (WAIT_RECEIVE, END)])
def test_a_time_out_leaves_the_cursor_unread(state: CursorState, place: int) -> None:
    cursor = Cursor(1, 2, place=50, state=state)
    cursor.timed_out()
    assert (cursor.state, cursor.place) == (UNREAD, place)
    assert set(TIMED_OUT) == {WAIT_PEEK, WAIT_RECEIVE}


@pytest.mark.spec("DM-029", "DM-325")
def test_a_new_cursor_is_unread_and_stands_before_the_first_message() -> None:
    cursor = Cursor(1, 2)
    assert (cursor.state, cursor.place) == (UNREAD, START)
    assert START < 0 < END


# -- a cursor on a queue


class Walk:
    """A queue that is open for receive, with one cursor."""

    def __init__(self, *bodies: bytes) -> None:
        self.bench = Bench()
        if bodies:
            self.bench.send("orders", *bodies)
        self.handle = self.bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
        self.number = self.bench.ask(OpenCursor(0, self.handle)).handle

    @property
    def cursor(self) -> Cursor:
        return self.bench.state.open.cursors[self.number]

    def peek(self, timeout: Duration = NO_TIME, **changes: Any) -> Any:
        return self.bench.ask(PeekMessage(0, self.handle, timeout, self.number, **changes))

    def next(self, timeout: Duration = NO_TIME) -> Any:
        return self.peek(timeout, next=True)

    def receive(self, timeout: Duration = NO_TIME, **changes: Any) -> Any:
        return self.bench.ask(ReceiveMessages(0, self.handle, timeout=timeout, cursor=self.number, **changes))


@pytest.mark.spec("DM-201", "DM-224", "DM-227", "DM-326", "DM-327", "DM-328")
def test_a_cursor_peeks_goes_on_and_receives_what_it_stands_on() -> None:
    """T59, a cursor peeks, moves and receives: as the table of cursor states says."""
    walk = Walk(b"m1", b"m2")
    assert body(walk.peek()) == b"m1"
    assert body(walk.peek()) == b"m1"
    assert body(walk.next()) == b"m2"
    assert body(walk.receive()) == b"m2"
    assert walk.cursor.state is UNREAD
    assert body(walk.receive()) is HResult.MESSAGE_NOT_FOUND
    assert walk.bench.bodies() == [b"m1"]


@pytest.mark.spec("DM-224", "DM-327")
def test_the_first_step_of_a_cursor_cannot_be_to_the_next_message() -> None:
    """T58, a new cursor moves on first: refused."""
    walk = Walk(b"m1", b"m2")
    assert body(walk.next()) is HResult.ILLEGAL_CURSOR_ACTION
    assert body(walk.peek()) == b"m1"


@pytest.mark.spec("DM-201", "DM-329")
def test_a_receive_that_may_not_wait_leaves_the_cursor_where_it_is() -> None:
    """T34, an empty queue, a cursor and a time-out of 0: no message found; the cursor is unread."""
    walk = Walk()
    assert body(walk.receive()) is HResult.MESSAGE_NOT_FOUND
    assert (walk.cursor.state, walk.cursor.place) == (UNREAD, START)
    assert not walk.bench.queue().readers.waiting


@pytest.mark.spec("DM-041", "DM-201", "DM-227", "DM-326", "DM-327")
def test_a_cursor_whose_message_was_taken_goes_on_from_its_place() -> None:
    """T60, another reader takes the cursor's message: already received; moving on works."""
    walk = Walk(b"m1", b"m2")
    assert body(walk.peek()) == b"m1"
    assert body(walk.bench.receive("orders")) == b"m1"
    assert body(walk.peek()) is HResult.MESSAGE_ALREADY_RECEIVED
    assert body(walk.receive()) is HResult.MESSAGE_ALREADY_RECEIVED
    assert body(walk.receive(seconds(5))) is HResult.MESSAGE_ALREADY_RECEIVED
    assert body(walk.next()) == b"m2"


def test_a_message_that_a_transaction_locked_counts_as_taken_until_it_comes_back() -> None:
    walk = Walk(b"m1")
    walk.peek()
    transaction = walk.bench.begin()
    walk.bench.receive("orders", transaction=transaction)
    assert body(walk.peek()) is HResult.MESSAGE_ALREADY_RECEIVED


def test_a_message_that_expired_under_the_cursor_counts_as_taken() -> None:
    walk = Walk()
    walk.bench.send("orders", b"short", time_to_be_received=10)
    assert body(walk.peek()) == b"short"
    sleep_through(walk.bench, 10)
    assert body(walk.peek()) is HResult.MESSAGE_ALREADY_RECEIVED


@pytest.mark.spec("DM-202", "DM-328", "DM-330")
def test_a_receive_that_waits_at_a_cursor_gets_the_next_arrival() -> None:
    walk = Walk()
    caller = walk.bench.begin_asking(
        ReceiveMessages(0, walk.handle, timeout=FOREVER_WAIT, cursor=walk.number)
    )
    assert walk.bench.answer_to(caller) is None
    assert walk.cursor.state is WAIT_RECEIVE
    walk.bench.send("orders", b"m1")
    assert body(walk.bench.answer_to(caller)) == b"m1"
    assert walk.cursor.state is UNREAD
    assert walk.bench.bodies() == []


@pytest.mark.spec("DM-225", "DM-330")
def test_a_cursor_that_waits_at_the_end_stands_on_what_arrives() -> None:
    """T61, a cursor waits at the end: it gets the next message."""
    walk = Walk(b"m1")
    walk.peek()
    caller = walk.bench.begin_asking(PeekMessage(0, walk.handle, FOREVER_WAIT, walk.number, next=True))
    assert walk.cursor.state is WAIT_PEEK
    walk.bench.send("orders", b"m2")
    assert body(walk.bench.answer_to(caller)) == b"m2"
    assert walk.cursor.state is READ
    assert body(walk.receive()) == b"m2"


@pytest.mark.spec("DM-228", "DM-330")
def test_a_first_peek_that_waits_stands_on_what_arrives() -> None:
    walk = Walk()
    caller = walk.bench.begin_asking(PeekMessage(0, walk.handle, FOREVER_WAIT, walk.number))
    walk.bench.send("orders", b"m1")
    assert body(walk.bench.answer_to(caller)) == b"m1"
    assert body(walk.peek()) == b"m1"


def test_a_waiting_cursor_takes_the_arrival_even_in_front_of_its_place() -> None:
    """The cursor moves back to the new message (AN-50)."""
    walk = Walk(b"m1")
    walk.peek()
    caller = walk.bench.begin_asking(PeekMessage(0, walk.handle, FOREVER_WAIT, walk.number, next=True))
    walk.bench.send("orders", b"urgent", priority=7)
    assert body(walk.bench.answer_to(caller)) == b"urgent"
    assert body(walk.next()) == b"m1"


@pytest.mark.spec("DM-202", "DM-331")
def test_a_receive_that_times_out_leaves_the_cursor_behind_everything() -> None:
    """T62, a cursor's receive times out: unread, at the end."""
    walk = Walk()
    caller = walk.bench.begin_asking(ReceiveMessages(0, walk.handle, timeout=seconds(5), cursor=walk.number))
    walk.bench.advance(5)
    assert body(walk.bench.answer_to(caller)) is HResult.IO_TIMEOUT
    assert (walk.cursor.state, walk.cursor.place) == (UNREAD, END)
    walk.bench.send("orders", b"too late for this cursor")
    assert body(walk.receive()) is HResult.MESSAGE_NOT_FOUND
    assert body(walk.peek()) is HResult.IO_TIMEOUT


@pytest.mark.spec("DM-225", "DM-331")
def test_a_peek_that_times_out_leaves_the_cursor_where_it_was() -> None:
    """T63, a cursor's peek times out: unread, where it was."""
    walk = Walk(b"m1")
    walk.peek()
    place = walk.cursor.place
    caller = walk.bench.begin_asking(PeekMessage(0, walk.handle, seconds(5), walk.number, next=True))
    walk.bench.advance(5)
    assert body(walk.bench.answer_to(caller)) is HResult.IO_TIMEOUT
    assert (walk.cursor.state, walk.cursor.place) == (UNREAD, place)
    assert body(walk.next()) is HResult.ILLEGAL_CURSOR_ACTION


def test_a_peek_that_may_not_wait_is_a_wait_of_no_time() -> None:
    walk = Walk(b"m1")
    walk.peek()
    assert body(walk.next()) is HResult.IO_TIMEOUT
    assert walk.cursor.state is UNREAD
    walk.bench.send("orders", b"m2")
    assert body(walk.peek()) == b"m2"


def test_a_cursor_waits_once_at_a_time() -> None:
    """The second wait is refused, and the first continues (AN-33)."""
    walk = Walk()
    caller = walk.bench.begin_asking(PeekMessage(0, walk.handle, FOREVER_WAIT, walk.number))
    assert body(walk.peek(FOREVER_WAIT)) is HResult.ILLEGAL_CURSOR_ACTION
    assert body(walk.receive(FOREVER_WAIT)) is HResult.ILLEGAL_CURSOR_ACTION
    assert body(walk.next(FOREVER_WAIT)) is HResult.ILLEGAL_CURSOR_ACTION
    walk.bench.send("orders", b"m1")
    assert body(walk.bench.answer_to(caller)) == b"m1"


@pytest.mark.spec("DM-133", "DM-134")
def test_closing_a_cursor_ends_its_wait() -> None:
    walk = Walk()
    caller = walk.bench.begin_asking(PeekMessage(0, walk.handle, FOREVER_WAIT, walk.number))
    other = walk.bench.begin_asking(PeekMessage(0, walk.handle, FOREVER_WAIT))
    assert walk.bench.ask(CloseCursor(0, walk.number)).status is HResult.OK
    assert body(walk.bench.answer_to(caller)) is HResult.OPERATION_CANCELLED
    assert walk.bench.answer_to(other) is None
    assert walk.bench.state.open.handles[walk.handle].cursors == set()
    assert walk.bench.ask(CloseCursor(0, walk.number)).status is HResult.INVALID_HANDLE


@pytest.mark.spec("DM-205")
def test_a_cursor_receives_in_a_transaction() -> None:
    walk = Walk(b"m1", b"m2")
    transaction = walk.bench.ask(BeginTransaction(0)).transaction
    assert body(walk.receive(transaction=transaction)) == b"m1"
    assert body(walk.receive(transaction=transaction)) == b"m2"
    assert len(walk.bench.queue().order.locked) == 2


@pytest.mark.spec("DM-206")
def test_a_cursor_receives_on_trial() -> None:
    walk = Walk(b"m1")
    assert walk.receive(hold=seconds(30)).receipt == walk.handle
    assert walk.bench.bodies() == []
    walk.bench.advance(30)
    assert walk.bench.bodies() == [b"m1"]


@pytest.mark.spec("DM-305")
def test_a_cursor_shows_a_locked_message_that_allows_it_and_does_not_receive_it() -> None:
    walk = Walk()
    walk.bench.send("orders", b"m1", allow_peek_when_locked=True)
    walk.bench.receive("orders", transaction=walk.bench.begin())
    assert body(walk.receive()) is HResult.MESSAGE_NOT_FOUND
    assert body(walk.peek()) == b"m1"


@pytest.mark.spec("DM-303")
def test_a_cursor_passes_over_expired_messages() -> None:
    walk = Walk()
    walk.bench.send("orders", b"short", time_to_be_received=10)
    walk.bench.send("orders", b"long")
    sleep_through(walk.bench, 10)
    assert body(walk.peek()) == b"long"


@pytest.mark.spec("DM-066", "DM-069")
def test_cursors_have_numbers_that_no_other_cursor_or_handle_has() -> None:
    walk = Walk()
    numbers = [walk.handle, walk.number]
    numbers += [walk.bench.ask(OpenCursor(0, walk.handle)).handle for _ in range(3)]
    numbers.append(walk.bench.ask(OpenQueue(0, "orders", Access.PEEK)).handle)
    assert len(set(numbers)) == len(numbers)


@pytest.mark.spec("DM-326")
def test_a_locked_message_that_a_cursor_showed_counts_as_taken_when_it_is_asked_again() -> None:
    walk = Walk()
    walk.bench.send("orders", b"m1", allow_peek_when_locked=True)
    walk.bench.receive("orders", transaction=walk.bench.begin())
    assert body(walk.peek()) == b"m1"
    assert body(walk.peek()) is HResult.MESSAGE_ALREADY_RECEIVED  # only State Available counts

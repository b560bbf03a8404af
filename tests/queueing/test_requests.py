"""Tests requests: bad input changes nothing, and its answer names the limit and the value; moves; answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import Duration
from reliquary.base.turn import Event
from reliquary.queueing.model.events import (
    AbortTransaction,
    Access,
    BeginTransaction,
    BrowseMessages,
    CancelRead,
    ChangeQueue,
    CommitTransaction,
    CreateQueue,
    DeleteQueue,
    LookUpMessage,
    MoveMessage,
    OpenQueue,
    PeekMessage,
    PurgeQueue,
    ReceiveMessages,
    SendMessages,
)
from reliquary.queueing.model.facts import PositionAvailable, PositionDeleted
from reliquary.queueing.model.message import BODY_LIMIT, EXTENSION_LIMIT, FOREVER, LABEL_LIMIT, Delivery
from reliquary.queueing.rules.checks import COUNT_LIMIT, LONGEST_TIME, LOOKUP_LIMIT
from tests.queueing.answers import body, everything
from tests.queueing.manager_harness import Bench, message
from tests.queueing.state_checks import check, messages_of

# -- bad input

BIG = str(FOREVER)
LONG = str(LONGEST_TIME)


def send(**attributes: Any) -> SendMessages:
    return SendMessages(0, "orders", (message(b"good"), message(**attributes)))


BAD: list[tuple[str, Event, str, str]] = [
    ("priority above", send(priority=8), "7", "8"),
    ("priority below", send(priority=-1), "0 to 7", "-1"),
    ("label", send(label="x" * 250), str(LABEL_LIMIT), "250"),
    ("body", send(body=bytes(BODY_LIMIT + 1)), str(BODY_LIMIT), str(BODY_LIMIT + 1)),
    ("extension", send(extension=bytes(EXTENSION_LIMIT + 1)), str(EXTENSION_LIMIT), str(EXTENSION_LIMIT + 1)),
    ("time to be received above", send(time_to_be_received=FOREVER + 1), BIG, str(FOREVER + 1)),
    ("time to be received below", send(time_to_be_received=-1), BIG, "-1"),
    ("time to reach the queue above", send(time_to_reach_queue=FOREVER + 1), BIG, str(FOREVER + 1)),
    ("time to reach the queue below", send(time_to_reach_queue=-1), BIG, "-1"),
    ("body type", send(body_type=-5), BIG, "-5"),
    ("application tag", send(application_tag=2**32), BIG, str(2**32)),
    ("sent time above", send(sent_time=2**50), BIG, str(2**50)),
    ("sent time below", send(sent_time=-1), BIG, "-1"),
    ("no messages", SendMessages(0, "orders", ()), str(COUNT_LIMIT), "not 0"),
    (
        "too many messages",
        SendMessages(0, "orders", (message(),) * (COUNT_LIMIT + 1)),
        str(COUNT_LIMIT),
        str(COUNT_LIMIT + 1),
    ),
    ("receive none", ReceiveMessages(0, "orders", count=0), str(COUNT_LIMIT), "not 0"),
    ("receive fewer than none", ReceiveMessages(0, "orders", count=-1), str(COUNT_LIMIT), "-1"),
    ("receive too many", ReceiveMessages(0, "orders", count=COUNT_LIMIT + 1), str(COUNT_LIMIT), "10001"),
    ("receive: time-out below", ReceiveMessages(0, "orders", timeout=Duration(-2)), LONG, "not -2"),
    ("receive: time-out above", ReceiveMessages(0, "orders", timeout=Duration(2**63)), LONG, str(2**63)),
    ("receive: hold below", ReceiveMessages(0, "orders", hold=Duration(-2)), LONG, "not -2"),
    ("receive: hold above", ReceiveMessages(0, "orders", hold=Duration(2**63)), LONG, str(2**63)),
    ("peek: time-out", PeekMessage(0, "orders", Duration(-7)), LONG, "not -7"),
    ("peek: cursor", PeekMessage(0, "orders", cursor=77), "cursor", "77"),
    ("browse none", BrowseMessages(0, "orders", limit=0), str(COUNT_LIMIT), "not 0"),
    ("browse too many", BrowseMessages(0, "orders", limit=COUNT_LIMIT + 1), str(COUNT_LIMIT), "10001"),
    ("look up: id above", LookUpMessage(0, "orders", 2**64), str(LOOKUP_LIMIT), str(2**64)),
    ("look up: id below", LookUpMessage(0, "orders", -1), str(LOOKUP_LIMIT), "-1"),
    ("look up: hold", LookUpMessage(0, "orders", 1, peek=False, hold=Duration(-2)), LONG, "not -2"),
    ("move: id above", MoveMessage(0, "orders", 2**64, "other"), str(LOOKUP_LIMIT), str(2**64)),
    ("move: id below", MoveMessage(0, "orders", -1, "other"), str(LOOKUP_LIMIT), "-1"),
    ("move: target", MoveMessage(0, "orders", 1, "x" * 125), "124", "125"),
    ("lease of no time", OpenQueue(0, "orders", Access.SEND, lease=Duration(0)), LONG, "not 0"),
    ("lease below", OpenQueue(0, "orders", Access.SEND, lease=Duration(-2)), LONG, "not -2"),
    ("transaction of no time", BeginTransaction(0, Duration(0)), LONG, "not 0"),
    ("transaction: time-out below", BeginTransaction(0, Duration(-2)), LONG, "not -2"),
]


@pytest.mark.spec("DM-048", "DM-055")
@pytest.mark.parametrize(
    ("event", "limit", "value"),
    [pytest.param(event, limit, value, id=name) for name, event, limit, value in BAD],
)
def test_what_is_outside_its_range_changes_nothing(event: Event, limit: str, value: str) -> None:
    """The answer names the limit and the value (T80)."""
    bench = Bench("orders", "other")
    bench.send("orders", b"m1")
    before = everything(bench.state)
    answer = bench.ask(event)
    assert answer.status is HResult.INVALID_PARAMETER
    assert limit in answer.why
    assert value in answer.why
    assert everything(bench.state) == before
    assert bench.turns[-1].facts == ()
    assert bench.state.draft.has_facts is False


GOOD: list[tuple[str, Event]] = [
    ("priority 0", send(priority=0)),
    ("priority 7", send(priority=7)),
    ("label", send(label="x" * LABEL_LIMIT)),
    ("extension", send(extension=bytes(EXTENSION_LIMIT))),
    ("times", send(time_to_be_received=FOREVER, time_to_reach_queue=FOREVER)),
    ("numbers", send(body_type=FOREVER, application_tag=FOREVER)),
    ("many", SendMessages(0, "orders", (message(),) * COUNT_LIMIT)),
    ("receive many", ReceiveMessages(0, "orders", count=COUNT_LIMIT, timeout=LONGEST_TIME)),
    ("hold", ReceiveMessages(0, "orders", hold=LONGEST_TIME)),
    ("browse many", BrowseMessages(0, "orders", limit=COUNT_LIMIT)),
    ("lease", OpenQueue(0, "orders", Access.SEND, lease=Duration(1))),
    ("transaction", BeginTransaction(0, LONGEST_TIME)),
]


@pytest.mark.spec("DM-048", "DM-055")
@pytest.mark.parametrize("event", [pytest.param(event, id=name) for name, event in GOOD])
def test_what_is_at_the_end_of_its_range_is_taken(event: Event) -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    assert bench.ask(event).status is HResult.OK


BAD_NAMES = [
    ("", "1 to 124 characters, this one has 0"),
    ("x" * 125, "1 to 124 characters, this one has 125"),
    ("a;" + "y" * 33, "1 to 32 characters, this one has 33"),
    ("a,b", "','"),
    ("a+b", "'+'"),
    ("a\nb", "'\\n'"),
    ("a\\b\\c", "'a'"),
    (".\\a\\b\\c", "NAME"),
    ("c" * 257 + "\\private$\\a", "256 characters, this one has 257"),
    ("system$;nothing", "nothing"),
    ("system$", "''"),
]
BY_NAME: list[Callable[[str], Event]] = [
    lambda name: CreateQueue(0, name),
    lambda name: ChangeQueue(0, name, {}),
    lambda name: DeleteQueue(0, name),
    lambda name: PurgeQueue(0, name),
    lambda name: OpenQueue(0, name, Access.RECEIVE),
    lambda name: SendMessages(0, name, (message(b"x"),)),
    lambda name: ReceiveMessages(0, name),
    lambda name: PeekMessage(0, name),
    lambda name: BrowseMessages(0, name),
    lambda name: LookUpMessage(0, name, 1),
    lambda name: MoveMessage(0, name, 1, "other"),
    lambda name: MoveMessage(0, "orders", 1, name),
    lambda name: CancelRead(0, name, 1),
]


@pytest.mark.spec("DM-136")
@pytest.mark.parametrize(("name", "words"), BAD_NAMES, ids=range(len(BAD_NAMES)))
def test_a_bad_name_is_refused_wherever_it_is_given(name: str, words: str) -> None:
    bench = Bench("orders", "other")
    bench.send("orders", b"m1")
    before = everything(bench.state)
    for request in BY_NAME:
        answer = bench.ask(request(name))
        assert answer.status is HResult.INVALID_PARAMETER, request(name)
        assert words in answer.why
    assert everything(bench.state) == before


@pytest.mark.parametrize(
    "event",
    [
        SendMessages(0, "nowhere", (message(b"x"),)),
        ReceiveMessages(0, "nowhere"),
        PeekMessage(0, "nowhere"),
        BrowseMessages(0, "nowhere"),
        LookUpMessage(0, "nowhere", 1),
        MoveMessage(0, "nowhere", 1, "other"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_a_queue_that_is_not_there_is_not_found(event: Event) -> None:
    bench = Bench("orders", "other")
    before = everything(bench.state)
    answer = bench.ask(event)
    assert answer.status is HResult.QUEUE_NOT_FOUND
    assert answer.why
    assert everything(bench.state) == before


def test_a_refused_request_says_so_to_the_one_who_asked() -> None:
    bench = Bench()
    bench.handle(ReceiveMessages(41, "orders", count=0))
    bench.handle(ReceiveMessages(42, "orders"))
    assert bench.answer_to(41).status is HResult.INVALID_PARAMETER
    assert bench.answer_to(42).status is HResult.IO_TIMEOUT


# -- move


@pytest.mark.spec("DM-232", "DM-233", "DM-235")
@pytest.mark.parametrize("delivery", list(Delivery))
@pytest.mark.parametrize(
    ("source", "target"), [("orders", "other"), ("orders", "orders;s"), ("orders;s", "other")]
)
def test_a_moved_message_is_in_the_other_queue_and_only_there(
    source: str, target: str, delivery: Delivery
) -> None:
    """AN-12: no protocol is notified that it was deleted."""
    bench = Bench("orders", "other", "orders;s", subscribed=[PositionAvailable, PositionDeleted])
    first, second = bench.send(source, b"a", b"b", delivery=delivery).lookup_ids
    reported = len(bench.signals)
    assert bench.ask(MoveMessage(0, source, first, target)).status is HResult.OK
    assert bench.signals[reported:] == [PositionAvailable(bench.queue(target).number, first)]
    assert (bench.bodies(source), bench.bodies(target)) == ([b"b"], [b"a"])
    assert bench.queue(source).total_bytes == bench.queue(target).total_bytes
    check(bench.state)
    bench.restart()
    kept = delivery is Delivery.RECOVERABLE
    assert bench.bodies(target) == ([b"a"] if kept else [])
    assert len(messages_of(bench.state)) == (2 if kept else 0)
    assert second


def test_a_moved_message_keeps_its_lookup_identifier_and_its_place() -> None:
    """AN-13: a moved message keeps its lookup id and its place by it."""
    bench = Bench("orders", "other")
    (first,) = bench.send("other", b"first").lookup_ids
    bench.send("orders", b"second")
    bench.send("orders", b"urgent", priority=7)
    bench.ask(MoveMessage(0, "other", first, "orders"))
    assert bench.bodies() == [b"urgent", b"first", b"second"]
    assert body(bench.ask(LookUpMessage(0, "orders", first))) == b"first"
    assert bench.ask(LookUpMessage(0, "other", first)).status is HResult.MESSAGE_NOT_FOUND


@pytest.mark.spec("DM-110", "DM-234")
def test_a_move_in_a_transaction_takes_effect_when_it_commits() -> None:
    """T49, a move in a transaction: the message is in the target, or after an abort in the source."""
    bench = Bench("orders", "other", subscribed=[PositionAvailable, PositionDeleted])
    (lookup_id,) = bench.send("orders", b"m1").lookup_ids
    transaction = bench.begin()
    reported = len(bench.signals)
    assert bench.ask(MoveMessage(0, "orders", lookup_id, "other", transaction)).status is HResult.OK
    assert bench.bodies() == bench.bodies("other") == []
    assert set(bench.queue().order.locked) == {lookup_id}
    check(bench.state)
    bench.ask(CommitTransaction(0, transaction))
    assert (bench.bodies(), bench.bodies("other")) == ([], [b"m1"])
    assert bench.signals[reported:] == [PositionAvailable(bench.queue("other").number, lookup_id)]
    bench.restart()
    assert (bench.bodies(), bench.bodies("other")) == ([], [b"m1"])
    check(bench.state)


@pytest.mark.spec("DM-114", "DM-234")
def test_a_move_in_a_transaction_never_was_when_it_aborts() -> None:
    bench = Bench("orders", "other")
    (lookup_id,) = bench.send("orders", b"m1").lookup_ids
    transaction = bench.begin()
    bench.ask(MoveMessage(0, "orders", lookup_id, "other", transaction))
    bench.ask(AbortTransaction(0, transaction))
    assert (bench.bodies(), bench.bodies("other")) == ([b"m1"], [])
    check(bench.state)


@pytest.mark.spec("DM-113")
def test_a_message_on_the_move_goes_with_a_purge_when_the_transaction_aborts() -> None:
    bench = Bench("orders", "other")
    (lookup_id,) = bench.send("orders", b"m1").lookup_ids
    transaction = bench.begin()
    bench.ask(MoveMessage(0, "orders", lookup_id, "other", transaction))
    bench.ask(PurgeQueue(0, "orders"))
    bench.ask(AbortTransaction(0, transaction))
    assert bench.bodies() == bench.bodies("other") == []
    check(bench.state)


@pytest.mark.spec("DM-231")
@pytest.mark.parametrize(
    ("in_transaction", "status"),
    [(True, HResult.TRANSACTION_USAGE), (False, HResult.UNSUPPORTED_FORMATNAME_OPERATION)],
)
def test_no_client_moves_a_message_into_a_queue_of_the_manager(in_transaction: bool, status: HResult) -> None:
    bench = Bench()
    (lookup_id,) = bench.send("orders", b"m1").lookup_ids
    transaction = bench.begin() if in_transaction else None
    before = everything(bench.state)
    for target in ("system$;deadletter", "system$;deadxact", "system$;journal", "system$;order-ack"):
        assert bench.ask(MoveMessage(0, "orders", lookup_id, target, transaction)).status is status
    assert everything(bench.state) == before


def test_no_client_moves_a_message_to_where_it_was_not_addressed() -> None:
    bench = Bench()
    away = "DIRECT=OS:elsewhere\\private$\\orders"
    bench.send(away, b"for elsewhere")
    sent = bench.send("orders", b"for here")
    answer = bench.ask(MoveMessage(0, "orders", sent.lookup_ids[0], away))
    assert answer.status is HResult.UNSUPPORTED_FORMATNAME_OPERATION
    assert bench.bodies() == [b"for here"]
    check(bench.state)


def test_a_dead_letter_can_be_moved_back_to_where_it_came_from() -> None:
    bench = Bench()
    (lookup_id,) = bench.send("orders", b"m1", negative_journaling=True).lookup_ids
    bench.ask(PurgeQueue(0, "orders"))
    assert bench.ask(MoveMessage(0, "system$;deadletter", lookup_id, "orders")).status is HResult.OK
    assert bench.bodies() == [b"m1"]
    check(bench.state)


@pytest.mark.parametrize("in_transaction", [True, False])
@pytest.mark.parametrize(
    ("lookup_id", "target", "status"),
    [
        pytest.param("m1", "nowhere", HResult.QUEUE_NOT_FOUND, id="no target"),
        pytest.param("m1", "orders", HResult.QUEUE_NOT_FOUND, id="to itself"),
        pytest.param("unknown", "other", HResult.MESSAGE_NOT_FOUND, id="no message"),
        pytest.param("locked", "other", HResult.MESSAGE_NOT_FOUND, id="locked message"),
    ],
)
def test_an_impossible_move_changes_nothing(
    lookup_id: str, target: str, status: HResult, in_transaction: bool
) -> None:
    bench = Bench("orders", "other")
    locked, there = bench.send("orders", b"locked", b"m1").lookup_ids
    bench.receive("orders", transaction=bench.begin())
    transaction = bench.begin() if in_transaction else None
    ids = {"m1": there, "locked": locked, "unknown": there + 1}
    before = everything(bench.state)
    assert bench.ask(MoveMessage(0, "orders", ids[lookup_id], target, transaction)).status is status
    assert everything(bench.state) == before


def test_a_move_in_an_unknown_transaction_is_refused() -> None:
    bench = Bench("orders", "other")
    (lookup_id,) = bench.send("orders", b"m1").lookup_ids
    before = everything(bench.state)
    answer = bench.ask(MoveMessage(0, "orders", lookup_id, "other", UUID(int=1)))
    assert answer.status is HResult.TRANSACTION_SEQUENCE
    assert everything(bench.state) == before


def test_a_message_moves_through_a_handle_that_was_opened_for_it() -> None:
    bench = Bench("orders", "other")
    (lookup_id,) = bench.send("orders", b"m1").lookup_ids
    handle = bench.ask(OpenQueue(0, "orders", Access.MOVE)).handle
    assert bench.ask(MoveMessage(0, handle, lookup_id, "other")).status is HResult.OK
    assert bench.bodies("other") == [b"m1"]

"""Tests that each request of the manager's own rules needs its rights, and uses what belongs to its user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec
import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model import events
from reliquary.queueing.model.events import (
    AbortTransaction,
    Access,
    AccessChange,
    BeginTransaction,
    BringOnline,
    BrowseMessages,
    CancelRead,
    ChangeAccess,
    ChangeQueue,
    CloseCursor,
    CloseQueue,
    CommitTransaction,
    CreateQueue,
    DeleteQueue,
    EndRead,
    LookUpMessage,
    MoveMessage,
    OpenCursor,
    OpenQueue,
    PauseQueue,
    PeekMessage,
    PrepareTransaction,
    PurgeQueue,
    ReceiveMessages,
    ResumeQueue,
    SendMessages,
    TakeOffline,
)
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.security.principals import EVERYONE
from reliquary.queueing.model.security.rights import ManagerRight, QueueRight
from tests.queueing.exchange import ELSEWHERE
from tests.queueing.manager_harness import Bench, message
from tests.queueing.security.users import (
    ALICE,
    ALL,
    BOB,
    Make,
    begun,
    bench_with,
    check_allowed,
    check_manager_right,
    check_refused,
    listed,
)


def first_id(bench: Bench, path: str = "orders") -> int:
    position = bench.queue(path).order.after(-1)
    assert position is not None
    return position.lookup_id


# -- requests on a queue, with their right and without

ON_QUEUE: list[tuple[str, Make, QueueRight]] = [
    ("send", lambda _: SendMessages(0, "orders", (message(b"x"),)), QueueRight.WRITE_MESSAGE),
    ("receive", lambda _: ReceiveMessages(0, "orders"), QueueRight.RECEIVE_MESSAGE),
    ("peek", lambda _: PeekMessage(0, "orders"), QueueRight.PEEK_MESSAGE),
    ("browse", lambda _: BrowseMessages(0, "orders"), QueueRight.PEEK_MESSAGE),
    ("look up", lambda bench: LookUpMessage(0, "orders", first_id(bench)), QueueRight.PEEK_MESSAGE),
    (
        "take by id",
        lambda bench: LookUpMessage(0, "orders", first_id(bench), peek=False),
        QueueRight.RECEIVE_MESSAGE,
    ),
    ("move", lambda bench: MoveMessage(0, "orders", first_id(bench), "other"), QueueRight.RECEIVE_MESSAGE),
    ("purge", lambda _: PurgeQueue(0, "orders"), QueueRight.DELETE_MESSAGE),
    ("delete", lambda _: DeleteQueue(0, "orders"), QueueRight.DELETE_QUEUE),
    ("change", lambda _: ChangeQueue(0, "orders", {"label": "x"}), QueueRight.SET_QUEUE_PROPERTIES),
    (
        "replace the list",
        lambda _: ChangeQueue(0, "orders", {"security": listed(ALL)}),
        QueueRight.CHANGE_QUEUE_PERMISSIONS | QueueRight.TAKE_QUEUE_OWNERSHIP,
    ),
    (
        "grant",
        lambda _: ChangeAccess(0, "orders", AccessChange.GRANT, BOB.user, 4),
        QueueRight.CHANGE_QUEUE_PERMISSIONS,
    ),
    (
        "own",
        lambda _: ChangeAccess(0, "orders", AccessChange.OWNER, ALICE.user),
        QueueRight.TAKE_QUEUE_OWNERSHIP,
    ),
    ("subqueue", lambda _: CreateQueue(0, "orders;retry"), QueueRight.SET_QUEUE_PROPERTIES),
    ("open to receive", lambda _: OpenQueue(0, "orders", Access.RECEIVE), QueueRight.RECEIVE_MESSAGE),
    ("open to peek", lambda _: OpenQueue(0, "orders", Access.PEEK), QueueRight.PEEK_MESSAGE),
    ("open to send", lambda _: OpenQueue(0, "orders", Access.SEND), QueueRight.WRITE_MESSAGE),
    ("open to move", lambda _: OpenQueue(0, "orders", Access.MOVE), QueueRight.RECEIVE_MESSAGE),
    ("read the journal", lambda _: PeekMessage(0, "orders;journal"), QueueRight.PEEK_MESSAGE),
    (
        "empty the journal",
        lambda _: ReceiveMessages(0, "orders;journal"),
        QueueRight.RECEIVE_JOURNAL_MESSAGE,
    ),
    (
        "purge the journal",
        lambda _: PurgeQueue(0, "orders;journal"),
        QueueRight.DELETE_JOURNAL_MESSAGE,
    ),
]
NAMES = [name for name, _, _ in ON_QUEUE]


@pytest.mark.parametrize(("name", "make", "right"), ON_QUEUE, ids=NAMES)
def test_a_request_with_its_right_alone_is_accepted(name: str, make: Make, right: QueueRight) -> None:
    del name
    check_allowed(make, right)


@pytest.mark.parametrize(("name", "make", "right"), ON_QUEUE, ids=NAMES)
def test_a_request_without_its_right_is_refused_and_changes_nothing(
    name: str, make: Make, right: QueueRight
) -> None:
    check_refused(make, right, "private$\\orders;journal" if name.endswith("journal") else "private$\\orders")


def test_two_rights_that_are_missing_are_both_named() -> None:
    bench = bench_with(0)
    why = bench.ask(ReceiveMessages(0, "orders", by=ALICE)).why
    assert why.endswith("lacks the right RECEIVE_MESSAGE on private$\\orders")
    why = bench.ask(ChangeQueue(0, "orders", {"label": "x", "security": b""}, by=ALICE)).why
    assert why.endswith("lacks the right SET_QUEUE_PROPERTIES on private$\\orders")


def test_a_move_needs_a_right_on_both_queues() -> None:
    bench = bench_with(ALL, other=ALL & ~QueueRight.WRITE_MESSAGE)
    refused = bench.ask(MoveMessage(0, "orders", first_id(bench), "other", by=ALICE))
    assert refused.status is HResult.ACCESS_DENIED
    assert refused.why.endswith("lacks the right WRITE_MESSAGE on private$\\other")
    assert bench.bodies("orders") == [b"one"]


# -- the manager's list

ON_MANAGER: list[tuple[Make, ManagerRight]] = [
    (lambda _: CreateQueue(0, "new"), ManagerRight.CREATE_QUEUE),
    (lambda _: BrowseMessages(0, "system$;deadletter"), ManagerRight.PEEK_DEADLETTER_MESSAGE),
    (lambda _: ReceiveMessages(0, "system$;deadxact"), ManagerRight.RECEIVE_DEADLETTER_MESSAGE),
    (lambda _: PurgeQueue(0, "system$;deadletter"), ManagerRight.DELETE_DEADLETTER_MESSAGE),
    (lambda _: BrowseMessages(0, "system$;journal"), ManagerRight.PEEK_JOURNAL_QUEUE_MESSAGE),
    (lambda _: ReceiveMessages(0, "system$;journal"), ManagerRight.RECEIVE_JOURNAL_QUEUE_MESSAGE),
    (lambda _: PurgeQueue(0, "system$;journal"), ManagerRight.DELETE_JOURNAL_QUEUE_MESSAGE),
    (lambda _: ChangeQueue(0, "system$;journal", {"quota": 5}), ManagerRight.SET_MACHINE_PROPERTIES),
    (lambda _: TakeOffline(0), ManagerRight.SET_MACHINE_PROPERTIES),
    (lambda _: BringOnline(0), ManagerRight.SET_MACHINE_PROPERTIES),
    (lambda _: PauseQueue(0, ELSEWHERE), ManagerRight.SET_MACHINE_PROPERTIES),
    (lambda _: ResumeQueue(0, ELSEWHERE), ManagerRight.SET_MACHINE_PROPERTIES),
    (
        lambda _: ChangeAccess(0, "", AccessChange.GRANT, BOB.user, 4),
        ManagerRight.CHANGE_MACHINE_PERMISSIONS,
    ),
    (lambda _: ChangeAccess(0, "", AccessChange.OWNER, BOB.user), ManagerRight.TAKE_MACHINE_OWNERSHIP),
    (
        lambda _: CreateQueue(0, "new", QueueSettings(security=listed(ALL))),  # bob would be its owner
        ManagerRight.CREATE_QUEUE | ManagerRight.TAKE_MACHINE_OWNERSHIP,
    ),
]


@pytest.mark.spec("DM-013")
@pytest.mark.parametrize(("make", "right"), ON_MANAGER)
def test_the_managers_own_affairs_are_under_its_own_list(make: Make, right: ManagerRight) -> None:
    check_manager_right(make, right)


# -- what has an owner


def grant_everyone(bench: Bench) -> None:
    bench.ask(ChangeAccess(0, "orders", AccessChange.GRANT, EVERYONE, ALL))


@pytest.mark.parametrize(
    "make",
    [
        lambda handle, cursor: SendMessages(0, handle, (message(b"x"),)),
        lambda handle, cursor: ReceiveMessages(0, handle),
        lambda handle, cursor: PeekMessage(0, handle),
        lambda handle, cursor: PeekMessage(0, handle, cursor=cursor),
        lambda handle, cursor: BrowseMessages(0, handle),
        lambda handle, cursor: LookUpMessage(0, handle, 1),
        lambda handle, cursor: MoveMessage(0, handle, 1, "spare"),
        lambda handle, cursor: CancelRead(0, handle, 7),
        lambda handle, cursor: OpenCursor(0, handle),
        lambda handle, cursor: CloseQueue(0, handle),
        lambda handle, cursor: CloseCursor(0, cursor),
    ],
)
def test_a_handle_is_for_the_user_who_opened_it(make: Callable[[int, int], Any]) -> None:
    bench = bench_with()
    grant_everyone(bench)
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE, by=ALICE)).handle
    cursor = bench.ask(OpenCursor(0, handle, by=ALICE)).handle
    refused = bench.ask(msgspec.structs.replace(make(handle, cursor), by=BOB))
    assert refused.status is HResult.ACCESS_DENIED
    assert "is another user's, and bob (S-1-5-21-1-2-3-1002) may not use it" in refused.why
    assert set(bench.state.open.handles) == {handle}
    assert set(bench.state.open.cursors) == {cursor}
    assert bench.ask(PeekMessage(0, handle, cursor=cursor, by=ALICE)).status is HResult.OK


def test_a_receipt_is_for_the_user_who_got_it() -> None:
    bench = bench_with()
    grant_everyone(bench)
    receipt = bench.receive("orders", hold=60, by=ALICE).receipt
    for request in (
        EndRead(0, receipt, delete=True, by=BOB),
        ReceiveMessages(0, "orders", acknowledge=receipt, by=BOB),
    ):
        refused = bench.ask(request)
        assert refused.status is HResult.ACCESS_DENIED
        assert refused.why.startswith("the receipt is another user's")
    assert bench.ask(EndRead(0, receipt, delete=True, by=ALICE)).status is HResult.OK


def test_a_wait_is_ended_by_its_user_and_by_no_other() -> None:
    bench = bench_with()
    grant_everyone(bench)
    bench.receive("orders")
    waiting = bench.begin_asking(ReceiveMessages(0, "orders", timeout=events.FOREVER_WAIT, tag=7, by=ALICE))
    assert bench.ask(CancelRead(0, "orders", 7, by=BOB)).status is HResult.STATUS_NOT_FOUND
    assert bench.answer_to(waiting) is None
    assert bench.ask(CancelRead(0, "orders", 7, by=ALICE)).status is HResult.OK
    assert bench.answer_to(waiting).status is HResult.OPERATION_CANCELLED


@pytest.mark.parametrize(
    "make",
    [
        lambda transaction: SendMessages(0, "orders", (message(b"x"),), transaction),
        lambda transaction: ReceiveMessages(0, "orders", transaction=transaction),
        lambda transaction: LookUpMessage(0, "orders", 1, peek=False, transaction=transaction),
        lambda transaction: MoveMessage(0, "orders", 1, "spare", transaction),
        lambda transaction: PrepareTransaction(0, transaction),
        lambda transaction: CommitTransaction(0, transaction),
        lambda transaction: AbortTransaction(0, transaction),
        lambda transaction: BeginTransaction(0, identifier=transaction),
        lambda transaction: events.DtcPrepare(0, transaction),
        lambda transaction: events.DtcCommit(0, transaction),
        lambda transaction: events.DtcAbort(0, transaction),
        lambda transaction: events.DtcReenlistmentCommit(0, transaction),
        lambda transaction: events.DtcReenlistmentAbort(0, transaction),
    ],
)
def test_a_transaction_is_for_the_user_who_began_it(make: Callable[[UUID], Any]) -> None:
    bench = bench_with()
    grant_everyone(bench)
    transaction = begun(bench, ALICE)
    refused = bench.ask(msgspec.structs.replace(make(transaction), by=BOB))
    assert refused.status is HResult.ACCESS_DENIED
    assert refused.why.startswith(f"transaction {transaction} is another user's")
    assert transaction in bench.state.transactions.open
    assert bench.ask(CommitTransaction(0, transaction, by=ALICE)).status is HResult.OK

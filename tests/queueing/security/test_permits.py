"""Who may ask what: each request with its right and without, and what belongs to another user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec
import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing import manager
from reliquary.queueing.directory.events import ReadDirectory, SwitchDirectory
from reliquary.queueing.features import PERMITS
from reliquary.queueing.feed import events as feed
from reliquary.queueing.model import events
from reliquary.queueing.model.directory.objects import Kind
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
    Request,
    ResumeQueue,
    SendMessages,
    TakeOffline,
)
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.security.principals import (
    ADMINISTRATORS,
    ANONYMOUS,
    EVERYONE,
    MANAGER,
    Principal,
)
from reliquary.queueing.model.security.rights import MANAGER_LIST, ManagerRight, QueueRight
from reliquary.queueing.rules.permission import NEEDED, OPENED_FOR, Act, Place, lacks, manager_list
from reliquary.wire.security import Ace, AceKind, SecurityDescriptor, encode_descriptor, parse_sid
from tests.queueing.manager_harness import Bench, check, durable, message

ALICE = Principal(parse_sid("S-1-5-21-1-2-3-1001"), name="alice")
BOB = Principal(parse_sid("S-1-5-21-1-2-3-1002"), name="bob")
ROOT = Principal(parse_sid("S-1-5-21-1-2-3-1000"), (ADMINISTRATORS,), "root")

AWAY = r"DIRECT=OS:elsewhere\private$\orders"
ALL, ALL_OF_MANAGER = int(QueueRight.GENERIC_ALL), int(ManagerRight.GENERIC_ALL)


def listed(mask: int) -> bytes:
    """A descriptor that lets alice do this, and nobody else anything."""
    dacl = (Ace(AceKind.ALLOWED, mask, ALICE.user),) if mask else ()
    return encode_descriptor(SecurityDescriptor(owner=BOB.user, dacl=dacl))


def bench_with(queue: int = ALL, manager: int = ALL_OF_MANAGER, other: int = ALL) -> Bench:
    """Queues of which alice may do so much."""
    bench = Bench("spare")
    bench.create("orders", security=listed(queue))
    bench.create("other", security=listed(other))
    bench.send("orders", b"one")
    record = msgspec.structs.replace(bench.state.identity(), security=listed(manager))
    bench.state.manager.record = record
    return bench


def first_id(bench: Bench, path: str = "orders") -> int:
    position = bench.queue(path).order.after(-1)
    assert position is not None
    return position.lookup_id


# -- the tables


def test_every_request_has_its_demand() -> None:
    assert set(PERMITS) == {each for each in manager._RULES if issubclass(each, Request)}


def test_every_act_has_its_right_in_every_place() -> None:
    assert set(NEEDED) == set(Place)
    assert all(set(rights) == set(Act) for rights in NEEDED.values())
    assert set(OPENED_FOR) == set(Access)


# -- requests on a queue, with their right and without

Make = Callable[[Bench], Any]
ON_QUEUE: list[tuple[str, Make, QueueRight]] = [
    ("send", lambda _: SendMessages(0, "orders", (message(b"x"),)), QueueRight.WRITE_MESSAGE),
    ("receive", lambda _: ReceiveMessages(0, "orders"), QueueRight.RECEIVE_MESSAGE),
    ("peek", lambda _: PeekMessage(0, "orders"), QueueRight.PEEK_MESSAGE),
    ("look at the feed", lambda _: feed.LookAtFeeds(0, ("x*", "orders")), QueueRight.PEEK_MESSAGE),
    ("read the feed", lambda _: feed.ReadFeed(0, "orders", 0, 0, 1), QueueRight.PEEK_MESSAGE),
    ("open a consumer", lambda _: feed.OpenConsumer(0, "orders", "lake"), QueueRight.RECEIVE_MESSAGE),
    ("move a consumer", lambda _: feed.MoveConsumer(0, "orders", "lake", 0), QueueRight.RECEIVE_MESSAGE),
    ("drop a consumer", lambda _: feed.DropConsumer(0, "orders", "lake"), QueueRight.RECEIVE_MESSAGE),
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
def test_with_its_right_alone_a_request_is_heard(name: str, make: Make, right: QueueRight) -> None:
    del name
    bench = bench_with(int(right))
    answer = bench.ask(msgspec.structs.replace(make(bench), by=ALICE))
    assert answer.status is not HResult.ACCESS_DENIED, answer.why


@pytest.mark.parametrize(("name", "make", "right"), ON_QUEUE, ids=NAMES)
def test_without_its_right_a_request_is_refused_and_changes_nothing(
    name: str, make: Make, right: QueueRight
) -> None:
    for single in (each for each in QueueRight if each in right):
        bench = bench_with(ALL & ~single.value)
        before, turns = durable(bench.state), len(bench.turns)
        answer = bench.ask(msgspec.structs.replace(make(bench), by=ALICE))
        assert answer.status is HResult.ACCESS_DENIED
        queue = "private$\\orders;journal" if name.endswith("journal") else "private$\\orders"
        assert answer.why == f"alice (S-1-5-21-1-2-3-1001) lacks the right {single.name} on {queue}"
        assert durable(bench.state) == before
        assert not any(turn.facts for turn in bench.turns[turns:])
        assert not bench.state.open.handles
        check(bench.state)


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


def test_a_send_to_several_needs_the_right_on_each() -> None:
    bench = bench_with(ALL, other=0)
    both = r"DIRECT=OS:.\private$\orders,DIRECT=OS:.\private$\other"
    for request in (
        SendMessages(0, both, (message(b"x"),), by=ALICE),
        OpenQueue(0, both, Access.SEND, by=ALICE),
    ):
        refused = bench.ask(request)
        assert refused.status is HResult.ACCESS_DENIED
        assert refused.why.endswith("WRITE_MESSAGE on private$\\other")
    assert bench.bodies("orders") == [b"one"]


def test_a_handle_on_several_is_held_against_all_their_lists() -> None:
    bench = bench_with(ALL)
    both = r"DIRECT=OS:.\private$\orders,DIRECT=OS:.\private$\other"
    handle = bench.ask(OpenQueue(0, both, Access.SEND, by=ALICE)).handle
    assert bench.ask(SendMessages(0, handle, (message(b"x"),), by=ALICE)).status is HResult.OK
    bench.ask(ChangeAccess(0, "other", AccessChange.REVOKE, ALICE.user, ALL))
    assert bench.ask(SendMessages(0, handle, (message(b"y"),), by=ALICE)).status is HResult.ACCESS_DENIED
    assert bench.bodies("orders") == [b"one", b"x"]


def test_to_send_elsewhere_is_free_and_to_look_into_what_waits_is_not() -> None:
    bench = bench_with(manager=0)
    assert bench.ask(SendMessages(0, AWAY, (message(b"x"),), by=ALICE)).status is HResult.OK
    assert bench.ask(SendMessages(0, AWAY, (message(b"y"),), by=ALICE)).status is HResult.OK
    refused = bench.ask(OpenQueue(0, AWAY, Access.PEEK_ADMIN, by=ALICE))
    assert refused.status is HResult.ACCESS_DENIED
    assert "PEEK_DEADLETTER_MESSAGE on DIRECT=OS:elsewhere" in refused.why


def test_a_subqueue_is_under_the_list_of_its_queue() -> None:
    bench = bench_with(int(QueueRight.PEEK_MESSAGE))
    bench.ask(CreateQueue(0, "orders;retry"))
    assert bench.ask(BrowseMessages(0, "orders;retry", by=ALICE)).status is HResult.OK
    refused = bench.ask(SendMessages(0, "orders;retry", (message(b"x"),), by=ALICE))
    assert refused.why.endswith("lacks the right WRITE_MESSAGE on private$\\orders;retry")


def test_a_queue_that_is_not_there_is_missed_and_not_forbidden() -> None:
    bench = bench_with(0, 0)
    assert bench.ask(SendMessages(0, "nowhere", (message(b"x"),), by=ALICE)).status is HResult.QUEUE_NOT_FOUND
    assert bench.ask(ReceiveMessages(0, 4711, by=ALICE)).status is HResult.INVALID_HANDLE


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
    (lambda _: ReadDirectory(0, Kind.QUEUE), ManagerRight.GET_MACHINE_PROPERTIES),
    (lambda _: SwitchDirectory(0, attached=False), ManagerRight.SET_MACHINE_PROPERTIES),
    (lambda _: TakeOffline(0), ManagerRight.SET_MACHINE_PROPERTIES),
    (lambda _: BringOnline(0), ManagerRight.SET_MACHINE_PROPERTIES),
    (lambda _: PauseQueue(0, AWAY), ManagerRight.SET_MACHINE_PROPERTIES),
    (lambda _: ResumeQueue(0, AWAY), ManagerRight.SET_MACHINE_PROPERTIES),
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
    bench = bench_with(manager=int(right))
    heard = bench.ask(msgspec.structs.replace(make(bench), by=ALICE))
    assert heard.status is not HResult.ACCESS_DENIED, heard.why
    for single in (each for each in ManagerRight if each in right):
        bench = bench_with(manager=ALL_OF_MANAGER & ~single.value)
        before = durable(bench.state)
        refused = bench.ask(msgspec.structs.replace(make(bench), by=ALICE))
        assert refused.status is HResult.ACCESS_DENIED
        assert f"lacks the right {single.name} on " in refused.why
        assert durable(bench.state) == before


def test_a_manager_that_was_given_no_list_goes_by_the_one_it_was_started_with() -> None:
    bench = Bench()
    assert manager_list(bench.state) == b""
    assert bench.ask(CreateQueue(0, "a", by=ANONYMOUS)).status is HResult.OK
    bench.restart(start=False)
    bench.handle(events.StartManager("BENCH", first_list=MANAGER_LIST))
    assert bench.ask(CreateQueue(0, "b", by=ANONYMOUS)).status is HResult.ACCESS_DENIED
    assert bench.ask(CreateQueue(0, "b", by=ALICE)).status is HResult.OK
    assert bench.ask(PurgeQueue(0, "system$;deadletter", by=ALICE)).status is HResult.ACCESS_DENIED
    assert bench.ask(PurgeQueue(0, "system$;deadletter", by=ROOT)).status is HResult.OK
    bench.restart()
    assert bench.ask(CreateQueue(0, "c", by=ANONYMOUS)).status is HResult.OK


def test_the_list_of_one_queue_is_its_owners_and_the_manager_is_never_held_back() -> None:
    bench = bench_with(0)
    assert bench.ask(SendMessages(0, "orders", (message(b"x"),), by=MANAGER)).status is HResult.OK
    orders = bench.queue()
    assert lacks(bench.state, ALICE, orders, Act.SHOW)
    assert not lacks(bench.state, BOB, orders, Act.SHOW_ACCESS)
    assert lacks(bench.state, BOB, orders, Act.SHOW)


# -- what belongs to somebody


def everybody(bench: Bench) -> None:
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
    everybody(bench)
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
    everybody(bench)
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
    everybody(bench)
    bench.receive("orders")
    waiting = bench.begin_asking(ReceiveMessages(0, "orders", timeout=events.FOREVER_WAIT, tag=7, by=ALICE))
    assert bench.ask(CancelRead(0, "orders", 7, by=BOB)).status is HResult.STATUS_NOT_FOUND
    assert bench.answer_to(waiting) is None
    assert bench.ask(CancelRead(0, "orders", 7, by=ALICE)).status is HResult.OK
    assert bench.answer_to(waiting).status is HResult.OPERATION_CANCELLED


def begun(bench: Bench, by: Principal) -> UUID:
    transaction: UUID = bench.ask(BeginTransaction(0, by=by)).transaction
    return transaction


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
    everybody(bench)
    transaction = begun(bench, ALICE)
    refused = bench.ask(msgspec.structs.replace(make(transaction), by=BOB))
    assert refused.status is HResult.ACCESS_DENIED
    assert refused.why.startswith(f"transaction {transaction} is another user's")
    assert transaction in bench.state.transactions.open
    assert bench.ask(CommitTransaction(0, transaction, by=ALICE)).status is HResult.OK


def test_a_prepared_transaction_is_still_its_users_after_a_restart() -> None:
    bench = bench_with()
    bench.ask(ChangeAccess(0, "", AccessChange.GRANT, ROOT.user, ManagerRight.SET_MACHINE_PROPERTIES))
    transactions = [begun(bench, by) for by in (ALICE, ALICE, MANAGER)]
    for transaction in transactions:
        bench.send("orders", b"x", transaction=transaction)
        bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    bench.restart()
    own, decided, managers = transactions
    assert bench.ask(CommitTransaction(0, own, by=BOB)).status is HResult.ACCESS_DENIED
    assert bench.ask(CommitTransaction(0, managers, by=BOB)).status is HResult.ACCESS_DENIED
    assert bench.ask(CommitTransaction(0, own, by=ALICE)).status is HResult.OK
    assert bench.ask(AbortTransaction(0, decided, by=ROOT)).status is HResult.OK
    assert bench.ask(CommitTransaction(0, managers, by=ROOT)).status is HResult.OK
    assert bench.bodies("orders") == [b"one", b"x", b"x"]


# -- verdicts that were found once


def test_a_verdict_is_remembered_until_a_list_or_a_name_changes() -> None:
    bench = bench_with()
    send = SendMessages(0, "orders", (message(b"x"),), by=ALICE)
    bench.ask(send)
    assert ("orders", ALICE, Act.SEND) in bench.state.access.permitted
    bench.ask(ChangeAccess(0, "other", AccessChange.OWNER, BOB.user))
    assert not bench.state.access.permitted
    bench.ask(send)
    bench.ask(DeleteQueue(0, "orders"))
    bench.create("orders", security=listed(0))
    assert bench.ask(send).status is HResult.ACCESS_DENIED
    assert not bench.state.access.permitted


def test_a_verdict_of_the_managers_list_is_forgotten_with_it() -> None:
    bench = bench_with()
    look = BrowseMessages(0, "system$;deadletter", by=ALICE)
    assert bench.ask(look).status is HResult.OK
    bench.ask(ChangeAccess(0, "", AccessChange.REVOKE, ALICE.user, ALL_OF_MANAGER))
    assert bench.ask(look).status is HResult.ACCESS_DENIED


def test_what_is_not_there_and_handles_leave_no_verdict() -> None:
    bench = bench_with()
    bench.ask(SendMessages(0, "nowhere", (message(b"x"),), by=ALICE))
    handle = bench.ask(OpenQueue(0, "orders", Access.PEEK, by=ALICE)).handle
    bench.state.access.permitted.clear()
    bench.ask(PeekMessage(0, handle, by=ALICE))
    assert not bench.state.access.permitted

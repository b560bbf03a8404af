"""Tests that an access list grants each act, and that handles and transactions belong to their users."""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.queueing.model import events
from reliquary.queueing.model.events import (
    AbortTransaction,
    Access,
    AccessChange,
    BrowseMessages,
    ChangeAccess,
    CommitTransaction,
    CreateQueue,
    DeleteQueue,
    OpenQueue,
    PeekMessage,
    PrepareTransaction,
    PurgeQueue,
    ReceiveMessages,
    SendMessages,
)
from reliquary.queueing.model.security.principals import ANONYMOUS, MANAGER
from reliquary.queueing.model.security.rights import MANAGER_LIST, ManagerRight, QueueRight
from reliquary.queueing.rules.permission import NEEDED, OPENED_FOR, Act, QueueKind, lacks, manager_list
from tests.queueing.exchange import ELSEWHERE
from tests.queueing.manager_harness import Bench, message
from tests.queueing.security.users import ALICE, ALL, ALL_OF_MANAGER, BOB, ROOT, begun, bench_with, listed


def test_every_act_has_its_right_in_every_place() -> None:
    assert set(NEEDED) == set(QueueKind)
    assert all(set(rights) == set(Act) for rights in NEEDED.values())
    assert set(OPENED_FOR) == set(Access)


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


def test_a_handle_on_several_is_checked_against_all_their_lists() -> None:
    bench = bench_with(ALL)
    both = r"DIRECT=OS:.\private$\orders,DIRECT=OS:.\private$\other"
    handle = bench.ask(OpenQueue(0, both, Access.SEND, by=ALICE)).handle
    assert bench.ask(SendMessages(0, handle, (message(b"x"),), by=ALICE)).status is HResult.OK
    bench.ask(ChangeAccess(0, "other", AccessChange.REVOKE, ALICE.user, ALL))
    assert bench.ask(SendMessages(0, handle, (message(b"y"),), by=ALICE)).status is HResult.ACCESS_DENIED
    assert bench.bodies("orders") == [b"one", b"x"]


def test_to_send_elsewhere_is_free_and_to_look_into_what_waits_is_not() -> None:
    bench = bench_with(manager=0)
    assert bench.ask(SendMessages(0, ELSEWHERE, (message(b"x"),), by=ALICE)).status is HResult.OK
    assert bench.ask(SendMessages(0, ELSEWHERE, (message(b"y"),), by=ALICE)).status is HResult.OK
    refused = bench.ask(OpenQueue(0, ELSEWHERE, Access.PEEK_ADMIN, by=ALICE))
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


def test_the_list_of_one_queue_is_its_owners_and_the_manager_is_never_limited() -> None:
    bench = bench_with(0)
    assert bench.ask(SendMessages(0, "orders", (message(b"x"),), by=MANAGER)).status is HResult.OK
    orders = bench.queue()
    assert lacks(bench.state, ALICE, orders, Act.SHOW)
    assert not lacks(bench.state, BOB, orders, Act.SHOW_ACCESS)
    assert lacks(bench.state, BOB, orders, Act.SHOW)


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

"""Tests of internal transactions: enqueue, dequeue and move; prepare, commit and abort; refused requests."""

from __future__ import annotations

from itertools import product
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    AbortTransaction,
    CommitTransaction,
    LookUpMessage,
    MoveMessage,
    PeekMessage,
    PrepareTransaction,
    PurgeQueue,
    ReceiveMessages,
    SendMessages,
)
from reliquary.queueing.model.facts import MessagesStored, PositionAvailable, PositionDeleted
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.rules.transactions import (
    ALLOWED,
    TransactionEvent,
    TransactionState,
    begin,
    transaction_of,
)
from tests.queueing.answers import bodies, body, everything
from tests.queueing.manager_harness import Bench, message
from tests.queueing.state_checks import check

UNKNOWN = UUID(int=404)
ENDS = [CommitTransaction, AbortTransaction, PrepareTransaction]


def reasons(bench: Bench) -> list[MessageClass]:
    return [signal.reason for signal in bench.signals if isinstance(signal, PositionDeleted)]


def commit(bench: Bench, transaction: UUID) -> HResult:
    status: HResult = bench.ask(CommitTransaction(0, transaction)).status
    return status


def abort(bench: Bench, transaction: UUID) -> HResult:
    status: HResult = bench.ask(AbortTransaction(0, transaction)).status
    return status


def prepare(bench: Bench, transaction: UUID, *, single_phase: bool = True) -> HResult:
    status: HResult = bench.ask(PrepareTransaction(0, transaction, single_phase)).status
    return status


# -- the table


def test_the_table_answers_every_case() -> None:
    assert set(ALLOWED) == set(product(TransactionState, TransactionEvent))


@pytest.mark.spec("DM-101", "DM-106", "DM-112")
@pytest.mark.parametrize("end", ENDS)
def test_a_transaction_that_never_was_cannot_end(end: Any) -> None:
    """T48, an unknown transaction: refused."""
    bench = Bench()
    before = everything(bench.state)
    answer = bench.ask(end(0, UNKNOWN))
    assert answer.status is HResult.TRANSACTION_SEQUENCE
    assert str(UNKNOWN) in answer.why
    assert everything(bench.state) == before


USES = [
    pytest.param(lambda each: SendMessages(0, "orders", (message(b"x"),), each), id="send"),
    pytest.param(lambda each: ReceiveMessages(0, "orders", transaction=each), id="receive"),
    pytest.param(lambda each: LookUpMessage(0, "orders", 1, peek=False, transaction=each), id="look up"),
    pytest.param(lambda each: MoveMessage(0, "orders", 1, "other", each), id="move"),
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("stage", ["unknown", "prepared", "committed", "aborted"])
def test_a_transaction_is_of_use_only_while_it_is_active(stage: str, use: Any) -> None:
    bench = Bench("orders", "other")
    bench.send("orders", b"m1")
    transaction = UNKNOWN if stage == "unknown" else bench.begin()
    if stage == "prepared":
        prepare(bench, transaction)
    elif stage == "committed":
        commit(bench, transaction)
    elif stage == "aborted":
        abort(bench, transaction)
    before = everything(bench.state)
    assert bench.ask(use(transaction)).status is HResult.TRANSACTION_SEQUENCE
    assert everything(bench.state) == before


@pytest.mark.parametrize("first", ENDS[:2])
@pytest.mark.parametrize("then", ENDS)
def test_a_transaction_ends_once(first: Any, then: Any) -> None:
    bench = Bench()
    transaction = bench.begin()
    assert bench.ask(first(0, transaction)).status is HResult.OK
    assert bench.ask(then(0, transaction)).status is HResult.TRANSACTION_SEQUENCE


@pytest.mark.spec("DM-105")
def test_a_prepare_can_be_asked_again_after_a_lost_answer() -> None:
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"m1", transaction=transaction)
    assert prepare(bench, transaction) is HResult.OK
    before = everything(bench.state)
    assert prepare(bench, transaction) is HResult.OK
    assert everything(bench.state) == before


@pytest.mark.spec("DM-186")
def test_each_transaction_has_a_name_of_its_own() -> None:
    bench = Bench()
    names = [bench.begin() for _ in range(20)]
    assert len(set(names)) == 20
    assert set(bench.state.transactions.open) == set(names)


@pytest.mark.spec("DM-186")
def test_a_name_that_is_known_gives_the_transaction_that_has_it() -> None:
    """AN-30: an identifier that is known gives the transaction that has it."""
    bench = Bench()
    first = begin(bench.state, FOREVER_WAIT, bench.now, UUID(int=7))
    assert begin(bench.state, FOREVER_WAIT, bench.now, UUID(int=7)) is first
    assert (first.external, first.single_phase) == (True, False)
    ours = bench.state.transactions.open[bench.begin()]
    assert (ours.external, ours.single_phase) == (False, True)


# -- enqueue


@pytest.mark.spec("DM-108", "DM-111", "DM-195")
def test_what_a_transaction_sends_is_seen_when_it_commits() -> None:
    """T45, a message sent in a transaction: visible after the commit only."""
    bench = Bench(subscribed=[PositionAvailable])
    transaction = bench.begin()
    assert bench.send("orders", b"m1", b"m2", transaction=transaction).status is HResult.OK
    assert bench.receive("orders").status is HResult.IO_TIMEOUT
    assert bench.queue().total_bytes == 0
    assert bench.signals == []
    assert commit(bench, transaction) is HResult.OK
    assert len(bench.signals) == 2
    assert bench.bodies() == [b"m1", b"m2"]
    assert transaction not in bench.state.transactions.open
    bench.restart()
    assert bench.bodies() == [b"m1", b"m2"]
    check(bench.state)


@pytest.mark.spec("DM-115", "DM-116")
@pytest.mark.parametrize("prepared", [True, False])
def test_what_a_transaction_sent_never_was_when_it_aborts(prepared: bool) -> None:
    """T46: after an abort the message of T45 is gone without a report."""
    bench = Bench(subscribed=[PositionDeleted])
    transaction = bench.begin()
    bench.send("orders", b"m1", transaction=transaction, negative_journaling=True)
    if prepared:
        prepare(bench, transaction)
        check(bench.state)
    assert abort(bench, transaction) is HResult.OK
    assert bench.bodies() == []
    assert reasons(bench) == []
    assert bench.bodies("system$;deadletter") == []
    assert bench.queue().counts.reserved == 0
    assert transaction not in bench.state.transactions.open
    check(bench.state)
    bench.restart()
    assert bench.bodies() == []
    check(bench.state)


@pytest.mark.spec("DM-107")
def test_operations_take_effect_in_the_order_they_were_asked_for() -> None:
    bench = Bench("orders", "other")
    transaction = bench.begin()
    for text in (b"a", b"b", b"c"):
        bench.send("orders", text, transaction=transaction)
        bench.send("other", text, transaction=transaction)
    commit(bench, transaction)
    stored = [fact.queue for fact in bench.facts if isinstance(fact, MessagesStored)]
    assert stored == [bench.queue().number, bench.queue("other").number] * 3
    assert bench.bodies() == bench.bodies("other") == [b"a", b"b", b"c"]


def test_a_transaction_commits_into_its_place_in_the_queue() -> None:
    """The place was given when the message was sent, and not when it committed."""
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"first", transaction=transaction)
    bench.send("orders", b"second")
    commit(bench, transaction)
    assert bench.bodies() == [b"first", b"second"]


@pytest.mark.spec("DM-103", "DM-104")
@pytest.mark.parametrize("prepared", [True, False])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_first_and_the_last_message_of_a_transaction_say_so(count: int, prepared: bool) -> None:
    """T47, three messages in one transaction: the first and the last are marked."""
    bench = Bench()
    bench.send("orders", b"received", priority=7)
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)  # AN-29: the flags are for what was sent
    for _ in range(count):
        bench.send("orders", b"m", transaction=transaction)
    if prepared:
        prepare(bench, transaction)
    commit(bench, transaction)
    found = [each.message for each in bench.receive("orders", count=9).messages]
    assert [each.first_in_transaction for each in found] == [True] + [False] * (count - 1)
    assert [each.last_in_transaction for each in found] == [False] * (count - 1) + [True]


def test_a_transaction_that_sent_nothing_ends_well() -> None:
    bench = Bench()
    for end in (commit, abort):
        assert end(bench, bench.begin()) is HResult.OK
        transaction = bench.begin()
        assert prepare(bench, transaction) is HResult.OK
        assert end(bench, transaction) is HResult.OK
    check(bench.state)


# -- dequeue


@pytest.mark.spec("DM-109", "DM-205")
def test_what_a_transaction_received_is_gone_when_it_commits() -> None:
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1", b"m2")
    transaction = bench.begin()
    assert bodies(bench.receive("orders", count=2, transaction=transaction)) == [b"m1", b"m2"]
    assert reasons(bench) == []
    assert commit(bench, transaction) is HResult.OK
    assert reasons(bench) == [MessageClass.ACK_RECEIVE] * 2
    bench.restart()
    assert bench.bodies() == []
    check(bench.state)


@pytest.mark.spec("DM-114", "DM-286", "DM-288")
@pytest.mark.parametrize("prepared", [True, False])
def test_what_a_transaction_received_comes_back_to_its_place_when_it_aborts(prepared: bool) -> None:
    """T42: after an abort the message of T40 returns to its place."""
    bench = Bench()
    bench.send("orders", b"m1", b"m2", b"m3")
    size = bench.queue().total_bytes
    transaction = bench.begin()
    bench.receive("orders", count=2, transaction=transaction)
    if prepared:
        prepare(bench, transaction)
    abort(bench, transaction)
    assert bench.bodies() == [b"m1", b"m2", b"m3"]
    assert bench.queue().total_bytes == size
    check(bench.state)


@pytest.mark.spec("DM-113", "DM-184")
def test_what_a_transaction_received_goes_with_a_purge_when_it_aborts() -> None:
    """The reason of the deletion is the purge (T43, AN-10)."""
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(PurgeQueue(0, "orders"))
    assert reasons(bench) == []
    abort(bench, transaction)
    assert reasons(bench) == [MessageClass.NACK_QUEUE_PURGED]
    assert bench.bodies() == []
    check(bench.state)


@pytest.mark.spec("DM-040", "DM-113", "DM-184")
@pytest.mark.parametrize("end", [commit, abort])
def test_a_purge_of_what_a_prepared_transaction_has_is_not_forgotten_in_a_restart(end: Any) -> None:
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    prepare(bench, transaction, single_phase=False)
    bench.ask(PurgeQueue(0, "orders"))
    bench.restart()
    assert end(bench, transaction) is HResult.OK
    gone = MessageClass.ACK_RECEIVE if end is commit else MessageClass.NACK_QUEUE_PURGED
    assert reasons(bench) == [gone]
    assert bench.bodies() == []
    check(bench.state)


@pytest.mark.spec("DM-109", "DM-184")
def test_what_a_transaction_received_counts_as_received_when_it_commits_after_a_purge() -> None:
    """T44: after a purge, then a commit, the message leaves as received."""
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(PurgeQueue(0, "orders"))
    commit(bench, transaction)
    assert reasons(bench) == [MessageClass.ACK_RECEIVE]
    check(bench.state)


@pytest.mark.parametrize("prepared", [True, False])
def test_what_a_transaction_sends_survives_a_purge_before_it_commits(prepared: bool) -> None:
    """A later reader that returns the message does not lose it to the earlier purge (AN-11)."""
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"m1", transaction=transaction)
    if prepared:
        prepare(bench, transaction)
    bench.ask(PurgeQueue(0, "orders"))
    commit(bench, transaction)
    assert bench.bodies() == [b"m1"]
    check(bench.state)
    bench.receive("orders", hold=10)
    bench.advance(10)
    assert bench.bodies() == [b"m1"]


def test_a_transaction_does_not_see_what_it_sent_itself() -> None:
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"m1", transaction=transaction)
    assert bench.receive("orders", transaction=transaction).status is HResult.IO_TIMEOUT


def test_two_transactions_never_get_one_message() -> None:
    bench = Bench()
    bench.send("orders", b"m1", b"m2")
    first, second = bench.begin(), bench.begin()
    assert body(bench.receive("orders", transaction=first)) == b"m1"
    assert body(bench.receive("orders", transaction=second)) == b"m2"
    abort(bench, first)
    commit(bench, second)
    assert bench.bodies() == [b"m1"]
    check(bench.state)


# -- time


def test_an_active_transaction_that_is_not_touched_is_aborted() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    transaction = bench.begin(timeout=30)
    bench.receive("orders", transaction=transaction)
    bench.advance(29)
    assert bench.bodies() == []
    bench.advance(1)
    assert bench.bodies() == [b"m1"]
    assert commit(bench, transaction) is HResult.TRANSACTION_SEQUENCE


def test_a_transaction_that_was_never_used_is_aborted_too() -> None:
    bench = Bench()
    transaction = bench.begin(timeout=30)
    bench.advance(30)
    assert transaction not in bench.state.transactions.open


def test_each_use_gives_a_transaction_its_time_again() -> None:
    bench = Bench()
    transaction = bench.begin(timeout=30)
    for _ in range(5):
        bench.advance(20)
        bench.send("orders", b"m1", transaction=transaction)
    assert commit(bench, transaction) is HResult.OK
    assert not bench.timers
    assert len(bench.bodies()) == 5


def test_a_prepared_transaction_waits_for_its_outcome_however_long_that_takes() -> None:
    bench = Bench()
    transaction = bench.begin(timeout=30)
    bench.send("orders", b"m1", transaction=transaction)
    prepare(bench, transaction)
    bench.advance(10**6)
    assert commit(bench, transaction) is HResult.OK
    assert bench.bodies() == [b"m1"]


def test_one_transaction_that_runs_out_of_time_leaves_the_others_alone() -> None:
    bench = Bench()
    bench.send("orders", b"m1", b"m2")
    short, long = bench.begin(timeout=10), bench.begin(timeout=60)
    bench.receive("orders", transaction=short)
    bench.receive("orders", transaction=long)
    bench.advance(10)
    assert bench.bodies() == [b"m1"]
    assert commit(bench, long) is HResult.OK


# -- restart


@pytest.mark.spec("DM-004")
def test_an_active_transaction_is_gone_with_its_process() -> None:
    """AN-30: a transaction that was not prepared is aborted at a restart."""
    bench = Bench()
    bench.send("orders", b"m1")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"m2", transaction=transaction)
    bench.restart()
    assert bench.bodies() == [b"m1"]
    assert commit(bench, transaction) is HResult.TRANSACTION_SEQUENCE
    check(bench.state)


@pytest.mark.spec("DM-065", "DM-097", "DM-102", "DM-114")
def test_a_single_phase_transaction_that_was_prepared_is_aborted_at_the_start() -> None:
    """T03, a stored single-phase transaction with a receive: it is gone; the message is available."""
    bench = Bench()
    bench.send("orders", b"m1")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"m2", transaction=transaction)
    prepare(bench, transaction, single_phase=True)
    bench.restart()
    assert bench.bodies() == [b"m1"]
    assert not bench.state.transactions.open
    check(bench.state)


@pytest.mark.spec("DM-002", "DM-040", "DM-064", "DM-065", "DM-102")
@pytest.mark.parametrize("outcome", [commit, abort])
@pytest.mark.parametrize("restarts", [1, 3])
def test_a_two_phase_transaction_that_was_prepared_waits_for_its_outcome(outcome: Any, restarts: int) -> None:
    bench = Bench("orders", "other")
    _, moved = bench.send("orders", b"received", b"moved").lookup_ids
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(MoveMessage(0, "orders", moved, "other", transaction))
    bench.send("orders", b"sent", transaction=transaction)
    prepare(bench, transaction, single_phase=False)
    assert not bench.state.transactions.open[transaction].single_phase
    for _ in range(restarts):
        bench.restart()
        assert bench.bodies() == bench.bodies("other") == []
        assert list(bench.state.transactions.open) == [transaction]
        operations = bench.state.transactions.open[transaction].operations
        assert [each.kind for each in operations] == ["dequeue", "move", "enqueue"]
        assert operations[0].reason is MessageClass.ACK_RECEIVE
        assert operations[1].target == bench.queue("other").number
        check(bench.state)
    assert outcome(bench, transaction) is HResult.OK
    committed = outcome is commit
    assert bench.bodies() == ([b"sent"] if committed else [b"received", b"moved"])
    assert bench.bodies("other") == ([b"moved"] if committed else [])
    check(bench.state)
    bench.restart()
    assert bench.bodies() == ([b"sent"] if committed else [b"received", b"moved"])
    assert not bench.state.transactions.open


def test_a_prepared_transaction_still_takes_its_room_after_a_restart() -> None:
    bench = Bench("other")
    bench.create("orders", quota=1)
    transaction = bench.begin()
    bench.send("orders", b"x" * 600, transaction=transaction)
    prepare(bench, transaction, single_phase=False)
    bench.restart()
    assert bench.send("orders", b"x" * 600).status is HResult.INSUFFICIENT_RESOURCES
    abort(bench, transaction)
    assert bench.send("orders", b"x" * 600).status is HResult.OK


def test_a_crash_before_the_commit_is_written_leaves_the_transaction_prepared() -> None:
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"m1", transaction=transaction)
    prepare(bench, transaction, single_phase=False)
    bench.flush()
    commit(bench, transaction)
    bench.restart(crash=True)
    assert bench.bodies() == []
    assert commit(bench, transaction) is HResult.OK
    assert bench.bodies() == [b"m1"]
    check(bench.state)


@pytest.mark.spec("DM-305")
def test_a_locked_message_that_allows_a_peek_allows_it_after_a_restart_too() -> None:
    bench = Bench()
    bench.send("orders", b"m1", allow_peek_when_locked=True)
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    prepare(bench, transaction, single_phase=False)
    bench.restart()
    assert body(bench.ask(PeekMessage(0, "orders"))) == b"m1"


def test_a_message_that_is_only_prepared_is_hidden_from_readers() -> None:
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"m1", transaction=transaction, allow_peek_when_locked=True)
    prepare(bench, transaction, single_phase=False)
    for _ in range(2):
        assert bench.ask(PeekMessage(0, "orders")).status is HResult.IO_TIMEOUT
        assert bench.receive("orders").status is HResult.IO_TIMEOUT
        bench.restart()


def test_a_transaction_id_is_a_guid() -> None:
    guid = "0c44cb60-0000-4000-8000-000000000007"
    assert transaction_of(guid) == UUID(guid)
    with pytest.raises(UsageError, match="is a GUID, not 'x'"):
        transaction_of("x")

"""Tests the acts of anonymous clients that no access list decides: a manager with users allows none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import reliquary.protocols.standard  # noqa: F401 - its protocols register httpr:// and wsrm://
from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Access, BeginTransaction, MoveMessage, OpenQueue, SendMessages
from reliquary.queueing.model.message import Acknowledgement
from reliquary.queueing.model.security.anonymous import EVERY_ACT, AnonymousAct, acts_named, denied, name_of
from reliquary.queueing.model.security.principals import ANONYMOUS, EVERYONE
from reliquary.queueing.model.security.rights import MANAGER_LIST
from reliquary.queueing.staging.events import BeginStage, StageMessages
from tests.queueing.manager_harness import Bench, message
from tests.queueing.security.users import ALICE, ROOT
from tests.queueing.state_checks import check, durable

NOTHING = AnonymousAct(0)
ELSEWHERE = (
    "DIRECT=HTTP://far.example/msmq/private$/q",
    "DIRECT=HTTPS://far.example/msmq/private$/q",
    "httpr://far.example/httpr/mq#q",
    "wsrm://far.example/q",
    "wsrms://far.example/q",
    r"DIRECT=OS:far\private$\q",
    r"DIRECT=TCP:10.0.0.1\private$\q",
    r"far\private$\q",
    "MULTICAST=234.1.1.1:8001",
    r"DIRECT=OS:.\private$\orders,DIRECT=HTTP://far.example/q",
)


def manager_with_users(allowed: AnonymousAct = NOTHING) -> Bench:
    """Return a manager with users; every user may use its older queue `orders`."""
    bench = Bench()
    bench.send("orders", b"one")
    bench.restart(start=False)
    bench.handle(events.StartManager("BENCH", first_list=MANAGER_LIST, anonymous_may=allowed))
    return bench


def refused(bench: Bench, request: Any) -> str:
    """Ask for what must be refused and change nothing; return the sentence."""
    before = durable(bench.state)
    answer = bench.ask(msgspec.structs.replace(request, by=ANONYMOUS))
    assert answer.status is HResult.ACCESS_DENIED, answer
    assert durable(bench.state) == before
    assert not bench.state.open.handles
    check(bench.state)
    return str(answer.why)


# -- the acts and their names


def test_every_act_has_a_name_in_the_settings_and_a_sentence() -> None:
    names = [name_of(act) for act in AnonymousAct]
    assert names == ["send-elsewhere", "read-elsewhere", "begin-transactions", "look"]
    assert acts_named(names) is EVERY_ACT
    assert acts_named([]) == AnonymousAct(0)
    for act in AnonymousAct:
        assert acts_named([name_of(act)]) is act
        assert denied(AnonymousAct(0), ANONYMOUS, act).startswith("anonymous (S-1-5-7) may not ")
        assert not denied(act, ANONYMOUS, act)
        assert not denied(AnonymousAct(0), ALICE, act)


def test_an_act_that_is_not_known_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="no act 'relay' of anonymous clients; these are send-elsewhere, "):
        acts_named(["relay"])


# -- a manager without users is open, one with users is closed


@pytest.mark.parametrize("name", ELSEWHERE)
def test_anonymous_clients_send_to_no_other_computer(name: str) -> None:
    bench = manager_with_users()
    sends = SendMessages(0, name, (message(b"x"),))
    why = refused(bench, sends)
    assert why.startswith("anonymous (S-1-5-7) may not send to other computers: ")
    assert why.endswith("anonymous_may does not name send-elsewhere")
    refused(bench, OpenQueue(0, name, Access.SEND))
    assert bench.ask(msgspec.structs.replace(sends, by=ALICE)).status is HResult.OK
    refused(bench, sends)  # also where there is an outgoing queue now
    assert bench.bodies("orders")[0] == b"one"


@pytest.mark.parametrize("name", ELSEWHERE)
def test_anonymous_clients_may_send_elsewhere_with_the_setting_or_without_users(name: str) -> None:
    sends = SendMessages(0, name, (message(b"x"),), by=ANONYMOUS)
    assert manager_with_users(AnonymousAct.SEND_ELSEWHERE).ask(sends).status is HResult.OK
    assert Bench().ask(sends).status is HResult.OK


def test_anonymous_clients_still_send_where_the_list_of_a_queue_lets_them() -> None:
    bench = manager_with_users()
    for name in ("orders", r"DIRECT=OS:.\private$\orders", "DIRECT=HTTP://BENCH/msmq/private$/orders"):
        assert bench.ask(SendMessages(0, name, (message(b"x"),), by=ANONYMOUS)).status is HResult.OK
    assert len(bench.bodies("orders")) == 4


def test_a_batch_of_anonymous_clients_leaves_by_no_protocol_either() -> None:
    bench = manager_with_users()
    stage = bench.ask(BeginStage(0, "query", 1, 0, "a", by=ANONYMOUS)).stage
    refused(bench, StageMessages(0, stage, ELSEWHERE[0], (message(b"x"),)))
    assert bench.ask(StageMessages(0, stage, "orders", (message(b"x"),), by=ANONYMOUS)).status is HResult.OK


@pytest.mark.parametrize("field", ["administration_queue", "administration_queues"])
def test_an_acknowledgement_is_no_way_out_either(field: str) -> None:
    def asks(name: str) -> SendMessages:
        wanted = {field: name if field == "administration_queue" else (name,)}
        return SendMessages(
            0,
            "orders",
            (message(b"x", acknowledgements=(Acknowledgement.NEG_RECEIVE,), **wanted),),
            by=ANONYMOUS,
        )

    bench = manager_with_users()
    for name in ELSEWHERE:
        assert "may not send to other computers" in refused(bench, asks(name))
        stage = bench.ask(BeginStage(0, "query", 1, 0, "a", by=ANONYMOUS)).stage
        refused(bench, StageMessages(0, stage, "orders", asks(name).messages))
    for name in ("orders", r"DIRECT=OS:.\private$\orders", "DIRECT=OS:far", "nowhere"):
        assert bench.ask(asks(name)).status is HResult.OK
    assert bench.ask(msgspec.structs.replace(asks(ELSEWHERE[0]), by=ALICE)).status is HResult.OK
    assert manager_with_users(EVERY_ACT).ask(asks(ELSEWHERE[0])).status is HResult.OK


def test_anonymous_clients_begin_no_transactions() -> None:
    bench = manager_with_users()
    assert "may not begin transactions" in refused(bench, BeginTransaction(0))
    assert not bench.state.transactions.open
    assert bench.ask(BeginTransaction(0, by=ALICE)).status is HResult.OK
    opened = manager_with_users(AnonymousAct.BEGIN_TRANSACTIONS)
    assert opened.ask(BeginTransaction(0, by=ANONYMOUS)).status is HResult.OK
    assert Bench().ask(BeginTransaction(0, by=ANONYMOUS)).status is HResult.OK


def test_a_transaction_from_before_is_still_ended_by_its_client() -> None:
    bench = Bench()
    transaction = bench.ask(BeginTransaction(0, by=ANONYMOUS)).transaction
    bench.send("orders", b"x", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.restart(start=False)
    bench.handle(events.StartManager("BENCH", first_list=MANAGER_LIST, anonymous_may=AnonymousAct(0)))
    assert bench.ask(events.CommitTransaction(0, transaction, by=ANONYMOUS)).status is HResult.OK
    assert bench.bodies("orders") == [b"x"]


# -- queues that the manager makes


def test_a_queue_that_the_manager_makes_is_its_administrators_where_there_are_users() -> None:
    bench = manager_with_users()
    bench.create("settings")
    asked: list[Callable[[], Any]] = [
        lambda: SendMessages(0, "settings", (message(b"x"),)),
        lambda: events.ReceiveMessages(0, "settings"),
        lambda: events.PeekMessage(0, "settings"),
        lambda: events.PurgeQueue(0, "settings"),
        lambda: events.ChangeQueue(0, "settings", {"label": "mine"}),
        lambda: events.ChangeAccess(0, "settings", events.AccessChange.GRANT, EVERYONE, 4),
        lambda: MoveMessage(0, "settings", 1, "orders"),
        lambda: events.DeleteQueue(0, "settings"),
    ]
    for make in asked:
        refused(bench, make())
        assert bench.ask(msgspec.structs.replace(make(), by=ALICE)).status is HResult.ACCESS_DENIED
    for make in asked:
        answer = bench.ask(msgspec.structs.replace(make(), by=ROOT))
        assert answer.status is not HResult.ACCESS_DENIED, answer

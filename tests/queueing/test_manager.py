"""Tests the queue manager as a machine: every event has its rule, and a wrong of ours stops it."""

from __future__ import annotations

import inspect

import pytest

from reliquary.base.faults import StoreDamage, UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import in_whole_seconds
from reliquary.base.turn import Event, Reply, TimerFired, Turn
from reliquary.queueing import manager
from reliquary.queueing.directory import events as directory_events
from reliquary.queueing.feed import events as feed_events
from reliquary.queueing.history import events as history_events
from reliquary.queueing.manager import SIGNALS, QueueManager
from reliquary.queueing.model import events, tables
from reliquary.queueing.model.events import (
    Access,
    Answer,
    FlowControl,
    OpenQueue,
    PurgeQueue,
    ReceiveMessages,
    SendMessages,
)
from reliquary.queueing.model.facts import MessagesStored, PositionAvailable, PositionDeleted
from reliquary.queueing.model.message import Delivery, MessageClass
from reliquary.queueing.model.travel.asking import RequestMade
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent, OutgoingTransfer
from reliquary.queueing.model.travel.transfer import (
    AddressesKnown,
    BatchArrived,
    BodiesUnwanted,
    ConnectionChanged,
    DestinationReached,
    DuplicatesDropped,
    MessageArrived,
    Outcome,
    QueuesWatched,
    ResendWanted,
    ReservationsEnded,
    ReservationWanted,
    RoomWatched,
    RunArrived,
    StreamResumed,
    TransferAccepted,
    TransferEnded,
    TransferProgressed,
)
from reliquary.queueing.rules import sending
from reliquary.queueing.staging import events as staging_events
from reliquary.queueing.travel.remote import RemoteReadsEnded
from reliquary.store.disk import Changes
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from tests.queueing.answers import body, everything
from tests.queueing.manager_harness import NOON, Bench, Seeded, message
from tests.queueing.state_checks import check


def every_event() -> set[type[Event]]:
    found = {
        each
        for room in (events, directory_events, feed_events, history_events, staging_events)
        for _, each in inspect.getmembers(room, inspect.isclass)
        if issubclass(each, Event)
    }
    return (found | {TimerFired}) - {Event, events.Request}


@pytest.mark.spec("DM-284", "DM-285")
def test_every_event_has_its_rule() -> None:
    assert set(manager._RULES) == every_event()


INTERNAL = (
    "WaitForNewMessage",
    "SeekAvailableMessagePosition",
    "SeekAvailableMessagePositionWithId",
    "WaitingMessageReadTimerStart",
    "WaitingMessageReadTimerStop",
    "WaitingMessageReadSatisfied",
    "ReleaseNextReader",
    "ExpandFormatName",
    "DispatchSendMessage",
)


@pytest.mark.spec("DM-298", "DM-001")
def test_the_internal_events_are_functions_that_no_client_can_raise() -> None:
    """3.1.7.3; that they are no events at all is what 3.1.1 allows an implementation."""
    raised = {each.__name__ for each in [*Event.__subclasses__(), *events.Request.__subclasses__()]}
    assert not raised.intersection(INTERNAL)


def test_every_rule_serves_one_event() -> None:
    rules = list(manager._RULES.values())
    assert len(set(rules)) == len(rules)


def test_an_event_that_is_not_known_stops_the_machine() -> None:
    class Unheard(Event, frozen=True):
        """An event that no rule takes."""

    with pytest.raises(KeyError):
        Bench().handle(Unheard())


def test_a_timer_of_an_unknown_kind_stops_the_machine() -> None:
    with pytest.raises(AssertionError, match="mystery"):
        Bench().handle(TimerFired(("mystery", 1)))


@pytest.mark.parametrize("kind", ["wait", "hold", "lease", "transaction", "expiry"])
def test_a_timer_whose_cause_is_gone_does_nothing(kind: str) -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    before = everything(bench.state)
    turn = bench.handle(TimerFired((kind, 12345)))
    assert turn == Turn()
    assert everything(bench.state) == before


def test_a_request_that_was_refused_half_way_stops_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Better no answer than half of a change: what was not flushed is forgotten at the restart."""

    def refuse(*_: object) -> None:
        raise UsageError("too late to say no")

    bench = Bench()
    bench.flush()
    monkeypatch.setattr(sending, "Sent", refuse)
    with pytest.raises(AssertionError, match="half-way: too late to say no"):
        bench.send("orders", b"m1")
    monkeypatch.undo()
    bench.restart(crash=True)
    assert bench.bodies() == []


def test_a_signal_about_a_deleted_queue_is_taken_and_changes_nothing() -> None:
    words = (
        TransferAccepted(99, (1,)),
        TransferEnded(99, (1,), Outcome.DELIVERED),
        DestinationReached(99, (1,)),
        ResendWanted(99),
        TransferProgressed(99, OutgoingTransfer()),
        ConnectionChanged(99, OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED),
    )
    for signal in words:
        assert Bench().manager.on_signal(signal, NOON) == Turn()
    of_no_queue = {
        DuplicatesDropped,
        StreamResumed,
        MessageArrived,
        RunArrived,
        AddressesKnown,
        RemoteReadsEnded,
        RequestMade,
        BodiesUnwanted,
    }
    of_batches = {BatchArrived, QueuesWatched, ReservationWanted, ReservationsEnded, RoomWatched}
    assert {type(signal) for signal in words} | of_no_queue | of_batches == set(SIGNALS)


# -- the turn


def test_what_a_turn_says_is_true_when_it_says_it() -> None:
    bench = Bench()
    turn = bench.handle(SendMessages(7, "orders", (message(b"m1"),)))
    (fact,) = turn.facts
    (effect,) = turn.effects
    assert isinstance(fact, MessagesStored)
    assert not fact.volatile
    assert isinstance(effect, Reply)
    assert (effect.to, effect.answer) == (7, bench.answer_to(7))


@pytest.mark.spec("DM-046")
def test_no_caller_waits_for_the_disk_for_an_express_message() -> None:
    bench = Bench()
    turns = [
        bench.handle(SendMessages(1, "orders", (message(b"m1", delivery=Delivery.EXPRESS),))),
        bench.handle(ReceiveMessages(2, "orders")),
    ]
    facts = [fact for turn in turns for fact in turn.facts]
    assert len(facts) == 2
    assert all(fact.volatile for fact in facts)


@pytest.mark.spec("DM-047")
def test_the_caller_waits_for_the_disk_where_only_one_of_many_is_recoverable() -> None:
    bench = Bench()
    batch = (message(b"a", delivery=Delivery.EXPRESS), message(b"b"))
    turn = bench.handle(SendMessages(1, "orders", batch))
    assert not all(fact.volatile for fact in turn.facts)


def test_a_read_that_changes_nothing_states_nothing() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    for event in (
        events.PeekMessage(1, "orders"),
        events.BrowseMessages(1, "orders"),
        events.LookUpMessage(1, "orders", 1),
        OpenQueue(1, "orders", Access.PEEK),
        events.BeginTransaction(1),
        FlowControl(throttled=False),
    ):
        assert bench.handle(event).facts == ()


def test_every_request_is_answered_once() -> None:
    bench = Bench("orders", "other")
    (lookup_id,) = bench.send("orders", b"m1").lookup_ids
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
    transaction = bench.begin()
    asked: list[Event] = [
        events.CreateQueue(0, "new"), events.ChangeQueue(0, "new", {"quota": 1}),
        events.DeleteQueue(0, "new"),
        PurgeQueue(0, "other"), events.OpenCursor(0, handle), events.CloseCursor(0, 5),
        SendMessages(0, "orders", (message(b"x"),)), ReceiveMessages(0, "other"),
        events.EndRead(0, 5, delete=True),
        events.PeekMessage(0, "orders"), events.LookUpMessage(0, "orders", lookup_id),
        events.BrowseMessages(0, "orders"), events.MoveMessage(0, "orders", lookup_id, "other"),
        events.CancelRead(0, "orders", 5), events.PrepareTransaction(0, transaction),
        events.CommitTransaction(0, transaction), events.AbortTransaction(0, transaction),
        events.CloseQueue(0, handle),
    ]  # fmt: skip
    for event in asked:
        assert bench.ask(event) is not None, event
    assert all(len(reported) == 1 for reported in bench.answers.values())


# -- signals


def test_signals_are_made_only_for_those_who_listen() -> None:
    deaf, keen = Bench(), Bench(subscribed=[PositionAvailable, PositionDeleted])
    deaf.send("orders", b"m1")
    deaf.receive("orders")
    assert deaf.signals == []
    (lookup_id,) = keen.send("orders", b"m1").lookup_ids
    (position,) = [each.position for each in keen.receive("orders").messages]
    number = keen.queue().number
    assert keen.signals == [
        PositionAvailable(number, lookup_id),
        PositionDeleted(number, position, MessageClass.ACK_RECEIVE),
    ]


# -- who we are


@pytest.mark.spec("DM-002", "DM-005")
def test_identities_are_unchanged_after_every_restart() -> None:
    bench = Bench("orders", r".\public", "orders;s")
    manager_before = bench.state.identity()
    queues_before = {number: queue.record for number, queue in bench.state.queues.items()}
    for crash in (False, True, False):
        bench.restart(crash=crash)
        assert bench.state.identity() == manager_before
        assert {number: queue.record for number, queue in bench.state.queues.items()} == queues_before
    assert len({record.identifier for record in queues_before.values()}) == len(queues_before)


def test_two_managers_with_different_chance_are_different() -> None:
    assert Bench(seed=1).state.identity().identifier != Bench(seed=2).state.identity().identifier


def test_one_seed_and_one_list_of_events_lead_to_equal_facts() -> None:
    runs = []
    for _ in range(2):
        bench = Bench(seed=5)
        transaction = bench.begin()
        bench.send("orders", b"a", transaction=transaction)
        bench.ask(events.CommitTransaction(0, transaction))
        bench.receive("orders")
        runs.append((bench.facts, bench.answers))
    assert runs[0] == runs[1]


def test_a_manager_over_an_empty_disk_has_no_name_until_it_is_started() -> None:
    fresh = QueueManager(StagedRows(MemoryDisk(tables.TABLES)), Seeded(1))
    assert fresh.state.manager.record is None
    (refused,) = fresh.handle(PurgeQueue(1, "orders"), NOON).effects
    assert refused == Reply(1, Answer(HResult.SERVICE_NOT_AVAILABLE, "the queue manager is stopped"))


@pytest.mark.spec("DM-098")
def test_damage_that_is_found_at_the_start_reaches_the_caller() -> None:
    bench = Bench()
    bench.flush()
    key = tables.queue_key(bench.queue().number)
    value = bench.disk.get("queues", key)
    assert value is not None
    bench.disk.apply(Changes(puts={"queues": {key: value[:-1] + bytes([value[-1] ^ 1])}}))
    bench.disk.sync()
    with pytest.raises(StoreDamage, match="queues row"):
        bench.restart(crash=True)


@pytest.mark.spec("DM-004", "DM-047")
def test_a_batch_that_was_settled_is_all_there_and_one_that_was_not_is_all_gone() -> None:
    bench = Bench()
    bench.send("orders", b"kept")
    bench.flush()
    bench.send("orders", b"lost")
    bench.create("lost")
    bench.restart(crash=True)
    assert bench.bodies() == [b"kept"]
    assert bench.state.find(bench.state.parse("lost")) is None
    check(bench.state)


def test_settling_twice_says_nothing_new() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    bench.flush()
    bench.manager.settle()
    assert bench.rows.is_empty


def test_time_comes_in_with_the_event() -> None:
    bench = Bench()
    bench.advance(3600)
    bench.send("orders", b"m1")
    (found,) = bench.receive("orders").messages
    assert found.position.arrived == bench.now
    assert found.message.sent_time == in_whole_seconds(bench.now)


def test_a_manager_can_be_started_again_after_a_stop() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    bench.stop()
    bench.start()
    assert body(bench.receive("orders")) == b"m1"
    assert bench.receive("orders").status is HResult.IO_TIMEOUT

"""Tests one process of the server: the order of its steps, and its ends."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import MILLISECOND, SECOND, Duration
from reliquary.queueing.model.events import ReceiveMessages, SendMessages
from reliquary.queueing.model.message import Delivery, Message
from reliquary.sim.history import Sending
from tests.sim.simulated_server import SimulatedServer


def send(server: SimulatedServer, name: str, *, express: bool = False) -> SendMessages:
    body = name.encode()
    server.history.sending(Sending(body, name, "tester", 1, "orders", 3, express, 1))
    delivery = Delivery.EXPRESS if express else Delivery.RECOVERABLE
    return SendMessages(0, "orders", (Message(body=body, label=name, delivery=delivery),))


def submit(server: SimulatedServer, event: SendMessages) -> list[object]:
    """Hand an event to the process; the list gets the answer."""
    answers: list[object] = []
    caller = server.process.caller(lambda answer, turn: answers.append(answer))
    server.process.submit(SendMessages(caller, event.queue, event.messages))
    return answers


def test_an_answer_leaves_after_the_sync_that_began_after_its_batch() -> None:
    server = SimulatedServer()
    answers = submit(server, send(server, "a"))
    durable = server.process.disk.durable
    server.until(lambda: bool(answers))
    assert server.process.disk.durable > durable


def test_the_next_batch_is_applied_while_the_last_one_syncs() -> None:
    server = SimulatedServer()
    server.faults.slowest_sync = 500 * MILLISECOND
    first = submit(server, send(server, "a"))
    server.until(lambda: server.process._syncs.is_syncing)
    second = submit(server, send(server, "b"))
    server.until(lambda: server.process.disk.unsynced == 2)
    assert (first, second) == ([], [])
    server.until(lambda: bool(first))
    assert second == []
    server.until(lambda: bool(second))


def test_an_express_message_is_confirmed_without_a_sync() -> None:
    server = SimulatedServer()
    server.faults.slowest_sync = 500 * MILLISECOND
    waits = submit(server, send(server, "a"))
    server.until(lambda: server.process.disk.unsynced == 1)
    answers = submit(server, send(server, "b", express=True))
    server.until(lambda: bool(answers))
    assert waits == []


def test_timers_fire_in_simulated_time() -> None:
    server = SimulatedServer()
    began = server.scheduler.now
    outcome = server.ask(lambda to: ReceiveMessages(to, "orders", timeout=Duration(3 * SECOND)))
    assert outcome.answer.status is HResult.IO_TIMEOUT
    assert server.scheduler.now - began >= 3 * SECOND


def test_a_change_that_is_not_awaited_is_synced_after_a_while() -> None:
    server = SimulatedServer()
    server.until(lambda: server.process.idle)
    server.ask(lambda to: SendMessages(to, "orders", send(server, "a").messages))
    receipt = server.ask(lambda to: ReceiveMessages(to, "orders", hold=Duration(SECOND))).answer.receipt
    acknowledge = lambda to: ReceiveMessages(  # noqa: E731
        to, "inbox", timeout=Duration(9 * SECOND), acknowledge=receipt
    )
    server.history.intend([b"a"])
    server.call(acknowledge)
    server.until(lambda: server.process.disk.unsynced == 1)
    server.passes(200 * MILLISECOND)
    assert server.process.disk.unsynced == 0


def test_after_a_power_cut_nothing_is_answered() -> None:
    server = SimulatedServer()
    process = server.process
    answers = submit(server, send(server, "a"))
    server.until(lambda: process.disk.unsynced == 1)
    process.cut_power()
    server.passes(10 * SECOND)
    assert answers == []
    assert not process.alive
    assert server.host.ready  # the next one runs


@pytest.mark.parametrize("kind", ["io", "full"])
def test_a_failed_write_ends_the_process(kind: str) -> None:
    server = SimulatedServer()
    process = server.process
    process.disk.fail_next_sync(kind)
    answers = submit(server, send(server, "a"))
    server.until(lambda: not process.alive)
    assert (answers, server.history.failures) == ([], 1)


def test_a_stop_in_good_order_answers_everything_first() -> None:
    server = SimulatedServer()
    process = server.process
    answers = submit(server, send(server, "a"))
    process.stop()
    server.until(lambda: not process.alive)
    assert len(answers) == 1
    assert process.disk.unsynced == 0


def test_a_checkpoint_passes_between_two_batches() -> None:
    server = SimulatedServer()
    server.until(lambda: server.process.idle)
    server.process.checkpoint()
    assert server.history.checkpoints >= 1

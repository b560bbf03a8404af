"""One life of the server: the order of the world, and its ends."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import MILLISECOND, SECOND, Duration
from reliquary.queueing.events import ReceiveMessages, SendMessages
from reliquary.queueing.message import Delivery, Message
from reliquary.sim.history import Sending
from tests.sim.theatre import Theatre


def send(theatre: Theatre, name: str, *, express: bool = False) -> SendMessages:
    body = name.encode()
    theatre.history.sending(Sending(body, name, "tester", 1, "orders", 3, express, 1))
    delivery = Delivery.EXPRESS if express else Delivery.RECOVERABLE
    return SendMessages(0, "orders", (Message(body=body, label=name, delivery=delivery),))


def submit(theatre: Theatre, event: SendMessages) -> list[object]:
    """Hand an event to the process; the list gets the answer."""
    answers: list[object] = []
    caller = theatre.process.caller(lambda answer, turn: answers.append(answer))
    theatre.process.submit(SendMessages(caller, event.queue, event.messages))
    return answers


def test_an_answer_leaves_after_the_sync_that_began_after_its_batch() -> None:
    theatre = Theatre()
    answers = submit(theatre, send(theatre, "a"))
    durable = theatre.process.disk.durable
    theatre.until(lambda: bool(answers))
    assert theatre.process.disk.durable > durable


def test_the_next_batch_is_applied_while_the_last_one_syncs() -> None:
    theatre = Theatre()
    theatre.weather.slowest_sync = 500 * MILLISECOND
    first = submit(theatre, send(theatre, "a"))
    theatre.until(lambda: theatre.process._is_syncing)
    second = submit(theatre, send(theatre, "b"))
    theatre.until(lambda: theatre.process.disk.unsynced == 2)
    assert (first, second) == ([], [])
    theatre.until(lambda: bool(first))
    assert second == []
    theatre.until(lambda: bool(second))


def test_an_express_message_is_confirmed_without_a_sync() -> None:
    theatre = Theatre()
    theatre.weather.slowest_sync = 500 * MILLISECOND
    waits = submit(theatre, send(theatre, "a"))
    theatre.until(lambda: theatre.process.disk.unsynced == 1)
    answers = submit(theatre, send(theatre, "b", express=True))
    theatre.until(lambda: bool(answers))
    assert waits == []


def test_timers_fire_in_simulated_time() -> None:
    theatre = Theatre()
    began = theatre.scheduler.now
    outcome = theatre.ask(lambda to: ReceiveMessages(to, "orders", timeout=Duration(3 * SECOND)))
    assert outcome.answer.status is HResult.IO_TIMEOUT
    assert theatre.scheduler.now - began >= 3 * SECOND


def test_a_change_that_nobody_waits_for_is_synced_after_a_while() -> None:
    theatre = Theatre()
    theatre.until(lambda: theatre.process.idle)
    theatre.ask(lambda to: SendMessages(to, "orders", send(theatre, "a").messages))
    receipt = theatre.ask(lambda to: ReceiveMessages(to, "orders", hold=Duration(SECOND))).answer.receipt
    acknowledge = lambda to: ReceiveMessages(  # noqa: E731
        to, "inbox", timeout=Duration(9 * SECOND), acknowledge=receipt
    )
    theatre.history.intend([b"a"])
    theatre.call(acknowledge)
    theatre.until(lambda: theatre.process.disk.unsynced == 1)
    theatre.passes(200 * MILLISECOND)
    assert theatre.process.disk.unsynced == 0


def test_after_a_power_cut_nothing_is_answered() -> None:
    theatre = Theatre()
    process = theatre.process
    answers = submit(theatre, send(theatre, "a"))
    theatre.until(lambda: process.disk.unsynced == 1)
    process.cut_power()
    theatre.passes(10 * SECOND)
    assert answers == []
    assert not process.alive
    assert theatre.host.ready  # the next one runs


@pytest.mark.parametrize("kind", ["io", "full"])
def test_a_failed_write_ends_the_process(kind: str) -> None:
    theatre = Theatre()
    process = theatre.process
    process.disk.fail_next_sync(kind)
    answers = submit(theatre, send(theatre, "a"))
    theatre.until(lambda: not process.alive)
    assert (answers, theatre.history.failures) == ([], 1)


def test_a_stop_in_good_order_answers_everything_first() -> None:
    theatre = Theatre()
    process = theatre.process
    answers = submit(theatre, send(theatre, "a"))
    process.stop()
    theatre.until(lambda: not process.alive)
    assert len(answers) == 1
    assert process.disk.unsynced == 0


def test_a_checkpoint_passes_between_two_batches() -> None:
    theatre = Theatre()
    theatre.until(lambda: theatre.process.idle)
    theatre.process.checkpoint()
    assert theatre.history.checkpoints >= 1

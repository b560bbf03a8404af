"""Tests servers whose computer has a wrong clock: it is set forward, or is beyond what 32 bits can say."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import reliquary
from reliquary import Manager
from reliquary.base.time import HOUR, LAST_SECOND
from reliquary.server.mqqp_options import MqqpOptions
from tests.client.served import Served, served

SOON: float = 20
"""Seconds: a message that is due at once comes long before, and one that waits for the old timer does not."""
FAR_AHEAD = LAST_SECOND + 100_000_000
"""A moment in 2109, in seconds since 1970."""


class WrongClock:
    """The computer's calendar, which a test sets."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._real = time.time_ns  # noqa: TID251 - the clock itself is under test
        self._ahead = 0
        patch.setattr(time, "time_ns", lambda: self._real() + self._ahead)

    def set_forward(self, seconds: int) -> None:
        self._ahead += seconds * 1_000_000_000

    def set_to(self, moment: int) -> None:
        self._ahead = moment * 1_000_000_000 - self._real()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> WrongClock:
    return WrongClock(monkeypatch)


@pytest.fixture
def qm(clock: WrongClock, tmp_path: Path) -> Iterator[Manager]:
    with served(tmp_path) as running, reliquary.connect(running.data, control=running.control) as manager:
        yield manager


# -- a calendar that is set


@pytest.mark.parametrize("forward", [24 * 3600, 3599], ids=["past the next deadline", "shortly before it"])
def test_a_new_delay_ends_in_time_after_the_clock_was_set_forward(
    qm: Manager, clock: WrongClock, forward: int
) -> None:
    orders = qm.create_queue("orders")
    orders.send(b"in an hour", delay=HOUR / 1_000_000)
    clock.set_forward(forward)
    orders.send(b"soon", delay=1.5)  # behind the first one, in both cases
    bodies = [orders.receive(timeout=SOON) for _ in range(2)]
    assert [each and each.body for each in bodies] == [b"in an hour", b"soon"]


# -- a calendar beyond 2106


def test_messages_come_and_go_beyond_2106(qm: Manager, clock: WrongClock) -> None:
    orders = qm.create_queue("orders")
    clock.set_to(FAR_AHEAD)
    orders.send(b"one", expires=3600, reach=3600)
    orders.send(b"two", delay=0.2)
    first, second = orders.receive(timeout=SOON), orders.receive(timeout=SOON)
    assert first is not None
    assert second is not None
    assert (first.body, second.body) == (b"one", b"two")
    assert first.sent is not None
    assert first.sent.timestamp() == LAST_SECOND
    assert first.arrived.timestamp() > FAR_AHEAD
    assert qm.export_history()
    assert qm.verify().is_sound


def test_a_message_beyond_2106_expires_in_its_time(qm: Manager, clock: WrongClock) -> None:
    orders = qm.create_queue("orders")
    clock.set_to(FAR_AHEAD)
    orders.send(b"short", expires=1, deadletter=True)
    orders.send(b"long", expires=100_000)
    dead = qm.queue(r"system$;deadletter").receive(timeout=SOON)
    assert dead is not None
    assert dead.body == b"short"
    kept = orders.receive(timeout=0)
    assert kept is not None
    assert kept.body == b"long"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(lambda at: f"DIRECT=HTTP://{at}/msmq/private$/orders", id="SRMP"),
        pytest.param(lambda at: f"httpr://{at}/httpr/mq#orders", id="HTTPR"),
        pytest.param(lambda at: f"wsrm://{at}/wsrm/orders", id="WS-RM"),
    ],
)
@pytest.mark.parametrize("reach", [60, None], ids=["with a time to reach the queue", "without one"])
def test_messages_travel_beyond_2106(
    clock: WrongClock, tmp_path: Path, name: Callable[[str], str], reach: int | None
) -> None:
    clock.set_to(FAR_AHEAD)
    both = served(tmp_path / "a"), served(tmp_path / "b")
    with both[0] as a, both[1] as b, connected(a) as sender, connected(b) as receiver:
        receiver.create_queue("orders")
        at = f"localhost:{b.data.rpartition(':')[2]}"
        sender.queue(name(at)).send(b"<order/>", reach=reach, expires=3600)
        message = receiver.queue("orders").receive(timeout=SOON)
    assert message is not None
    assert message.body == b"<order/>"


def test_a_queue_is_read_over_mqqp_beyond_2106(clock: WrongClock, tmp_path: Path) -> None:
    clock.set_to(FAR_AHEAD)
    options = MqqpOptions(enabled=True, handshake_port=0, read_port=0)
    with served(tmp_path, tables=(options,)) as running, connected(running) as manager:
        manager.create_queue("orders").send(b"one")
        names = [each for point in running.server.endpoints for each in point.reading_names_of("orders")]
        with reliquary.connect(names[0].replace("localhost", "127.0.0.1")) as reader:
            message = reader.queue().receive(timeout=SOON)
    assert message is not None
    assert message.body == b"one"
    assert message.arrived.timestamp() == LAST_SECOND


def connected(running: Served) -> Manager:
    return reliquary.connect(running.data, control=running.control)

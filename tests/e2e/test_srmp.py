"""Tests two real servers, and kill -9 of either: a stream arrives exactly once and in its order.

    application --> A --- SRMP over HTTP ---> B --> application
                    x                         x     killed at any moment, started again on its folder

A commit whose answer was lost with the server has an unknown outcome: its messages are there,
all of them and in their place, or they are not there at all.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import reliquary
from tests.e2e.sites import Site

LIVELY = {
    "SRMP_RETRANSMISSION": "0.2",
    "SRMP_RESEND_LADDER": "0.5",
    "SRMP_COALESCING": "0.05",
    "SRMP_IN_FLIGHT": "8",
}
"""Failures are tried again soon, and what has no receipt is sent twice."""


def to(site: Site, queue: str) -> str:
    """Return a queue of a manager, for senders on other computers."""
    return f"DIRECT=HTTP://{site.authority}/msmq/private$/{queue}"


class Pair:
    """A sends to B; what was confirmed is noted."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.a, self.b = Site(folder / "a", LIVELY), Site(folder / "b", LIVELY)
        self.random = Random(seed)
        self.number = 0
        self.sent: list[tuple[list[str], bool]] = []
        """Each commit, and whether it was confirmed."""

    def prepare(self) -> None:
        self.a.start()
        self.b.start()
        with self.b.connect() as manager:
            manager.create_queue("orders", transactional=True)

    def send(self, commits: int) -> None:
        """Make this many commits of one to five messages, each confirmed."""
        with self.a.connect() as manager:
            for _ in range(commits):
                self._commit(manager)

    def _commit(self, manager: reliquary.Manager) -> None:
        texts = [str(self.number + each) for each in range(self.random.randint(1, 5))]
        self.number += len(texts)
        self.sent.append((texts, False))
        with manager.transaction():
            manager.queue(to(self.b, "orders")).send_many(texts)
        self.sent[-1] = (texts, True)

    def send_into_the_end(self) -> None:
        """Kill A while a commit is on its way: its outcome is unknown."""
        with self.a.connect() as manager:
            self._commit(manager)
            self.a.kill()
            with pytest.raises(reliquary.ReliquaryError):
                self._commit(manager)

    def received(self) -> list[str]:
        """Return all that is in B in the end, in its order, after A has removed it."""
        with self.a.connect() as manager:
            while any(each.messages for each in manager.outgoing()):
                pass
        with self.b.connect() as manager:
            return [message.text for message in iter(manager.queue("orders").receive, None)]

    def end(self) -> None:
        self.a.end()
        self.b.end()


def check(sent: list[tuple[list[str], bool]], received: list[str]) -> None:
    """Check that what was confirmed is there once and in order, and that each commit is there as a whole."""
    expected = [text for texts, confirmed in sent for text in texts if confirmed or texts[0] in received]
    assert received == expected


@pytest.fixture
def pair(tmp_path: Path) -> object:
    made = Pair(tmp_path, seed=1)
    try:
        made.prepare()
        yield made
    finally:
        made.end()


@pytest.mark.srmp("T-57")
@pytest.mark.spec("SR-126", "SR-128")
def test_a_stream_waits_for_its_receiver_and_outlives_its_sender(pair: Pair) -> None:
    pair.b.stop()
    pair.send(5)
    pair.a.stop()
    pair.a.start()
    pair.send(5)
    pair.b.start()
    received = pair.received()
    check(pair.sent, received)
    assert len(received) == pair.number


@pytest.mark.srmp("T-23", "T-56", "T-57")
def test_kill_9_of_either_in_the_middle_loses_doubles_and_reorders_nothing(pair: Pair) -> None:
    for site in (pair.b, pair.a, pair.b, pair.a):
        pair.send(pair.random.randint(3, 12))
        if site is pair.a:
            pair.send_into_the_end()
        else:
            site.kill()
            pair.send(2)
        site.start()
    pair.send(3)
    check(pair.sent, pair.received())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_many_kills_of_either_lose_double_and_reorder_nothing(tmp_path: Path, seed: int) -> None:
    pair = Pair(tmp_path, seed)
    try:
        pair.prepare()
        for _ in range(8):
            site = pair.random.choice((pair.a, pair.b))
            pair.send(pair.random.randint(1, 30))
            if site is pair.a:
                pair.send_into_the_end()
            else:
                site.kill()
            site.start()
        check(pair.sent, pair.received())
    finally:
        pair.end()

"""Tests two real servers, and kill -9 of either: messages over MQQB arrive once, transactional ones in order.

    application --> A 127.0.0.2 --- MQQB over TCP ---> B 127.0.0.3 --> application
                    x                                  x     killed at any moment, started again

A send whose answer was lost with the server has an unknown outcome: its messages are all there, or none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

import reliquary
from reliquary.cli.connection import CONTROL_VARIABLE, SERVER_VARIABLE
from reliquary.cli.main import cli
from reliquary.server.exits import Exit
from tests.e2e import disks
from tests.e2e.cutting_proxy import CuttingProxy
from tests.e2e.sites import Site
from tests.ports import free_port

HOSTS = ("127.0.0.2", "127.0.0.3")
STREAM, PLAIN = "orders", "news"
AT_ONCE = 500
"""Messages that are received with one request."""


def settings(host: str, port: int) -> dict[str, str]:
    """Failures are tried again soon, and what has no acknowledgement goes twice."""
    return {
        "MQQB_ENABLED": "true",
        "MQQB_HOST": host,
        "MQQB_PORT": str(port),
        "MQQB_RETRY": "0.2",
        "MQQB_RESEND_LADDER": "0.5",
        "MQQB_ORDER_ACK": "0.05",
        "MQQB_LONGEST_ORDER_ACK": "0.2",
    }


class Pair:
    """A sends to B; what was confirmed is noted, by queue."""

    def __init__(self, folder: Path, seed: int, receiver: str = HOSTS[1]) -> None:
        port = free_port(HOSTS)
        self.a, self.b = (
            Site(folder / name, settings(host, port)) for name, host in (("a", HOSTS[0]), ("b", receiver))
        )
        self.port = port
        self.random = Random(seed)
        self.number = 0
        self.sent: dict[str, list[tuple[list[str], bool]]] = {STREAM: [], PLAIN: []}

    def prepare(self) -> None:
        self.a.start()
        self.b.start()
        with self.b.connect() as manager:
            manager.create_queue(f"private$/{STREAM}", transactional=True)
            manager.create_queue(f"private$/{PLAIN}")

    def send(self, times: int, most: int = 5) -> None:
        """Send this many times to each queue, each send confirmed."""
        with self.a.connect() as manager:
            for _ in range(times):
                for queue in (STREAM, PLAIN):
                    self._send(manager, queue, most)

    def _send(self, manager: reliquary.Manager, queue: str, most: int) -> None:
        texts = [str(self.number + each) for each in range(self.random.randint(1, most))]
        self.number += len(texts)
        self.sent[queue].append((texts, False))
        to = manager.queue(f"DIRECT=TCP:{HOSTS[1]}\\private$\\{queue}")
        if queue == STREAM:
            with manager.transaction():
                to.send_many(texts)
        else:
            to.send_many(texts)
        self.sent[queue][-1] = (texts, True)

    def send_into_the_end(self, most: int = 5) -> None:
        """Kill A while a send is on its way: its outcome is unknown."""
        queue = self.random.choice((STREAM, PLAIN))
        with self.a.connect() as manager:
            self._send(manager, queue, most)
            self.a.kill()
            with pytest.raises(reliquary.ReliquaryError):
                self._send(manager, queue, most)

    def kill_one(self, times: int, most: int = 5) -> None:
        """Kill a server at random while messages are under way, and start it again."""
        self.kill(self.random.choice(((self.a,), (self.b,))), times, most)

    def kill(self, sites: tuple[Site, ...], times: int, most: int) -> None:
        """Kill these servers while messages are under way, A the last of them, and start them again."""
        self.send(times, most)
        if self.b in sites:
            self.b.kill()
            self.send(2, most)
        if self.a in sites:
            self.send_into_the_end(most)
        for site in sites:
            site.start()

    def try_to_send(self, most: int = 20) -> bool:
        """Send once and return whether A confirmed it; what it refused or did not answer is not certain."""
        with self.a.connect() as manager:
            try:
                self._send(manager, self.random.choice((STREAM, PLAIN)), most)
            except reliquary.ReliquaryError:
                return False
        return True

    def waiting(self) -> int:
        """Return how many messages wait in A."""
        with self.a.connect() as manager:
            return sum(each.messages for each in manager.outgoing())

    def received(self, queue: str) -> list[str]:
        """Return all that is in B in the end, in its order, after A has removed it."""
        received: list[str] = []
        with self.a.connect() as sender, self.b.connect() as receiver:
            found = receiver.queue(f"private$/{queue}")
            while True:
                is_sent = not any(each.messages for each in sender.outgoing())
                messages = found.receive_many(AT_ONCE)
                received += [message.text for message in messages]
                if is_sent and not messages:
                    return received

    def check(self) -> int:
        """Check that what was confirmed is there once and in order, and that sends are there as a whole."""
        there = {queue: self.received(queue) for queue in self.sent}
        for queue, received in there.items():
            known = set(received)
            expected = [
                text
                for texts, confirmed in self.sent[queue]
                for text in texts
                if confirmed or texts[0] in known
            ]
            if queue == STREAM:
                assert received == expected
            else:
                assert sorted(received, key=int) == expected
        return sum(map(len, there.values()))

    def end(self) -> None:
        self.a.end()
        self.b.end()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path, seed=1)
    try:
        made.prepare()
        yield made
    finally:
        made.end()


@pytest.mark.mqqb("T-15", "T-54", "T-61", "T-95")
@pytest.mark.spec("QB-116", "QB-167")
def test_messages_wait_for_their_receiver_and_outlive_their_sender(pair: Pair) -> None:
    pair.b.stop()
    pair.send(5)
    pair.a.stop()
    pair.a.start()
    pair.send(5)
    pair.b.start()
    assert pair.check() == pair.number
    with pair.a.connect() as manager:
        (session,) = [each for each in manager.sessions() if each.state == "open"]
        assert (session.direction, session.peer, session.unacknowledged) == ("out", HOSTS[1], 0)
        manager.close_session(session.name)
    pair.send(1)
    with pair.b.connect() as manager:
        assert not manager.outgoing()
        (stream,) = manager.streams()
        assert (stream.protocol, stream.direction, stream.reset) == ("mqqb", "in", False)
        assert manager.reset_stream(stream.name).reset


def run(site: Site, *arguments: str) -> Result:
    """Run a command of `reliquary` at a site."""
    addresses = {SERVER_VARIABLE: site.process.data, CONTROL_VARIABLE: site.process.control}
    return CliRunner().invoke(cli, arguments, env=addresses)


def sessions(site: Site) -> list[dict[str, Any]]:
    """Return what `reliquary session list` prints at a site."""
    return [json.loads(line) for line in run(site, "session", "list").output.splitlines()]


def test_an_administrator_lists_shows_and_closes_a_session_and_the_next_message_opens_another(
    pair: Pair,
) -> None:
    to = f"DIRECT=TCP:{HOSTS[1]}\\private$\\{PLAIN}"
    assert run(pair.a, "message", "send", to, "one").exit_code == 0
    assert run(pair.b, "message", "receive", PLAIN, "--timeout", "30").output == "one\n"
    (out,), (into,) = sessions(pair.a), sessions(pair.b)
    assert (out["direction"], out["peer"], into["direction"]) == ("out", HOSTS[1], "in")
    shown = json.loads(run(pair.a, "session", "show", out["name"]).output)
    assert (shown["state"], shown["queues"]) == ("open", [to])
    assert run(pair.b, "session", "close", into["name"]).exit_code == 0
    while sessions(pair.a):
        pass
    gone = run(pair.a, "session", "close", out["name"])
    assert gone.exit_code == Exit.NOT_FOUND
    assert f"there is no session {out['name']}" in gone.output
    assert run(pair.a, "message", "send", to, "two").exit_code == 0
    assert run(pair.b, "message", "receive", PLAIN, "--timeout", "30").output == "two\n"
    (again,) = sessions(pair.a)
    assert again["name"] != out["name"]


@pytest.mark.mqqb("T-46", "T-54", "T-61", "T-95")
def test_kill_9_of_either_in_the_middle_loses_doubles_and_reorders_nothing(pair: Pair) -> None:
    for _ in range(4):
        pair.kill_one(pair.random.randint(3, 12), most=20)
    pair.send(3)
    pair.check()


@pytest.mark.long
@pytest.mark.mqqb("T-46", "T-95")
def test_connections_to_ipv6_that_are_cut_at_any_byte_lose_double_and_reorder_nothing(
    tmp_path: Path,
) -> None:
    pair = Pair(tmp_path, 95, receiver="::1")
    proxy = CuttingProxy(HOSTS[1], pair.port, seed=95, longest=20_000)
    pair.a.file = f'[mqqb]\nports = {{"{HOSTS[1]}" = {proxy.port}}}\n'
    try:
        pair.prepare()
        pair.send(30, most=20)
        with pair.a.connect() as manager:
            while proxy.cuts < 8 and any(each.messages for each in manager.outgoing()):
                pair.send(1)
        proxy.is_cutting = False
        pair.check()
        assert proxy.cuts >= 5
    finally:
        proxy.close()
        pair.end()


@pytest.mark.long
@pytest.mark.timeout(900)  # servers start a dozen times, and a busy machine starts them slowly
@pytest.mark.mqqb("T-54", "T-61", "T-95")
@pytest.mark.parametrize("seed", range(3))
def test_kill_9_of_both_loses_none_of_20000_messages(tmp_path: Path, seed: int) -> None:
    pair = Pair(tmp_path, seed)
    try:
        pair.prepare()
        rounds = [(pair.a,), (pair.b,), (pair.b, pair.a)] * 3
        pair.random.shuffle(rounds)
        for sites in rounds:
            pair.kill(sites, times=12, most=200)
        while pair.number < 20_000:
            pair.send(1, most=200)
        assert pair.check() >= 20_000 - 3 * 2 * 200  # a send that was cut off may have left nothing
    finally:
        pair.end()


@pytest.fixture
def on_small_disks(tmp_path: Path) -> Iterator[Pair]:
    """Return two managers, each with a disk of its own, that do not run yet."""
    pair = Pair(tmp_path, 97)
    with disks.small_disk(tmp_path / "disk-a", 64) as at_a, disks.small_disk(tmp_path / "disk-b", 64) as at_b:
        for site, place in ((pair.a, at_a), (pair.b, at_b)):
            site.folder, site.complaints = place / "store", place.with_suffix(".stderr")
        try:
            yield pair
        finally:
            pair.end()


@pytest.mark.long
@pytest.mark.mqqb("T-95")
def test_disks_of_both_that_become_full_in_the_middle_lose_double_and_reorder_nothing(
    on_small_disks: Pair,
) -> None:
    pair = on_small_disks
    pair.prepare()
    pair.send(5, most=20)
    filler = disks.fill(pair.b.folder.parent)
    pair.send(20, most=200)
    assert pair.b.dies() == Exit.DISK_FULL
    pair.send(5, most=20)
    filler.unlink()
    pair.b.start()
    pair.send(5, most=20)
    filler = disks.fill(pair.a.folder.parent)
    while pair.try_to_send():
        pass
    assert pair.a.dies() == Exit.DISK_FULL
    filler.unlink()
    pair.a.start()
    pair.send(5, most=20)
    pair.check()


@pytest.mark.long
@pytest.mark.mqqb("T-53", "T-95")
def test_managers_with_too_little_room_refuse_messages_and_take_them_when_there_is_room(
    on_small_disks: Pair,
) -> None:
    pair = on_small_disks
    for site in (pair.a, pair.b):
        site.settings = {**site.settings, "LOW_SPACE": "24", "RESERVE": "20"}
    pair.prepare()
    pair.send(5, most=20)
    filler_of_b = disks.fill(pair.b.folder.parent, left=16)
    while "too little space" not in pair.b.process.said:
        pair.send(1)
    pair.send(5, most=20)
    filler_of_a = disks.fill(pair.a.folder.parent, left=16)
    while pair.try_to_send():
        pass
    assert "too little space" in pair.a.process.said
    assert pair.waiting() >= 10
    filler_of_b.unlink()
    while pair.waiting():  # A sends what it has, though it takes no messages
        os.sched_yield()
    filler_of_a.unlink()
    while not pair.try_to_send():
        os.sched_yield()
    pair.check()

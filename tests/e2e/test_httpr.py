"""Tests real servers that use HTTPR, and kill -9 of each: all messages arrive exactly once and in their
order.

application --> A --- PUSH in a session, pipelined ---> B --> application
application --> A <-- PULL ---------------------------- B --> application
application --> A <-- PULL --- B --- PUSH -----------------> C --> application
                x              x                        x     killed while batches are on their way
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from reliquary.net.chance import SystemChance
from reliquary.server.exits import Exit
from reliquary.store import restore
from reliquary.store.backup import backup_stopped
from tests.e2e.disks import enlarge, small_disk
from tests.e2e.sites import Site

LIVELY = {"HTTPR_RETRY_LADDER": "0.1"}
"""Failures are tried again soon."""
SMALL_BATCHES = """[httpr]
proposed = {maximum_batch_size = 10, maximum_pipeline_depth = 8, max_wait_batch = 200}
"""
COUNT = 2000
TEXTS = [str(number) for number in range(COUNT)]


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[list[Site]]:
    """Return the servers A, B and C, none of them started."""
    made = [Site(tmp_path / name, LIVELY) for name in "abc"]
    for each in made:
        each.file = SMALL_BATCHES
    try:
        yield made
    finally:
        for each in made:
            each.end()


def agent(site: Site, service: str = "mq") -> str:
    return f"httpr://{site.authority}/httpr/{service}"


def to(site: Site) -> str:
    return f"DIRECT={agent(site)}#orders"


def begin(*sites: Site) -> None:
    """Start them, each with a queue."""
    for each in sites:
        each.start()
        with each.connect() as manager:
            manager.create_queue("orders")


def send(site: Site, queue: str) -> None:
    with site.connect() as manager, manager.transaction():
        manager.queue(queue).send_many(TEXTS)


def wait_for(site: Site, count: int) -> None:
    """Return when this many messages have arrived there."""
    with site.connect() as manager:
        while manager.queue("orders").info().messages < count:
            pass


def kill(site: Site) -> None:
    site.kill()
    site.start()


def let_go(site: Site) -> None:
    """Wait until nothing is left to send or in doubt at a site."""
    with site.connect() as manager:
        while any(each.messages for each in manager.outgoing()) or any(
            each.in_doubt for each in manager.channels()
        ):
            pass


def received(site: Site) -> list[str]:
    """Return all that has arrived, in its order."""
    with site.connect() as manager:
        return [message.text for message in manager.queue("orders").browse()]


@pytest.mark.spec("HR-020", "HR-024", "HR-051", "HR-056")
@pytest.mark.httpr("T06", "T08", "T09", "T10", "T27", "T29")
def test_what_is_pushed_arrives_once_and_in_order_whichever_process_is_killed(sites: list[Site]) -> None:
    a, b, _ = sites
    begin(a, b)
    send(a, to(b))
    for victim, count in ((b, 100), (a, 500), (b, 900), (a, 1300)):
        wait_for(b, count)
        kill(victim)
    let_go(a)
    assert received(b) == TEXTS


@pytest.mark.spec("HR-022", "HR-055", "HR-074")
@pytest.mark.httpr("T17", "T18", "T20", "T43")
def test_what_is_fetched_arrives_once_and_in_order_whichever_process_is_killed(sites: list[Site]) -> None:
    a, b, _ = sites
    b.file += f'peers = [{{responder = "{agent(a, "orders")}", pull = true, into = "orders"}}]\n'
    begin(a, b)
    send(a, "orders")
    for victim, count in ((b, 100), (a, 500), (b, 900), (a, 1300)):
        wait_for(b, count)
        kill(victim)
    wait_for(b, COUNT)
    let_go(a)
    assert received(b) == TEXTS
    with a.connect() as manager:
        assert manager.queue("orders").info().messages == 0


@pytest.mark.long
@pytest.mark.spec("HR-050")
@pytest.mark.httpr("T33", "T37")
def test_what_one_agent_passes_on_to_another_arrives_once_and_in_order(sites: list[Site]) -> None:
    a, b, c = sites
    a.file += f'peers = [{{responder = "{agent(b)}", carries = ["{agent(c)}"]}}]\n'
    b.file += "forward = true\n"
    begin(a, b, c)
    send(a, to(c))
    for victim, count in ((b, 100), (c, 600), (a, 1100), (b, 1500)):
        wait_for(c, count)
        kill(victim)
    let_go(a)
    let_go(b)
    assert received(c) == TEXTS


@pytest.mark.long
@pytest.mark.spec("HR-102", "HR-103")
@pytest.mark.parametrize("fetches", [False, True], ids=["pushed", "fetched"])
def test_a_sender_that_was_restored_from_a_backup_loses_no_new_message(
    sites: list[Site], tmp_path: Path, fetches: bool
) -> None:
    a, b, _ = sites
    if fetches:
        b.file += f'peers = [{{responder = "{agent(a, "orders")}", pull = true, into = "orders"}}]\n'
    begin(a, b)
    texts = [f"{when} {number}" for when in ("before", "lost", "new") for number in range(8)]

    def send_until(count: int) -> None:
        with a.connect() as manager:
            for text in texts[count - 8 : count]:
                manager.queue("orders" if fetches else to(b)).send(text)
        wait_for(b, count)

    send_until(8)
    a.stop()
    backup_stopped(a.folder, tmp_path / "backup")
    a.start()
    send_until(16)
    a.kill()
    a.folder.rename(tmp_path / "broken")
    restore(tmp_path / "backup", a.folder, SystemChance())
    a.start()
    send_until(24)
    assert received(b) == texts


@pytest.mark.spec("HR-056")
@pytest.mark.httpr("T34")
@pytest.mark.parametrize("fetches", [False, True], ids=["pushed", "fetched"])
def test_a_receiver_whose_disk_is_full_ends_and_goes_on_when_there_is_room(
    sites: list[Site], tmp_path: Path, fetches: bool
) -> None:
    a, b, _ = sites
    texts = [Random(number).randbytes(50_000).hex() for number in range(200)]  # which compress to 10 MB
    with small_disk(tmp_path / "disk") as place:
        b.folder, b.complaints = place / "store", tmp_path / "b.stderr"
        if fetches:
            b.file += f'peers = [{{responder = "{agent(a, "orders")}", pull = true, into = "orders"}}]\n'
        try:
            begin(a, b)
            with a.connect() as manager:
                queue = manager.queue("orders" if fetches else to(b))
                for first in range(0, len(texts), 20):
                    queue.send_many(texts[first : first + 20])
            assert b.dies() == Exit.DISK_FULL
            enlarge(place)
            b.start()
            wait_for(b, len(texts))
            let_go(a)
            assert received(b) == texts
        finally:
            b.end()

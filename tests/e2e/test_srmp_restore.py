"""Tests two real servers, one restored from a backup: what is sent afterwards arrives, once and in order.

application --> A --- SRMP over HTTP ---> B --> application
                ^                         ^     back to an older backup
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import reliquary
from reliquary.base.time import in_whole_seconds
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.store import restore
from tests.e2e.sites import Site
from tests.e2e.test_srmp import LIVELY, to


class Scene:
    """A sends to B, in transactions of one message."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.a, self.b = Site(folder / "a", LIVELY), Site(folder / "b", LIVELY)
        self.a.start()
        self.b.start()
        with self.b.connect() as manager:
            manager.create_queue("orders", transactional=True)

    def send(self, *texts: str, deadletter: bool = False) -> None:
        with self.a.connect() as manager:
            for text in texts:
                with manager.transaction():
                    manager.queue(to(self.b, "orders")).send(text, deadletter=deadletter)

    def back_up(self, site: Site) -> None:
        with site.connect() as manager:
            manager.backup(str(self.folder / "backup"))

    def bring_back(self, site: Site) -> None:
        """Go back to the backup; later messages are sent in another second than the restored server began."""
        site.stop()
        shutil.rmtree(site.folder)
        restore(self.folder / "backup", site.folder, SystemChance())
        site.start()
        clock = RealClock()
        began = in_whole_seconds(clock.now())
        while in_whole_seconds(clock.now()) <= began:
            pass

    def wait_until_sent(self, left: int = 0) -> None:
        """Wait until this many messages are left at A, because they are confirmed to it."""
        with self.a.connect() as manager:
            while sum(each.messages for each in manager.outgoing()) > left:
                pass

    def received(self) -> list[str]:
        with self.b.connect() as manager:
            return _all_of(manager, "orders")

    def dead_letters(self, site: Site) -> list[str]:
        with site.connect() as manager:
            return _all_of(manager, "system$;deadxact")

    def end(self) -> None:
        self.a.end()
        self.b.end()


def _all_of(manager: reliquary.Manager, queue: str) -> list[str]:
    return [message.text for message in iter(manager.queue(queue).receive, None)]


def ten(word: str) -> list[str]:
    return [f"{word} {number}" for number in range(10)]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    try:
        yield made
    finally:
        made.end()


def test_what_a_restored_sender_sends_arrives(scene: Scene) -> None:
    scene.b.stop()
    scene.send(*ten("first"))
    scene.back_up(scene.a)
    scene.send(*ten("second"))  # in one stream with the first ones
    scene.b.start()
    scene.wait_until_sent()
    scene.b.stop()
    scene.bring_back(scene.a)
    scene.send(*ten("third"))
    scene.b.start()
    scene.wait_until_sent()
    assert scene.received() == ten("first") + ten("second") + ten("third")
    assert set(scene.dead_letters(scene.a)) < set(ten("first"))  # those that had no number yet


def test_the_rest_of_a_stream_reaches_a_restored_receiver(scene: Scene) -> None:
    scene.send("unread", deadletter=True)  # the stream lasts as long as no reader has received it
    scene.send(*ten("first"))
    scene.wait_until_sent(left=1)
    scene.back_up(scene.b)
    scene.send(*ten("second"))
    scene.wait_until_sent(left=1)
    scene.bring_back(scene.b)
    scene.send(*ten("third"))
    scene.wait_until_sent(left=1)
    assert scene.received() == ["unread", *ten("first"), *ten("third")]
    assert scene.dead_letters(scene.b) == []

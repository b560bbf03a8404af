"""Tests the checks of the numbers that a sender of streams assigns; `test_mutants_eras` breaks the sender."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from reliquary.protocols.srmp.codec.lexical import stream_id_text
from reliquary.protocols.srmp.codec.values import StreamPosition
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import PostEnded
from reliquary.sim.history import Violation
from reliquary.sim.srmp.numbering import NumberMonitor
from reliquary.streams.facts import MessagesNumbered, StreamBegun
from reliquary.streams.tables import OutgoingStream

QUEUE = 3
SENDER = UUID(int=1)
POST = Post(QUEUE, 1, 10, "http://b", "b", "/msmq/q", "text/xml", b"")


class Scene:
    """A monitor of one site, and the turns that it gets."""

    def __init__(self, *, number: int = 1, era_began: int = 0) -> None:
        queue = SimpleNamespace(record=SimpleNamespace(pathname="DIRECT=HTTP://b/msmq/q"))
        manager = SimpleNamespace(state=SimpleNamespace(queues={QUEUE: queue}))
        witness: Any = SimpleNamespace(
            site="a",
            era_began=era_began,
            history=SimpleNamespace(processes=1),
            ledger=SimpleNamespace(places={}),
            host=SimpleNamespace(process=SimpleNamespace(manager=manager)),
        )
        place = StreamPosition(
            identifier=stream_id_text(SENDER, 7), sender=SENDER, number=7, current=number, previous=number - 1
        )
        self.monitor = NumberMonitor(witness, lambda _: place)
        self.turns = 0

    def turn(self, *facts: object, event: object = None) -> None:
        self.turns += 1
        turned: Any = SimpleNamespace(number=self.turns, process_number=1, batch=1, event=event, facts=facts)
        self.monitor.note(turned)

    def begin(self, stream: int) -> None:
        self.turn(StreamBegun(QUEUE, OutgoingStream(stream, sender=SENDER)))

    def give(self, first: int) -> None:
        self.turn(MessagesNumbered(QUEUE, first, (10,)))


@pytest.mark.parametrize(("status", "found"), [(200, True), (503, False)])
def test_a_message_gets_no_other_number_when_the_start_of_its_stream_was_answered(
    status: int, found: bool
) -> None:
    scene = Scene()
    scene.begin(7)
    scene.give(1)
    scene.monitor.posts(POST)
    assert scene.monitor.went_again(10)
    scene.turn(event=PostEnded(QUEUE, 1, 10, status))
    scene.begin(8)
    if found:
        with pytest.raises(Violation, match="renumbered"):
            scene.give(1)
    else:
        scene.give(1)


def test_no_number_is_given_in_a_stream_that_is_older_than_the_restore() -> None:
    scene = Scene(era_began=2)
    scene.begin(7)
    with pytest.raises(Violation, match="which is older than the restore"):
        scene.give(1)


def test_a_restore_begins_the_list_of_posts_anew() -> None:
    scene = Scene()
    scene.monitor.posts(POST)
    scene.monitor.restored()
    assert not scene.monitor.went_again(10)
    assert not scene.monitor.has_number(10)

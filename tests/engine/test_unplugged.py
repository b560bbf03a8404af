"""SRMP without a network: what would be sent is told so at once, and nothing breaks."""

from __future__ import annotations

from typing import Any, cast

from reliquary.engine.loop import Engine, EngineStopped
from reliquary.engine.unplugged import NO_NETWORK, unplugged
from reliquary.protocols.srmp.effects import EndSession, ListenTo, Post, SendApdu
from reliquary.protocols.srmp.events import Failure, PostEnded


class Inbox:
    """The part of an engine that takes events."""

    def __init__(self, *, stopped: bool = False) -> None:
        self.came: list[object] = []
        self.stopped = stopped

    def submit(self, event: object) -> None:
        if self.stopped:
            raise EngineStopped("it has stopped")
        self.came.append(event)


def performed(inbox: Inbox, effect: Any) -> None:
    unplugged(cast("Engine", inbox))[type(effect)](effect)


POST = Post(7, 2, 5, "http://h", "h", "/msmq/q", "text/xml", b"")
APDU = SendApdu(8, 3, 6, "234.1.1.1:8001", b"")


def test_what_would_be_sent_has_no_connection() -> None:
    inbox = Inbox()
    performed(inbox, POST)
    performed(inbox, APDU)
    assert inbox.came == [
        PostEnded(7, 2, 5, 0, Failure.NO_CONNECTION, NO_NETWORK),
        PostEnded(8, 3, 6, 0, Failure.NO_CONNECTION, NO_NETWORK),
    ]


def test_what_needs_no_answer_gets_none() -> None:
    inbox = Inbox()
    performed(inbox, EndSession(7, 2))
    performed(inbox, ListenTo(frozenset({"234.1.1.1:8001"})))
    assert inbox.came == []


def test_an_engine_that_stops_is_not_told() -> None:
    performed(Inbox(stopped=True), POST)

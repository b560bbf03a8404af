"""Messages to and from JSON, without a server."""

from __future__ import annotations

from uuid import UUID

import msgspec
import pytest

from reliquary.net.api.messages import REACH, MessageIn, message_of, moment, shown
from reliquary.net.api.origin import differs
from reliquary.queueing.events import Delivered
from reliquary.queueing.message import Delivery, Message, MessageClass, ObjectId, Position


def test_a_message_that_says_nothing_is_durable_and_otherwise_the_default() -> None:
    assert message_of(MessageIn()) == Message(delivery=Delivery.RECOVERABLE)
    assert Message().time_to_reach_queue == REACH


def test_moments() -> None:
    assert moment(0) == "1970-01-01T00:00:00Z"
    assert moment(1_700_000_000_123_456) == "2023-11-14T22:13:20.123456Z"
    assert moment(10**40) == "9999-12-31T23:59:59Z"


@pytest.mark.parametrize(
    ("reason", "own", "word"),
    [
        pytest.param(MessageClass.NORMAL, 0, None, id="an ordinary message"),
        pytest.param(MessageClass.NACK_QUEUE_PURGED, 0, "nack-queue-purged", id="a dead letter"),
        pytest.param(MessageClass.NORMAL, MessageClass.ACK_RECEIVE, "ack-receive", id="an acknowledgement"),
        pytest.param(MessageClass.NORMAL, 0x1234, "4660", id="a class of the application's own"),
    ],
)
def test_the_class_is_a_word(reason: MessageClass, own: int, word: str | None) -> None:
    position = Position(lookup_id=1, message=1, size=1, arrived=1, reason=reason)
    message = Message(identifier=ObjectId(UUID(int=7), 1), message_class=own)
    assert msgspec.to_builtins(shown(Delivered(position, message))).get("class") == word


def test_an_origin_is_ours_or_foreign() -> None:
    assert not differs(b"https://Queue.example:8480", b"queue.example:8480")
    assert differs(b"http://queue.example", b"queue.example:8480")
    assert differs(b"", b"queue.example")

"""Builds the report messages of a traced message, one for each step: [MS-MQQB] 3.1.5.8.9 and 3.1.7.1.7.

    0f3c:0000002A:00 received by 0f3c....-..-..-..-............ at 01:22:42 PM Sun,Nov 15 26

A report is an express message, so it is in memory only.  It asks for no acknowledgement or report itself.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from reliquary.base.time import Instant
from reliquary.queueing.model.message import Attributes, Message, MessageClass
from reliquary.queueing.model.queue import Queue

_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HOPS: Final = "00"
"""The hop count of a report; it is always 00, because this manager does not route messages."""


def queue_name(message: Message) -> str:
    """Return the name of the queue that gets the reports of a message."""
    return f"PUBLIC={message.tracing_queue}"


def report(message: Message, reason: MessageClass, queue: Queue, manager: UUID, now: Instant) -> Message:
    """Return the report of one step of a message: sent (QB-294) or received (QB-268)."""
    identifier = message.identifier
    step = _step(reason, queue)
    # DEPARTS from 3.1.7.1.7 (QB-268, QB-294): the step is named, and the computer is the one that writes the
    # report, because "received by" the sender at every step would not help a reader.
    label = (
        f"{str(identifier.lineage)[:4]}:{identifier.uniquifier:08X}:{_HOPS}"
        f" {step} by {manager} at {_moment(now)}"
    )
    return Message(
        label=label,
        body=_body(message, queue, step).encode("utf-16-le"),
        more=Attributes(
            message_class=MessageClass.REPORT,
            correlation=identifier,
            destination_queue=queue_name(message),
        ),
    )


def _step(reason: MessageClass, queue: Queue) -> str:
    """Return the word for a step: a message was sent, received by a manager, or delivered to a reader."""
    if reason is MessageClass.ACK_RECEIVE:
        return "delivered"
    return "received" if queue.outgoing is None else "sent"


def _body(message: Message, queue: Queue, step: str) -> str:
    """Return the body of a report: the message, its target queue and the next hop."""
    lines = [
        f"<MESSAGE ID>{message.identifier.uniquifier:08X}</MESSAGE ID>",
        f"<TARGET QUEUE>{message.destination_queue or queue.pathname}</TARGET QUEUE>",
    ]
    if queue.outgoing is not None and step == "sent":
        lines += [
            f"<NEXT HOP>{queue.outgoing.destination}</NEXT HOP>",
            f"<HOP COUNT>{_HOPS}</HOP COUNT>",
        ]
    return "".join(f"{line}\r\n" for line in lines)


def _moment(now: Instant) -> str:
    """Return the moment as the reports of MSMQ write it, in universal time.

    >>> _moment(Instant(1_000_000))
    '12:00:01 AM Thu,Jan 01 70'
    """
    at = _START + timedelta(microseconds=now)
    half, hour = "PM" if at.hour >= 12 else "AM", at.hour % 12 or 12
    date = f"{_DAYS[at.weekday()]},{_MONTHS[at.month - 1]} {at.day:02} {at.year % 100:02}"
    return f"{hour:02}:{at.minute:02}:{at.second:02} {half} {date}"

"""Messages as an application sees them: what it sends, what it gets, and where it went.

The fields are those of the JSON API, so both structs are also the API's records.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

Body = bytes | str


class OutgoingMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message to be sent.  `outgoing` makes one from a text and a timedelta as well."""

    body: bytes = b""
    label: str = ""
    priority: int = 3
    """0 to 7; 7 comes first."""
    expires: float | None = None
    """Seconds until it may no longer be received."""
    reach: float | None = None
    """Seconds until it must have reached its queue."""
    durable: bool = True
    """False keeps it in memory only, and does not wait for the disk."""
    journal: bool = False
    """Keep a copy in `system$;journal`."""
    deadletter: bool = False
    """Keep it in a dead-letter queue when it expires, is purged or cannot be delivered."""
    correlation: str | None = None
    """The `id` of the message that this one answers."""
    tag: int = 0
    body_type: int = 0
    extension: bytes = b""
    response_queue: str = ""
    administration_queue: str = ""


class Sent(msgspec.Struct, frozen=True):
    """Where a message went."""

    id: str
    lookup_id: int


class Message(msgspec.Struct, frozen=True, kw_only=True, rename={"message_class": "class"}):
    """A message that was received or peeked at."""

    id: str
    lookup_id: int
    """Its place in the queue; a later message of the same priority has a higher one."""
    body: bytes = b""
    label: str = ""
    priority: int = 3
    sent: datetime
    arrived: datetime
    expires: float | None = None
    reach: float = 345_600
    durable: bool = True
    journal: bool = False
    deadletter: bool = False
    correlation: str | None = None
    tag: int = 0
    body_type: int = 0
    extension: bytes = b""
    response_queue: str = ""
    administration_queue: str = ""
    message_class: str = ""
    """In a journal or dead-letter queue: why it is there."""
    source: str = ""
    """The id of the manager that took it first."""
    transaction: str | None = None
    """The transaction it was sent in."""

    @property
    def text(self) -> str:
        """The body as UTF-8 text."""
        return self.body.decode()


def outgoing(
    body: Body | OutgoingMessage,
    *,
    label: str = "",
    priority: int = 3,
    expires: float | timedelta | None = None,
    reach: float | timedelta | None = None,
    durable: bool = True,
    journal: bool = False,
    deadletter: bool = False,
    correlation: str | None = None,
    tag: int = 0,
    body_type: int = 0,
    extension: bytes = b"",
    response_queue: str = "",
    administration_queue: str = "",
) -> OutgoingMessage:
    """What an application gives to `send`, as a message; text becomes UTF-8."""
    if isinstance(body, OutgoingMessage):
        return body
    return OutgoingMessage(
        body=body.encode() if isinstance(body, str) else bytes(body),
        label=label,
        priority=priority,
        expires=in_seconds(expires),
        reach=in_seconds(reach),
        durable=durable,
        journal=journal,
        deadletter=deadletter,
        correlation=correlation,
        tag=tag,
        body_type=body_type,
        extension=extension,
        response_queue=response_queue,
        administration_queue=administration_queue,
    )


def in_seconds(span: float | timedelta | None) -> float | None:
    """A span as a number of seconds; None stays None."""
    return span.total_seconds() if isinstance(span, timedelta) else span


def lookup_ids(messages: Iterable[Message]) -> list[int]:
    """The places of some messages."""
    return [message.lookup_id for message in messages]

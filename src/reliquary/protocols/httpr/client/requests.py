"""Builds the requests of the client, chapter 5: their fields and the acknowledgement of fetched batches."""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.connection import SentRequest
from reliquary.protocols.httpr.codec.values import (
    FETCHES,
    FLOWS,
    BatchLimits,
    Command,
    RequestHeader,
    SessionMark,
)
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.settings import AGENT_TYPE
from reliquary.protocols.httpr.state import State
from reliquary.queueing.model.message import Message

_ALWAYS_ACKNOWLEDGE: Final = frozenset({Command.PULL, Command.EXCHANGE, Command.REPORT})
"""Commands that report the outcome of the last fetched batch (HR-070), or that there is none (HR-105)."""


def send_request(
    state: State,
    channel: ClientChannel,
    command: Command,
    now: Instant,
    *,
    batch: int | None = None,
    messages: tuple[Message, ...] = (),
    queue: int = 0,
    session: SessionMark | None = None,
    forget: int | None = None,
) -> None:
    """Send a request; the caller has moved the channel to its next phase."""
    row = state.channels[channel.number]
    connection, fetching = channel.connection, channel.fetching
    connection.last_number += 1
    connection.last_used = now
    fetches, in_session = command in FETCHES, bool(channel.session.identifier)
    connection.pending.append(
        SentRequest(connection.last_number, command, fetches, now, batch or 0, queue, len(messages))
    )
    # a PUSH acknowledges only what no other request has acknowledged
    acknowledges = command in _ALWAYS_ACKNOWLEDGE or (
        command in FLOWS and row.last_received_id != fetching.acknowledged
    )
    if row.sink_restored:  # the peer may have restarted its numbering since the backup
        acknowledges = False
    if acknowledges:
        fetching.acknowledged = row.last_received_id
    header = RequestHeader(
        command=command,
        requester="" if in_session else row.requester,  # HR-061
        channel="" if in_session else row.name,
        responder="" if in_session else row.responder,
        session_id=channel.session.identifier,  # HR-033
        session=session,
        capabilities=None if in_session else channel.session.proposed,
        transaction_id=batch,
        outcome=row.last_received_outcome if acknowledges else None,
        completed=row.last_received_id if acknowledges else None,
        last_pushed_id=row.last_source_id if command is Command.REPORT else None,  # HR-054
        forget=forget,
        agent_type=AGENT_TYPE if connection.last_number == 1 else "",  # HR-101
    )
    agreed = channel.session.agreed
    state.draft.wait()  # the header may report facts of earlier turns (P3)
    state.draft.ask(
        SendRequest(
            channel.number,
            connection.epoch,
            connection.last_number,
            channel.url,
            header,
            messages,
            BatchLimits(agreed.maximum_message_size, agreed.maximum_batch_size) if fetches else None,
            # earlier requests may wait for an equal time
            Duration(channel.session.longest_wait * connection.pending_fetches),
        )
    )

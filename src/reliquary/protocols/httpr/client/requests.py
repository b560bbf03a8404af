"""Our requests, chapter 5: who speaks over which channel, and what each says of batches that were fetched."""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.protocols.httpr.client.channel import Asked, Driven
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
from reliquary.queueing.message import Message

_TELL_ALWAYS: Final = frozenset({Command.PULL, Command.EXCHANGE, Command.REPORT})
"""These say what became of the last batch that was fetched (HR-070), or that there was none (HR-105)."""


def ask(
    state: State,
    driven: Driven,
    command: Command,
    now: Instant,
    *,
    batch: int | None = None,
    messages: tuple[Message, ...] = (),
    queue: int = 0,
    session: SessionMark | None = None,
    forget: int | None = None,
) -> None:
    """Send a request; whoever calls this has moved the channel to its next phase."""
    channel = state.channels[driven.channel]
    driven.numbered += 1
    driven.used = now
    fetches, in_session = command in FETCHES, bool(driven.session_id)
    driven.asked.append(Asked(driven.numbered, command, fetches, now, batch or 0, queue, len(messages)))
    # a PUSH acknowledges only what nothing else has
    tells = command in _TELL_ALWAYS or (command in FLOWS and channel.last_received_id != driven.told)
    if tells:
        driven.told = channel.last_received_id
    header = RequestHeader(
        command=command,
        requester="" if in_session else channel.requester,  # HR-061
        channel="" if in_session else channel.name,
        responder="" if in_session else channel.responder,
        session_id=driven.session_id,  # HR-033
        session=session,
        capabilities=None if in_session else driven.proposed,
        transaction_id=batch,
        outcome=channel.last_received_outcome if tells else None,
        completed=channel.last_received_id if tells else None,
        last_pushed_id=channel.last_source_id if command is Command.REPORT else None,  # HR-054
        forget=forget,
        agent_type=AGENT_TYPE if driven.numbered == 1 else "",  # HR-101
    )
    agreed = driven.agreed
    state.draft.wait()  # it may tell what earlier turns stated, were this one's facts all volatile (P3)
    state.draft.ask(
        SendRequest(
            driven.channel,
            driven.epoch,
            driven.numbered,
            driven.url,
            header,
            messages,
            BatchLimits(agreed.maximum_message_size, agreed.maximum_batch_size) if fetches else None,
            Duration(driven.wait * driven.fetching),  # those ahead of it may wait as long
        )
    )

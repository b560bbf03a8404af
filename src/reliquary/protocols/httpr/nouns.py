"""Describes channels as a noun of administration: their batches in both directions, and those in doubt."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.protocols.httpr.events import ForgetChannel, ReportChannel, SettleChannel
from reliquary.queueing.model.administration import Act, Listing, Machines, Noun, Parameter, RecordFormat

PEER_WAIT: Final = 120.0
"""The seconds that another agent may take to answer a request about a channel."""


class BatchInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A batch of which this manager does not know whether it arrived; its messages are reserved."""

    id: str
    """The id as on the wire: 16 hexadecimal digits."""
    queue: str
    """The queue in which its messages are reserved."""
    messages: int
    since: datetime | None
    """The time when it was begun; None for one that was begun before a restart."""


class ChannelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A channel of HTTPR at the time of the request: it carries batches both ways between two agents."""

    number: int
    role: str
    """`client`: this manager drives it; `server`: its requester does."""
    requester: str
    name: str
    responder: str
    state: str
    """`ready`, `waiting` or `closed`; of a client also `greeting`, `must-report`, `reporting`, `resting` and
    `leaving`."""
    url: str = ""
    """For a client: the address of the responder."""
    session: str = ""
    """The identifier of the session, while there is one."""
    connected: bool = False
    unanswered: int = 0
    """The number of requests without a response."""
    fetches: bool = False
    """Whether the client fetches messages."""
    last_source_id: str
    """The id of the latest batch that was sent; ids are 16 hexadecimal digits, as on the wire."""
    source_forgotten: bool
    """Both agents have agreed to forget what was sent."""
    memory: str = "current"
    """`restored`: the store was restored, and the peer has not yet named its last id; `outdated`:
    it went on after the backup, so messages that waited then go to the dead-letter queue."""
    in_doubt: list[BatchInfo]
    """Batches whose arrival is unknown."""
    last_received_id: str
    """The id of the latest batch that came."""
    last_received_outcome: str
    last_sent_id: str
    """The largest id that the peer is known to have used."""
    failures: int = 0
    """The number of failures in a row, up to now."""
    rest: float = 0
    """The seconds of the pause until the next try, during a pause."""
    trouble: str = ""
    """The last failure of the channel, in words."""


def _channels(machines: Machines) -> Iterator[ChannelInfo]:
    from reliquary.protocols.httpr.machine import Httpr
    from reliquary.protocols.httpr.views import channels

    return channels(machines.state, machines.machine(Httpr).state)


def _channel(machines: Machines, number: int) -> ChannelInfo | None:
    from reliquary.protocols.httpr.machine import Httpr
    from reliquary.protocols.httpr.views import channel

    return channel(machines.state, machines.machine(Httpr).state, number)


CHANNEL: Final = Noun(
    name="channel",
    plural="channels",
    record=ChannelInfo,
    summary="List, show, resolve, forget and settle the channels of HTTPR.",
    listing=Listing(
        records=_channels,
        columns=(
            "number", "role", "state", "requester", "name", "responder", "last_source_id", "in_doubt",
            "last_received_id",
        ),
        help="List the channels with how far they got.\n\n"
        "`role` is client where this manager drives the channel; `in_doubt` are batches that may have "
        "arrived or not.",
    ),
    showing=RecordFormat(
        key="number",
        kind=int,
        record=_channel,
        missing=HResult.OBJECT_NOT_FOUND,
        missing_sentence="there is no channel {}",
        help="Show all that is known of channel NUMBER, with its batches in doubt.",
        example="1",
        parts={"in_doubt": ("id", "queue", "messages", "since")},
    ),
    acts=(
        Act(
            verb="report",
            event=ReportChannel,
            wait=PEER_WAIT,
            help="Ask the responder of channel NUMBER now what became of the batches in doubt.",
        ),
        Act(
            verb="forget",
            event=ForgetChannel,
            wait=PEER_WAIT,
            help="Forget how far channel NUMBER got, on both sides; refused while anything is in doubt.\n\n"
            "Of a channel that another agent drives, only what this manager knows is forgotten; be sure that "
            "the agent is in doubt of nothing, for what it sends again would be taken again.",
        ),
        Act(
            verb="settle",
            event=SettleChannel,
            parameters=(
                Parameter(
                    name="arrived",
                    kind=bool,
                    option="--arrived/--lost",
                    help="Whether the other agent has the messages.",
                ),
            ),
            example="5 --lost",
            repeatable=False,
            help="Decide about all that is in doubt on channel NUMBER, in place of an agent that is gone for "
            "good.\n\n"
            "What counts as arrived leaves its queue, what counts as lost can be received and sent again.  "
            "If that is not true, messages are lost or come twice.",
        ),
    ),
)  # fmt: skip

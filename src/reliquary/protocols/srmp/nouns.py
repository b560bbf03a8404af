"""Streams as a noun of administration: messages that go and come exactly once and in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.protocols.srmp.events import ResetStream
from reliquary.queueing.model.administration import Act, Listing, Machines, Noun, Parameter, Showing


class StreamInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A stream as it was a moment ago: messages in one order, from one manager to a queue of another."""

    name: str
    """`out-` and a number, or `in-` and a few letters; it stays when the stream begins anew."""
    direction: str
    """`out` or `in`."""
    peer: str
    """The host that it goes to, or the identifier of the manager that it comes from."""
    queue: str
    """The queue that it ends in."""
    stream: str
    """The number of the stream: timestamp and ordinal in one."""
    last: int
    """The number of the last message that was sent or taken."""
    acknowledged: int
    """The number of the last message that a receipt confirmed."""
    awaiting: int
    """Messages that wait for a receipt to come or to go."""
    next_resend: str | None = None
    """When those are sent again, if no receipt comes."""
    resent: int = 0
    """How often the last message was sent again."""
    closed: bool = False
    """Whether the stream was kept through a restore: when it is confirmed, the next messages
    begin another one.
    """
    skipped: int = 0
    """Numbers of an incoming stream that were passed over, because they were lost with a restore."""
    reset: bool = False
    """An administrator wants the next message to be taken, whatever its number is."""
    rejected: int = 0
    """Messages in a row that came out of turn."""
    receipts_to: str = ""
    """The address of the receipts of an incoming stream."""
    used: str | None = None
    """When a message of an incoming stream was last taken."""


def _streams(machines: Machines) -> Iterator[StreamInfo]:
    from reliquary.protocols.srmp.machine import Srmp
    from reliquary.protocols.srmp.views import streams

    return streams(machines.state, machines.machine(Srmp).state)


def _stream(machines: Machines, name: str) -> StreamInfo | None:
    return next((each for each in _streams(machines) if each.name == name), None)


STREAM: Final = Noun(
    name="stream",
    plural="streams",
    record=StreamInfo,
    summary="List, show and reset the streams between this manager and others.",
    listing=Listing(
        records=_streams,
        columns=(
            "name", "direction", "peer", "queue", "last", "acknowledged", "awaiting", "next_resend",
            "rejected",
        ),
        help="List the streams that go out and come in, with how far they got.\n\n"
        "`awaiting` are the messages without a receipt; they are sent again at `next_resend`.",
    ),
    showing=Showing(
        key="name",
        kind=str,
        record=_stream,
        missing=HResult.OBJECT_NOT_FOUND,
        missing_sentence="there is no stream {}",
        help="Show all that is known of stream NAME.",
        example="out-7",
    ),
    acts=(
        Act(
            verb="reset",
            event=ResetStream,
            parameters=(
                Parameter(
                    name="renumber",
                    kind=bool,
                    option="--renumber/--dead-letters",
                    help="What becomes of messages without a receipt; dead letters, if nothing is said.",
                    default=False,
                ),
            ),
            example="out-7 --dead-letters",
            repeatable=False,
            help="Begin stream NAME anew, where its peer cannot go on with it, such as after a restore.\n\n"
            "Of a stream that goes out, messages without a receipt become dead letters, or go again under "
            "new numbers; if the peer has them, they then come twice.  Of a stream that comes in, the next "
            "message is taken whatever its number is, and the stream goes on from there.",
        ),
    ),
)  # fmt: skip

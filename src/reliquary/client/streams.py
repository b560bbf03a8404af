"""Describes streams as a noun of administration: messages exactly once and in order.

SRMP and MQQB have streams.  No protocol imports another one, so the list of both is made here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqb import events as mqqb_events
from reliquary.protocols.mqqb import tables as mqqb_tables
from reliquary.protocols.srmp import events as srmp_events
from reliquary.protocols.srmp import tables as srmp_tables
from reliquary.queueing.model.administration import Act, Listing, Machines, Noun, Parameter, RecordFormat
from reliquary.streams.events import ResetStream
from reliquary.streams.records import StreamInfo

_RESETS: Final[dict[str, type[ResetStream]]] = {
    srmp_tables.NAME: srmp_events.ResetStream,
    mqqb_tables.NAME: mqqb_events.ResetStream,
}
"""The event that resets a stream, by the protocol that carries it."""


def streams(machines: Machines) -> Iterator[StreamInfo]:
    """Yield the streams of all protocols, those of SRMP first."""
    from reliquary.protocols.mqqb import views as mqqb
    from reliquary.protocols.mqqb.machine import Mqqb
    from reliquary.protocols.srmp import views as srmp
    from reliquary.protocols.srmp.machine import Srmp

    yield from srmp.streams(machines.state, machines.machine(Srmp).state)
    yield from mqqb.streams(machines.state, machines.machine(Mqqb).state)


def _stream(machines: Machines, name: str) -> StreamInfo | None:
    return next((each for each in streams(machines) if each.name == name), None)


def _reset(to: int, name: str, *, renumber: bool, protocol: str) -> ResetStream:
    """Return the event that resets a stream, for the machine that has the stream."""
    return _RESETS[protocol](to, name, renumber)


STREAM: Final = Noun(
    name="stream",
    plural="streams",
    record=StreamInfo,
    summary="List, show and reset the streams between this manager and others.",
    listing=Listing(
        records=streams,
        columns=(
            "name", "protocol", "direction", "peer", "queue", "last", "acknowledged", "awaiting",
            "next_resend", "rejected",
        ),
        help="List the streams of SRMP and MQQB that go out and come in, with how far they got.\n\n"
        "`awaiting` are the messages without a receipt, which MQQB calls order acknowledgement; they are "
        "sent again at `next_resend`.",
    ),
    showing=RecordFormat(
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
            event=_reset,
            fields=("protocol",),
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

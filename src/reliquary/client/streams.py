"""Streams as a noun of administration: messages that go and come exactly once and in order.

SRMP and MQQB have streams.  No protocol knows another one, so the list of both is made here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.protocols.srmp.events import ResetStream
from reliquary.queueing.model.administration import Act, Listing, Machines, Noun, Parameter, Showing
from reliquary.streams.records import StreamInfo


def _streams(machines: Machines) -> Iterator[StreamInfo]:
    from reliquary.protocols.mqqb import views as mqqb
    from reliquary.protocols.mqqb.machine import Mqqb
    from reliquary.protocols.srmp import views as srmp
    from reliquary.protocols.srmp.machine import Srmp

    yield from srmp.streams(machines.state, machines.machine(Srmp).state)
    yield from mqqb.streams(machines.state, machines.machine(Mqqb).state)


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
            "name", "protocol", "direction", "peer", "queue", "last", "acknowledged", "awaiting",
            "next_resend", "rejected",
        ),
        help="List the streams of SRMP and MQQB that go out and come in, with how far they got.\n\n"
        "`awaiting` are the messages without a receipt, which MQQB calls order acknowledgement; they are "
        "sent again at `next_resend`.",
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
            help="Begin stream NAME of SRMP anew, where its peer cannot go on with it, such as after a "
            "restore; a stream of MQQB begins anew by itself.\n\n"
            "Of a stream that goes out, messages without a receipt become dead letters, or go again under "
            "new numbers; if the peer has them, they then come twice.  Of a stream that comes in, the next "
            "message is taken whatever its number is, and the stream goes on from there.",
        ),
    ),
)  # fmt: skip

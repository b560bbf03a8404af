"""Serves GET /events: a stream of server-sent events, one for each sample of the manager.

    event: sample
    data: {"moment": ..., "messages": ..., "bytes": ..., "arrived": ..., "left": ..., "confirm": ...}

The console updates its pages by it, and programs can follow a manager without polling.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import islice
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from reliquary.base.time import MILLISECOND, as_text
from reliquary.console.context import Context, context_of
from reliquary.console.samples import Sample, Sampler, rates
from reliquary.net.api.operations import operation
from reliquary.queueing.model.security.rights import ManagerRight

CONTENT_TYPE: Final = "text/event-stream"
_encode = msgspec.json.Encoder().encode


class SampleOut(msgspec.Struct, frozen=True):
    """A sample as it is sent; rates are messages a second since the sample before."""

    moment: str
    """The time of the event, as RFC 3339 writes it."""
    messages: int
    bytes: int
    arrived: float
    left: float
    confirm: float
    """Milliseconds from an event to the sync that covers it."""


@operation("Follow the manager by server-sent events, one for each sample", answers=(CONTENT_TYPE,))
async def stream_events(request: Request) -> Response:
    """Serve GET /events until the client or the server ends it."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}  # nginx would keep events back
    return StreamingResponse(_events(context), media_type=CONTENT_TYPE, headers=headers)


async def _events(context: Context) -> AsyncIterator[bytes]:
    """Yield samples until the server stops, or no longer knows the user."""
    sampler = context.console.sampler
    yield b": the next sample follows\n\n"
    while (sample := await sampler.wait()) is not None and context.users.knows(context.by):
        yield b"event: sample\ndata: " + _encode(_shown(sampler, sample)) + b"\n\n"


def _shown(sampler: Sampler, sample: Sample) -> SampleOut:
    last_two = list(islice(reversed(sampler.samples), 2))[::-1]
    rate = next(rates(last_two), None)
    return SampleOut(
        as_text(sample.moment),
        sample.messages,
        sample.bytes,
        0 if rate is None else round(rate.arrived, 3),
        0 if rate is None else round(rate.left, 3),
        sample.confirm / MILLISECOND,
    )

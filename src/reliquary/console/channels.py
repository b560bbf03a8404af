"""Channels of HTTPR: shown, resolved and forgotten."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.client.translate import channel_info
from reliquary.console.context import Context, answer, context_of, read_body
from reliquary.console.errors import NotDone, Refusal
from reliquary.engine.channels import channel, channels
from reliquary.protocols.httpr.events import Done, ForgetChannel, ReportChannel, SettleChannel
from reliquary.protocols.httpr.machine import Httpr
from reliquary.queueing.events import Answer
from reliquary.queueing.security.rights import ManagerRight


class SettleIn(msgspec.Struct, forbid_unknown_fields=True):
    """What became of all that is in doubt."""

    arrived: bool


_settle = msgspec.json.Decoder(SettleIn)


async def list_channels(request: Request) -> Response:
    """GET /channels."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    opened = context.opened
    seen = [channel_info(each) for each in channels(opened.state, opened.machine(Httpr).state)]
    await opened.settled()
    return answer({"channels": seen})


async def show_channel(request: Request) -> Response:
    """GET /channels/{number}."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    return await _shown(context, request.path_params["number"])


async def report(request: Request) -> Response:
    """POST /channels/{number}/report; answered when its responder has answered, or cannot be asked."""
    return await _steered(request, ReportChannel)


async def forget(request: Request) -> Response:
    """POST /channels/{number}/forget."""
    return await _steered(request, ForgetChannel)


async def settle(request: Request) -> Response:
    """POST /channels/{number}/settle: decide in place of a peer that is gone for good."""
    given = await read_body(request, _settle)
    return await _steered(request, lambda to, number: SettleChannel(to, number, given.arrived))


async def _steered(request: Request, make: Callable[[int, int], Event]) -> Response:
    context, number = context_of(request), request.path_params["number"]
    context.need(ManagerRight.SET_MACHINE_PROPERTIES)
    _check_there(context, number)
    done = await context.opened.engine.ask(lambda to: make(to, number))
    assert isinstance(done, Done), f"no answer: {done!r}"
    if not done.done:
        raise NotDone(done.why)
    return await _shown(context, number)


def _check_there(context: Context, number: int) -> None:
    if number not in context.opened.machine(Httpr).state.channels:
        raise Refusal(Answer(HResult.OBJECT_NOT_FOUND, f"there is no channel {number}"))


async def _shown(context: Context, number: int) -> Response:
    """A channel as it is; what is told of it is on disk by then."""
    _check_there(context, number)
    view = channel(context.opened.state, context.opened.machine(Httpr).state, number)
    assert view is not None, f"channel {number} went while it was looked at"
    await context.opened.settled()
    return answer(channel_info(view))

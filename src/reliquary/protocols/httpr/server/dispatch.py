"""Serves the requests of a channel one after another, in the order in which they came (HR-046).

    first request --> session? fault? flow? --> outcome of our batches --> pipeline depth --> its command
                          528, 523, 524           `report.settle`              523

A PULL that waits for messages delays the requests behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import FETCHES, FLOWS, Command, ErrorNumber, Outcome
from reliquary.protocols.httpr.server import info, pull, push, report, responses, sessions
from reliquary.protocols.httpr.server.channel import PendingRequest, ServerChannel
from reliquary.protocols.httpr.server.refusals import fault
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.transactions import OutcomeMessage

_SERVE: Final[dict[Command, Callable[[State, ServerChannel, PendingRequest, Instant], None]]] = {
    Command.GET_RESPONDER_INFO: info.serve,
    Command.PUSH: push.serve,
    Command.PULL: pull.serve,
    Command.EXCHANGE: push.serve,
    Command.REPORT: report.serve,
}
_RESPONSE: Final = OutcomeMessage.RESPONSE
_IN_DOUBT: Final = Outcome.INDOUBT
COMMANDS: Final = tuple(_SERVE)


def serve_next(state: State, channel: ServerChannel, now: Instant) -> None:
    """Serve the requests of a channel until one has to wait."""
    while channel.requests and not channel.busy:
        channel.busy = True
        request = channel.requests[0]
        try:
            _serve(state, channel, request, now)
        except HttprFault as refused:
            responses.refuse(state, channel, request, now, refused.number, refused.why)


def _serve(state: State, channel: ServerChannel, request: PendingRequest, now: Instant) -> None:
    """Serve a request in its turn, chapter 5: its session may have ended since the request came."""
    header, session = request.header, request.session
    if session is not channel.session:
        if session is not None:  # the answer to an earlier request has ended the session
            why = f"session {session.identifier} has ended"
            raise fault(ErrorNumber.SESSION_IDENTIFIER_NOT_RECOGNISED, why)
        sessions.end(state, channel)  # HR-014: a request without a session ends the session
    if request.fault is not None:
        raise fault(request.fault, request.why)
    if header.command in FLOWS:
        if header.command not in request.agreed.flows:
            raise fault(ErrorNumber.INVALID_FLOW, f"{header.command.value} was not agreed on")
        _settle(state, channel, request)
    if header.command in FETCHES:
        # after the outcome was settled: batches that it names are in doubt no longer (F-05)
        in_doubt = len(state.channels[channel.number].in_doubt)
        if in_doubt >= request.agreed.maximum_pipeline_depth:
            why = f"batches in doubt: {in_doubt}"
            raise fault(ErrorNumber.MAXIMUM_PIPELINE_DEPTH_EXCEEDED, why)
    _SERVE[header.command](state, channel, request, now)


def _settle(state: State, channel: ServerChannel, request: PendingRequest) -> None:
    """Settle the batches whose outcome the client reports.

    If it rolled a batch back, or is in doubt, it takes none of the batches after it (HR-077): its session
    ends if there may be later batches, and it gets no further batch now (HR-071, H-08).
    """
    settled = report.settle(state, channel.number, request.header, _RESPONSE)
    in_doubt = request.header.outcome is _IN_DOUBT
    request.unsettled = in_doubt or (bool(settled.returned) and request.pipelined)

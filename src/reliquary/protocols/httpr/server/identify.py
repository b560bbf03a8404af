"""Finds the channel of a request by its session, or by requester, channel and responder.

A request that names a channel for the first time opens it.  A request without a valid channel is refused:
530 version, 528 session, 513 no name of our own yet, 520 no names, 511 service or responder, 512 channel,
510 capabilities, 525 user.
"""

from __future__ import annotations

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.protocols.httpr.addresses import own_agent
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.codec.values import VERSION, ErrorNumber, RequestHeader
from reliquary.protocols.httpr.events import RequestArrived
from reliquary.protocols.httpr.facts import ChannelOpened
from reliquary.protocols.httpr.memory import new_channel
from reliquary.protocols.httpr.routing import is_known, responder_of
from reliquary.protocols.httpr.server import sessions
from reliquary.protocols.httpr.server.channel import PendingRequest, ServerChannel
from reliquary.protocols.httpr.server.refusals import fault
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal


def identify(
    state: State, event: RequestArrived, header: RequestHeader, now: Instant
) -> tuple[ServerChannel, PendingRequest]:
    """Return the channel of a request, and the request with its capabilities; HttprFault if it is refused."""
    if header.version != VERSION:
        raise fault(ErrorNumber.HTTP_R_VERSION_NOT_SUPPORTED, f"this agent does not support {header.version}")
    if header.session_id:
        return _by_session(state, event, header, now)
    responder, row = _by_names(state, event, header)
    agreed, lowered = sessions.sessionless(header.capabilities, state.settings.offered, header.command)
    row = _owned(state, event, row or _new_row(state, event.service, header))
    channel = state.server.channels.get(row.number)
    if channel is None:
        channel = state.server.channels[row.number] = ServerChannel(row.number, event.service)
    request = PendingRequest(event, header, now, agreed, None, responder, lowered, event.fault, event.why)
    return channel, request


def _by_session(
    state: State, event: RequestArrived, header: RequestHeader, now: Instant
) -> tuple[ServerChannel, PendingRequest]:
    number = state.server.sessions.get(header.session_id)
    channel = None if number is None else state.server.channels[number]
    session = None if channel is None else channel.session
    if channel is None or session is None or session.by is not event.by or channel.service != event.service:
        if channel is not None and channel.connection == event.connection:
            # requests pipelined behind this one must not be processed without it
            sessions.end(state, channel)
        why = f"there is no session {header.session_id}"
        raise fault(ErrorNumber.SESSION_IDENTIFIER_NOT_RECOGNISED, why)
    request = PendingRequest(event, header, now, session.agreed, session, fault=event.fault, why=event.why)
    return channel, request


def _by_names(state: State, event: RequestArrived, header: RequestHeader) -> tuple[str, Channel | None]:
    """Return our name for the answer, and the row of the channel that the request names, if it is known."""
    settings = state.settings
    if not state.origin:
        raise fault(
            ErrorNumber.RESOURCE_MANAGER_UNAVAILABLE,
            "this agent does not know its address yet",
        )
    if not header.requester or not header.channel:
        why = "the request names neither a session nor requester and channel"
        raise fault(ErrorNumber.HTTP_R_PROTOCOL_ERROR, why)  # HR-061
    if not is_known(settings, event.service):
        raise fault(ErrorNumber.RESPONDER_INVALID, f"there is no service {event.service}")
    responder = responder_of(state, event.service, header.responder)
    row = find_row(state, event.service, header)
    if row is None and not settings.open_channels and header.channel not in settings.channels:
        raise fault(ErrorNumber.CHANNEL_INVALID, f"this agent has no channel {header.channel}")  # HR-011
    return responder, row


def find_row(state: State, service: str, header: RequestHeader) -> Channel | None:
    """Return the row of the channel that a request names.

    Each service has one name, so a request without a responder is for that channel too.
    """
    return state.find(Role.SERVER, header.requester, header.channel, own_agent(state.origin, service))


def find_number(state: State, service: str, header: RequestHeader) -> int | None:
    """Return the number of the channel that a request is for, by its session or its names, if it is known."""
    if header.session_id:
        return state.server.sessions.get(header.session_id)
    row = find_row(state, service, header)
    return None if row is None else row.number


def _new_row(state: State, service: str, header: RequestHeader) -> Channel:
    responder = own_agent(state.origin, service)
    return new_channel(state, Role.SERVER, header.requester, header.channel, responder)


def _owned(state: State, event: RequestArrived, row: Channel) -> Channel:
    """Return the row with its owner; only the owner may use the channel and take its messages.

    A channel that was used anonymously belongs to its first authenticated user (525 for all others).
    """
    if not may_use(row, event.by):
        raise fault(ErrorNumber.AGENT_SECURITY, f"the channel belongs to another user than {event.by}")
    user = _user(event.by)
    if user != row.owner or row.number not in state.channels:
        apply(state, ChannelOpened(replace(row, owner=user)))
    return state.channels[row.number]


def may_use(row: Channel, by: Principal) -> bool:
    """Return whether this user may use a channel."""
    return not row.owner or row.owner == _user(by)


def _user(by: Principal) -> str:
    return "" if by is ANONYMOUS else str(by.user)


def own_name(state: State, event: RequestArrived) -> str:
    """Return our name in the refusal of a request whose channel is not known (HR-035)."""
    if not state.origin or event.header is None or event.header.session_id:
        return ""
    known = is_known(state.settings, event.service)
    return own_agent(state.origin, event.service if known else state.settings.manager_service)

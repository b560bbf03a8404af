"""Sends GET-RESPONDER-INFO on a new connection, 5.1, and takes the session and the capabilities.

new epoch --> GET-RESPONDER-INFO --> settles the batch that it names; a session, capabilities
         '--> a peer without sessions gets no GET-RESPONDER-INFO
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.connection import SentRequest
from reliquary.protocols.httpr.client.failures import handle_error, retry_later
from reliquary.protocols.httpr.client.outcomes import resume, settle
from reliquary.protocols.httpr.client.phases import Move
from reliquary.protocols.httpr.client.requests import send_request
from reliquary.protocols.httpr.codec.capabilities import agreed, granted
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import Capabilities, Command, SessionMark
from reliquary.protocols.httpr.events import ResponseArrived
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.transactions import OutcomeMessage
from reliquary.queueing.model.travel.link import ConnectionStatus

DEFAULTS: Final = Capabilities()


def connect(state: State, channel: ClientChannel, now: Instant) -> None:
    """Begin a new epoch: with GET-RESPONDER-INFO, or without a session."""
    if not channel.url:
        name = state.channels[channel.number].responder
        why = f"{name} has no host, and no peer says where it is"
        retry_later(state, channel, why, long=True, status=ConnectionStatus.DNS_FAILURE)
        return
    connection, session = channel.connection, channel.session
    connection.epoch += 1
    connection.last_number = 0
    connection.is_open = True
    session.proposed = proposal(state.settings, channel.peer)
    session.agreed = granted(session.proposed, DEFAULTS)  # HR-038, HR-039, HR-040
    if session.proposed.sessions:
        channel.move(Move.GREET)
        send_request(state, channel, Command.GET_RESPONDER_INFO, now, session=SessionMark.BEGIN)  # HR-036
    else:
        resume(state, channel)


def proposal(settings: HttprSettings, peer: Peer) -> Capabilities:
    """Return the capabilities that we propose to a peer."""
    wanted = settings.proposed
    if not peer.sessions or not wanted.sessions:
        wanted = replace(wanted, sessions=False, sessionless=True, maximum_pipeline_depth=1)
    if peer.pull and (peer.exchange or peer.channel):  # a response that waits delays the requests behind it
        wanted = replace(
            wanted,
            empty_batch_delay=min(wanted.empty_batch_delay, DEFAULTS.max_wait_batch),
            max_wait_batch=min(wanted.max_wait_batch, DEFAULTS.max_wait_batch),
        )
    return wanted


def on_response(
    state: State, channel: ClientChannel, request: SentRequest, event: ResponseArrived, now: Instant
) -> None:
    """Take the session and the capabilities, or record that the peer has no sessions (H-05)."""
    del now
    header, session = event.header, channel.session
    if header.error is not None:
        handle_error(state, channel, request, header)
        return
    try:
        session.agreed = agreed(session.proposed, header.capabilities)
    except HttprFault as wrong:
        retry_later(state, channel, str(wrong), long=True)
        return
    settle(state, channel, header, OutcomeMessage.INFO_ANSWER)
    if header.session is SessionMark.END:
        if session.agreed.sessions:
            retry_later(state, channel, f"{channel.url} ended the session before it began")
            return
        # HR-034, HR-062: one request at a time from now on, within the defaults until one is answered
        session.proposed = replace(
            session.proposed, sessions=False, sessionless=True, maximum_pipeline_depth=1
        )
        session.agreed = granted(session.agreed, DEFAULTS)
    elif not header.session_id:
        retry_later(state, channel, f"{channel.url} gave no session", long=True)
        return
    session.identifier = header.session_id
    _warn_of_missing_flows(state, channel)
    resume(state, channel)


def _warn_of_missing_flows(state: State, channel: ClientChannel) -> None:
    """Warn if the peer does not allow a command that this channel needs."""
    exchanges = channel.peer.exchange and Command.EXCHANGE in channel.session.agreed.flows
    wanted = {Command.PULL} if channel.fetching.enabled else set()
    if channel.outgoing.queues and not exchanges:
        wanted.add(Command.PUSH)
    missing = sorted(flow.value for flow in wanted - channel.session.agreed.flows)
    if missing:
        row = state.channels[channel.number]
        why = f"{row.name} needs {' and '.join(missing)}: allow it there, or change the channel here"
        state.draft.ask(Warn(row.responder, "the peer does not allow a command of a channel", why))

"""Sends REPORT, 5.5, which settles the batches in doubt.

    REPORT ------------------> settles every batch in doubt, and gives the last id that the peer used
    REPORT with `forget` ----> both sides forget the ids of our batches, and the session ends

Only REPORT returns messages of a batch that the peer did not name: it carries the last id that we used,
so the server refuses a request that comes late (F-02).
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Reply
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.connection import SentRequest
from reliquary.protocols.httpr.client.failures import (
    answer_administrators,
    end_session,
    handle_error,
    report_links,
    retry_later,
)
from reliquary.protocols.httpr.client.outcomes import resume, settle
from reliquary.protocols.httpr.client.phases import Move
from reliquary.protocols.httpr.client.requests import send_request
from reliquary.protocols.httpr.codec.values import NOTHING, Command, SessionMark
from reliquary.protocols.httpr.events import ResponseArrived
from reliquary.protocols.httpr.facts import PeerReported, Side, SideForgotten
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.transactions import OutcomeMessage
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent


def send_report(state: State, channel: ClientChannel, now: Instant) -> None:
    """Send a REPORT: it asks for the outcome of our batches and gives that of the peer's (HR-074, HR-125)."""
    channel.move(Move.REPORT)
    send_request(state, channel, Command.REPORT, now)


def on_response(
    state: State, channel: ClientChannel, request: SentRequest, event: ResponseArrived, now: Instant
) -> None:
    """Settle all batches, unless the peer is in doubt itself: then it is asked again later (T19)."""
    del now
    header = event.header
    if header.error is not None:
        handle_error(state, channel, request, header)
        return
    if header.outcome is None or header.completed is None:
        retry_later(state, channel, f"{channel.url} answered REPORT without an outcome")
        return
    sink_asked = state.channels[channel.number].sink_restored
    settle(state, channel, header, OutcomeMessage.REPORT)
    _note_last_pulled_id(state, channel, header.last_pulled_id)
    if state.channels[channel.number].in_doubt:
        why = f"the agent at {channel.url} does not know the outcome of batch {header.completed} yet"
        retry_later(state, channel, why)  # HR-078
        return
    channel.unresolved = sink_asked  # this REPORT said nothing about the peer's batches; the next one does
    for caller in channel.requested.report_callers:
        state.draft.ask(Reply(caller, Done(True)))
    channel.requested.report_callers.clear()
    if header.session is SessionMark.END:
        end_session(state, channel)
    else:
        resume(state, channel)


def _note_last_pulled_id(state: State, channel: ClientChannel, last: int | None) -> None:
    """Record the peer's last id, which later batches exceed (P8); zeros: it has forgotten the channel (H-30).

    After a restore of our store an id below the last that came means that it has restarted its numbering.
    """
    row = state.channels[channel.number]
    if row.sink_restored:
        last = row.last_received_id if last is None else last
        if last < row.last_received_id:
            last = NOTHING
        elif last <= row.last_sent_id:
            apply(state, PeerReported(channel.number, row.last_sent_id))
    if last == NOTHING:
        if row.has_sink_state:
            apply(state, SideForgotten(channel.number, Side.SINK))
        channel.fetching.acknowledged = NOTHING
    elif last is not None and last > row.last_sent_id:
        apply(state, PeerReported(channel.number, last))


def send_final_report(state: State, channel: ClientChannel, now: Instant) -> None:
    """Let the peer forget our batches, and end the session (HR-016, HR-032); nothing is in doubt."""
    row = state.channels[channel.number]
    assert not row.in_doubt, f"batches {row.in_doubt} are in doubt and would be forgotten"
    channel.move(Move.LEAVE)
    send_request(
        state,
        channel,
        Command.REPORT,
        now,
        session=SessionMark.END if channel.session.identifier else None,
        forget=row.last_source_id if row.has_source_state else None,
    )


def on_final_response(
    state: State, channel: ClientChannel, request: SentRequest, event: ResponseArrived, now: Instant
) -> None:
    """Forget the channel after a response without an error (P10, HR-075)."""
    del now
    header = event.header
    if header.error is not None:
        handle_error(state, channel, request, header)
        return
    _note_last_pulled_id(state, channel, header.last_pulled_id)
    if state.channels[channel.number].has_source_state:
        apply(state, SideForgotten(channel.number, Side.SOURCE))
    channel.requested.leaving, channel.retry.failures = False, 0
    answer_administrators(state, channel, Done(True))
    end_session(state, channel)
    if channel.outgoing.reported_connected:
        channel.outgoing.reported_connected = False
        report_links(state, channel, OutgoingEvent.DISCONNECTED, ConnectionStatus.CONNECTION_NOT_READY)

"""Decides which request a channel of the client sends next.

    messages wait, a PULL is due, a batch is in doubt
       |
       v            phases         requests      the network        flow_responses, info, report
    `advance` --> what is next --> SendRequest --> response -------> facts, and `advance` again
                                             '--> none -----------> failures

`advance` is called after all that happens to a channel.  What the channel does next follows from its phase,
its row and the messages that wait, and from nothing else.
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.failures import end_session
from reliquary.protocols.httpr.client.info import connect
from reliquary.protocols.httpr.client.outcomes import is_in_doubt
from reliquary.protocols.httpr.client.phases import SILENT, Phase
from reliquary.protocols.httpr.client.pull import owes_acknowledgement, send_pull
from reliquary.protocols.httpr.client.push import may_send, prepare
from reliquary.protocols.httpr.client.report import send_final_report, send_report
from reliquary.protocols.httpr.state import State


def advance(state: State, channel: ClientChannel, now: Instant) -> None:
    """Send the next requests of a channel, until there are none or a response must come first."""
    if channel.fetching.batch is not None or channel.outgoing.preparing:
        return  # the queue manager answers in this turn
    if channel.phase is Phase.READY and channel.is_stale(now):
        end_session(state, channel)
    if channel.phase is Phase.CLOSED and _has_work(state, channel):
        connect(state, channel, now)
    if channel.phase is Phase.MUST_REPORT:
        send_report(state, channel, now)
    elif channel.phase not in SILENT and channel.phase is not Phase.CLOSED:
        _send_flows(state, channel, now)


def advance_all(state: State, now: Instant) -> None:
    """Advance every channel of the client."""
    for channel in list(state.client.channels.values()):
        advance(state, channel, now)


def _has_work(state: State, channel: ClientChannel) -> bool:
    requested, fetching = channel.requested, channel.fetching
    asked = requested.leaving or bool(requested.report_callers)
    fetches = fetching.enabled and state.client.online and not fetching.paused
    moves_messages = may_send(state, channel) or fetches
    return (
        asked or moves_messages or is_in_doubt(state, channel) or owes_acknowledgement(state, channel)
    )  # fmt: skip


def _send_flows(state: State, channel: ClientChannel, now: Instant) -> None:
    """Send what an administrator requested, or batches and PULLs, or a REPORT that acknowledges."""
    requested = channel.requested
    if requested.report_callers or requested.leaving:
        if channel.phase is Phase.READY:
            (send_report if requested.report_callers else send_final_report)(state, channel, now)
        return
    while len(channel.connection.pending) < channel.depth and _send_one(state, channel, now):
        if channel.outgoing.preparing:
            return
    if channel.phase is Phase.READY and owes_acknowledgement(state, channel):
        send_report(state, channel, now)  # HR-074: there is nothing else to send or to fetch


def _send_one(state: State, channel: ClientChannel, now: Instant) -> bool:
    """Send a PULL or prepare a batch, the two in turns; return False if neither may be sent."""
    if channel.connection.newest_sends:
        return send_pull(state, channel, now) or prepare(state, channel)
    return prepare(state, channel) or send_pull(state, channel, now)

"""Performs the requests of administrators that concern both agents.

`forget` ends a channel.  `settle` decides about batches in doubt in place of a peer that will never
answer again:

    arrived    the messages leave, as after COMMIT
    lost       the messages are available again, as after ROLLBACK

A wrong decision loses messages or doubles them; so it is refused while the peer still answers.
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Reply, Warn
from reliquary.protocols.httpr.batches import end_batches
from reliquary.protocols.httpr.client import administration as client
from reliquary.protocols.httpr.client.advance import advance_all
from reliquary.protocols.httpr.events import ForgetChannel, SettleChannel
from reliquary.protocols.httpr.server import administration as server
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.protocols.httpr.transactions import Settlement
from reliquary.queueing.model.administration import Done


def on_forget_wanted(state: State, event: ForgetChannel, now: Instant) -> None:
    """Forget a channel, or refuse it while batches are in doubt.

    A client channel is forgotten on both sides, a server channel only here: its requester forgets by itself.
    """
    number = event.channel
    row = state.channels.get(number)
    if row is not None and row.role is Role.SERVER:
        server.close_channel(state, row, now)
        row = state.channels[number]
    if row is not None and row.in_doubt:
        batches = ", ".join(map(str, row.in_doubt))
        why = f"channel {number} cannot be forgotten while it is in doubt about {batches}"
        state.draft.ask(Reply(event.to, Done(False, why)))
    elif row is not None and row.role is Role.SERVER:
        server.forget(state, row)
        state.draft.ask(Reply(event.to, Done(True)))
        advance_all(state, now)  # the client now brings the messages that the requester fetched before
    else:
        client.forget(state, event, now)


def on_settle_wanted(state: State, event: SettleChannel, now: Instant) -> None:
    """Settle all batches in doubt as the administrator says, or refuse with the reason."""
    del now
    row = state.channels.get(event.channel)
    why = f"there is no channel {event.channel}" if row is None else _objection(state, row)
    if row is None or why:
        state.draft.ask(Reply(event.to, Done(False, why)))
        return
    batches = row.in_doubt
    end_batches(state, row.number, Settlement(batches) if event.arrived else Settlement(returned=batches))
    channel = state.client.channels.get(row.number)
    if channel is not None:
        channel.unresolved = True  # after the next REPORT the peer refuses batches that come late
    peer = row.requester if row.role is Role.SERVER else row.responder
    word = "arrived" if event.arrived else "lost"
    what = "an administrator settled what was in doubt"
    state.draft.ask(Warn(peer, what, f"batches {', '.join(map(str, batches))} count as {word}"))
    state.draft.ask(Reply(event.to, Done(True)))


def _objection(state: State, row: Channel) -> str:
    """Return the reason why an administrator must not decide; empty if the decision is allowed."""
    number = row.number
    if not row.in_doubt:
        return f"nothing is in doubt on channel {number}"
    server_channel, client_channel = state.server.channels.get(number), state.client.channels.get(number)
    if server_channel is not None and server_channel.requests:
        return f"{row.requester} uses channel {number} now, and will report the outcome of these batches"
    if client_channel is not None and client_channel.connection.pending:
        return f"{row.responder} is being asked over channel {number} for the outcome of these batches"
    return ""

"""An administrator decides in place of a peer that is gone for good what became of batches in doubt.

    arrived    their messages leave, as after COMMIT
    lost       their messages are there again, as after ROLLBACK

Whoever is wrong here loses messages or doubles them; so a peer that still speaks is asked instead.
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Reply, Warn
from reliquary.protocols.httpr.events import Done, SettleChannel
from reliquary.protocols.httpr.server.report import conclude
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.protocols.httpr.transactions import Settlement


def on_settle_wanted(state: State, event: SettleChannel, now: Instant) -> None:
    """Settle all that is in doubt, or say why not."""
    del now
    channel = state.channels.get(event.channel)
    why = f"there is no channel {event.channel}" if channel is None else _objection(state, channel)
    if channel is None or why:
        state.draft.ask(Reply(event.to, Done(False, why)))
        return
    batches = channel.in_doubt
    conclude(state, channel.number, Settlement(batches) if event.arrived else Settlement(returned=batches))
    driven = state.driven.get(channel.number)
    if driven is not None:
        driven.unresolved = True  # what still comes late is refused once REPORT has told of it
    peer = channel.requester if channel.role is Role.SERVER else channel.responder
    word = "arrived" if event.arrived else "lost"
    what = "an administrator settled what was in doubt"
    state.draft.ask(Warn(peer, what, f"batches {', '.join(map(str, batches))} count as {word}"))
    state.draft.ask(Reply(event.to, Done(True)))


def _objection(state: State, channel: Channel) -> str:
    """Why nobody need decide; empty where somebody must."""
    number = channel.number
    if not channel.in_doubt:
        return f"nothing is in doubt on channel {number}"
    served, driven = state.served.get(number), state.driven.get(number)
    if served is not None and served.line:
        return f"{channel.requester} speaks over channel {number} now, and knows what became of them"
    if driven is not None and driven.asked:
        return f"{channel.responder} is being asked over channel {number}, and knows what became of them"
    return ""

"""Remembers delivered messages that may still be in their queue (F-06), so that none is delivered twice.

RemoteQMEndReceive(ACK) --> no response    the server removed the message, or its rundown restored it
deliver, remember the identifier           before the application has it, the identifier is on disk
the identifier is read again               acknowledge, do not deliver, forget the identifier
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant, later
from reliquary.base.turn import SetTimer
from reliquary.protocols.mqqp.client.apply import apply
from reliquary.protocols.mqqp.client.facts import DoubtEnded, MessageDoubted
from reliquary.protocols.mqqp.client.state import Link
from reliquary.protocols.mqqp.client.tables import Doubt
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.message import NO_OBJECT, Message

TIMER: Final = "mqqp-doubts"


def keep(state: State, link: Link, message: Message, now: Instant) -> None:
    """Remember a delivered message whose removal was not confirmed; it needs an identifier for that."""
    if message.identifier == NO_OBJECT:
        return
    until = later(now, state.client.settings.memory)
    apply(state, MessageDoubted(Doubt(link.key, message.identifier, until)))
    arm(state, now)


def is_known(state: State, link: Link, message: Message) -> bool:
    """Return whether this message of this queue was delivered before."""
    return (link.key, message.identifier) in state.client.doubts


def settle(state: State, link: Link, message: Message) -> None:
    """Forget a message that its server has removed for certain."""
    if is_known(state, link, message):
        apply(state, DoubtEnded(link.key, message.identifier))


def arm(state: State, now: Instant) -> None:
    """Set the timer for the doubt that ends first, if there is a doubt and no timer is set."""
    client = state.client
    if client.doubts and not client.sweeping:
        client.sweeping = True
        first = min(doubt.until for doubt in client.doubts.values())
        state.draft.ask(SetTimer((TIMER, 0), Duration(max(first - now, 0))))


def on_timer(state: State, number: int, now: Instant) -> None:
    """Forget the doubts whose time is over."""
    del number
    state.client.sweeping = False
    for doubt in [each for each in state.client.doubts.values() if each.until <= now]:
        apply(state, DoubtEnded(doubt.queue, doubt.identifier))
    arm(state, now)

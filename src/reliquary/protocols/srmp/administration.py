"""What an administrator decides about a stream that cannot go on by itself.

out    the stream ends and another begins.  What is not confirmed goes again under new numbers, or to the
       dead-letter queue: its receiver may have it, and only a person can know that
in     the next message is taken, whatever its stream and its number are, and the stream goes on from there
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.base.turn import Reply, Warn
from reliquary.protocols.srmp.events import ResetStream
from reliquary.protocols.srmp.sender.closing import start_anew
from reliquary.protocols.srmp.state import State
from reliquary.queueing.model.administration import Done
from reliquary.streams.apply import apply
from reliquary.streams.facts import StreamAdvanced
from reliquary.streams.incoming import Incoming
from reliquary.streams.records import incoming_name, outgoing_name

WHAT: Final = "an administrator reset a stream"


def on_reset(state: State, event: ResetStream, now: Instant) -> None:
    """Reset a stream, or say that there is none of this name."""
    queue = next((each for each in state.sent if outgoing_name(each) == event.stream), None)
    incoming = next((each for each in state.places if incoming_name(each.key) == event.stream), None)
    if queue is not None:
        count = start_anew(state, queue, now, renumber=event.renumber)
        word = "go again under new numbers" if event.renumber else "are dead letters"
        state.draft.ask(Warn(event.stream, WHAT, f"{count} messages without a receipt {word}"))
    elif incoming is not None:
        _take_next(state, incoming)
    else:
        why = f"there is no stream {event.stream} of SRMP, and others cannot be reset"
        state.draft.ask(Reply(event.to, Done(False, why)))
        return
    state.draft.ask(Reply(event.to, Done(True)))


def _take_next(state: State, incoming: Incoming) -> None:
    apply(state, StreamAdvanced(*incoming.key, replace(incoming.stream, reset=True)))
    why = f"the next message from {incoming.key[0]} is taken, whatever its number is"
    state.draft.ask(Warn(incoming_name(incoming.key), WHAT, why))

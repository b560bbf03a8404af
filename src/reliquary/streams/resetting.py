"""Resets a stream that cannot continue, on the order of an administrator.

out    the stream ends and another begins.  What is not confirmed is sent again under new numbers, or to the
       dead-letter queue: its receiver may have it, and only a person can know that
in     the next message is taken, whatever its stream and its number are, and the stream goes on from there
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.base.turn import Reply, Warn
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.travel.transfer import Outcome, TransferEnded
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.apply import apply
from reliquary.streams.events import ResetStream
from reliquary.streams.facts import StreamAdvanced, StreamEnded
from reliquary.streams.incoming import Incoming
from reliquary.streams.numbering import in_order, renumber
from reliquary.streams.records import incoming_name, outgoing_name
from reliquary.streams.state import StreamState

WHAT: Final = "an administrator reset a stream"


def reset(
    state: StreamState, event: ResetStream, now: Instant, gave_up: Callable[[int, tuple[int, ...]], None]
) -> None:
    """Reset a stream, or answer that no stream has this name.

    `gave_up` gets the outgoing queue of the old stream and the messages that left the queue; it must send
    the others again.
    """
    queue = next((each for each in state.sent if outgoing_name(each) == event.stream), None)
    incoming = next((each for each in state.places if incoming_name(each.key) == event.stream), None)
    if queue is not None:
        gone, count = _begin_anew(state, queue, now, renumber_them=event.renumber)
        gave_up(queue, gone)
        word = "go again under new numbers" if event.renumber else "are dead letters"
        state.draft.ask(Warn(event.stream, WHAT, f"{count} messages without a receipt {word}"))
    elif incoming is not None:
        _take_next(state, incoming)
    else:
        state.draft.ask(Reply(event.to, Done(False, f"there is no stream {event.stream}")))
        return
    state.draft.ask(Reply(event.to, Done(True)))


def _begin_anew(
    state: StreamState, queue: int, now: Instant, *, renumber_them: bool
) -> tuple[tuple[int, ...], int]:
    """End the stream of a queue; return the messages that left it, and how many were not confirmed.

    Unconfirmed messages get the first numbers of a new stream, or become dead letters.  So do those that
    wait for a final receipt alone.
    """
    sent = state.sent[queue]
    everything = in_order(sent)
    confirmed = len(everything) - sent.awaiting
    unconfirmed = everything[confirmed:]
    gone = everything[:confirmed] if renumber_them else everything
    apply(state, StreamEnded(queue))
    if gone:
        state.draft.signal(TransferEnded(queue, gone, Outcome.REFUSED, NOT_KNOWN, by_receipt=True))
    if renumber_them and unconfirmed:
        renumber(state, queue, sent, unconfirmed, now)
    return gone, len(unconfirmed)


def _take_next(state: StreamState, incoming: Incoming) -> None:
    apply(state, StreamAdvanced(*incoming.key, replace(incoming.stream, reset=True)))
    why = f"the next message from {incoming.key[0]} is taken, whatever its number is"
    state.draft.ask(Warn(incoming_name(incoming.key), WHAT, why))

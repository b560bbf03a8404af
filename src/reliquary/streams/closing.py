"""Closes streams of an older era after the store was restored; a closed stream ends when its messages are
settled.

a message with a number         goes again under it: a receiver that had it confirms it, another one takes it
a message without a number      may have had one after the backup: so it becomes a dead letter
a message of this era           waits for the end of the closed stream, and begins another
"""

from __future__ import annotations

from typing import Final

from reliquary.base.turn import Warn
from reliquary.queueing.model.travel.transfer import Outcome, SendUserMessage, TransferEnded
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.numbering import in_order
from reliquary.streams.state import StreamState

PATIENCE: Final = 3
"""The number of waits for a receipt after which the rest of a closed stream becomes dead letters."""
NOT_CONFIRMED: Final = "messages of an older era become dead letters"


def in_this_era(
    state: StreamState, queue: int, destination: str, sends: list[SendUserMessage]
) -> list[SendUserMessage]:
    """Make dead letters of messages without a number that may have had one after the backup; return the
    others."""
    older = tuple(send.lookup_id for send in sends if send.of_older_era)
    if older:
        _warn(state, destination, len(older), "whether they were delivered after the backup is not known")
        state.draft.signal(TransferEnded(queue, older, Outcome.REFUSED, NOT_KNOWN))
        sends = [send for send in sends if not send.of_older_era]
    return sends


def make_dead_letters(state: StreamState, queue: int, destination: str, why: str) -> tuple[int, ...]:
    """Make dead letters of all messages of a stream, and return them; the caller frees their numbers."""
    left = in_order(state.sent[queue])
    _warn(state, destination, len(left), why)
    state.draft.signal(TransferEnded(queue, left, Outcome.REFUSED, NOT_KNOWN, by_receipt=True))
    return left


def _warn(state: StreamState, destination: str, count: int, why: str) -> None:
    state.draft.ask(Warn(destination, NOT_CONFIRMED, f"{count} of them: {why}"))

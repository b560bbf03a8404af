"""Computes how many messages a source may still send, the flow control of [MS-WSRVCRM] 3.1.

    left      messages that the queue can still take beyond those that are buffered; no limit without a quota
    free      left, less the messages that are missing before buffered ones, which need room when they come
    shared    free, less what other active sequences may count on; so no room is promised twice
    value     the messages that it misses itself, and the smallest of: the rest of its window, an equal part
              of free, shared; 0 if it takes no more, or must wait for an earlier sequence

For a bounded endpoint, left is its window less the number of unread and buffered messages. For other
endpoints stored messages count as processed, and left is the rest of the quota: bytes are converted to
messages by the size of the largest message so far.  A source that was silent for long has no reserved
room.

The four events of 3.1.7 are functions here.  A sequence is in FLOW_CONTROL_STATE from its creation on, and in
no other state (FC-010, FC-011); Buffer Remaining is `Sequence.buffer`.  The real room decides, so GET reads
it anew each time.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import UsageError
from reliquary.protocols.wsrm.destination.phases import Phase
from reliquary.protocols.wsrm.destination.state import Sequence, TargetQueue
from reliquary.protocols.wsrm.settings import LARGEST_WINDOW
from reliquary.protocols.wsrm.state import State

MAXIMUM: Final = LARGEST_WINDOW
"""Buffer Remaining is never larger (FC-013)."""
_OPEN: Final = Phase.OPEN
SPREAD: Final = LARGEST_WINDOW
"""The most numbers by which an unordered message may precede the first missing one, which limits the gaps."""


# -- the events of 3.1.7


def get_buffer_remaining(state: State, sequence: Sequence) -> int:
    """Read the free room, and let the source use it (GET_BUFFER_REMAINING, FC-014, FC-015)."""
    value = room_for(state, sequence)
    if sequence.phase is _OPEN:
        set_buffer_remaining(sequence, value)
        if value:
            sequence.target.starved.pop(sequence.number, None)
        elif not sequence.acknowledges_on_response:
            sequence.target.starved.setdefault(sequence.number)
    return value


def set_buffer_remaining(sequence: Sequence, value: int) -> None:
    """Set Buffer Remaining (SET_BUFFER_REMAINING, FC-026, FC-027); UsageError outside its range (H-06)."""
    if not 0 <= value <= MAXIMUM:
        raise UsageError(f"Buffer Remaining is 0 to {MAXIMUM}, not {value}")
    sequence.buffer = value


def message_received(sequence: Sequence) -> None:
    """Let the source send one message less (MESSAGE_RECEIVED, FC-021, FC-022); 0 stays 0."""
    if sequence.buffer > 0:  # FC-023, FC-024
        set_buffer_remaining(sequence, sequence.buffer - 1)


def message_processed(target: TargetQueue, unread: int, free: int | None) -> None:
    """Set the new room of a queue (MESSAGE_PROCESSED, FC-017 to FC-020).

    The number of processed messages is not counted, because a message may leave a queue in many ways:
    the queue manager reports the stored messages, and the value never exceeds the window.
    """
    target.unread, target.free = unread, free
    target.reports += 1
    forget_additions(target)


# -- the room of a queue


def add_messages(target: TargetQueue, reports: int, sizes: tuple[int, ...]) -> None:
    """Count messages that went into the queue, unless the queue manager has reported them already."""
    largest = max(sizes, default=0)
    if largest > target.largest:
        target.largest = largest
    if target.reports == reports:
        target.added += len(sizes)
        target.added_bytes += sum(sizes)


def forget_additions(target: TargetQueue) -> None:
    """Use only the last report, which includes the additions of earlier turns."""
    target.added = target.added_bytes = 0


def takes(state: State, sequence: Sequence, number: int) -> bool:
    """Return whether there is room for a new message with this number, and for all missing before it.

    So a gap can always be filled: `number - next` messages are still to come before this one, as in WCF.
    """
    distance = number - sequence.next
    if distance >= (sequence.settings.window if sequence.keeps_order else SPREAD):
        return False
    if sequence.waits_for_earlier:
        return False
    if _is_ample(sequence):
        return True
    if not sequence.keeps_order:
        return _shared(state, sequence) > 0
    beyond = number - max(sequence.highest, sequence.next - 1)
    if beyond > 0:
        return beyond <= _shared(state, sequence)
    return distance > 0 or queue_room(sequence) > 0  # it fills a gap


def room_for(state: State, sequence: Sequence) -> int:
    """Return how many messages the source may send, 0 to MAXIMUM (FC-009); changes nothing."""
    if sequence.phase is not _OPEN or sequence.waits_for_earlier:
        return 0  # a sequence that takes no more gets no room, also in its final acknowledgement
    own = sequence.settings.window - (sequence.ahead if sequence.keeps_order else 0)
    if _is_ample(sequence):
        return max(own, 0)
    others = _active_others(state, sequence)
    free = _left(sequence) - sequence.missing - sum(each.missing for each in others)
    part = -(-free // (len(others) + 1))  # the requesting sequence gets the remainder
    return max(min(own, sequence.missing + min(part, _shared(state, sequence))), 0)


def queue_room(sequence: Sequence) -> int:
    """Return how many messages may be stored in the queue now, as far as its window allows."""
    target, settings = sequence.target, sequence.settings
    if not settings.bounded:
        return MAXIMUM
    return max(settings.window - target.unread - target.added - target.arriving, 0)


def _is_ample(sequence: Sequence) -> bool:
    """Return whether every open sequence of the queue may have its whole window."""
    target = sequence.target
    if sequence.settings.bounded:
        return False
    return target.free is None or _fitting(target) >= MAXIMUM * len(target.open)


def _shared(state: State, sequence: Sequence) -> int:
    """Return how many messages fit in addition to the missing ones and the room of other sequences."""
    promised = sum(max(each.buffer, each.missing) for each in _active_others(state, sequence))
    return _left(sequence) - sequence.missing - promised


def _left(sequence: Sequence) -> int:
    """Return how many messages the queue can take besides buffered ones, also of ended sequences."""
    target = sequence.target
    left = MAXIMUM * len(target.open) + MAXIMUM if target.free is None else _fitting(target)
    if not sequence.settings.bounded:
        return left
    buffered = sum(each.waiting for each in (target.open | target.blocked).values())
    return min(left, sequence.settings.window - target.unread - target.added - buffered)


def _fitting(target: TargetQueue) -> int:
    """Return how many messages fit into the quota; always one into an empty queue."""
    assert target.free is not None, f"{target.name} has no quota"
    left = target.free - target.added_bytes - target.buffered_bytes
    fitting = left // target.largest
    return 1 if fitting <= 0 < left and not target.unread and not target.added else fitting


def _active_others(state: State, sequence: Sequence) -> list[Sequence]:
    """Return the other sequences of the queue that may send now: open, and used not long ago."""
    since = state.destination.now - state.settings.polling
    return [
        each
        for each in sequence.target.open.values()
        if each is not sequence and each.heard > since and each.phase is Phase.OPEN
    ]

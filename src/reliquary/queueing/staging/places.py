"""Give the messages of staged chunks their positions, and do what the messages request on arrival."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

import msgspec

from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.staging import ASKS, DEAD_LETTER, EXPIRES, PEEKABLE, Ends, NumberedChunk
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import LANE_SHIFT
from reliquary.queueing.rules.enqueue import announce, deadline_in, position_in, share_with_journal
from reliquary.queueing.rules.expiry import expire, is_over
from reliquary.queueing.staging.facts import StagePlaced, StagePublished


def publish_chunks(
    state: State,
    batch: tuple[str, int],
    queue: QueueState,
    chunks: Sequence[NumberedChunk],
    ends: Ends,
    now: Instant,
) -> None:
    """Put the messages of chunks into their queue, where readers see them at once."""
    positions, loaded = list[Position](), dict[int, Message]()
    for numbered in chunks:
        positions += _positions(state, queue, numbered, ends, loaded, now)
    apply(state, StagePublished(*batch, queue.number, tuple(positions), tuple(loaded.items())))
    if not loaded:
        return
    with_message = [position for position in positions if position.message in loaded]
    messages = [loaded[position.message] for position in with_message]
    announce(state, queue, with_message, messages, now)
    for position in with_message:
        stored = queue.order.get(position.lookup_id)
        if stored is not None and is_over(stored, now):  # AN-46: as in a commit
            expire(state, queue, stored)


def place_chunk(
    state: State,
    batch: tuple[str, int],
    queue: QueueState,
    numbered: NumberedChunk,
    ends: Ends,
    moment: Instant,
) -> None:
    """Write the positions of a chunk whose messages request nothing, and the moments when they expire.

    Readers do not see these messages yet, and they do not expire before they are shown.
    """
    loaded = dict[int, Message]()
    positions = _positions(state, queue, numbered, ends, loaded, moment)
    apply(state, StagePlaced(*batch, queue.number, tuple(positions), tuple(loaded.items())))


def _positions(
    state: State,
    queue: QueueState,
    numbered: NumberedChunk,
    ends: Ends,
    loaded: dict[int, Message],
    now: Instant,
) -> list[Position]:
    """Return the positions of one chunk; add the messages that the publish has to load to `loaded`."""
    chunk, first = numbered.chunk, numbered.first
    count = len(chunk.sizes)
    numbers = range(chunk.first, chunk.first + count)
    if len(chunk.lanes) == 1:
        start = (chunk.lanes[0] << LANE_SHIFT) + first
        lookup_ids: Iterable[int] = range(start, start + count)
    else:
        lookup_ids = [(lane << LANE_SHIFT) + first + place for place, lane in enumerate(chunk.lanes)]
    positions = list(map(Position, lookup_ids, numbers, chunk.sizes, repeat(now)))
    to_load = {number - chunk.first for number in ends if number in numbers}
    for place, mark in enumerate(chunk.marks):
        if mark & (ASKS | EXPIRES):
            to_load.add(place)
        elif mark:
            positions[place] = msgspec.structs.replace(
                positions[place], peekable=bool(mark & PEEKABLE), dead_letter=bool(mark & DEAD_LETTER)
            )
    places = sorted(to_load)
    stored = state.messages.get_all([positions[place] for place in places])
    for place, staged in zip(places, stored, strict=True):
        position = positions[place]
        message = _sent(staged, position.message, ends)
        positions[place] = _timed(state, queue, position, message, first + place, now)
        loaded[position.message] = _dated(message, now)
    return positions


def _sent(message: Message, number: int, ends: Ends) -> Message:
    """Return the message, marked if it is the first or the last of the batch's transaction."""
    if number not in ends:
        return message
    return message.changed(first_in_transaction=number == ends.first, last_in_transaction=number == ends.last)


def _dated(message: Message, now: Instant) -> Message:
    return message if message.sent_time else msgspec.structs.replace(message, sent_time=in_whole_seconds(now))


def _timed(
    state: State, queue: QueueState, position: Position, message: Message, sequence: int, now: Instant
) -> Position:
    """Return the position of a loaded message with its deadlines and its journal, as in `enqueue.insert`."""
    expires, due = deadline_in(queue, message, now), message.due(now)
    made = position_in(queue, message, sequence, position.size, now, expires, due)
    made = msgspec.structs.replace(made, message=position.message, inline_in=0)  # it has its row already
    return share_with_journal(state, queue, made, message)

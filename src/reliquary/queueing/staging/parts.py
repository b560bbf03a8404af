"""The chunks of a batch, grouped by the queues that its messages go to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.staging import Ends, NumberedChunk, numbers_of
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import StagedChunk
from reliquary.queueing.staging.sweep import chunks_of


@dataclass(slots=True)
class Part:
    """The chunks of a batch that go into one queue, with their messages counted."""

    queue: QueueState
    chunks: list[StagedChunk] = field(default_factory=list)
    count: int = 0
    size: int = 0


def by_queue(state: State, numbers: Iterable[int]) -> tuple[list[Part], Ends]:
    """Return the chunks of all parts grouped by queue, in the order of the parts, and the batch's ends."""
    parts, first, last = dict[int, Part](), 0, 0
    for number in numbers:
        for chunk in chunks_of(state, number):
            first, last = first or chunk.first, numbers_of(chunk)[-1]
            part = parts.get(chunk.queue) or parts.setdefault(chunk.queue, Part(state.queues[chunk.queue]))
            part.chunks.append(chunk)
            part.count += len(chunk.sizes)
            part.size += sum(chunk.sizes)
    return list(parts.values()), Ends(first, last)


def numbered_chunks(parts: Iterable[Part], first: int) -> tuple[NumberedChunk, ...]:
    """Return the chunks with the sequence numbers of their messages; the first message gets `first`."""
    chunks = list[NumberedChunk]()
    for part in parts:
        for chunk in part.chunks:
            chunks.append(NumberedChunk(chunk, first))
            first += len(chunk.sizes)
    return tuple(chunks)

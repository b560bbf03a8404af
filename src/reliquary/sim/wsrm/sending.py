"""Checks what a source sends: no more than its window and BufferRemaining allow, with numbers that are on
disk.

numbers   a message leaves under a number that is on disk
window    there are never more messages without an acknowledgement than the window of the peer
room      after BufferRemaining 0 no new message leaves before an acknowledgement says that there is room, and
          never are more on their way than the last one allowed
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reliquary.base.turn import Fact
from reliquary.protocols.wsrm.codec.values import NO_BUFFER, Acknowledgement, SequenceHeader
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.source import facts as wsrm
from reliquary.sim.history import Violation


@dataclass(slots=True)
class _Stream:
    """The messages sent in one sequence, and the acknowledgements of the peer."""

    sent: set[int] = field(default_factory=set)
    acknowledged: set[int] = field(default_factory=set)
    buffer: int = NO_BUFFER
    """The last BufferRemaining; NO_BUFFER before the first one, and after a restart."""


class SourceMonitor:
    """Checks the source of one site."""

    def __init__(self, site: str, settings: WsrmSettings) -> None:
        self._site = site
        self._settings = settings
        self._streams: dict[str, _Stream] = defaultdict(_Stream)
        self.reset()

    def reset(self) -> None:
        """Forget the state of the process; the turns that a crash did not undo are recorded again."""
        self._numbered: dict[tuple[int, int], int] = {}
        """The batch of writes with which a number of a sequence was assigned."""
        self._sequences: dict[str, int] = {}
        for stream in self._streams.values():
            stream.buffer = NO_BUFFER

    def note(self, batch: int, stated: Iterable[Fact]) -> None:
        """Record the sequences and the assigned numbers."""
        for fact in stated:
            match fact:
                case wsrm.SequenceBegun() if fact.outbound.identifier:
                    self._sequences[fact.outbound.identifier] = fact.outbound.number
                case wsrm.SequenceCreated():
                    self._sequences[fact.identifier] = fact.sequence
                case wsrm.MessagesNumbered():
                    for place, _ in enumerate(fact.lookup_ids):
                        self._numbered[fact.sequence, fact.first + place] = batch
                case _:
                    pass

    # -- what peers say

    def on_acknowledgements(self, said: Iterable[Acknowledgement]) -> None:
        """Record acknowledgements; an acknowledgement that is older than an earlier one has no
        effect (H-12)."""
        for each in said:
            stream = self._streams[each.identifier]
            numbers = {place for low, high in each.ranges for place in range(low, high + 1)}
            if numbers >= stream.acknowledged:
                stream.acknowledged = numbers
                if each.buffer != NO_BUFFER:
                    stream.buffer = each.buffer

    # -- what is sent

    def shown_by(self, header: SequenceHeader, url: str) -> int:
        """Return the batch that must be on disk before a message leaves; raise Violation if it must not
        leave."""
        stream = self._streams[header.identifier]
        is_new = header.number not in stream.sent
        stream.sent.add(header.number)
        if header.last:  # LastMessage has no content, and needs no room
            return 0
        if is_new:
            self._check_room(stream, header, url)
        sequence = self._sequences.get(header.identifier, 0)
        batch = self._numbered.get((sequence, header.number))
        if batch is None:
            raise Violation(
                f"number: {self._site} sends {header.number} of {header.identifier}, and no message has it"
            )
        return batch

    def _check_room(self, stream: _Stream, header: SequenceHeader, url: str) -> None:
        under_way = len(stream.sent - stream.acknowledged)
        window = self._settings.peer(url.replace("http", "wsrm", 1)).window
        limits: Mapping[str, int] = {"window": window} | (
            {} if stream.buffer == NO_BUFFER else {"BufferRemaining": stream.buffer}
        )
        for name, limit in limits.items():
            if under_way > limit:
                raise Violation(
                    f"window: {self._site} sends {header.number} of {header.identifier} as new, so"
                    f" {under_way} are without an acknowledgement, and {name} is {limit}"
                )

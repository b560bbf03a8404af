"""Checks what a destination sends: acknowledgements of messages on disk, which only grow, and room that
exists.

durable      each number that is acknowledged was received, and that is on disk before it is sent
cumulative   of one sequence, no acknowledgement leaves that lacks a number of an earlier one, unless the
             store was restored between them
room         BufferRemaining is at most the window, and of a bounded queue at most what it has left; a
             sequence that takes no more messages has none
window       no message is stored in a bounded queue that has as many unread ones as its window
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from reliquary.base.turn import Fact
from reliquary.protocols.wsrm.codec.values import Acknowledgement
from reliquary.protocols.wsrm.destination import facts as wsrm
from reliquary.protocols.wsrm.destination.tables import Inbound
from reliquary.protocols.wsrm.settings import EndpointSettings, WsrmSettings
from reliquary.queueing.model import facts
from reliquary.queueing.model.state import State
from reliquary.sim.history import Turned, Violation, named
from reliquary.sim.world.register import local_name


class DestinationMonitor:
    """Checks the destination of one site."""

    def __init__(self, site: str, settings: WsrmSettings, *, alone: bool) -> None:
        self._site = site
        self._settings = settings
        self._alone = alone
        """Whether no other protocol fills the queues of the site."""
        self._confirmed: dict[str, set[int]] = defaultdict(set)
        """The numbers in acknowledgements that left the site, over all restarts, by identifier."""
        self.reset()

    def reset(self) -> None:
        """Forget all records; the turns that a crash did not undo are recorded again."""
        self._rows: dict[int, Inbound] = {}
        self._numbers: dict[str, int] = {}
        self._over: set[int] = set()
        """Sequences that take no more messages."""
        self._received: dict[int, dict[int, int]] = defaultdict(dict)
        """For each sequence, the batch of writes with which each number was received."""
        self.buffered: dict[bytes, int] = {}
        """Messages that were buffered after a gap, each with its batch of writes."""

    def restored(self) -> None:
        """Forget the acknowledgements that were sent: the store has forgotten them too."""
        self._confirmed.clear()

    # -- turns

    def note(self, batch: int, stated: Iterable[Fact]) -> None:
        """Record the sequences and the numbers that were received."""
        for fact in stated:
            match fact:
                case wsrm.SequenceOpened():
                    self._rows[fact.row.number] = fact.row
                    self._numbers[fact.row.identifier] = fact.row.number
                case wsrm.SequenceClosed() | wsrm.SequenceEnded():
                    self._over.add(fact.sequence)
                case wsrm.MessageReceived():
                    self._received[fact.sequence][fact.number] = batch
                case wsrm.MessageBuffered():
                    self._received[fact.sequence][fact.number] = batch
                    self.buffered[named(fact.message)] = batch
                case _:
                    pass

    def check_stored(self, turned: Turned, manager: State) -> None:
        """Check that messages that a turn stored in a bounded queue are within its window."""
        if not self._alone:
            return
        for fact in turned.facts:
            if isinstance(fact, facts.MessagesStored):
                queue = manager.queues.get(fact.queue)
                if queue is None or queue.link is not None:
                    continue
                endpoint = self._endpoint(local_name(queue.record.pathname))
                unread = len(queue.order) + len(queue.order.locked)
                if endpoint is not None and endpoint.bounded and unread > endpoint.window:
                    raise Violation(
                        f"window: {queue.record.pathname} of {self._site} has {unread} messages in turn"
                        f" {turned.number}, and a window of {endpoint.window}"
                    )

    def _endpoint(self, name: str) -> EndpointSettings | None:
        return self._settings.endpoint(name)

    # -- what is said

    def shown_by(self, said: Iterable[Acknowledgement], unread: Mapping[str, int]) -> int:
        """Return the batch that must be on disk before these leave; raise Violation if one is not true.

        `unread` are the unread messages of the queues of the site, by name.
        """
        needed = 0
        for each in said:
            number = self._numbers.get(each.identifier)
            if number is None:
                raise Violation(f"acknowledgement: {self._site} knows no sequence {each.identifier}")
            received = self._received[number]
            for low, high in each.ranges:
                for place in range(low, high + 1):
                    if place not in received:
                        raise Violation(
                            f"acknowledgement: {self._site} says that it has {place} of {each.identifier},"
                            f" and never received it"
                        )
                    needed = max(needed, received[place])
            self._check_room(each, self._rows[number], unread)
        return needed

    def _check_room(self, said: Acknowledgement, row: Inbound, unread: Mapping[str, int]) -> None:
        endpoint = self._endpoint(row.endpoint) if row.endpoint else None
        if endpoint is None or said.buffer < 0:
            return
        room = 0 if row.number in self._over else endpoint.window
        if endpoint.bounded:
            room = max(0, room - unread.get(local_name(row.queue), 0))
        if said.buffer > room:
            raise Violation(
                f"room: {self._site} says that there is room for {said.buffer} messages of {said.identifier}"
                f" in {row.endpoint}, and it is {room}"
            )

    def leaves(self, said: Iterable[Acknowledgement]) -> None:
        """Check that acknowledgements which leave now include all that were sent before."""
        for each in said:
            numbers = {place for low, high in each.ranges for place in range(low, high + 1)}
            missing = self._confirmed[each.identifier] - numbers
            if missing:
                raise Violation(
                    f"acknowledgement: {self._site} said that it has {sorted(missing)} of {each.identifier},"
                    f" and takes it back"
                )
            self._confirmed[each.identifier] = numbers

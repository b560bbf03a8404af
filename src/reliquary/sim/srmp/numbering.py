"""Checks the rules by which a sender of streams assigns numbers.

seen   a message gets another number only if its stream was given up before its receiver answered number 1
       with 200; the sender must remember that answer on disk; a forwarder may answer and lose the message
era    after a restore no message gets a number in a stream that is older: its receiver may know the number;
       and none that was there before gets its first number: it may have had another one since the backup
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable

from reliquary.base.turn import Fact
from reliquary.protocols.srmp.codec.lexical import stream_id_text
from reliquary.protocols.srmp.codec.values import StreamPosition
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import PostEnded
from reliquary.sim.history import Turned, Violation, shown
from reliquary.sim.world.witness import SiteWitness
from reliquary.streams import facts as streams

Reader = Callable[[Post], StreamPosition | None]
"""A function that returns the position of a POST in its stream."""


class NumberMonitor:
    """Checks the numbers that one site assigns."""

    def __init__(self, witness: SiteWitness, read: Reader) -> None:
        self._witness = witness
        self._read = read
        self._posted: dict[tuple[int, int, int, int], deque[StreamPosition | None]] = defaultdict(deque)
        """The positions of POSTs without an answer, by process, session, epoch and message."""
        self._ended: dict[int, StreamPosition | None] = {}
        """The position of the POST that was answered in a turn."""
        self._since_restore: set[int] = set()
        """The messages that were posted since the last restore."""
        self.reset()

    def reset(self) -> None:
        """Forget all records; the turns that a crash did not undo are recorded again."""
        self.given: dict[tuple[int, int], int] = {}
        """The batch in which a message of an outgoing queue got its number."""
        self._streams: dict[int, tuple[str, int]] = {}
        """The stream of an outgoing queue, and the turn in which it began."""
        self._belongs: dict[tuple[int, int], str] = {}
        """The stream in which a message of an outgoing queue has its number."""
        self._starts: dict[str, tuple[int, int]] = {}
        """The outgoing queue and the message of number 1 of each stream."""
        self._answered: set[str] = set()
        """Streams whose number 1 was answered with 200."""

    def has_number(self, lookup_id: int) -> bool:
        """Return whether a message has a number in the store."""
        return any(each == lookup_id for _, each in self.given)

    def went_again(self, lookup_id: int) -> bool:
        """Return whether a message was posted since the store was restored."""
        return lookup_id in self._since_restore

    def has_start(self, lookup_id: int) -> bool:
        """Return whether the first message of its stream still exists: without it no other can arrive."""
        places = self._witness.ledger.places
        return any(
            self._starts.get(stream) in places
            for (_, each), stream in self._belongs.items()
            if each == lookup_id
        )

    def restored(self) -> None:
        """Record that the store was restored."""
        self._since_restore.clear()

    def posts(self, post: Post) -> None:
        """Record the content of a POST that leaves now; POSTs of one message are answered in their order."""
        self._since_restore.add(post.lookup_id)
        key = self._witness.history.processes, post.session, post.epoch, post.lookup_id
        self._posted[key].append(self._read(post) if self._is_direct(post) else None)

    def _is_direct(self, post: Post) -> bool:
        """Return whether a POST goes directly to its destination site."""
        process = self._witness.host.process
        assert process is not None, "a POST leaves, and no process runs"
        queue = process.manager.state.queues.get(post.session)
        destination = "" if queue is None else queue.record.pathname
        return f"{post.server}/".casefold() in destination.casefold()

    def note(self, turned: Turned, facts: Iterable[Fact] | None = None) -> None:
        """Record the numbers that a turn assigns, and the answers that arrived.

        `facts` are the facts of this protocol, if a site uses another protocol with streams too.
        """
        event = turned.event
        if isinstance(event, PostEnded):
            place = self._place(turned, event)
            if event.status == 200 and place is not None and place.current == 1:
                self._answered.add(place.identifier)
        for fact in turned.facts if facts is None else facts:
            if isinstance(fact, streams.StreamBegun):
                identifier = stream_id_text(fact.stream.sender, fact.stream.number)
                self._streams[fact.queue] = identifier, turned.number
            elif isinstance(fact, streams.MessagesNumbered):
                self._number(turned, fact)

    def _place(self, turned: Turned, event: PostEnded) -> StreamPosition | None:
        """Return the position of the POST that ended in this turn; after a crash the turn is read
        once more."""
        if turned.number not in self._ended:
            posted = self._posted[turned.process_number, event.session, event.epoch, event.lookup_id]
            self._ended[turned.number] = posted.popleft() if posted else None
        return self._ended[turned.number]

    def _number(self, turned: Turned, fact: streams.MessagesNumbered) -> None:
        identifier, begun = self._streams[fact.queue]
        if begun < self._witness.era_began <= turned.number:
            raise Violation(
                f"era: {self._witness.site} gives numbers from {fact.first} on in turn {turned.number},"
                f" in {identifier}, which is older than the restore"
            )
        if fact.first == 1:
            self._starts[identifier] = fact.queue, fact.lookup_ids[0]
        for lookup_id in fact.lookup_ids:
            self._check_era(turned, fact.queue, lookup_id)
            before = self._belongs.get((fact.queue, lookup_id))
            if before in self._answered:
                raise Violation(
                    f"renumbered: {self._witness.site} gives a message of {before} another number in turn"
                    f" {turned.number}, and number 1 of it was answered"
                )
            self._belongs[fact.queue, lookup_id] = identifier
            self.given[fact.queue, lookup_id] = turned.batch

    def _check_era(self, turned: Turned, queue: int, lookup_id: int) -> None:
        place = self._witness.ledger.places.get((queue, lookup_id))
        is_new = (queue, lookup_id) not in self.given
        if place is not None and is_new and place.since < self._witness.era_began <= turned.number:
            raise Violation(
                f"era: {self._witness.site} gives {shown(place.body)} its first number in turn"
                f" {turned.number}, and it was there before the store was restored"
            )

"""Checks the rules of SRMP at one site: everything that is sent to other sites is on disk here, and true.

It also judges why a message left an outgoing queue, in addition to the rules for every protocol:

received    it requests dead letters in a stream, so it waits until its reader has it
refused     its destination answered 400
returned    its destination removed it without a reader, and reported it
"""

from __future__ import annotations

from collections import defaultdict

from reliquary.base.turn import Effect, Turn
from reliquary.protocols.srmp.codec.values import StreamPosition
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import PostAnswer, PostArrived
from reliquary.queueing.model.message import MessageClass
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import Turned, Violation, shown
from reliquary.sim.ledger import PlacedMessage
from reliquary.sim.srmp.numbering import NumberMonitor
from reliquary.sim.srmp.posts import Content, Posts
from reliquary.sim.world.monitor import Monitor
from reliquary.sim.world.witness import SiteWitness
from reliquary.streams import facts as streams


class SrmpMonitor(Monitor):
    """Checks one of several sites that use SRMP."""

    def __init__(self, witness: SiteWitness, posts: Posts) -> None:
        super().__init__(witness)
        self._posts = posts
        self._advanced: dict[str, list[tuple[int, int]]] = defaultdict(list)
        """For each incoming stream: pairs of a batch and the last number taken with it."""
        self._numbers = NumberMonitor(witness, self._place_of)

    def _place_of(self, post: Post) -> StreamPosition | None:
        return self._posts.read(post).arrived.envelope.stream

    # -- turns

    def turned(self, turned: Turned, turn: Turn) -> None:
        """Record the progress of streams, and check that their messages are stored."""
        del turn
        self._note(turned)
        self._check_advance(turned)

    def _note(self, turned: Turned) -> None:
        self._numbers.note(turned, self.facts_of_streams(turned))
        for fact in turned.facts:
            if isinstance(fact, streams.StreamAdvanced) and fact.stream.identifier:
                self._advanced[fact.stream.identifier].append((turned.batch, fact.stream.last))

    def _check_advance(self, turned: Turned) -> None:
        """Check that a stream advances only by a message that is stored in this turn, or was stored
        before."""
        for fact in turned.facts:
            if not isinstance(fact, streams.StreamAdvanced) or not fact.stream.identifier:
                continue  # another protocol has streams without names
            steps = self._advanced[fact.stream.identifier]
            if len(steps) > 1 and steps[-1][1] == steps[-2][1]:
                continue  # only the receipt is recorded
            event = turned.event
            if (
                not isinstance(event, PostArrived)
                or self._posts.read(event).name not in self.witness.ledger.stored
            ):
                raise Violation(
                    f"stream: {fact.stream.identifier} gets to {fact.stream.last} at {self.site} in turn"
                    f" {turned.number}, and its message is not there"
                )

    def shown_by_effect(self, effect: Effect) -> int:
        """Return the batch that a POST shows: the batch of its message, and of its number."""
        if not isinstance(effect, Post):
            return 0
        post = effect
        numbered = self._numbers.given.get((post.session, post.lookup_id), 0)
        name = self._posts.read(post).name
        return max(numbered, self.witness.ledger.changed.get(name, 0))

    def shown_by_answer(self, turned: Turned, to: int, answer: object) -> int:
        """Return the batch that a 200 shows; record the answer to the POST for the other sites."""
        if not isinstance(answer, PostAnswer) or not to:
            return 0
        request = self.witness.history.requests[turned.process_number, to]
        assert isinstance(request, PostArrived)
        content = self._posts.read(request)
        if answer.status == 400:
            self._posts.refused[content.name] = answer.why
        if answer.status != 200:
            return 0
        self._posts.taken |= {content.name, content.name.partition(b" by ")[0]}
        return self._promised(turned, content)

    def _promised(self, turned: Turned, content: Content) -> int:
        """Return the batch that a 200 promises; a message outside streams must be stored by now."""
        envelope = content.arrived.envelope
        is_message = envelope.msmq is not None and envelope.msmq.message_class == MessageClass.NORMAL
        alone = is_message and envelope.stream is None
        if alone and content.name not in self.register.seen:
            raise Violation(f"loss: {shown(content.name)} is answered with 200 and was never stored")
        if alone and envelope.durable and content.name not in self.witness.ledger.stored:
            raise Violation(
                f"loss: {shown(content.name)} is answered with 200 in turn {turned.number} of {self.site},"
                f" and is not there"
            )
        return self.witness.ledger.changed.get(content.name, 0) if envelope.durable else 0

    # -- what leaves

    def leaves(self, effect: Effect, disk: SimulatedDisk) -> None:
        """Check that a receipt that leaves confirms no more than is on disk."""
        if not isinstance(effect, Post):
            return
        self._numbers.posts(effect)
        content = self._posts.read(effect)
        receipt = content.arrived.envelope.stream_receipt
        if receipt is not None and self.register.origin[content.name] == self.site:
            steps = self._advanced[receipt.identifier]
            safe = max((last for batch, last in steps if batch <= disk.durable), default=0)
            if receipt.last > safe:
                raise Violation(
                    f"receipt: {self.site} says that it has {receipt.identifier} up to {receipt.last},"
                    f" and has it up to {safe}"
                )

    # -- why messages leave

    def has_arrived(self, place: PlacedMessage) -> bool:
        """Return whether a message got to another site; for some, whether a reader has it there."""
        register = self.register
        sending = register.sendings.get(place.body)
        if sending is None:
            return place.body in self._posts.taken  # a receipt: receipts of streams are stored nowhere
        if not super().has_arrived(place):
            return False
        waits = sending.transaction is not None and place.position.dead_letter
        if not waits or register.sending_site(sending) != self.site or sending.queue in register.chains:
            return True  # a site that passes it on by another protocol counts as its reader
        return MessageClass.ACK_RECEIVE in self._ends_of(place.body)

    def was_refused(self, place: PlacedMessage, reason: MessageClass) -> bool:
        """Return whether its destination answered 400, or removed it for this reason."""
        if place.body in self._posts.refused:
            return True
        return place.body in self.register.sendings and reason in self._ends_of(place.body)

    def may_be_unknown(self, place: PlacedMessage) -> bool:
        """Return whether a message was here before a restore, and has no number with which it could be sent.

        A message with a number was sent again since then without a confirmation; or the start of its
        stream is gone; or it waits only for its reader.
        """
        sending = self.register.sendings.get(place.body)
        if sending is None or sending.transaction is None or not super().may_be_unknown(place):
            return False
        lookup_id = place.position.lookup_id
        numbers = self._numbers
        if not numbers.has_number(lookup_id) or numbers.went_again(lookup_id):
            return True
        if not numbers.has_start(lookup_id):
            return True
        return place.position.dead_letter and Monitor.has_arrived(self, place)

    def _ends_of(self, name: bytes) -> set[MessageClass]:
        """Return why a message left its destination queue; after a restore it may have left twice."""
        authority, _ = self.register.target(self.register.sendings[name])
        return self.register.sites[authority].ends_of(name)

    # -- crashes

    def crashed(self) -> None:
        """Read the facts of the turns again that were not lost."""
        self._advanced.clear()
        self._numbers.reset()
        for turned in self.witness.history.turns:
            if turned.kept:
                self._note(turned)

    def restored(self) -> None:
        """Record that the store was restored, and read the facts of the turns again that were not lost."""
        self._numbers.restored()
        super().restored()

"""The witness of one site: what leaves for other sites must be on disk here, and true."""

from __future__ import annotations

from collections import defaultdict
from typing import ClassVar

from reliquary.base.time import Instant
from reliquary.base.turn import Event, Turn
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import PostAnswer, PostArrived
from reliquary.protocols.srmp.state import State
from reliquary.queueing.message import MessageClass
from reliquary.sim.between.observer import SiteObserver
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.exchange.register import Letter, Letters
from reliquary.sim.exchange.travel import SrmpLedger, SrmpReasons
from reliquary.sim.history import History, Turned, Violation, shown
from reliquary.sim.ledger import Ledger
from reliquary.streams import facts as streams


class Observer(SiteObserver):
    """Watches one of several sites that speak SRMP."""

    LEDGER: ClassVar[type[Ledger]] = SrmpLedger
    register: Letters

    def __init__(self, history: History, register: Letters, site: str) -> None:
        self._posts: dict[int, tuple[Post, int, int]] = {}
        """For each POST that was asked for: its turn, and the batch that must be safe before it leaves."""
        self._advanced: dict[str, list[tuple[int, int]]] = defaultdict(list)
        """For each stream that comes in: with which batch it got how far."""
        self._numbered: dict[tuple[int, int], int] = {}
        """The batch in which a message of an outgoing queue got its number."""
        super().__init__(history, register, site)

    def _court(self) -> SrmpReasons:
        return SrmpReasons(self.history, self.register, self.site)

    # -- turns

    def turned(self, life: int, batch: int, event: Event, turn: Turn, now: Instant) -> Turned:
        """A turn was run."""
        turned = super().turned(life, batch, event, turn, now)
        self._note(turned)
        self._check_advance(turned)
        needs = batch if any(not fact.volatile for fact in turned.facts) else 0
        for effect in turn.effects:
            if isinstance(effect, Post):
                self._posts[id(effect)] = (effect, turned.number, max(needs, self._needs(effect)))
        return turned

    def _note(self, turned: Turned) -> None:
        for fact in turned.facts:
            if isinstance(fact, streams.StreamAdvanced):
                self._advanced[fact.stream.identifier].append((turned.batch, fact.stream.last))
            elif isinstance(fact, streams.MessagesNumbered):
                self._numbered |= {(fact.queue, each): turned.batch for each in fact.lookup_ids}

    def _check_advance(self, turned: Turned) -> None:
        """A stream gets further by a message that is stored in the same turn, or was before."""
        for fact in turned.facts:
            if not isinstance(fact, streams.StreamAdvanced):
                continue
            steps = self._advanced[fact.stream.identifier]
            if len(steps) > 1 and steps[-1][1] == steps[-2][1]:
                continue  # only the receipt is noted
            event = turned.event
            if not isinstance(event, PostArrived) or self.register.read(event).name not in self.ledger.stored:
                raise Violation(
                    f"stream: {fact.stream.identifier} gets to {fact.stream.last} at {self.site} in turn"
                    f" {turned.number}, and its message is not there"
                )

    def _needs(self, post: Post) -> int:
        """The batch that a POST shows: its message, and its number."""
        numbered = self._numbered.get((post.session, post.lookup_id), 0)
        name = self.register.read(post).name
        return max(numbered, self.ledger.changed.get(name, 0))

    def _note_answer(self, turned: Turned, to: int, answer: object) -> None:
        super()._note_answer(turned, to, answer)
        if not isinstance(answer, PostAnswer) or not to:
            return
        request = self.history.requests[turned.life, to]
        assert isinstance(request, PostArrived)
        letter = self.register.read(request)
        if answer.status == 200:
            self.register.taken |= {letter.name, letter.name.partition(b" by ")[0]}
            number, needs = self._answers[turned.life, to]
            self._answers[turned.life, to] = number, max(needs, self._promised(turned, letter))
        elif answer.status == 400:
            self.register.refused[letter.name] = answer.why

    def _promised(self, turned: Turned, letter: Letter) -> int:
        """The batch that a 200 speaks of; a message outside any stream must be here by now."""
        envelope = letter.arrived.envelope
        is_message = envelope.msmq is not None and envelope.msmq.message_class == MessageClass.NORMAL
        alone = is_message and envelope.stream is None
        if alone and letter.name not in self.register.seen:
            raise Violation(f"loss: {shown(letter.name)} is answered with 200 and was never stored")
        if alone and envelope.durable and letter.name not in self.ledger.stored:
            raise Violation(
                f"loss: {shown(letter.name)} is answered with 200 in turn {turned.number} of {self.site},"
                f" and is not there"
            )
        return self.ledger.changed.get(letter.name, 0) if envelope.durable else 0

    # -- what leaves

    def posted(self, post: Post, disk: SimulatedDisk) -> None:
        """A POST leaves."""
        _, turn, needs = self._posts.pop(id(post))
        if needs > disk.durable:
            raise Violation(
                f"visible too early: the POST of turn {turn} of {self.site} shows batch {needs}"
                f" when {disk.durable} are safe"
            )
        letter = self.register.read(post)
        receipt = letter.arrived.envelope.stream_receipt
        if receipt is not None and self.register.origin[letter.name] == self.site:
            steps = self._advanced[receipt.identifier]
            safe = max((last for batch, last in steps if batch <= disk.durable), default=0)
            if receipt.last > safe:
                raise Violation(
                    f"receipt: {self.site} says that it has {receipt.identifier} up to {receipt.last},"
                    f" and has it up to {safe}"
                )

    # -- crashes and comparisons

    def crashed(self, survivor: SimulatedDisk) -> None:
        """The process is gone; what was only in its memory is forgotten."""
        super().crashed(survivor)
        self._posts.clear()
        self._advanced.clear()
        self._numbered.clear()
        for turned in self.history.turns:
            if not turned.lost:
                self._note(turned)

    def compare(self, live: State, rebuilt: State) -> None:
        """SRMP's recovered state equals its live one; identifiers of express messages are left out."""
        for name in ("ordinals", "sent"):
            self.same(name, getattr(live, name), getattr(rebuilt, name))
        both = (live, rebuilt)
        numbers = [{queue: list(sent.numbers) for queue, sent in each.sent.items()} for each in both]
        self.same("order of numbers", *numbers)
        incoming = [{key: each.stream for key, each in state.incoming.items()} for state in both]
        self.same("incoming", *incoming)
        self.same("history", *(list(state.history.durable.values()) for state in both))

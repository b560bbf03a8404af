"""Checks the rules of WS-RM at one site; the rules are in `acknowledging` and in `sending`."""

from __future__ import annotations

from typing import Final

from reliquary.base.turn import Effect, Reply, Turn
from reliquary.protocols.wsrm.codec.values import Acknowledgement
from reliquary.protocols.wsrm.effects import Post
from reliquary.protocols.wsrm.events import PostAnswer, PostArrived, PostEnded
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.queueing.model.message import MessageClass
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import Turned
from reliquary.sim.ledger import PlacedMessage
from reliquary.sim.world.monitor import Monitor
from reliquary.sim.world.register import local_name
from reliquary.sim.world.witness import SiteWitness
from reliquary.sim.wsrm.acknowledging import DestinationMonitor
from reliquary.sim.wsrm.drawing import NEVER_GIVES_UP
from reliquary.sim.wsrm.envelopes import Envelopes
from reliquary.sim.wsrm.sending import SourceMonitor

NEVER: Final = 1 << 62
"""The batch of a message that was never written."""


class WsrmMonitor(Monitor):
    """Checks both roles of one site."""

    def __init__(self, witness: SiteWitness, envelopes: Envelopes, settings: WsrmSettings) -> None:
        super().__init__(witness)
        self._envelopes = envelopes
        self._gives_up = settings.retries < NEVER_GIVES_UP
        alone = len(witness.register.plugins) == 1
        self._destination = DestinationMonitor(self.site, settings, alone=alone)
        self._source = SourceMonitor(self.site, settings)
        self._begun: Turned | None = None
        self._buffered_before: set[bytes] = set()
        """Messages that were buffered after a gap in a store that was replaced by a backup."""

    # -- turns

    def turned(self, turned: Turned, turn: Turn) -> None:
        """Record the received messages, the assigned numbers and the acknowledgements; check that no window
        is exceeded."""
        del turn
        self._begin(turned)
        process = self.witness.host.process
        if process is not None:
            self._destination.check_stored(turned, process.manager.state)

    def _begin(self, turned: Turned) -> None:
        """Record a turn once; its answers are checked before `turned` is called."""
        if turned is self._begun:
            return
        self._begun = turned
        if isinstance(turned.event, PostArrived | PostEnded):
            envelope = self._envelopes.read(turned.event)
            if envelope is not None:
                self._source.on_acknowledgements(envelope.acknowledgements)
        self._note(turned)

    def _note(self, turned: Turned) -> None:
        self._destination.note(turned.batch, turned.facts)
        self._source.note(turned.batch, turned.facts)

    def _unread(self) -> dict[str, int]:
        process = self.witness.host.process
        queues = () if process is None else process.manager.state.queues.values()
        return {
            local_name(each.record.pathname): len(each.order) + len(each.order.locked)
            for each in queues
            if each.link is None
        }

    # -- what leaves

    def shown_by_effect(self, effect: Effect) -> int:
        """Return the batch that a request shows: of its number, and of its acknowledgements."""
        return self._shown(effect, effect.url) if isinstance(effect, Post) else 0

    def shown_by_answer(self, turned: Turned, to: int, answer: object) -> int:
        """Return the batch that a response shows."""
        self._begin(turned)
        return self._shown(answer, "") if isinstance(answer, PostAnswer) and to else 0

    def _shown(self, carried: Post | PostAnswer, url: str) -> int:
        envelope = self._envelopes.read(carried)
        if envelope is None:
            return 0
        shown = self._destination.shown_by(envelope.acknowledgements, self._unread())
        if envelope.sequence is not None:
            shown = max(shown, self._source.shown_by(envelope.sequence, url))
        return shown

    def leaves(self, effect: Effect, disk: SimulatedDisk) -> None:
        """Check the acknowledgements in a request that leaves."""
        del disk
        if isinstance(effect, Post):
            self._destination.leaves(self._acknowledgements(effect))

    def answered(self, process_number: int, reply: Reply, disk: SimulatedDisk) -> None:
        """Check the acknowledgements in a response that leaves."""
        del process_number, disk
        if isinstance(reply.answer, PostAnswer):
            self._destination.leaves(self._acknowledgements(reply.answer))

    def _acknowledgements(self, carried: Post | PostAnswer) -> tuple[Acknowledgement, ...]:
        envelope = self._envelopes.read(carried)
        return () if envelope is None else envelope.acknowledgements

    # -- why messages leave

    def has_arrived(self, place: PlacedMessage) -> bool:
        """Return whether another site has the message in a queue, or has buffered it after a gap."""
        return super().has_arrived(place) or any(
            isinstance(monitor, WsrmMonitor) and monitor._holds(place.body)
            for site, witness in self.register.sites.items()
            for monitor in witness.monitors.values()
            if site != self.site
        )

    def _holds(self, name: bytes) -> bool:
        buffered = self._destination.buffered.get(name, NEVER) <= self.witness.host.disk.durable
        return buffered or name in self._buffered_before

    def has_forgotten(self, name: bytes) -> bool:
        """Return whether a message was buffered after a gap, and is not any more since the store was
        restored."""
        return name in self._buffered_before and name not in self._destination.buffered

    def was_refused(self, place: PlacedMessage, reason: MessageClass) -> bool:
        """Return whether its source may have given the message up after its last retry."""
        del place
        return self._gives_up and reason is MessageClass.NACK_REACH_QUEUE_TIMEOUT

    # -- crashes

    def crashed(self) -> None:
        """Read the facts of the turns again that were not lost."""
        self._destination.reset()
        self._source.reset()
        for turned in self.witness.history.turns:
            if turned.kept:
                self._note(turned)

    def restored(self) -> None:
        """Remember the buffered messages, and read the facts of the turns again that were not lost."""
        self._buffered_before |= self._destination.buffered.keys()
        self._destination.restored()
        super().restored()

"""Watches one of several sites: its stored messages are known to all sites, and all that it sends must be on
disk.

again      no message is stored twice, unless its protocol allows that, not even after a restore
put aside  a message becomes a dead letter of unknown outcome only if it may have come before a restore
early      no effect leaves before the batch of its turn is on disk
recovery   the machine of each protocol, rebuilt from the rows, equals the one that runs
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from reliquary.base.time import SECOND, Instant
from reliquary.base.turn import (
    CancelTimer,
    Continue,
    ContinueAfterSync,
    ContinueBesideSync,
    Effect,
    Event,
    Machine,
    Reply,
    SetTimer,
    Turn,
    Warn,
)
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import Message, MessageClass
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.queueing.travel.loopback import LOOPBACK
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import History, Turned, Violation, named, shown
from reliquary.sim.host import Host
from reliquary.sim.ledger import Ledger, PlacedMessage
from reliquary.sim.witness import Witness
from reliquary.sim.world.monitor import Monitor
from reliquary.sim.world.reasons import TravelReasons
from reliquary.sim.world.register import Register

INSIDE = (Reply, SetTimer, CancelTimer, Continue, ContinueAfterSync, ContinueBesideSync, Warn)
"""Effects that no network of a protocol performs."""


class SiteLedger(Ledger):
    """The ledger of a site to which messages come from other sites."""

    comes_again: Callable[[Ledger, bytes, Turned], None] | None = None
    """Called when a message is stored that was stored before; None while old turns are read again."""

    def enter_again(self, body: bytes, turned: Turned) -> None:
        """Let the protocol decide whether a message may come again."""
        if self.comes_again is not None:
            self.comes_again(self, body, turned)


class SiteWitness(Witness):
    """Watches one of several sites, with a monitor for each protocol."""

    LEDGER: ClassVar[type[Ledger]] = SiteLedger
    host: Host

    def __init__(self, history: History, register: Register, site: str) -> None:
        self.history = history
        self.site = site
        self.register = register
        register.sites[site] = self
        self._effects: dict[int, tuple[Effect, int, int]] = {}
        """Each effect that has not left: its turn, and the batch that must be on disk before it leaves."""
        self.monitors: dict[str, Monitor] = {each.name: each.monitor(self) for each in register.plugins}
        self._alive_until = 0
        """The moment until which a replaced store may have been used, from the record of the era."""
        super().__init__(history)

    def _make_reasons(self) -> TravelReasons:
        return TravelReasons(self.history, self)

    def _make_ledger(self) -> Ledger:
        ledger = super()._make_ledger()
        assert isinstance(ledger, SiteLedger)
        ledger.comes_again = self._comes_again
        return ledger

    def _comes_again(self, ledger: Ledger, body: bytes, turned: Turned) -> None:
        sending = self.register.sendings.get(body)
        if sending is None:  # an acknowledgement: the protocol that carries it checks it at the end
            return
        if not self.register.may_come_again(sending):
            raise Violation(
                f"duplication: {shown(body)} is stored in turn {turned.number},"
                f" and was in {ledger.stored[body]}"
            )

    def _is_own(self, name: bytes) -> bool:
        sending = self.register.sendings.get(name)
        return sending is not None and self.register.sending_site(sending) == self.site

    def monitor_for(self, queue: str) -> Monitor:
        """Return the monitor of the protocol that carries messages to a queue of this name."""
        return self.monitors[self.register.plugin_for(queue).name]

    def keeps(self, name: bytes) -> bool:
        """Return whether a message is, or was, on this site's disk."""
        turn = self.ledger.stored.get(name)
        if turn is not None and self.history.turns[turn].batch <= self.host.disk.durable:
            return True
        return any(name in ledger.stored for ledger in self.replaced)

    def has_forgotten(self, name: bytes) -> bool:
        """Return whether a message was on this site's disk and is missing in the backup that replaced it."""
        if name in self.ledger.stored:
            return False
        monitors = self.monitors.values()
        in_queue = any(name in ledger.stored for ledger in self.replaced)
        return in_queue or any(each.has_forgotten(name) for each in monitors)

    def ends_of(self, name: bytes) -> set[MessageClass]:
        """Return why a message left queues of this site permanently, before a restore or since."""
        return {reason for ledger in (self.ledger, *self.replaced) for reason in ledger.ends[name]}

    def is_older(self, place: PlacedMessage) -> bool:
        """Return whether a message was here when the last restore was made."""
        return place.since < self.era_began

    # -- turns and what leaves

    def turned(self, process_number: int, batch: int, event: Event, turn: Turn, now: Instant) -> Turned:
        """Record a turn, with the batches that must be on disk before its effects leave."""
        before = self.ledger.stored.keys() if not self.replaced else set(self.ledger.stored)
        turned = super().turned(process_number, batch, event, turn, now)
        for fact in turned.facts:
            if isinstance(fact, facts.MessagesStored):
                for position, message in zip(fact.positions, fact.messages, strict=True):
                    self.register.seen[named(message)].add(self.site)
                    self.register.origin.setdefault(named(message), self.site)
                    if position.reason is NOT_KNOWN:
                        self._check_put_aside(turned, message)
                        self.register.put_aside.add(named(message))
                    elif self.replaced and named(message) not in before:
                        self._check_once(turned, message)
            elif isinstance(fact, facts.ManagerNamed) and fact.record.era is not None:
                self._alive_until = fact.record.era.alive_until
        for monitor in self.monitors.values():
            monitor.turned(turned, turn)
        needs = batch if any(not fact.volatile for fact in turned.facts) else 0
        for effect in turn.effects:
            if not isinstance(effect, INSIDE):
                shown = max(monitor.shown_by_effect(effect) for monitor in self.monitors.values())
                of_turn = needs if effect.waits_for_disk else 0
                self._effects[id(effect)] = (effect, turned.number, max(of_turn, shown))
        return turned

    def _check_once(self, turned: Turned, message: Message) -> None:
        """Check that a message from before a restore does not come again, unless its protocol may bring it
        twice."""
        sending = self.register.sendings.get(named(message))
        if sending is None or self.register.may_come_again(sending):
            return
        if any(sending.body in ledger.stored for ledger in self.replaced):
            raise Violation(
                f"duplication: {shown(sending.body)} is stored in turn {turned.number} of {self.site},"
                f" and was before the store was restored"
            )

    def _check_put_aside(self, turned: Turned, message: Message) -> None:
        """Check that a message that counts as arrived before was sent before; SentTime has whole seconds."""
        if not self.replaced or not 0 < message.sent_time <= self._alive_until // SECOND:
            raise Violation(
                f"dead letter: {shown(named(message))} is put aside in turn {turned.number} of {self.site},"
                f" and cannot have come before the store was restored"
            )

    def _is_from_here(self, turned: Turned, to: int) -> bool:
        request = self.history.requests[turned.process_number, to]
        return not any(each.is_elsewhere(request) for each in self.monitors.values())

    def _shown(self, turned: Turned, to: int, answer: object) -> int:
        return max(each.shown_by_answer(turned, to, answer) for each in self.monitors.values())

    def answered(self, process_number: int, reply: Reply, disk: SimulatedDisk) -> int:
        """Check that the content of an answer is on disk."""
        turn = super().answered(process_number, reply, disk)
        for monitor in self.monitors.values():
            monitor.answered(process_number, reply, disk)
        return turn

    def leaves(self, effect: Effect, disk: SimulatedDisk) -> None:
        """Check that the content of an effect is on disk."""
        _, turn, needs = self._effects.pop(id(effect))
        if needs > disk.durable:
            raise Violation(
                f"visible too early: {type(effect).__name__} of turn {turn} of {self.site}"
                f" shows batch {needs} when {disk.durable} are on disk"
            )
        for monitor in self.monitors.values():
            monitor.leaves(effect, disk)

    # -- crashes and comparisons

    def crashed(self, survivor: SimulatedDisk) -> None:
        """Record that the process has ended and its memory is lost."""
        super().crashed(survivor)
        self._effects.clear()
        for monitor in self.monitors.values():
            monitor.crashed()

    def restored(self, survivor: SimulatedDisk, kept: frozenset[int]) -> None:
        """Record that the store was replaced by a backup."""
        super().restored(survivor, kept)
        for monitor in self.monitors.values():
            monitor.restored()

    def compare_machines(self, protocol: str, live: Machine, rebuilt: Machine) -> None:
        """Check that the machine of a protocol, rebuilt from the rows, equals the running one."""
        if protocol == LOOPBACK.name:
            return  # it has no state
        states: list[Any] = [getattr(machine, "state", None) for machine in (live, rebuilt)]
        plugin = next(each for each in self.register.plugins if each.name == protocol)
        one, other = (plugin.durable_state(state) for state in states)
        for name, value in one.items():
            if value != other[name]:
                raise Violation(
                    f"recovery: {name} of {protocol} would come back as {other[name]}, and is {value}"
                )

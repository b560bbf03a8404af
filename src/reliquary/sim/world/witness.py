"""The witness of one of several sites: what it stores is known to all, and what leaves it must be on disk.

again      no message is stored twice, unless its protocol allows that
early      no effect leaves before the batch of its turn is on disk
recovery   the machine of each protocol, rebuilt from the rows, equals the one that runs
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from reliquary.base.time import Instant
from reliquary.base.turn import CancelTimer, Continue, Effect, Event, Machine, Reply, SetTimer, Turn, Warn
from reliquary.queueing import facts
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import History, Turned, Violation, named, shown
from reliquary.sim.host import Host
from reliquary.sim.ledger import Ledger
from reliquary.sim.witness import Witness
from reliquary.sim.world.monitor import Monitor
from reliquary.sim.world.reasons import TravelReasons
from reliquary.sim.world.register import Register

INSIDE = (Reply, SetTimer, CancelTimer, Continue, Warn)
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
        if sending is None:  # an acknowledgement: the protocol that carries it judges in the end
            return
        if not self.register.may_come_again(sending):
            raise Violation(
                f"duplication: {shown(body)} is stored in turn {turned.number},"
                f" and was in {ledger.stored[body]}"
            )

    def monitor_for(self, queue: str) -> Monitor:
        """The monitor of the protocol that carries messages to a queue of this name."""
        return self.monitors[self.register.plugin_for(queue).name]

    def keeps(self, name: bytes) -> bool:
        """Whether a message is, or was, on this site's disk."""
        turn = self.ledger.stored.get(name)
        return turn is not None and self.history.turns[turn].batch <= self.host.disk.durable

    # -- turns and what leaves

    def turned(self, life: int, batch: int, event: Event, turn: Turn, now: Instant) -> Turned:
        """Note a turn, with what must be on disk before its effects leave."""
        turned = super().turned(life, batch, event, turn, now)
        for fact in turned.facts:
            if isinstance(fact, facts.MessagesStored):
                for message in fact.messages:
                    self.register.seen[named(message)].add(self.site)
                    self.register.origin.setdefault(named(message), self.site)
        for monitor in self.monitors.values():
            monitor.turned(turned, turn)
        needs = batch if any(not fact.volatile for fact in turned.facts) else 0
        for effect in turn.effects:
            if not isinstance(effect, INSIDE):
                shown = max(monitor.shown_by_effect(effect) for monitor in self.monitors.values())
                self._effects[id(effect)] = (effect, turned.number, max(needs, shown))
        return turned

    def _is_from_here(self, turned: Turned, to: int) -> bool:
        request = self.history.requests[turned.life, to]
        return not any(each.is_elsewhere(request) for each in self.monitors.values())

    def _shown(self, turned: Turned, to: int, answer: object) -> int:
        return max(each.shown_by_answer(turned, to, answer) for each in self.monitors.values())

    def answered(self, life: int, reply: Reply, disk: SimulatedDisk) -> int:
        """Check that what an answer shows is on disk."""
        turn = super().answered(life, reply, disk)
        for monitor in self.monitors.values():
            monitor.answered(life, reply, disk)
        return turn

    def leaves(self, effect: Effect, disk: SimulatedDisk) -> None:
        """Check that what an effect shows is on disk."""
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
        """The process is gone, and what was only in its memory with it."""
        super().crashed(survivor)
        self._effects.clear()
        for monitor in self.monitors.values():
            monitor.crashed()

    def compare_machines(self, protocol: str, live: Machine, rebuilt: Machine) -> None:
        """The machine of a protocol, rebuilt from the rows, equals the one that runs."""
        states: list[Any] = [getattr(machine, "state", None) for machine in (live, rebuilt)]
        plugin = next(each for each in self.register.plugins if each.name == protocol)
        one, other = (plugin.durable_state(state) for state in states)
        for name, value in one.items():
            if value != other[name]:
                raise Violation(
                    f"recovery: {name} of {protocol} would come back as {other[name]}, and is {value}"
                )

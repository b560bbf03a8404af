"""Receives one session: it records which packets came and which are missing, and delivers APDUs.

              next                 lead
               v                    v
    delivered | 8 | 9 | . | 11 | . | 13 |        "." is missing: `repairs` requests it
                ^ buffered until the gap before it is closed

Numbers have no upper limit here; `unfolded` finds the position of numbers on the wire.
"""

from __future__ import annotations

from reliquary.base.chance import Chance
from reliquary.base.time import Instant
from reliquary.protocols.pgm.actions import Action, Deliver, Lost, Multicast, Reason, Unicast, Unused
from reliquary.protocols.pgm.assembly import Assembly, Broken, Incomplete
from reliquary.protocols.pgm.budget import Budget
from reliquary.protocols.pgm.repairs import RepairEvent, Repairs
from reliquary.protocols.pgm.restarts import Order, SpmOrder
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.wire.pgm.packets import Data, Nak, PgmPacketType, Spm, Tsi
from reliquary.wire.pgm.serial import MASK, unfolded


class Shared:
    """The objects that all sessions of a receiver share."""

    def __init__(self, group: str, port: int, settings: PgmSettings, chance: Chance, budget: Budget) -> None:
        self.group = group
        self.port = port
        self.settings = settings
        self.chance = chance
        self.budget = budget
        """The budget that this receiver shares with all others."""
        self.buffered = 0
        """The bytes of packets that wait after gaps."""
        self.naks = 0
        self.repaired = 0
        self.lost = 0
        """The number of packets that never came."""


class Session:
    """One session of a source.

    It begins with the number of its first packet, after the lead of an SPM, or at the number of OPT_JOIN.
    FIN has no immediate effect: the source continues its SPMs for a window's time, then is silent and is
    forgotten (9.7.1).
    """

    def __init__(self, tsi: Tsi, first: int, source: str, shared: Shared, now: Instant) -> None:
        self.tsi = tsi
        self.heard_at = now
        self.ended = False
        """Whether RST came, after which packets of this session are ignored."""
        self.finished = False
        """Whether FIN came, after which the source sends no new data."""
        self._shared = shared
        self._source = source
        self._next = first
        self._lead = first - 1
        self._trail = first
        self._spms = SpmOrder()
        self._early: dict[int, Data] = {}
        self._given_up: set[int] = set()
        self._repairs = Repairs(shared.settings, shared.chance, shared.budget)
        self._assembly = Assembly(shared.settings.largest_apdu)

    # -- incoming packets

    def on_data(self, data: Data, source: str, now: Instant, actions: list[Action]) -> None:
        """Process an ODATA or RDATA packet, 6.1."""
        self.heard_at = now
        unused = self._why_unused(data)
        if unused is not None:
            actions.append(Unused(self.tsi, unused))
            return
        self._source = source
        shared = self._shared
        number = unfolded(data.number, self._lead)
        self._obey(unfolded(data.trail, number), now, actions)
        if number < self._next or number in self._early:
            actions.append(Unused(self.tsi, Reason.DUPLICATE))
        elif number != self._next and (
            number >= self._next + shared.settings.most_ahead
            or shared.buffered + len(data.payload) > shared.settings.most_buffered
        ):
            actions.append(Unused(self.tsi, Reason.DEFERRED))
            self._reach(number, now)
        elif not self._reach(number - 1, now):
            actions.append(Unused(self.tsi, Reason.DEFERRED))
        else:
            self._lead = max(self._lead, number)
            self._early[number] = data
            shared.buffered += len(data.payload)
            if number in self._repairs:
                shared.repaired += 1
                self._repairs.hear(number, RepairEvent.DATA, now)
            self._given_up.discard(number)
        self._deliver(actions)

    def order_of(self, spm: Spm, now: Instant) -> Order:
        """Return whether this SPM is newer than those before it; the session does not use it yet."""
        self.heard_at = now
        return self._spms.hear(spm.number, now)

    def on_spm(self, spm: Spm, source: str, now: Instant, actions: list[Action]) -> None:
        """Process a Source Path Message that is newer than those before it, 6.2."""
        if self.ended:
            return
        self._source = source
        self.finished = spm.fin
        if spm.has_window:
            lead = unfolded(spm.lead, self._lead)
            self._obey(lead + 1 - ((spm.lead + 1 - spm.trail) & MASK), now, actions)
            self._reach(lead, now)
        if spm.reset is not None:
            self._end("the source ended its session with a reset", actions)
            self.ended = True

    def on_nak(self, nak: Nak, now: Instant) -> None:
        """Process an NCF, or the NAK of another receiver."""
        heard = RepairEvent.NCF if nak.kind is PgmPacketType.NCF else RepairEvent.NAK
        for number in nak.numbers:
            self._repairs.hear(unfolded(number, self._lead), heard, now)

    def wake(self, now: Instant, actions: list[Action]) -> bool:
        """Request missing packets and report those that cannot be repaired; return whether a NAK is sent."""
        ask, lost = self._repairs.take_due(now)
        if ask:
            self._ask(ask, actions)
        if lost:
            self._given_up.update(lost)
            self._deliver(actions)
        return bool(ask)

    def next_wake(self) -> Instant | None:
        """Return when the next NAK or retry is due; there is none before the first SPM (6.2)."""
        return self._repairs.next_due() if self._spms.is_known else None

    def give_way(self, actions: list[Action]) -> None:
        """End this session, because its source restarted: its missing packets are reported as lost."""
        if not self.ended:
            self._end("the source was restarted", actions)

    def close(self) -> int:
        """Forget the session; return its current number."""
        for data in self._early.values():
            self._shared.buffered -= len(data.payload)
        self._early.clear()
        self._repairs.clear()
        return self._next

    # -- what is done about it

    def _why_unused(self, data: Data) -> Reason | None:
        """Return the reason why a packet is ignored, before its content is processed."""
        if self.ended:
            return Reason.DUPLICATE
        if self._spms.is_suspect:  # the next SPM decides whether the packet is from before or after a restart
            return Reason.DEFERRED
        behind = self._next - unfolded(data.number, self._lead)
        return Reason.IGNORED if behind > self._shared.settings.most_ahead else None

    def _reach(self, number: int, now: Instant) -> bool:
        """Treat all numbers up to this one as sent: those that did not come are missing.

        Return False if more would be missing than the budget allows; a later packet of the source repeats the
        number.
        """
        shared = self._shared
        reached = min(
            number,
            self._next + shared.settings.most_ahead - 1,
            self._lead + shared.budget.room(len(self._repairs)),
        )
        if reached > self._lead:
            self._repairs.miss(range(self._lead + 1, reached + 1), now)
            self._lead = reached
        return number <= self._lead

    def _obey(self, trail: int, now: Instant, actions: list[Action]) -> None:
        """Give up numbers before `trail`, because the source does not keep them any more (3.4)."""
        if trail <= self._trail:
            return
        self._trail = trail
        self._repairs.pass_by(trail, now)
        for number in self._early_before(trail):
            self._pass_over(number, actions)
            self._deliver_next(actions)
        self._pass_over(trail, actions)
        self._deliver(actions)

    def _early_before(self, trail: int) -> list[int]:
        """Return the numbers before `trail` of packets that wait after a gap, in order."""
        if trail - self._next < len(self._early):
            return [number for number in range(self._next, trail) if number in self._early]
        return sorted(number for number in self._early if number < trail)

    def _pass_over(self, after: int, actions: list[Action]) -> None:
        if after > self._next:
            self._lose(after, "the source does not keep it any more", actions)

    def _deliver(self, actions: list[Action]) -> None:
        """Deliver all APDUs without a gap before them; a permanent gap is reported and skipped."""
        while True:
            if self._next in self._early:
                self._deliver_next(actions)
            elif self._next in self._given_up:
                after = self._next + 1
                while after in self._given_up:
                    after += 1
                self._lose(after, "no repair came for any NAK", actions)
            else:
                break
        self._lead = max(self._lead, self._next - 1)

    def _deliver_next(self, actions: list[Action]) -> None:
        data = self._early.pop(self._next)
        self._next += 1
        self._shared.buffered -= len(data.payload)
        self._put_together(data, actions)

    def _lose(self, after: int, why: str, actions: list[Action]) -> None:
        """Count the numbers up to `after` as lost, and drop the APDU that they belong to."""
        packets = after - self._next
        if packets > len(self._given_up):  # the jump may be half of all numbers
            self._given_up = {number for number in self._given_up if number >= after}
        else:
            self._given_up.difference_update(range(self._next, after))
        self._shared.lost += packets
        actions.append(Lost(self.tsi, self._next & MASK, packets, why))
        self._assembly.drop()
        self._next = after

    def _put_together(self, data: Data, actions: list[Action]) -> None:
        try:
            apdu = self._assembly.add(data)
        except Broken as fault:
            actions.append(Lost(self.tsi, data.number, 0, str(fault)))
            apdu = fault.apdu if isinstance(fault, Incomplete) else None
        if apdu:
            actions.append(Deliver(self.tsi, apdu))

    def _ask(self, numbers: list[int], actions: list[Action]) -> None:
        # DEPARTS from 2.1.3 (SR-006): a NAK goes to the address that the source's packets came from, not to
        # the path in its SPMs, because a forged SPM would direct the NAKs to a third computer.  Both are one
        # address where no routers take part in PGM.
        shared = self._shared
        shared.naks += 1
        wanted = tuple(number & MASK for number in numbers)
        nak = Nak(PgmPacketType.NAK, self.tsi, shared.port, wanted, self._source, shared.group)
        actions.append(Unicast(nak, self._source))
        if shared.settings.multicast_naks:
            actions.append(Multicast(nak, near=True))

    def _end(self, why: str, actions: list[Action]) -> None:
        """End the session, and stop waiting for missing packets."""
        if self._next <= self._lead or self._assembly.size:
            self._lose(self._lead + 1, why, actions)
        self.close()

"""One session at a receiver: what came of a source's packets, what is missing, what is delivered.

              next                 lead
               v                    v
    delivered | 8 | 9 | . | 11 | . | 13 |        "." is missing: `repairs` sees to it
                ^ held until the gap before it is closed

Numbers count on without end here; `unfolded` finds the place of those on the wire.
"""

from __future__ import annotations

from reliquary.base.chance import Chance
from reliquary.base.time import Instant
from reliquary.protocols.pgm.actions import Action, Deliver, Lost, Multicast, Unicast
from reliquary.protocols.pgm.assembly import Assembly, Broken, Incomplete
from reliquary.protocols.pgm.repairs import Heard, Repairs
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.wire.pgm.options import MOST_LISTED
from reliquary.wire.pgm.packets import Data, Kind, Nak, Spm, Tsi
from reliquary.wire.pgm.serial import MASK, unfolded


class Shared:
    """What all sessions of a receiver have together."""

    def __init__(self, group: str, port: int, settings: PgmSettings, chance: Chance) -> None:
        self.group = group
        self.port = port
        self.settings = settings
        self.chance = chance
        self.buffered = 0
        """Bytes behind gaps."""
        self.duplicates = 0
        self.dropped = 0
        """Packets that would take more memory than allowed; they are asked for again."""
        self.naks = 0
        self.repaired = 0
        self.lost = 0
        """Packets that never came."""


class Session:
    """Begins where its first packet says: with that number, after an SPM's lead, or where OPT_JOIN allows.

    FIN calls for nothing: the source goes on with its SPMs for a window's time, then falls silent and
    is forgotten like any other that does (9.7.1).
    """

    def __init__(self, tsi: Tsi, first: int, source: str, shared: Shared, now: Instant) -> None:
        self.tsi = tsi
        self.heard_at = now
        self.ended = False
        """RST came: whatever else comes means nothing."""
        self._shared = shared
        self._source = source
        self._path: str | None = None
        self._next = first
        self._lead = first - 1
        self._trail = first
        self._spm: int | None = None
        self._held: dict[int, Data] = {}
        self._given_up: set[int] = set()
        self._repairs = Repairs(shared.settings, shared.chance)
        self._assembly = Assembly(shared.settings.largest_apdu)

    # -- what is heard

    def on_data(self, data: Data, source: str, now: Instant, actions: list[Action]) -> None:
        """ODATA or RDATA, 6.1."""
        self.heard_at = now
        if self.ended:
            return
        self._source = source
        shared = self._shared
        number = unfolded(data.number, self._lead)
        self._obey(unfolded(data.trail, number), now, actions)
        if number < self._next or number in self._held:
            shared.duplicates += 1
        elif number != self._next and (
            number >= self._next + shared.settings.most_ahead
            or shared.buffered + len(data.payload) > shared.settings.most_buffered
        ):
            shared.dropped += 1
            self._reach(number, now)
        else:
            self._reach(number - 1, now)
            self._lead = max(self._lead, number)
            self._held[number] = data
            shared.buffered += len(data.payload)
            if number in self._repairs:
                shared.repaired += 1
                self._repairs.hear(number, Heard.DATA, now)
            self._given_up.discard(number)
        self._deliver(actions)

    def on_spm(self, spm: Spm, source: str, now: Instant, actions: list[Action]) -> None:
        """A Source Path Message, 6.2; one that is older than the last is passed over."""
        self.heard_at = now
        if self.ended or (self._spm is not None and unfolded(spm.number, self._spm) <= self._spm):
            return
        self._spm = spm.number if self._spm is None else unfolded(spm.number, self._spm)
        self._source = source
        self._path = spm.path
        if spm.has_window:
            lead = unfolded(spm.lead, self._lead)
            self._obey(lead + 1 - ((spm.lead + 1 - spm.trail) & MASK), now, actions)
            self._reach(lead, now)
        if spm.reset is not None:
            self._reset(actions)

    def on_nak(self, nak: Nak, now: Instant) -> None:
        """An NCF, or the NAK of another receiver."""
        heard = Heard.NCF if nak.kind is Kind.NCF else Heard.NAK
        for number in nak.numbers:
            self._repairs.hear(unfolded(number, self._lead), heard, now)

    def wake(self, now: Instant, actions: list[Action]) -> None:
        """Ask for what is missing; tell of what cannot be had."""
        if self._path is None:  # 6.2: no NAK before the first SPM
            return
        ask, lost = self._repairs.take_due(now)
        for at in range(0, len(ask), MOST_LISTED + 1):
            self._ask(ask[at : at + MOST_LISTED + 1], self._path, actions)
        if lost:
            self._given_up.update(lost)
            self._deliver(actions)

    def next_wake(self) -> Instant | None:
        """When the next NAK or retry is due."""
        return None if self._path is None else self._repairs.next_due()

    def close(self) -> int:
        """The session is forgotten; the answer is the number that it was at."""
        for data in self._held.values():
            self._shared.buffered -= len(data.payload)
        self._held.clear()
        return self._next

    # -- what is done about it

    def _reach(self, number: int, now: Instant) -> None:
        """The source has sent all up to this number: what did not come is missing."""
        number = min(number, self._next + self._shared.settings.most_ahead - 1)
        if number > self._lead:
            self._repairs.miss(range(self._lead + 1, number + 1), now)
            self._lead = number

    def _obey(self, trail: int, now: Instant, actions: list[Action]) -> None:
        """The source keeps nothing before `trail`: nobody can get it any more (3.4)."""
        if trail > self._trail:
            self._trail = trail
            self._repairs.pass_by(trail, now)
            self._deliver(actions)

    def _deliver(self, actions: list[Action]) -> None:
        """Hand on all that has no gap before it; a gap that stays is told and passed over."""
        while True:
            data = self._held.pop(self._next, None)
            if data is not None:
                self._next += 1
                self._shared.buffered -= len(data.payload)
                self._put_together(data, actions)
            elif self._next < self._trail:
                after = min((number for number in self._held if number < self._trail), default=self._trail)
                self._lose(after, "the source does not keep it any more", actions)
            elif self._next in self._given_up:
                after = self._next + 1
                while after in self._given_up:
                    after += 1
                self._lose(after, "it was asked for in vain", actions)
            else:
                break
        self._lead = max(self._lead, self._next - 1)

    def _lose(self, after: int, why: str, actions: list[Action]) -> None:
        """All from the next number to before `after` is lost, and the APDU that it belongs to."""
        self._given_up.difference_update(range(self._next, after) if self._given_up else ())
        self._shared.lost += after - self._next
        actions.append(Lost(self.tsi, self._next & MASK, after - self._next, why))
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

    def _ask(self, numbers: list[int], path: str, actions: list[Action]) -> None:
        shared = self._shared
        shared.naks += 1
        wanted = tuple(number & MASK for number in numbers)
        nak = Nak(Kind.NAK, self.tsi, shared.port, wanted, self._source, shared.group)
        actions.append(Unicast(nak, path))
        if shared.settings.multicast_naks:
            actions.append(Multicast(nak, near=True))

    def _reset(self, actions: list[Action]) -> None:
        """OPT_RST: the session is over at once; what is missing is not waited for."""
        if self._next <= self._lead or self._assembly.size:
            self._lose(self._lead + 1, "the source broke off", actions)
        self.close()
        self._repairs = Repairs(self._shared.settings, self._shared.chance)
        self.ended = True

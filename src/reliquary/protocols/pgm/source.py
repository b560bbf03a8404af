"""Sends one session to one group, RFC 3208 section 5.

              close                drained: FIN at once            TXW_SECS passed
    OPEN -----------> FINISHING ------------------------> FINISHED ----------------> ENDED
      |                  |                                   |                         ^
      '------------------'--------- abort: RST at once ------'------> RESET -----------'

NCFs go at once, then SPMs (`spm_schedule`), then repairs (`repair_requests`) and new data (`unsent`) as
the rate allows; three repairs let one new packet pass, so that receivers which miss many packets do not
stop the others.

A lost packet and its repair:

    source                                        receivers
      | SPM: I am here, my window is 7 to 9 ------> |   also when there is nothing to send
      | ODATA 10, 11, 12 -------------------------> |   12 came, 11 did not: a gap
      | <----------------------- NAK 11 (one list)  |   after a random pause, if no other asked
      | NCF 11 -----------------------------------> |   confirmed; others need not ask
      | RDATA 11 ---------------------------------> |   delivered: 10, 11, 12, in order and once
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant, later
from reliquary.protocols.pgm.actions import Action, Multicast, PgmResult, Sent
from reliquary.protocols.pgm.rate import Pace
from reliquary.protocols.pgm.repair_requests import RepairRequests
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.protocols.pgm.spm_schedule import SpmSchedule
from reliquary.protocols.pgm.unsent import Apdu, Unsent
from reliquary.protocols.pgm.window import SentPacket, TransmitWindow
from reliquary.wire.pgm.options import Fragment, Reset
from reliquary.wire.pgm.packets import DATA_HEADER, Data, Nak, PgmPacketType, Spm, Tsi
from reliquary.wire.pgm.serial import MASK, unfolded

REPAIRS_IN_A_ROW: Final = 3
SPM_SIZE: Final = 52
"""The bytes that an SPM counts."""


class SourceState(Enum):
    """The state of a session between its first packet and its last."""

    OPEN = "open"
    FINISHING = "finishing"
    """No new data is taken; data that was taken is sent."""
    FINISHED = "finished"
    """All data is sent: FIN in every SPM, and repairs."""
    RESET = "reset"
    """The session was aborted: RST in every SPM, and nothing else."""
    ENDED = "ended"


class SourceEvent(Enum):
    """The events that change the state of a session."""

    CLOSED = "closed"
    DRAINED = "drained"
    ABORTED = "aborted"
    TIME_UP = "time-up"


NEXT: Final[Mapping[tuple[SourceState, SourceEvent], SourceState]] = {
    (SourceState.OPEN, SourceEvent.CLOSED): SourceState.FINISHING,
    (SourceState.OPEN, SourceEvent.DRAINED): SourceState.OPEN,
    (SourceState.OPEN, SourceEvent.ABORTED): SourceState.RESET,
    (SourceState.OPEN, SourceEvent.TIME_UP): SourceState.OPEN,
    (SourceState.FINISHING, SourceEvent.CLOSED): SourceState.FINISHING,
    (SourceState.FINISHING, SourceEvent.DRAINED): SourceState.FINISHED,
    (SourceState.FINISHING, SourceEvent.ABORTED): SourceState.RESET,
    (SourceState.FINISHING, SourceEvent.TIME_UP): SourceState.FINISHING,
    (SourceState.FINISHED, SourceEvent.CLOSED): SourceState.FINISHED,
    (SourceState.FINISHED, SourceEvent.DRAINED): SourceState.FINISHED,
    (SourceState.FINISHED, SourceEvent.ABORTED): SourceState.RESET,
    (SourceState.FINISHED, SourceEvent.TIME_UP): SourceState.ENDED,
    (SourceState.RESET, SourceEvent.CLOSED): SourceState.RESET,
    (SourceState.RESET, SourceEvent.DRAINED): SourceState.RESET,
    (SourceState.RESET, SourceEvent.ABORTED): SourceState.RESET,
    (SourceState.RESET, SourceEvent.TIME_UP): SourceState.ENDED,
    (SourceState.ENDED, SourceEvent.CLOSED): SourceState.ENDED,
    (SourceState.ENDED, SourceEvent.DRAINED): SourceState.ENDED,
    (SourceState.ENDED, SourceEvent.ABORTED): SourceState.ENDED,
    (SourceState.ENDED, SourceEvent.TIME_UP): SourceState.ENDED,
}

_ENDING: Final = frozenset({SourceState.FINISHED, SourceState.RESET})
_DEAF: Final = frozenset({SourceState.RESET, SourceState.ENDED})


class Source:
    """Sends APDUs to a group, with numbers from `first` on."""

    def __init__(
        self, tsi: Tsi, group: str, port: int, path: str, settings: PgmSettings, first: int, now: Instant
    ) -> None:
        self.tsi = tsi
        self.group = group
        self.port = port
        self.path = path
        """The address of this source, to which NAKs are sent."""
        self.settings = settings
        self.state = SourceState.OPEN
        self.window = TransmitWindow(first)
        self.repairs = RepairRequests()
        self._first = first
        self._began = now
        self._ends_at: Instant | None = None
        self._pace = Pace(settings, now)
        self._unsent = Unsent()
        self._spms = SpmSchedule(settings, now)
        self._advance_at = later(now, settings.advance)

    # -- what happens

    def submit(self, ticket: object, apdu: bytes, now: Instant) -> PgmResult:
        """Send an APDU; `Sent` follows its last packet."""
        if self.state is not SourceState.OPEN:
            raise UsageError(f"the session {self.tsi} is {self.state.value}")
        if not 1 <= len(apdu) <= self.settings.largest_apdu:  # SR-013
            raise UsageError(f"an APDU has 1 to {self.settings.largest_apdu} bytes, not {len(apdu)}")
        self._unsent.apdus.append(Apdu(ticket, apdu))
        return self.wake(now)

    def hear(self, nak: Nak, now: Instant) -> PgmResult:
        """Confirm at once that a receiver misses packets, and repair them soon (5.2, 5.3)."""
        actions: list[Action] = []
        mine = nak.kind is PgmPacketType.NAK and nak.tsi == self.tsi and nak.group == self.group
        if mine and self.state not in _DEAF:
            numbers = [unfolded(number, self.window.lead) for number in nak.numbers]
            known = [number for number in numbers if number in self.window]
            # a packet that is no longer kept is not confirmed: the next SPM announces the new window
            if known:
                actions.append(Multicast(msgspec.structs.replace(nak, kind=PgmPacketType.NCF)))
                self.repairs.add(known, self.window, self.settings.repair_delay, now)
        return self._run(actions, now)

    def close(self, now: Instant) -> PgmResult:
        """Accept no more APDUs: the waiting ones are sent, then FIN."""
        self._turn(SourceEvent.CLOSED)
        return self.wake(now)

    def withdraw(self) -> None:
        """Forget waiting APDUs; an APDU that was begun is sent to its end."""
        self._unsent.withdraw()

    def abort(self, now: Instant) -> PgmResult:
        """Abort the session: RST is sent, and nothing else is sent or repaired."""
        self._turn(SourceEvent.ABORTED)
        self._unsent.clear()
        self.repairs.clear()
        return self.wake(now)

    def wake(self, now: Instant) -> PgmResult:
        """Do the timed work that is due at `now`."""
        return self._run([], now)

    # -- what is done about it

    def _turn(self, turning: SourceEvent) -> bool:
        before, self.state = self.state, NEXT[self.state, turning]
        return self.state is not before

    def _run(self, actions: list[Action], now: Instant) -> PgmResult:
        if now >= self._advance_at:
            self._advance(now)
        if self._ends_at is not None and now >= self._ends_at:
            self._turn(SourceEvent.TIME_UP)
        if self.state is SourceState.ENDED:
            return PgmResult(actions, None)
        if self._spms.take_due(now):
            actions.append(self._spm(now))
        ready = self._send(actions, now)
        if not self._unsent.apdus and not self._unsent.offset:
            self._turn(SourceEvent.DRAINED)
        if self.state in _ENDING and self._ends_at is None:  # 9.7.2, 9.8.2: an SPM announces it at once
            self._ends_at = later(now, self.settings.kept)
            actions.append(self._spm(now))
        return PgmResult(actions, self._next_wake(ready))

    def _spm(self, now: Instant) -> Multicast:
        """Return the SPM that announces the window."""
        number = self._spms.spm_sent(now)
        self._pace.take(SPM_SIZE, now)
        return Multicast(
            Spm(
                self.tsi,
                self.port,
                number & MASK,
                self.window.trail & MASK,
                self.window.lead & MASK,
                self.path,
                self._join(now),
                self.state is SourceState.FINISHED,
                Reset() if self.state is SourceState.RESET else None,
            )
        )

    def _join(self, now: Instant) -> int | None:
        """Return OPT_JOIN, 9.4: a receiver that lost the very first packets may still have them."""
        young = now < self._began + self.settings.join and self.window.trail == self._first
        return self._first & MASK if young else None

    def _send(self, actions: list[Action], now: Instant) -> Instant | None:
        """Send data while the rate allows it; return when more may be sent, None if nothing waits."""
        repairs, unsent = self.repairs, self._unsent
        while True:
            repair = bool(repairs.due) and repairs.due[0][0] <= now
            new = bool(unsent.apdus) and self.window.size < 2 * self.settings.most_kept
            if not repair and not new:
                return None
            if repair and new and repairs.in_a_row >= REPAIRS_IN_A_ROW:
                repair = False
            size = DATA_HEADER + (
                len(self.window[repairs.due[0][1]].payload)
                if repair
                else min(len(unsent.apdus[0].data) - unsent.offset, self.settings.room)
            )
            ready = self._pace.ready_at(size, now)
            if ready > now:
                return ready
            self._pace.take(size, now)
            if repair:
                actions.append(self._data(repairs.take(), now, repair=True))
            else:
                self._send_new(actions, now)
            if self._spms.data_sent(now):
                actions.append(self._spm(now))

    def _send_new(self, actions: list[Action], now: Instant) -> None:
        """Send the next packet of the first waiting APDU."""
        unsent = self._unsent
        ticket, apdu = unsent.apdus[0]
        first = self.window.lead + 1
        if not unsent.offset:
            unsent.first_packet = first
        payload = apdu[unsent.offset : unsent.offset + self.settings.room]
        whole = len(payload) == len(apdu)
        part = None if whole else Fragment(unsent.first_packet & MASK, unsent.offset, len(apdu))
        number = self.window.add(SentPacket(payload, part, first == self._first, now))
        self.repairs.in_a_row = 0
        unsent.offset += len(payload)
        actions.append(self._data(number, now, repair=False))
        if unsent.offset == len(apdu):
            unsent.apdus.popleft()
            unsent.offset = 0
            actions.append(Sent(ticket))

    def _data(self, number: int, now: Instant, *, repair: bool) -> Multicast:
        packet = self.window[number]
        return Multicast(
            Data(
                self.tsi,
                self.port,
                number & MASK,
                self.window.trail & MASK,
                packet.payload,
                repair,
                packet.fragment,
                self._join(now),
                packet.syn,
            )
        )

    def _advance(self, now: Instant) -> None:
        """Move the window, but not beyond packets that wait for a repair (SR-011, SR-012)."""
        settings = self.settings
        self._advance_at = later(now, settings.advance)
        before = Instant(now - settings.kept + settings.advance)
        self.window.advance(before, self.repairs.lowest)

    def _next_wake(self, ready: Instant | None) -> Instant:
        moments = [self._spms.ambient_at, self._spms.heartbeat_at, self._advance_at]
        if ready is not None:
            moments.append(ready)
        elif self.repairs.due:
            moments.append(self.repairs.due[0][0])
        if self._ends_at is not None:
            moments.append(self._ends_at)
        return min(moments)

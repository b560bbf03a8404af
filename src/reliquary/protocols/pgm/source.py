"""A source: one session to one group, RFC 3208 section 5.

              close                drained: FIN at once            TXW_SECS passed
    OPEN -----------> FINISHING ------------------------> FINISHED ----------------> ENDED
      |                  |                                   |                         ^
      '------------------'--------- abort: RST at once ------'------> RESET -----------'

NCFs go at once, then SPMs, then repairs and new data as the rate allows; three repairs let one new
packet pass, so that receivers who miss much do not stop the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from enum import Enum
from heapq import heappop, heappush
from typing import Final, NamedTuple

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration, Instant, later
from reliquary.protocols.pgm.actions import Action, Multicast, Sent, Step
from reliquary.protocols.pgm.rate import Pace
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.protocols.pgm.window import Held, TransmitWindow
from reliquary.wire.pgm.options import Fragment, Reset
from reliquary.wire.pgm.packets import DATA_HEADER, Data, Kind, Nak, Spm, Tsi
from reliquary.wire.pgm.serial import MASK, unfolded

REPAIRS_IN_A_ROW: Final = 3
SPM_SIZE: Final = 52
"""Bytes that an SPM is counted with."""


class Life(Enum):
    """Where a session is between its first packet and its last."""

    OPEN = "open"
    FINISHING = "finishing"
    """Nothing new is taken; what was taken is sent."""
    FINISHED = "finished"
    """All is sent: FIN in every SPM, and repairs."""
    RESET = "reset"
    """Broken off: RST in every SPM, and nothing else."""
    ENDED = "ended"


class Turning(Enum):
    """What changes a session's life."""

    CLOSED = "closed"
    DRAINED = "drained"
    ABORTED = "aborted"
    TIME_UP = "time-up"


NEXT: Final[Mapping[tuple[Life, Turning], Life]] = {
    (Life.OPEN, Turning.CLOSED): Life.FINISHING,
    (Life.OPEN, Turning.DRAINED): Life.OPEN,
    (Life.OPEN, Turning.ABORTED): Life.RESET,
    (Life.OPEN, Turning.TIME_UP): Life.OPEN,
    (Life.FINISHING, Turning.CLOSED): Life.FINISHING,
    (Life.FINISHING, Turning.DRAINED): Life.FINISHED,
    (Life.FINISHING, Turning.ABORTED): Life.RESET,
    (Life.FINISHING, Turning.TIME_UP): Life.FINISHING,
    (Life.FINISHED, Turning.CLOSED): Life.FINISHED,
    (Life.FINISHED, Turning.DRAINED): Life.FINISHED,
    (Life.FINISHED, Turning.ABORTED): Life.RESET,
    (Life.FINISHED, Turning.TIME_UP): Life.ENDED,
    (Life.RESET, Turning.CLOSED): Life.RESET,
    (Life.RESET, Turning.DRAINED): Life.RESET,
    (Life.RESET, Turning.ABORTED): Life.RESET,
    (Life.RESET, Turning.TIME_UP): Life.ENDED,
    (Life.ENDED, Turning.CLOSED): Life.ENDED,
    (Life.ENDED, Turning.DRAINED): Life.ENDED,
    (Life.ENDED, Turning.ABORTED): Life.ENDED,
    (Life.ENDED, Turning.TIME_UP): Life.ENDED,
}

_ENDING: Final = frozenset({Life.FINISHED, Life.RESET})
_DEAF: Final = frozenset({Life.RESET, Life.ENDED})


class _Waiting(NamedTuple):
    ticket: object
    apdu: bytes


class Source:
    """Sends APDUs to a group.  Numbers count on from `first`."""

    def __init__(
        self, tsi: Tsi, group: str, port: int, path: str, settings: PgmSettings, first: int, now: Instant
    ) -> None:
        self.tsi = tsi
        self.group = group
        self.port = port
        self.path = path
        """Our own address: NAKs come here."""
        self.settings = settings
        self.life = Life.OPEN
        self.window = TransmitWindow(first)
        self.naks = 0
        self.repairs = 0
        self._first = first
        self._began = now
        self._ends_at: Instant | None = None
        self._pace = Pace(settings, now)
        self._waiting: deque[_Waiting] = deque()
        self._offset = 0
        """How much of the first that waits was sent."""
        self._apdu_at = first
        """The number of the packet that it began in."""
        self._asked: dict[int, Instant] = {}
        """Numbers with a NAK that no repair has followed yet, and when the repair is due."""
        self._due: list[tuple[Instant, int]] = []
        self._in_a_row = 0
        self._spm_number = 0
        self._since_ambient = 0
        self._ambient_at = now
        self._heartbeat = settings.shortest_heartbeat
        self._heartbeat_at = later(now, self._heartbeat)
        self._advance_at = later(now, settings.advance)

    # -- what happens

    def submit(self, ticket: object, apdu: bytes, now: Instant) -> Step:
        """Send this; `Sent` tells when its last packet has gone."""
        if self.life is not Life.OPEN:
            raise UsageError(f"the session {self.tsi} is {self.life.value}")
        if not 1 <= len(apdu) <= self.settings.largest_apdu:  # SR-013
            raise UsageError(f"an APDU has 1 to {self.settings.largest_apdu} bytes, not {len(apdu)}")
        self._waiting.append(_Waiting(ticket, apdu))
        return self.wake(now)

    def hear(self, nak: Nak, now: Instant) -> Step:
        """Somebody misses packets: confirm at once, repair soon (5.2, 5.3)."""
        actions: list[Action] = []
        mine = nak.kind is Kind.NAK and nak.tsi == self.tsi and nak.group == self.group
        if mine and self.life not in _DEAF:
            numbers = [unfolded(number, self.window.lead) for number in nak.numbers]
            known = [number for number in numbers if number in self.window]
            if known:  # what is gone for good is not confirmed: the next SPM says so
                self.naks += 1
                actions.append(Multicast(msgspec.structs.replace(nak, kind=Kind.NCF)))
            for number in known:
                if number not in self._asked:
                    delay = self.window.repair_delay(number, self.settings.repair_delay)
                    self._asked[number] = later(now, delay)
                    heappush(self._due, (self._asked[number], number))
        return self._run(actions, now)

    def close(self, now: Instant) -> Step:
        """Nothing more comes: what waits is sent, then FIN."""
        self._turn(Turning.CLOSED)
        return self.wake(now)

    def withdraw(self) -> None:
        """Forget what waits; an APDU that was begun goes on."""
        begun = self._waiting[0] if self._offset else None
        self._waiting.clear()
        if begun is not None:
            self._waiting.append(begun)

    def abort(self, now: Instant) -> Step:
        """Break off: RST, and nothing more is sent or repaired."""
        self._turn(Turning.ABORTED)
        self._waiting.clear()
        self._offset = 0
        self._asked.clear()
        self._due.clear()
        return self.wake(now)

    def wake(self, now: Instant) -> Step:
        """Do what is due."""
        return self._run([], now)

    # -- what is done about it

    def _turn(self, turning: Turning) -> bool:
        before, self.life = self.life, NEXT[self.life, turning]
        return self.life is not before

    def _run(self, actions: list[Action], now: Instant) -> Step:
        if now >= self._advance_at:
            self._advance(now)
        if self._ends_at is not None and now >= self._ends_at:
            self._turn(Turning.TIME_UP)
        if self.life is Life.ENDED:
            return Step(actions, None)
        if self._is_spm_due(now):
            actions.append(self._spm(now))
        ready = self._send(actions, now)
        if not self._waiting and not self._offset:
            self._turn(Turning.DRAINED)
        if self.life in _ENDING and self._ends_at is None:  # 9.7.2, 9.8.2: told at once
            self._ends_at = later(now, self.settings.kept)
            actions.append(self._spm(now))
        return Step(actions, self._next_wake(ready))

    def _is_spm_due(self, now: Instant) -> bool:
        due = now >= self._ambient_at or self._since_ambient >= self.settings.ambient_packets
        if now >= self._heartbeat_at:  # 5.1.5
            self._heartbeat = Duration(min(self._heartbeat * 2, self.settings.longest_heartbeat))
            self._heartbeat_at = later(now, self._heartbeat)
            due = True
        return due

    def _spm(self, now: Instant) -> Multicast:
        """Say which window there is; the next ambient one counts from here in any case (SR-009)."""
        self._ambient_at = later(now, self.settings.ambient_time)
        self._since_ambient = 0
        self._spm_number += 1
        self._pace.take(SPM_SIZE, now)
        return Multicast(
            Spm(
                self.tsi,
                self.port,
                self._spm_number & MASK,
                self.window.trail & MASK,
                self.window.lead & MASK,
                self.path,
                self._join(now),
                self.life is Life.FINISHED,
                Reset() if self.life is Life.RESET else None,
            )
        )

    def _join(self, now: Instant) -> int | None:
        """OPT_JOIN, 9.4: whoever lost the very first packets may still have them."""
        young = now < self._began + self.settings.join and self.window.trail == self._first
        return self._first & MASK if young else None

    def _send(self, actions: list[Action], now: Instant) -> Instant | None:
        """Send data while the rate allows; else the answer is when it will."""
        while True:
            repair = bool(self._due) and self._due[0][0] <= now
            new = bool(self._waiting) and self.window.size < 2 * self.settings.most_held
            if not repair and not new:
                return None
            if repair and new and self._in_a_row >= REPAIRS_IN_A_ROW:
                repair = False
            size = DATA_HEADER + (
                len(self.window[self._due[0][1]].payload)
                if repair
                else min(len(self._waiting[0].apdu) - self._offset, self.settings.room)
            )
            ready = self._pace.ready_at(size, now)
            if ready > now:
                return ready
            self._pace.take(size, now)
            if repair:
                self._repair(actions, now)
            else:
                self._send_new(actions, now)
            self._heartbeat = self.settings.shortest_heartbeat
            self._heartbeat_at = later(now, self._heartbeat)
            self._since_ambient += 1
            if self._since_ambient >= self.settings.ambient_packets:
                actions.append(self._spm(now))

    def _repair(self, actions: list[Action], now: Instant) -> None:
        _, number = heappop(self._due)
        del self._asked[number]
        self._in_a_row += 1
        self.repairs += 1
        actions.append(self._data(number, now, repair=True))

    def _send_new(self, actions: list[Action], now: Instant) -> None:
        ticket, apdu = self._waiting[0]
        first = self.window.lead + 1
        if not self._offset:
            self._apdu_at = first
        payload = apdu[self._offset : self._offset + self.settings.room]
        whole = len(payload) == len(apdu)
        part = None if whole else Fragment(self._apdu_at & MASK, self._offset, len(apdu))
        number = self.window.add(Held(payload, part, first == self._first, now))
        self._in_a_row = 0
        self._offset += len(payload)
        actions.append(self._data(number, now, repair=False))
        if self._offset == len(apdu):
            self._waiting.popleft()
            self._offset = 0
            actions.append(Sent(ticket))

    def _data(self, number: int, now: Instant, *, repair: bool) -> Multicast:
        held = self.window[number]
        return Multicast(
            Data(
                self.tsi,
                self.port,
                number & MASK,
                self.window.trail & MASK,
                held.payload,
                repair,
                held.fragment,
                self._join(now),
                held.syn,
            )
        )

    def _advance(self, now: Instant) -> None:
        """The window moves on, but not over what is asked for (SR-011, SR-012)."""
        settings = self.settings
        self._advance_at = later(now, settings.advance)
        before = Instant(now - settings.kept + settings.advance)
        self.window.advance(before, min(self._asked, default=None))

    def _next_wake(self, ready: Instant | None) -> Instant:
        moments = [self._ambient_at, self._heartbeat_at, self._advance_at]
        if ready is not None:
            moments.append(ready)
        elif self._due:
            moments.append(self._due[0][0])
        if self._ends_at is not None:
            moments.append(self._ends_at)
        return min(moments)

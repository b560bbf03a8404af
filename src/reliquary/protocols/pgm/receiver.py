"""Receives all the sessions of one group, RFC 3208 section 6."""

from __future__ import annotations

from typing import Final

from reliquary.base.chance import Chance
from reliquary.base.time import Instant, later
from reliquary.protocols.pgm.actions import Action, PgmResult, Reason, Restarted, Unused
from reliquary.protocols.pgm.budget import Budget
from reliquary.protocols.pgm.rate import Bucket
from reliquary.protocols.pgm.restarts import Order
from reliquary.protocols.pgm.session import Session, Shared
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.wire.pgm.packets import Data, Nak, Packet, Spm, Tsi
from reliquary.wire.pgm.serial import MASK, unfolded

MISSED_HEARTBEATS: Final = 3
"""A source that was silent for this number of its longest heartbeats is replaced by a new one if needed."""
MOST_PAST: Final = 1024
NAKS_AT_ONCE: Final = 10
"""NAKs that may be sent without a pause; then the caller does other work."""
NEVER: Final = Instant(1 << 63)


class Receiver:
    """Follows every source that sends to a group, each in its own session."""

    def __init__(
        self, group: str, port: int, settings: PgmSettings, chance: Chance, budget: Budget | None = None
    ) -> None:
        """`budget` limits the missing packets of all receivers; without it this one has its own."""
        self.shared = Shared(group, port, settings, chance, budget or Budget(settings.most_missing))
        self._pace = Bucket(settings.naks, NAKS_AT_ONCE, Instant(0))
        self.sessions: dict[Tsi, Session] = {}
        self._sweep_at: Instant | None = None
        self._past: dict[Tsi, int] = {}
        """The last positions of forgotten sessions that did not end.

        The loss is reported when one sends again.
        """

    def hear(self, packet: Packet, source: str, now: Instant) -> PgmResult:
        """Process a packet that came from this address."""
        actions: list[Action] = []
        session = self.sessions.get(packet.tsi)
        if isinstance(packet, Nak):
            if session is not None:
                session.on_nak(packet, now)
        elif isinstance(packet, Data):
            session = session or self._follow(packet, source, now, actions)
            if session is not None:
                session.on_data(packet, source, now, actions)
        else:
            self._on_spm(packet, session, source, now, actions)
        return PgmResult(actions, self._next_wake(now))

    def wake(self, now: Instant) -> PgmResult:
        """Send the NAKs that are due, the oldest first, as fast as the rate allows.

        Then forget silent sources.
        """
        actions: list[Action] = []
        for _ in range(NAKS_AT_ONCE):
            session = min(self.sessions.values(), key=_due, default=None)
            if session is None or _due(session) > now or self._pace.ready_at(1, now) > now:
                break
            if session.wake(now, actions):
                self._pace.take(1, now)
        if self._sweep_at is not None and now >= self._sweep_at:
            self._sweep(now)
        return PgmResult(actions, self._next_wake(now))

    def close(self) -> None:
        """Stop following all sources of the group."""
        for session in self.sessions.values():
            session.close()
        self.sessions.clear()

    def _on_spm(
        self, spm: Spm, session: Session | None, source: str, now: Instant, actions: list[Action]
    ) -> None:
        """Pass an SPM to its session; one that is older than the last is ignored, or shows a restart."""
        if session is not None:
            order = session.order_of(spm, now)
            if order is Order.RESTARTED:
                session = self._begin_again(session, spm, source, now, actions)
            elif order is not Order.NEWER:
                return
            elif session.ended and spm.reset is None:  # 9.8: after RST only another session can continue
                self._forget(session)
                session = None
            else:
                session.on_spm(spm, source, now, actions)
                return
        session = session or self._follow(spm, source, now, actions)
        if session is not None:
            session.order_of(spm, now)
            session.on_spm(spm, source, now, actions)

    def _begin_again(
        self, old: Session, spm: Spm, source: str, now: Instant, actions: list[Action]
    ) -> Session | None:
        """Follow a source that restarted, from the first packet that it keeps, because none was used."""
        old.give_way(actions)
        del self.sessions[old.tsi]
        actions.append(Restarted(old.tsi))
        if not spm.has_window or spm.reset is not None:
            return None
        return self._new_session(spm.tsi, spm.trail, source, now)

    def _follow(self, packet: Data | Spm, source: str, now: Instant, actions: list[Action]) -> Session | None:
        """Begin a session; repairs, and SPMs without a window, do not begin one."""
        first = _first_number(packet)
        if first is None:
            return None
        settings = self.shared.settings
        if len(self.sessions) >= settings.most_sessions:
            silent = min(self.sessions.values(), key=lambda session: session.heard_at)
            if now - silent.heard_at < MISSED_HEARTBEATS * settings.longest_heartbeat:
                if isinstance(packet, Data):
                    actions.append(Unused(packet.tsi, Reason.IGNORED))
                return None
            self._forget(silent)
        place = self._past.pop(packet.tsi, None)
        # otherwise the source restarted in between
        if place is not None and unfolded(first & MASK, place) >= place:
            first = place
        return self._new_session(packet.tsi, first, source, now)

    def _new_session(self, tsi: Tsi, first: int, source: str, now: Instant) -> Session:
        session = self.sessions[tsi] = Session(tsi, first, source, self.shared, now)
        if self._sweep_at is None:
            self._sweep_at = later(now, self.shared.settings.window)
        return session

    def _sweep(self, now: Instant) -> None:
        """Forget sources that were silent for a whole window: they ended, or will restart."""
        for session in list(self.sessions.values()):
            if now - session.heard_at >= self.shared.settings.window:
                self._forget(session)
        self._sweep_at = later(now, self.shared.settings.window) if self.sessions else None

    def _forget(self, session: Session) -> None:
        """Forget a session; only the positions of the last ones that did not end are kept."""
        del self.sessions[session.tsi]
        place = session.close()
        if not (session.ended or session.finished):
            self._past[session.tsi] = place
        if len(self._past) > MOST_PAST:
            del self._past[next(iter(self._past))]

    def _next_wake(self, now: Instant) -> Instant | None:
        moments = [] if self._sweep_at is None else [self._sweep_at]
        due = min(map(_due, self.sessions.values()), default=NEVER)
        if due < NEVER:
            moments.append(max(due, self._pace.ready_at(1, now)))
        return min(moments, default=None)


def _due(session: Session) -> Instant:
    """Return when a session has its next work."""
    due = session.next_wake()
    return NEVER if due is None else due


def _first_number(packet: Data | Spm) -> int | None:
    """Return the number that a session begins with; None if this packet begins none."""
    if isinstance(packet, Spm):
        if not packet.has_window or packet.reset is not None:
            return None
        first = packet.lead + 1
    elif packet.repair:
        return None
    else:
        first = packet.number
    if packet.join is not None:  # 9.4.2
        first = max(min(unfolded(packet.join, first), first), unfolded(packet.trail, first))
    return first

"""A receiver: all the sessions of one group, RFC 3208 section 6."""

from __future__ import annotations

from typing import Final

from reliquary.base.chance import Chance
from reliquary.base.time import Instant, later
from reliquary.protocols.pgm.actions import Action, Step
from reliquary.protocols.pgm.session import Session, Shared
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.wire.pgm.packets import Data, Nak, Packet, Spm, Tsi
from reliquary.wire.pgm.serial import unfolded

MISSED_HEARTBEATS: Final = 3
"""A source that was silent for so many of its longest heartbeats makes room for a new one."""
MOST_PAST: Final = 1024


class Receiver:
    """Follows every source that sends to a group, each in its own session."""

    def __init__(self, group: str, port: int, settings: PgmSettings, chance: Chance) -> None:
        self.shared = Shared(group, port, settings, chance)
        self.sessions: dict[Tsi, Session] = {}
        self.refused = 0
        """Packets of sources that there was no room for."""
        self._sweep_at: Instant | None = None
        self._past: dict[Tsi, int] = {}
        """Where forgotten sessions were: one that is heard again is told what it lost."""

    def hear(self, packet: Packet, source: str, now: Instant) -> Step:
        """A packet came, from this address."""
        actions: list[Action] = []
        session = self.sessions.get(packet.tsi)
        if session is None and not isinstance(packet, Nak):
            session = self._follow(packet, source, now)
        if session is not None:
            if isinstance(packet, Data):
                session.on_data(packet, source, now, actions)
            elif isinstance(packet, Spm):
                session.on_spm(packet, source, now, actions)
            else:
                session.on_nak(packet, now)
        return Step(actions, self._next_wake())

    def wake(self, now: Instant) -> Step:
        """Do what is due."""
        actions: list[Action] = []
        for session in self.sessions.values():
            due = session.next_wake()
            if due is not None and due <= now:
                session.wake(now, actions)
        if self._sweep_at is not None and now >= self._sweep_at:
            self._sweep(now)
        return Step(actions, self._next_wake())

    def _follow(self, packet: Data | Spm, source: str, now: Instant) -> Session | None:
        """Begin a session; repairs, and SPMs that say nothing of the window, do not begin one."""
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
        settings = self.shared.settings
        if len(self.sessions) >= settings.most_sessions:
            silent = min(self.sessions.values(), key=lambda session: session.heard_at)
            if now - silent.heard_at < MISSED_HEARTBEATS * settings.longest_heartbeat:
                self.refused += 1
                return None
            self._forget(silent)
        first = self._past.pop(packet.tsi, first)
        session = self.sessions[packet.tsi] = Session(packet.tsi, first, source, self.shared, now)
        if self._sweep_at is None:
            self._sweep_at = later(now, settings.window)
        return session

    def _sweep(self, now: Instant) -> None:
        """Forget sources that were silent for a whole window: they ended, or will begin anew."""
        for session in list(self.sessions.values()):
            if now - session.heard_at >= self.shared.settings.window:
                self._forget(session)
        self._sweep_at = later(now, self.shared.settings.window) if self.sessions else None

    def _forget(self, session: Session) -> None:
        """Let a session go; only its place is remembered, of the last so many."""
        del self.sessions[session.tsi]
        self._past[session.tsi] = session.close()
        if len(self._past) > MOST_PAST:
            del self._past[next(iter(self._past))]

    def _next_wake(self) -> Instant | None:
        moments = [due for session in self.sessions.values() if (due := session.next_wake()) is not None]
        if self._sweep_at is not None:
            moments.append(self._sweep_at)
        return min(moments, default=None)

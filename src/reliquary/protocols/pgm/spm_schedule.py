"""Decides when a source sends its next SPM: between data, and as heartbeats after it (RFC 3208 5.1)."""

from __future__ import annotations

from reliquary.base.time import Duration, Instant, later
from reliquary.protocols.pgm.settings import PgmSettings


class SpmSchedule:
    """The number of the last SPM and the conditions of the next one; only its own methods write it."""

    __slots__ = ("_heartbeat", "_settings", "ambient_at", "heartbeat_at", "number", "packets")

    def __init__(self, settings: PgmSettings, now: Instant) -> None:
        self._settings = settings
        self.number = 0
        """The number of the last SPM, without the limit of 32 bits."""
        self.packets = 0
        """Data packets since the last SPM."""
        self.ambient_at = now
        self._heartbeat = settings.shortest_heartbeat
        self.heartbeat_at = later(now, self._heartbeat)

    def take_due(self, now: Instant) -> bool:
        """Return whether an SPM is due.

        A heartbeat that is due makes the pause before the next one longer.
        """
        due = now >= self.ambient_at or self.packets >= self._settings.ambient_packets
        if now >= self.heartbeat_at:  # 5.1.5
            self._heartbeat = Duration(min(self._heartbeat * 2, self._settings.longest_heartbeat))
            self.heartbeat_at = later(now, self._heartbeat)
            due = True
        return due

    def spm_sent(self, now: Instant) -> int:
        """Return the number of the SPM that is sent now; the next ambient one counts from here (SR-009)."""
        self.ambient_at = Instant(now + self._settings.ambient_time)
        self.packets = 0
        self.number += 1
        return self.number

    def data_sent(self, now: Instant) -> bool:
        """Count a data packet, restart the heartbeats, and return whether an SPM is due after it."""
        self._heartbeat = self._settings.shortest_heartbeat
        self.heartbeat_at = Instant(now + self._heartbeat)
        self.packets += 1
        return self.packets >= self._settings.ambient_packets

"""Limits the rate of a source, RFC 3208 5.1.2, by a token bucket and a second one for the peak."""

from __future__ import annotations

from reliquary.base.time import SECOND, Instant
from reliquary.protocols.pgm.settings import PgmSettings

PEAK_SHARE = 8
"""The factor by which the second bucket is smaller, so that a peak is short."""


class Bucket:
    """A token bucket: it fills steadily up to its size, and sent bytes are taken out."""

    __slots__ = ("_at", "_level", "_rate", "_size")

    def __init__(self, rate: int, size: int, now: Instant) -> None:
        self._rate = rate
        self._size = size * SECOND
        self._level = self._size
        """The level in millionths of bytes, so that no time is lost by rounding."""
        self._at = now

    def ready_at(self, size: int, now: Instant) -> Instant:
        """Return when `size` bytes may be sent."""
        self._fill(now)
        lacking = min(size * SECOND, self._size) - self._level
        return now if lacking <= 0 else Instant(now - (-lacking // self._rate))

    def take(self, size: int, now: Instant) -> None:
        """Count `size` bytes that are sent; packets that may not wait can leave a debt."""
        self._fill(now)
        self._level -= size * SECOND

    def _fill(self, now: Instant) -> None:
        if now > self._at:
            self._level = min(self._level + (now - self._at) * self._rate, self._size)
            self._at = now


class Pace:
    """Both buckets of a source."""

    __slots__ = ("_peak", "_steady")

    def __init__(self, settings: PgmSettings, now: Instant) -> None:
        least = settings.largest_packet
        size = settings.rate * settings.bucket // SECOND
        self._steady = Bucket(settings.rate, max(size, least), now)
        self._peak = Bucket(settings.rate * settings.peak, max(size // PEAK_SHARE, least), now)

    def ready_at(self, size: int, now: Instant) -> Instant:
        """Return when a packet of `size` bytes may be sent."""
        return max(self._steady.ready_at(size, now), self._peak.ready_at(size, now))

    def take(self, size: int, now: Instant) -> None:
        """Count a packet of `size` bytes that is sent now against both rates."""
        self._steady.take(size, now)
        self._peak.take(size, now)

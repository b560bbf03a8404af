"""What the exporter tells the queue manager."""

from __future__ import annotations

from reliquary.base.turn import Event


class ResumeHistory(Event, frozen=True):
    """Files know events up to this number: none of them is told again.  Comes before all other events."""

    after: int


class ForgetHistory(Event, frozen=True):
    """All events up to this one are in files for good: their rows go."""

    until: int

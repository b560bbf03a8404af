"""The events that the exporter of the history sends to the queue manager."""

from __future__ import annotations

from reliquary.base.turn import Event


class ResumeHistory(Event, frozen=True):
    """The exported files hold the history up to this number, so the numbers continue after it.

    This event comes before all others.
    """

    after: int


class ForgetHistory(Event, frozen=True):
    """The history up to this number is safe in files, so its rows can be deleted."""

    until: int

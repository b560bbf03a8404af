"""The permits that access lists add to the queue manager, for its own requests."""

from __future__ import annotations

from typing import Final

from reliquary.queueing.model.feature import Feature
from reliquary.queueing.security.permits import PERMITS

SECURITY: Final = Feature(name="security", permits=PERMITS)

"""Waiting in the story: it ends with one sentence when what is awaited makes no progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

LOOK = 0.5
"""Seconds between two looks at what is awaited."""
PATIENCE = 60.0
"""Seconds without progress after which a wait ends; a protocol tries again after 20 at most."""


stop_wanted = threading.Event()
"""Set by the first signal that ends the story.

The signal also raises KeyboardInterrupt, which Python drops in places such as callbacks of weak references.
"""


def stop(*_: object) -> None:
    """Handle a signal that ends the story."""
    stop_wanted.set()
    raise KeyboardInterrupt


def pause() -> None:
    """Wait until the next look; KeyboardInterrupt when the story is to end."""
    if stop_wanted.wait(LOOK):
        raise KeyboardInterrupt


class StoryFault(Exception):
    """A part of the story failed; the text says what failed, and where to look."""


def wait_for(
    awaited: str, wanted: int, count: Callable[[], int], where: str, patience: float = PATIENCE
) -> None:
    """Return when `count()` has reached `wanted`; StoryFault when it has not grown for `patience` seconds."""
    best, grew = count(), time.monotonic()
    while best < wanted:
        if time.monotonic() - grew >= patience:
            so_far = f"{best} of {wanted}, and no more in the last {patience:.0f} s"
            raise StoryFault(f"it waited until {awaited}: {so_far}. Look at {where}")
        pause()
        found = count()
        if found > best:
            best, grew = found, time.monotonic()

"""Lists the features of the queue manager and joins their tables: one rule, permit and applier for each type.

A new feature is a folder with a `feature.py`, and a line in FEATURES.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from reliquary.base.ruled import Rule, TimerRule
from reliquary.base.turn import Event, Fact, Signal, TimerFired
from reliquary.queueing.changes import counters, positions, queues, recording, transactions
from reliquary.queueing.directory import published
from reliquary.queueing.directory.feature import DIRECTORY
from reliquary.queueing.feed.feature import FEED
from reliquary.queueing.history.feature import HISTORY
from reliquary.queueing.model.events import Request
from reliquary.queueing.model.feature import Applier, Feature, Hooks, Permit, Recorder
from reliquary.queueing.model.state import State
from reliquary.queueing.requests import CORE
from reliquary.queueing.security.feature import SECURITY
from reliquary.queueing.staging.feature import STAGING
from reliquary.queueing.travel.feature import TRAVEL

CHANGES: Final = Feature(
    name="changes",
    appliers=counters.APPLIERS | positions.APPLIERS | queues.APPLIERS | transactions.APPLIERS,
    recorders=recording.RECORDERS,
)
"""The appliers of facts that belong to no feature."""
FEATURES: Final = (CORE, CHANGES, SECURITY, DIRECTORY, FEED, STAGING, HISTORY, TRAVEL)


def _joined(tables: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
    """Return the tables joined; a key that two of them have is a programming error."""
    joined: dict[Any, Any] = {}
    for table in tables:
        claimed = joined.keys() & table.keys()
        assert not claimed, f"two features claim {claimed}"
        joined |= table
    return joined


RULES: Final[dict[type[Event], Rule[State]]] = _joined(each.rules for each in FEATURES)
SIGNAL_RULES: Final[dict[type[Signal], Rule[State]]] = _joined(each.signals for each in FEATURES)
TIMERS: Final[dict[str, TimerRule[State]]] = _joined(each.timers for each in FEATURES)
PERMITS: Final[dict[type[Request], Permit]] = _joined(each.permits for each in FEATURES)
APPLIERS: Final[dict[type[Fact], Applier]] = _joined(each.appliers for each in FEATURES)
RECORDERS: Final[dict[type[Fact], Recorder | None]] = _joined(each.recorders for each in FEATURES)
AT_ANY_TIME: Final = frozenset[type[Event]]({TimerFired}).union(*(each.at_any_time for each in FEATURES))
"""Events that are taken before the manager is ready and while it stops: outcomes, and timers."""

HOOKS: Final = Hooks(
    appliers=APPLIERS,
    recorders=RECORDERS,
    published_queue=published.published_queue,
    list_members=published.resolve_list,
    computer_name=published.computer_name,
)


def refusal(state: State, request: Request) -> str:
    """Return why a request is refused; empty when its rule may run."""
    return PERMITS[type(request)](state, request)

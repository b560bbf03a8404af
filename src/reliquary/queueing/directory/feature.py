"""The rules, timers, permits and appliers that the directory adds to the queue manager."""

from __future__ import annotations

from typing import Final

from reliquary.base.ruled import TimerRule
from reliquary.queueing.directory import operations, upkeep
from reliquary.queueing.directory.apply import APPLIERS
from reliquary.queueing.directory.permits import PERMITS
from reliquary.queueing.directory.rules import RULES
from reliquary.queueing.model.feature import Feature
from reliquary.queueing.model.state import State


def _upkeep(kind: str) -> TimerRule[State]:
    return lambda state, _, now: upkeep.on_timer(state, kind, now)


DIRECTORY: Final = Feature(
    name="directory",
    rules=RULES,
    timers={
        operations.QUERY_TIMER: lambda state, number, _: operations.on_query_timer(state, number),
        **{kind: _upkeep(kind) for kind in upkeep.TIMERS},
    },
    permits=PERMITS,
    appliers=APPLIERS,
)

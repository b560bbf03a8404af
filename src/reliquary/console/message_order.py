"""Orders the events of one message at several managers, whose clocks may differ.

A   queued 10.000   delivered 10.090            each manager numbers its events, so these stay in order
B   arrived 9.950   received 10.100             a message arrives after it was queued elsewhere, so the
                                                clock of B is slow: queued, arrived, delivered, received
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from reliquary.client.records import TraceLine

LEAVES: Final = "queued"
COMES: Final = "arrived"


def in_order(lines: Iterable[TraceLine]) -> list[TraceLine]:
    """Return each line once: by time, but no event before one that it follows."""
    managers: dict[str, deque[TraceLine]] = {}
    once = {(line.manager, line.event_id): line for line in lines}
    for key in sorted(once):
        managers.setdefault(key[0], deque()).append(once[key])
    found: list[TraceLine] = []
    ahead = 0  # the number of managers that the message left for and has not reached
    while managers:
        heads = [each[0] for each in managers.values()]
        ready = [head for head in heads if not _must_wait(head, ahead, managers)]
        line = min(ready or heads, key=lambda head: (head.time, head.manager))
        ahead += (line.event == LEAVES) - (line.event == COMES)
        found.append(managers[line.manager].popleft())
        if not managers[line.manager]:
            del managers[line.manager]
    return found


def _must_wait(head: TraceLine, ahead: int, managers: Mapping[str, Sequence[TraceLine]]) -> bool:
    """Return whether an arrival must wait: for a departure, or for an arrival at the manager before it."""
    if head.event != COMES:
        return False
    senders = {name for name, rest in managers.items() if any(line.event == LEAVES for line in rest)}
    if ahead <= 0:
        return bool(senders - {head.manager})
    going_on = [name for name in senders if managers[name][0].event == COMES]
    return ahead <= len(going_on) and head.manager not in senders

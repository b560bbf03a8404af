"""Finds the managers to which a queue sends: given, seen, or read from the name of its destination.

    given      --route NAME=MANAGER           the user knows better than the data
    seen       a message of it arrived there  its manager is a destination
    named      DIRECT=HTTP://beta/msmq/orders and a manager is called beta

A queue with several destinations lost a message only if none of them has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.coverage import TracedQueue

_HOST: Final = re.compile(r"(?i)^(?:direct=)?(?:https?://|os:|tcp:|httpr?://)?([^/:\\]+)")


def host(destination: str) -> str:
    r"""Return the computer in the name of a destination, in small letters.

    >>> host("DIRECT=HTTP://Beta:8480/msmq/private$/orders"), host(r"DIRECT=OS:beta\private$\orders")
    ('beta', 'beta')
    """
    found = _HOST.match(destination)
    return found[1].lower() if found else ""


def routes(
    places: Iterable[TracedQueue], seen: Mapping[int, frozenset[str]], given: Mapping[str, str]
) -> dict[int, frozenset[str]]:
    """Return the managers that each queue sends to, as far as the data shows them."""
    places = tuple(places)
    by_name = {place.manager_name.lower(): place.manager for place in places if place.manager_name}
    named = {name.lower(): _manager(name, called, places, by_name) for name, called in given.items()}
    found: dict[int, frozenset[str]] = {}
    for place in places:
        computer = host(place.queue)
        chosen = named.get(place.queue.lower()) or named.get(computer)
        if chosen is not None:
            found[place.hashed] = frozenset({chosen})
        elif place.hashed in seen:
            found[place.hashed] = seen[place.hashed]
        elif place.kind == "outgoing" and computer in by_name:
            found[place.hashed] = frozenset({by_name[computer]})
    return found


def _manager(name: str, called: str, places: tuple[TracedQueue, ...], by_name: Mapping[str, str]) -> str:
    for place in places:
        if place.manager.lower() == called.lower():
            return place.manager
    known = by_name.get(called.lower())
    if known is None:
        names = ", ".join(sorted(by_name)) or "none"
        raise UsageError(f"--route {name}={called}: no history is of a manager {called}; there are: {names}")
    return known

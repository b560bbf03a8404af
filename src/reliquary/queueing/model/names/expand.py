"""Expands format names, [MS-MQDMPR] 3.1.7.3.8: replaces distribution lists by the queues in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from uuid import UUID

from reliquary.queueing.model.names.formats import (
    DistributionListName,
    FormatName,
    IllegalFormatName,
    MultipleName,
    SingleName,
    key_of,
    parse_format,
)

EXPANDED_LIMIT: Final = 10_000
"""The largest number of queues in an expanded name, because lists of lists grow fast."""

Resolve = Callable[[UUID], tuple[str, ...] | None]
"""Resolve Distribution List: returns the members of a list, or None when the directory does not have it."""


def expand(name: FormatName, resolve: Resolve) -> FormatName | None:
    """Return the name without lists and duplicates, or None when a list cannot be resolved or is empty."""
    if not isinstance(name, MultipleName | DistributionListName):
        return name  # DM-318
    # DEPARTS from 3.1.7.3.8 (AN-43): a work list and the lists that were seen, because the printed
    # loop changes the list that it walks over, and never ends where a list contains itself.
    work = list(elements_of(name))
    seen: set[UUID] = set()
    found: dict[str, SingleName] = {}
    while work:
        element = work.pop(0)
        if not isinstance(element, DistributionListName):
            found.setdefault(key_of(element), element)  # DM-320
        elif element.identifier not in seen:
            seen.add(element.identifier)
            members = resolve(element.identifier)
            if members is None:
                return None
            for member in members:  # DM-319
                work += elements_of(parse_format(member))
        if len(found) + len(work) > EXPANDED_LIMIT:
            raise IllegalFormatName(f"a format name expands to at most {EXPANDED_LIMIT} queues")
    if not found:
        return None  # a message without a queue would be acknowledged and lost
    names = [found[key] for key in sorted(found)]
    return names[0] if len(names) == 1 else MultipleName(tuple(names))  # DM-321


def elements_of(name: FormatName) -> tuple[SingleName, ...]:
    """Return the single names in a format name."""
    return name.elements if isinstance(name, MultipleName) else (name,)

"""The objects of the directory: found, written and removed.

What is written here has been checked against everything else that is there: a name that must be
unique is, and whoever is named exists.
"""

from __future__ import annotations

from uuid import UUID

from reliquary.queueing.directory.objects import DistributionList, Kind
from reliquary.queueing.state import State


def resolve_list(state: State, identifier: UUID) -> tuple[str, ...] | None:
    """Resolve Distribution List: the format names that DL=identifier stands for; None when unknown."""
    found = state.directory.objects[Kind.DISTRIBUTION_LIST].get(identifier)
    return found.format_names if isinstance(found, DistributionList) else None

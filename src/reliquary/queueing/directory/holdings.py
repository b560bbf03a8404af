"""What the manager has of the directory in memory: the objects, and who asks about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from reliquary.queueing.directory.objects import DirectoryObject, Kind


@dataclass(slots=True)
class Directory:
    """The registry; `objects` is durable and changes only through `apply`."""

    objects: dict[Kind, dict[UUID, DirectoryObject]] = field(
        default_factory=lambda: {kind: {} for kind in Kind}
    )

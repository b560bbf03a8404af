"""What decides on access beside the lists of the queues."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from reliquary.queueing.model.security.anonymous import EVERY_ACT, AnonymousAct
from reliquary.queueing.model.security.principals import Principal


class Verdicts(set[tuple[int | str, Principal, int]]):
    """Who may do what under which name, as found once; emptied when a name or a list changes."""

    LIMIT: Final = 10_000

    def add(self, verdict: tuple[int | str, Principal, int]) -> None:
        """Remember one verdict; when there are too many, forget all others."""
        if len(self) >= self.LIMIT:
            self.clear()
        super().add(verdict)


@dataclass(slots=True)
class AccessChecks:
    """What the checks of rights know beside the access lists.

    Written by: startup, security.permissions, rules.permission, model.state.
    """

    first_list: bytes = b""
    """The access list of the manager until it is given one."""
    anonymous_may: AnonymousAct = EVERY_ACT
    """What anonymous clients may do that no access list decides."""
    permitted: Verdicts = field(default_factory=Verdicts)

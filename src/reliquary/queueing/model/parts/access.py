"""Keeps the state of access checks, besides the access lists of the queues."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from reliquary.queueing.model.security.anonymous import EVERY_ACT, AnonymousAct
from reliquary.queueing.model.security.principals import Principal


class Verdicts(set[tuple[int | str, Principal, int]]):
    """A cache of acts that are allowed to users; it is emptied when a name or an access list changes."""

    LIMIT: Final = 10_000

    def add(self, verdict: tuple[int | str, Principal, int]) -> None:
        """Store one verdict; when the cache is full, all others are removed first."""
        if len(self) >= self.LIMIT:
            self.clear()
        super().add(verdict)


@dataclass(slots=True)
class AccessChecks:
    """The state of access checks, besides the access lists of the queues.

    Written by: startup, security.permissions, rules.permission, model.state.
    """

    first_list: bytes = b""
    """The access list of the manager until another one is set."""
    anonymous_may: AnonymousAct = EVERY_ACT
    """The acts that anonymous clients may do and that no access list decides."""
    permitted: Verdicts = field(default_factory=Verdicts)

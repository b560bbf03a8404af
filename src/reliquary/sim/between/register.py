"""What all sites together know of a message: where it was sent, who has it, who had it."""

from __future__ import annotations

from collections import defaultdict
from typing import Protocol

from reliquary.sim.history import History, Sending
from reliquary.sim.ledger import Ledger


class Books(Protocol):
    """What is written down at one site."""

    history: History
    ledger: Ledger

    def keeps(self, name: bytes) -> bool:
        """Whether a message is, or was, on this site's disk."""


class Register:
    """The sites of a run, by authority."""

    def __init__(self) -> None:
        self.sendings: dict[bytes, Sending] = {}
        """What was sent anywhere."""
        self.sites: dict[str, Books] = {}
        self.seen: dict[bytes, set[str]] = defaultdict(set)
        """Where a message was ever in a queue, were it only until a crash."""
        self.origin: dict[bytes, str] = {}
        """Where a message was first in a queue."""

    def is_elsewhere(self, name: bytes, site: str, *, express: bool) -> bool:
        """Whether another site has it, or had it: on its disk, or at least in its memory."""
        if express:
            return bool(self.seen[name] - {site})
        return any(other.keeps(name) for authority, other in self.sites.items() if authority != site)

    def home(self, sending: Sending) -> str:
        """The authority of the site whose application sent it."""
        return sending.sender.partition("/")[0]

    def whereto(self, sending: Sending) -> tuple[str, str]:
        """The site and the queue that a message is for."""
        raise NotImplementedError

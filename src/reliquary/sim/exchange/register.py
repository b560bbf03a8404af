"""What all sites together know of a message: where it was sent, who has it, who refused it."""

from __future__ import annotations

from collections import defaultdict
from typing import Protocol

from reliquary.protocols.srmp.codec.decode import decode
from reliquary.protocols.srmp.codec.messages import message_of
from reliquary.protocols.srmp.codec.values import Arrived
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import PostArrived
from reliquary.queueing.message import MessageClass
from reliquary.sim.history import History, Sending, named
from reliquary.sim.ledger import Ledger

LARGEST = 1 << 20


class Books(Protocol):
    """What is written down at one site."""

    history: History
    ledger: Ledger

    def keeps(self, name: bytes) -> bool:
        """Whether a message is, or was, on this site's disk."""


class Letter:
    """What is in a POST, as a reader sees it."""

    __slots__ = ("arrived", "name")

    def __init__(self, arrived: Arrived) -> None:
        self.arrived = arrived
        self.name = named(message_of(arrived))


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
        self.taken: set[bytes] = set()
        """What was answered with 200."""
        self.refused: dict[bytes, str] = {}
        """What was answered with 400, and why."""
        self._letters: dict[bytes, Letter] = {}

    def read(self, post: Post | PostArrived) -> Letter:
        """Open a POST; the same one is opened once."""
        letter = self._letters.get(post.body)
        if letter is None:
            arrived = decode(post.content_type, post.body, largest=LARGEST)
            letter = self._letters[post.body] = Letter(arrived)
        return letter

    def is_elsewhere(self, name: bytes, site: str, *, express: bool) -> bool:
        """Whether another site has it, or had it: on its disk, or at least in its memory."""
        if express:
            return bool(self.seen[name] - {site})
        return any(other.keeps(name) for authority, other in self.sites.items() if authority != site)

    def destination(self, sending: Sending) -> tuple[Books, str]:
        """The site that a message is for, and the name of the queue there."""
        authority, _, path = sending.queue.partition("://")[2].partition("/")
        return self.sites[authority], path.rpartition("/")[2].casefold()

    def end_of(self, name: bytes) -> MessageClass | None:
        """Why a message left the queue it was for; None while it is there."""
        site, _ = self.destination(self.sendings[name])
        end = site.ledger.left.get(name)
        return end[1] if end else None

    def home(self, sending: Sending) -> str:
        """The authority of the site whose application sent it."""
        return sending.sender.partition("/")[0]

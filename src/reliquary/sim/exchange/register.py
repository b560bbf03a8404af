"""What is known of a message that goes by SRMP: also what its POSTs say, and how they were answered."""

from __future__ import annotations

from reliquary.protocols.srmp.codec.decode import decode
from reliquary.protocols.srmp.codec.messages import message_of
from reliquary.protocols.srmp.codec.values import Arrived
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import PostArrived
from reliquary.queueing.message import MessageClass
from reliquary.sim.between.register import Register
from reliquary.sim.history import Sending, named

LARGEST = 1 << 20


class Letter:
    """What is in a POST, as a reader sees it."""

    __slots__ = ("arrived", "name")

    def __init__(self, arrived: Arrived) -> None:
        self.arrived = arrived
        self.name = named(message_of(arrived))


class Letters(Register):
    """All that was posted."""

    def __init__(self) -> None:
        super().__init__()
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

    def whereto(self, sending: Sending) -> tuple[str, str]:
        """The site and the queue that a message is for, by its URL."""
        authority, _, path = sending.queue.partition("://")[2].partition("/")
        return authority, path.rpartition("/")[2].casefold()

    def end_of(self, name: bytes) -> MessageClass | None:
        """Why a message left the queue it was for; None while it is there."""
        authority, _ = self.whereto(self.sendings[name])
        end = self.sites[authority].ledger.left.get(name)
        return end[1] if end else None

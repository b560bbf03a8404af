"""Decodes the POSTs of a run, and records their answers."""

from __future__ import annotations

from reliquary.protocols.srmp.codec.decode import decode
from reliquary.protocols.srmp.codec.messages import message_of
from reliquary.protocols.srmp.codec.values import Arrived
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import PostArrived
from reliquary.sim.history import named

LARGEST = 1 << 20


class Content:
    """The decoded content of a POST."""

    __slots__ = ("arrived", "name")

    def __init__(self, arrived: Arrived) -> None:
        self.arrived = arrived
        self.name = named(message_of(arrived))


class Posts:
    """All POSTs of a run."""

    def __init__(self) -> None:
        self.taken: set[bytes] = set()
        """Messages that were answered with 200."""
        self.refused: dict[bytes, str] = {}
        """Messages that were answered with 400, and why."""
        self._contents: dict[bytes, Content] = {}

    def read(self, post: Post | PostArrived) -> Content:
        """Return the content of a POST; equal ones are decoded once."""
        content = self._contents.get(post.body)
        if content is None:
            arrived = decode(post.content_type, post.body, largest=LARGEST)
            content = self._contents[post.body] = Content(arrived)
        return content

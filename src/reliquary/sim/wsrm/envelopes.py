"""Decodes the requests and responses of a run; each body is decoded once."""

from __future__ import annotations

from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.values import Envelope
from reliquary.protocols.wsrm.effects import Post
from reliquary.protocols.wsrm.events import PostAnswer, PostArrived, PostEnded


class Envelopes:
    """All envelopes that were sent in a run."""

    def __init__(self) -> None:
        self._decoded: dict[bytes, Envelope] = {}

    def read(self, carried: Post | PostArrived | PostEnded | PostAnswer) -> Envelope | None:
        """Return the envelope of a request or a response; None if it has none."""
        body = carried.body
        if not body:
            return None
        envelope = self._decoded.get(body)
        if envelope is None:
            envelope = self._decoded[body] = decode(carried.content_type, body)
        return envelope

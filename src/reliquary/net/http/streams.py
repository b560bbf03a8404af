"""Requests under some mounts whose bodies are handed on while they come, and never joined.

    head --> begin(request, responder) --> a sink:  feed  feed  ...  end     the body is whole
                                                    feed  feed  ...  lost    it will never be

How large a body may be is for its sink to say; how slowly it may come, the listener still says.  A sink
that has enough for now calls `responder.pause_body`; the rest of a slice still comes, then nothing until
`resume_body`, neither of this request nor of those behind it.  A sink that answers before the end of the
body wants no more of it: the connection closes after that answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from reliquary.net.http.request import Request
from reliquary.net.http.responder import Responder


class BodySink(Protocol):
    """Takes one body."""

    def feed(self, data: bytes) -> None:
        """A part of it; how it was cut means nothing."""

    def end(self) -> None:
        """It is whole."""

    def lost(self) -> None:
        """The rest of it will not come, and nobody waits for an answer."""


Begin = Callable[[Request, Responder], BodySink]
"""Takes a request without its body, in the order of requests."""


class Arriving:
    """A request whose body comes; its sink begins when its turn has come, and hears then what was kept."""

    __slots__ = ("_ended", "_kept", "_sink", "begun", "request", "responder")

    def __init__(self, request: Request, responder: Responder) -> None:
        self.request = request
        self.responder = responder
        self.begun = False
        """Whether it was handed on."""
        self._sink: BodySink | None = None
        self._kept: list[bytes] = []  # a slice at most: nothing more is read until it is handed on
        self._ended = False

    def begin(self, begin: Begin) -> None:
        """Hand it on."""
        self.begun = True
        sink = self._sink = begin(self.request, self.responder)
        for data in self._kept:
            sink.feed(data)
        self._kept.clear()
        if self._ended:
            sink.end()

    def feed(self, data: bytes) -> None:
        """A part of the body has come."""
        if self._sink is not None:
            self._sink.feed(data)
        else:
            self._kept.append(data)

    def end(self) -> None:
        """The body is whole."""
        self.responder.body_came()
        if self._sink is not None:
            self._sink.end()
        else:
            self._ended = True

    def lose(self) -> None:
        """The rest of the body will not come."""
        self._kept.clear()
        if self._sink is not None:
            self._sink.lost()

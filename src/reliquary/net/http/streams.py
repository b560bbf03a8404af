"""Passes on request bodies under some mounts while they arrive, without joining them.

    head --> begin(request, responder) --> a sink:  feed  feed  ...  end     the body is whole
                                                    feed  feed  ...  lost    the rest will never come

The sink limits the size of a body; the listener limits its time.  A sink can call
`responder.pause_body`; the rest of a slice still comes, then nothing until `resume_body`, neither of
this request nor of those behind it.  If a sink answers before the end of the body, the connection
closes after that answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from reliquary.net.http.request import Request
from reliquary.net.http.responder import Responder


class BodySink(Protocol):
    """Takes the body of one request."""

    def feed(self, data: bytes) -> None:
        """Take a part of the body; its boundaries have no meaning."""

    def end(self) -> None:
        """Record that the body is complete."""

    def lost(self) -> None:
        """Record that the rest of the body will not come, and that no answer is needed."""


Begin = Callable[[Request, Responder], BodySink]
"""The type of a function that takes a request without its body, in the order of requests."""


class Arriving:
    """A request with an incomplete body.

    Its sink begins in its turn, and then gets the parts that were kept.
    """

    __slots__ = ("_ended", "_kept", "_sink", "begun", "request", "responder")

    def __init__(self, request: Request, responder: Responder) -> None:
        self.request = request
        self.responder = responder
        self.begun = False
        """Whether the request was passed on."""
        self._sink: BodySink | None = None
        self._kept: list[bytes] = []  # at most one slice: nothing more is read until the request is handed on
        self._ended = False

    def begin(self, begin: Begin) -> None:
        """Hand on the request, with the parts of its body that have come."""
        self.begun = True
        sink = self._sink = begin(self.request, self.responder)
        for data in self._kept:
            sink.feed(data)
        self._kept.clear()
        if self._ended:
            sink.end()

    def feed(self, data: bytes) -> None:
        """Hand on a part of the body, or keep it."""
        if self._sink is not None:
            self._sink.feed(data)
        else:
            self._kept.append(data)

    def end(self) -> None:
        """Note that the body is complete, and notify the sink."""
        self.responder.body_came()
        if self._sink is not None:
            self._sink.end()
        else:
            self._ended = True

    def lose(self) -> None:
        """Notify the sink that the rest of the body will not come."""
        self._kept.clear()
        if self._sink is not None:
            self._sink.lost()

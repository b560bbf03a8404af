"""Delays requests whose password is being checked until the check has ended.

whole request   Checking --> when_checked --> right: it is handled again; wrong: it is refused
streamed body   Checking --> LateBody: the bytes that come are kept, and reading stops
                                '-- right --> the handler begins, and gets the bytes that were kept
                                '-- wrong --> another sink gets them, which knows why
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from reliquary.net.http import BodySink, Responder
from reliquary.net.identity.passwords import Checking
from reliquary.net.identity.shown import Denied
from reliquary.queueing.model.security.principals import Principal


def when_checked(
    checking: Checking, responder: Responder, go_on: Callable[[], None], refuse: Callable[[Denied], None]
) -> None:
    """Call a function after the check of a request's password; none if its client has disconnected."""

    def ended(checked: asyncio.Future[Principal]) -> None:
        if responder.gone or checked.cancelled():
            return
        wrong = checked.exception()
        if isinstance(wrong, Denied):
            refuse(wrong)
        else:
            go_on()

    checking.checked.add_done_callback(ended)


class LateBody:
    """Takes a body for a handler that begins later."""

    def __init__(
        self,
        responder: Responder,
        checking: Checking,
        begin: Callable[[], BodySink],
        refuse: Callable[[Denied], BodySink],
    ) -> None:
        """`begin` and `refuse` return the sink of a request whose password is right, or wrong."""
        self._responder = responder
        self._begin = begin
        self._refuse = refuse
        self._kept: list[bytes] = []  # at most one slice: nothing more is read from the client
        self._sink: BodySink | None = None
        self._ended = False
        self._lost = False
        responder.pause_body()
        checking.checked.add_done_callback(self._go_on)

    def feed(self, data: bytes) -> None:
        """Take a part of the body."""
        if self._sink is None:
            self._kept.append(data)
        else:
            self._sink.feed(data)

    def end(self) -> None:
        """Record that the body is complete."""
        self._ended = True
        if self._sink is not None:
            self._sink.end()

    def lost(self) -> None:
        """Record that the rest of the body will not come."""
        self._lost = True
        self._kept.clear()
        if self._sink is not None:
            self._sink.lost()

    def _go_on(self, checked: asyncio.Future[Principal]) -> None:
        if self._lost or self._responder.gone or checked.cancelled():
            return
        wrong = checked.exception()
        sink = self._sink = self._refuse(wrong) if isinstance(wrong, Denied) else self._begin()
        for data in self._kept:
            sink.feed(data)
        if self._ended:
            sink.end()
        self._kept.clear()
        self._responder.resume_body()

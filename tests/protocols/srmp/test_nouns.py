"""Streams as a noun: what is declared is what the views know."""

from __future__ import annotations

from typing import TypeVar

from reliquary.protocols.srmp.nouns import STREAM
from reliquary.protocols.srmp.views import streams
from reliquary.queueing.administration import View
from reliquary.queueing.security.principals import MANAGER
from tests.protocols.srmp.sending import Sender

M = TypeVar("M")


class Machines:
    """A manager with SRMP."""

    def __init__(self, bench: Sender) -> None:
        self.state = bench.state
        self._srmp = bench.srmp

    def machine(self, kind: type[M]) -> M:
        assert isinstance(self._srmp, kind)
        return self._srmp


def test_streams_are_listed_and_have_no_names() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    listed = list(STREAM.listing.records(View(Machines(bench), MANAGER)))
    assert len(listed) == 1
    assert listed == list(streams(bench.state, bench.srmp.state))
    assert STREAM.showing is None

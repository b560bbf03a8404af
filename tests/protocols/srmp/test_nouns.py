"""Streams as a noun: what is declared is what the views know."""

from __future__ import annotations

from typing import TypeVar

from reliquary.protocols.srmp.events import ResetStream
from reliquary.protocols.srmp.machine import TAKES
from reliquary.protocols.srmp.nouns import STREAM
from reliquary.protocols.srmp.views import streams
from reliquary.queueing.model.administration import View
from reliquary.queueing.model.security.principals import MANAGER
from tests.protocols.srmp.sending import Sender

M = TypeVar("M")


class Machines:
    """A queue manager that runs SRMP, as the console sees it."""

    def __init__(self, bench: Sender) -> None:
        self.state = bench.state
        self._srmp = bench.srmp

    def machine(self, kind: type[M]) -> M:
        assert isinstance(self._srmp, kind)
        return self._srmp


def test_streams_are_listed_and_found_by_their_names() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    view = View(Machines(bench), MANAGER)
    listed = list(STREAM.listing.records(view))
    assert len(listed) == 1
    assert listed == list(streams(bench.state, bench.srmp.state))
    assert STREAM.showing is not None
    assert STREAM.showing.record(view, listed[0].name) == listed[0]
    assert STREAM.showing.record(view, "out-99") is None


def test_an_act_is_an_event_that_the_machine_takes() -> None:
    act = STREAM.act("reset")
    assert act.event(7, "out-1", renumber=True) == ResetStream(7, "out-1", renumber=True)
    assert ResetStream in TAKES

"""Tests sessions as a noun: what is declared is what the views know."""

from __future__ import annotations

from typing import TypeVar

from reliquary.protocols.mqqb.events import CloseSession
from reliquary.protocols.mqqb.machine import TAKES, Mqqb
from reliquary.protocols.mqqb.nouns import SESSION
from reliquary.protocols.mqqb.views import sessions
from reliquary.queueing.model.administration import View
from reliquary.queueing.model.security.principals import MANAGER
from tests.protocols.mqqb.mqqb_harness import MqqbBench

M = TypeVar("M")


class Machines:
    """The machines of a manager that has sessions of MQQB to show."""

    def __init__(self, bench: MqqbBench) -> None:
        self.state = bench.state
        self._mqqb = bench.machine(Mqqb)

    def machine(self, kind: type[M]) -> M:
        assert isinstance(self._mqqb, kind)
        return self._mqqb


def test_sessions_are_listed_and_found_by_their_names() -> None:
    bench = MqqbBench()
    bench.accepted()
    view = View(Machines(bench), MANAGER)
    listed = list(SESSION.listing.records(view))
    assert listed == list(sessions(bench.mqqb))
    assert SESSION.showing is not None
    assert SESSION.showing.record(view, "in-1") == listed[0]
    assert SESSION.showing.record(view, "out-1") is None


def test_the_act_is_an_event_that_the_machine_takes() -> None:
    assert [act.event for act in SESSION.acts] == [CloseSession]
    assert CloseSession in TAKES

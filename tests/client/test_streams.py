"""Streams as a noun: those of both protocols are listed, as the views know them."""

from __future__ import annotations

from typing import TypeVar

from reliquary.client.streams import STREAM
from reliquary.protocols.mqqb import views as mqqb_views
from reliquary.protocols.srmp import views as srmp_views
from reliquary.protocols.srmp.events import ResetStream
from reliquary.protocols.srmp.machine import TAKES
from reliquary.queueing.model.administration import View
from reliquary.queueing.model.security.principals import MANAGER
from tests.protocols.mqqb.mqqb_harness import MqqbBench
from tests.protocols.srmp.sending import Sender

M = TypeVar("M")


class Machines:
    """A manager with SRMP, and the streams of MQQB that another bench has."""

    def __init__(self, srmp: Sender, mqqb: MqqbBench) -> None:
        self.state = srmp.state
        self._machines = (srmp.srmp, mqqb.machines["mqqb"])

    def machine(self, kind: type[M]) -> M:
        return next(each for each in self._machines if isinstance(each, kind))


def test_streams_of_both_protocols_are_listed_and_found_by_their_names() -> None:
    bench, other = Sender(), MqqbBench()
    bench.stream(b"a", b"b")
    other.create("ledger", transactional=True)
    other.accepted().user(b"1", to="TCP:10.0.0.2\\private$\\ledger", stream=(1, 0))
    view = View(Machines(bench, other), MANAGER)
    listed = list(STREAM.listing.records(view))
    assert [(each.protocol, each.direction) for each in listed] == [("srmp", "out"), ("mqqb", "in")]
    known = [*srmp_views.streams(bench.state, bench.srmp.state), *mqqb_views.streams(other.state, other.mqqb)]
    assert listed == known
    assert STREAM.showing is not None
    assert [STREAM.showing.record(view, each.name) for each in listed] == listed
    assert STREAM.showing.record(view, "out-99") is None


def test_an_act_is_an_event_that_the_machine_takes() -> None:
    act = STREAM.act("reset")
    assert act.event(7, "out-1", renumber=True) == ResetStream(7, "out-1", renumber=True)
    assert ResetStream in TAKES

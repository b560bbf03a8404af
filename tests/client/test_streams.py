"""Tests streams as a noun: those of both protocols are listed, as the views know them."""

from __future__ import annotations

from typing import TypeVar

from reliquary.base.turn import Machine
from reliquary.client.streams import STREAM
from reliquary.protocols.mqqb import events as mqqb_events
from reliquary.protocols.mqqb import machine as mqqb_machine
from reliquary.protocols.mqqb import views as mqqb_views
from reliquary.protocols.srmp import events as srmp_events
from reliquary.protocols.srmp import machine as srmp_machine
from reliquary.protocols.srmp import views as srmp_views
from reliquary.queueing.model.administration import View
from reliquary.queueing.model.security.principals import MANAGER
from tests.protocols.mqqb.mqqb_harness import MqqbBench
from tests.protocols.srmp.sending import Sender

M = TypeVar("M")


class Machines:
    """A manager with SRMP, and further machines, such as MQQB's of another bench with its streams."""

    def __init__(self, srmp: Sender, *others: Machine) -> None:
        self.state = srmp.state
        self._machines = (srmp.srmp, *others)

    def machine(self, kind: type[M]) -> M:
        return next(each for each in self._machines if isinstance(each, kind))


def test_streams_of_both_protocols_are_listed_and_found_by_their_names() -> None:
    bench, other = Sender(), MqqbBench()
    bench.stream(b"a", b"b")
    other.create("ledger", transactional=True)
    other.accepted().user(b"1", to="TCP:10.0.0.2\\private$\\ledger", stream=(1, 0))
    view = View(Machines(bench, other.machines["mqqb"]), MANAGER)
    listed = list(STREAM.listing.records(view))
    assert [(each.protocol, each.direction) for each in listed] == [("srmp", "out"), ("mqqb", "in")]
    known = [*srmp_views.streams(bench.state, bench.srmp.state), *mqqb_views.streams(other.state, other.mqqb)]
    assert listed == known
    assert STREAM.showing is not None
    assert [STREAM.showing.record(view, each.name) for each in listed] == listed
    assert STREAM.showing.record(view, "out-99") is None


def test_a_reset_is_an_event_of_the_protocol_that_has_the_stream() -> None:
    act = STREAM.act("reset")
    assert act.fields == ("protocol",)
    for protocol, kind, takes in (
        ("srmp", srmp_events.ResetStream, srmp_machine.TAKES),
        ("mqqb", mqqb_events.ResetStream, mqqb_machine.TAKES),
    ):
        made = act.event(7, "out-1", renumber=True, protocol=protocol)
        assert made == kind(7, "out-1", renumber=True)
        assert type(made) in takes

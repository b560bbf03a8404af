"""Tests associations as a noun: what is declared is what the views and the machine know."""

from __future__ import annotations

from typing import TypeVar

from reliquary.protocols.mqqp.events import CloseAssociation
from reliquary.protocols.mqqp.machine import TAKES, Mqqp
from reliquary.protocols.mqqp.nouns import RPC
from reliquary.protocols.mqqp.views import associations
from reliquary.queueing.model.administration import View
from reliquary.queueing.model.security.principals import MANAGER
from tests.protocols.mqqp.server.server_harness import ServerBench

M = TypeVar("M")


class Machines:
    """A queue manager that runs MQQP, as the console sees it."""

    def __init__(self, bench: ServerBench) -> None:
        self.state = bench.state
        self._mqqp = bench.machines["mqqp"]

    def machine(self, kind: type[M]) -> M:
        assert isinstance(self._mqqp, kind)
        return self._mqqp


def test_an_association_is_listed_and_found_by_its_name() -> None:
    bench = ServerBench()
    client = bench.client()
    machines = Machines(bench)
    view = View(machines, MANAGER)
    listed = list(RPC.listing.records(view))
    assert listed == list(associations(machines.machine(Mqqp).state))
    assert len(listed) == 1
    assert RPC.showing is not None
    assert RPC.showing.record(view, f"in-{client.association}") == listed[0]
    assert RPC.showing.record(view, "in-99") is None


def test_an_act_is_an_event_that_the_machine_takes() -> None:
    assert RPC.act("close").event(7, "in-1") == CloseAssociation(7, "in-1")
    assert CloseAssociation in TAKES

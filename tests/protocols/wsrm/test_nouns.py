"""Tests sequences as a noun: what is declared is what the views and the machine know."""

from __future__ import annotations

from typing import TypeVar

from reliquary.protocols.wsrm.destination.tables import Received
from reliquary.protocols.wsrm.events import CloseSequence, TerminateSequence
from reliquary.protocols.wsrm.machine import TAKES, Wsrm
from reliquary.protocols.wsrm.nouns import SEQUENCE
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.tables import TABLES
from reliquary.protocols.wsrm.views import sequence, sequences
from reliquary.queueing.model.administration import View
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.store import MemoryDisk, StagedRows
from tests.protocols.wsrm.known_sequences import add_inbound, add_outbound
from tests.queueing.manager_harness import Bench

M = TypeVar("M")


class Machines:
    """A queue manager that runs WS-RM, as the console sees it."""

    def __init__(self) -> None:
        self.state = Bench().state
        self.wsrm = Wsrm(StagedRows(MemoryDisk(TABLES)), WsrmSettings())

    def machine(self, kind: type[M]) -> M:
        assert isinstance(self.wsrm, kind)
        return self.wsrm


def test_a_sequence_is_listed_and_found_by_its_number() -> None:
    machines = Machines()
    view, wsrm = View(machines, MANAGER), machines.wsrm.state
    add_inbound(wsrm, 1, Received())
    add_outbound(wsrm, 2)
    listed = list(SEQUENCE.listing.records(view))
    assert len(listed) == 2
    assert listed == list(sequences(wsrm))
    assert SEQUENCE.showing is not None
    assert SEQUENCE.showing.record(view, 2) == sequence(wsrm, 2)
    assert SEQUENCE.showing.record(view, 9) is None


def test_an_act_is_an_event_that_the_machine_takes() -> None:
    asked = [SEQUENCE.act("close").event(7, 1), SEQUENCE.act("terminate").event(7, 1)]
    assert asked == [CloseSequence(7, 1), TerminateSequence(7, 1)]
    assert {type(event) for event in asked} <= set(TAKES)

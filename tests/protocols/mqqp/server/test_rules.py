"""The tables of the server role have a rule for everything that can come."""

from __future__ import annotations

from reliquary.protocols.mqqp import events
from reliquary.protocols.mqqp.server.rules import ANSWERED, RULES, SIGNAL_RULES
from reliquary.protocols.mqqp.server.state import Asked
from reliquary.queueing.model.travel.asking import RequestAnswered


def test_each_event_of_a_client_elsewhere_has_a_rule() -> None:
    assert set(RULES) == {
        events.PortsKnown,
        events.ClientBound,
        events.ClientCalled,
        events.CallCancelled,
        events.ConnectionLost,
        events.AssociationLost,
    }


def test_each_request_to_the_manager_has_a_rule_for_its_answer() -> None:
    # By name: a class with slots has a forerunner, which may not have been collected yet.
    kinds = {(each.__module__, each.__qualname__) for each in Asked.__subclasses__()}
    assert {(each.__module__, each.__qualname__) for each in ANSWERED} == kinds
    assert set(SIGNAL_RULES) == {RequestAnswered}

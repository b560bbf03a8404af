"""Each event, signal and timer has its rule."""

from __future__ import annotations

import inspect

from reliquary.base.turn import Event
from reliquary.protocols.mqqp import events, machine
from reliquary.protocols.mqqp.client import rules as client
from reliquary.protocols.mqqp.server import rules as server
from reliquary.queueing.model.travel.asking import RequestAnswered
from reliquary.queueing.travel.remote import ReadElsewhere, ReaderGone


def test_every_event_has_a_rule() -> None:
    known = {each for _, each in inspect.getmembers(events, inspect.isclass) if issubclass(each, Event)}
    assert known - {Event} == set(machine.TAKES)


def test_the_machine_handles_the_answers_and_requests_of_the_manager() -> None:
    assert set(machine.SIGNALS) == {RequestAnswered, ReadElsewhere, ReaderGone}


def test_no_rule_of_one_role_takes_the_place_of_one_of_the_other() -> None:
    assert not set(server.RULES) & set(client.RULES)
    assert not set(server.SIGNAL_RULES) & set(client.SIGNAL_RULES)

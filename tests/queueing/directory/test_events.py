"""Tests of the requests to the directory: each has its caller as the first field."""

from __future__ import annotations

import inspect

import pytest

from reliquary.base.turn import Event
from reliquary.queueing.directory import events
from reliquary.queueing.directory.rules import RULES
from reliquary.queueing.model.events import Request


def every_request() -> list[type[Event]]:
    found = [each for _, each in inspect.getmembers(events, inspect.isclass) if issubclass(each, Request)]
    return [each for each in found if each is not Request]


@pytest.mark.parametrize("event", every_request())
def test_a_request_names_its_caller_and_has_a_rule(event: type[Event]) -> None:
    assert event.__struct_fields__[0] == "to"
    assert event in RULES

"""Tests that every event, request, signal, timer and fact belongs to exactly one feature.

The files `feature.py` hold tables only; these tests show them all.
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pytest

from reliquary.base.turn import Event, Fact, TimerFired
from reliquary.queueing import features
from reliquary.queueing.directory import events as directory_events
from reliquary.queueing.directory import published
from reliquary.queueing.features import FEATURES, _joined, refusal
from reliquary.queueing.feed import events as feed_events
from reliquary.queueing.feed import facts as feed_facts
from reliquary.queueing.history import events as history_events
from reliquary.queueing.model import events, facts
from reliquary.queueing.model.events import PurgeQueue, Request
from reliquary.queueing.model.feature import Feature
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.staging import events as staging_events
from reliquary.queueing.staging import facts as staging_facts
from tests.queueing.security.users import ALICE, BOB, bench_with

ROOMS = {
    "directory": directory_events,
    "feed": feed_events,
    "history": history_events,
    "staging": staging_events,
}
"""Features that have their own events."""
NAMES = [feature.name for feature in FEATURES]
BY_NAME = dict(zip(NAMES, FEATURES, strict=True))


def classes_of(room: ModuleType, kind: type[Any]) -> set[type[Any]]:
    """Return the kinds of events or facts that a module declares or uses."""
    found = {each for _, each in inspect.getmembers(room, inspect.isclass) if issubclass(each, kind)}
    return {each for each in found if not each.__name__.startswith("_")} - {Event, Fact, Request}


FACTS = classes_of(facts, Fact) | classes_of(feed_facts, Fact) | classes_of(staging_facts, Fact)


# -- events and requests


@pytest.mark.parametrize("name", ROOMS)
def test_every_event_of_a_feature_has_its_rule_and_every_request_its_permit(name: str) -> None:
    assert set(BY_NAME[name].rules) == classes_of(ROOMS[name], Event)
    assert set(BY_NAME[name].permits) == classes_of(ROOMS[name], Request)


def test_every_other_event_has_its_rule_in_the_core_or_in_travel_and_its_permit_in_security() -> None:
    assert BY_NAME["core"].rules.keys() | BY_NAME["travel"].rules.keys() == classes_of(events, Event)
    assert set(BY_NAME["security"].permits) == classes_of(events, Request)


def test_every_request_has_its_permit() -> None:
    assert set(features.PERMITS) == {each for each in features.RULES if issubclass(each, Request)}


def test_a_request_is_refused_as_its_permit_says() -> None:
    bench = bench_with()
    assert refusal(bench.state, PurgeQueue(0, "orders", by=ALICE)) == ""
    assert refusal(bench.state, PurgeQueue(0, "orders", by=BOB)).endswith(
        "DELETE_MESSAGE on private$\\orders"
    )
    assert refusal(bench.state, PurgeQueue(0, "orders", by=MANAGER)) == ""


# -- facts


def test_every_fact_can_be_applied() -> None:
    assert set(features.APPLIERS) == FACTS


def test_every_fact_has_a_recorder_or_is_listed_without_one() -> None:
    assert set(features.RECORDERS) == FACTS


# -- the joined tables


@pytest.mark.parametrize("feature", FEATURES, ids=NAMES)
def test_the_joined_tables_have_all_that_a_feature_registers(feature: Feature) -> None:
    assert features.RULES.items() >= feature.rules.items()
    assert features.SIGNAL_RULES.items() >= feature.signals.items()
    assert features.TIMERS.items() >= feature.timers.items()
    assert features.PERMITS.items() >= feature.permits.items()
    assert features.APPLIERS.items() >= feature.appliers.items()
    assert features.RECORDERS.items() >= feature.recorders.items()
    assert feature.at_any_time <= features.AT_ANY_TIME
    assert feature.rules.keys() >= feature.at_any_time


def test_no_two_features_have_one_name() -> None:
    assert len(BY_NAME) == len(FEATURES)


def test_a_timer_is_taken_at_any_time() -> None:
    assert TimerFired in features.AT_ANY_TIME


@pytest.mark.parametrize("key", [PurgeQueue, "expiry", facts.QueueCreated], ids=["event", "timer", "fact"])
def test_what_two_features_claim_is_an_error(key: Any) -> None:
    with pytest.raises(AssertionError, match="two features claim"):
        _joined([{key: len}, {"another": len}, {key: repr}])


def test_tables_without_a_common_key_are_joined() -> None:
    assert _joined([{"a": 1}, {}, {"b": 2}]) == {"a": 1, "b": 2}


def test_the_hooks_lead_to_the_features() -> None:
    hooks = features.HOOKS
    assert (hooks.appliers, hooks.recorders) == (features.APPLIERS, features.RECORDERS)
    assert hooks.published_queue is published.published_queue
    assert hooks.list_members is published.resolve_list
    assert hooks.computer_name is published.computer_name

"""Tests the parts of a turn, and how a draft collects them."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.base.time import Duration
from reliquary.base.turn import (
    CancelTimer,
    Continue,
    ContinueAfterSync,
    ContinueBesideSync,
    Draft,
    Effect,
    Event,
    Fact,
    Reply,
    SetTimer,
    Signal,
    TimerFired,
    Turn,
)


class Happened(Fact, frozen=True):
    what: str


class Heard(Signal, frozen=True):
    what: str


FIRED = TimerFired(("expiry", 0))
EVERYTHING = [
    FIRED,
    Happened("a"),
    Heard("a"),
    Reply(1, "done"),
    SetTimer(("expiry", 0), Duration(5)),
    CancelTimer(("expiry", 0)),
    Continue(FIRED),
    ContinueAfterSync(FIRED),
    ContinueBesideSync(FIRED),
    Turn(),
]


def test_a_draft_keeps_facts_signals_and_effects_in_their_order() -> None:
    draft = Draft()
    draft.ask(Reply(1, "first"))
    draft.state(Happened("a"))
    draft.signal(Heard("a"))
    draft.state(Happened("b"))
    draft.ask(Reply(2, "second"))
    assert draft.take() == Turn(
        facts=(Happened("a"), Happened("b")),
        signals=(Heard("a"),),
        effects=(Reply(1, "first"), Reply(2, "second")),
    )


def test_a_draft_is_empty_after_it_was_taken() -> None:
    draft = Draft()
    draft.state(Happened("a"))
    draft.signal(Heard("a"))
    draft.ask(Reply(1, "done"))
    draft.take()
    assert draft.take() == Turn()
    assert not draft.has_facts


def test_a_turn_that_was_taken_does_not_change_afterwards() -> None:
    draft = Draft()
    draft.state(Happened("a"))
    turn = draft.take()
    draft.state(Happened("b"))
    assert turn.facts == (Happened("a"),)


def test_only_a_fact_makes_a_draft_durable() -> None:
    draft = Draft()
    draft.ask(Reply(1, "done"))
    draft.signal(Heard("a"))
    assert not draft.has_facts
    draft.state(Happened("a"))
    assert draft.has_facts


def test_a_fact_must_reach_the_disk_unless_it_says_otherwise() -> None:
    assert not Happened("a").volatile


@pytest.mark.parametrize("thing", EVERYTHING, ids=lambda thing: type(thing).__name__)
def test_nothing_in_a_turn_can_be_changed(thing: msgspec.Struct) -> None:
    for name in thing.__struct_fields__:
        with pytest.raises(AttributeError, match="immutable"):
            setattr(thing, name, None)


def test_events_facts_signals_and_effects_are_separate_classes() -> None:
    kinds = (Event, Fact, Signal, Effect)
    for thing in EVERYTHING[:-1]:
        assert sum(isinstance(thing, kind) for kind in kinds) == 1

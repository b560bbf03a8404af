"""Tests that the positions of a large batch are visible when the batch is published."""

from __future__ import annotations

from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import Published
from reliquary.queueing.staging.facts import BatchPublished, StagePlaced, StagePublished
from reliquary.sim.hidden import HiddenPositions


def position(number: int) -> Position:
    return Position(number, number, 1, 0)


def test_places_are_visible_with_their_batch_and_once() -> None:
    hidden = HiddenPositions()
    placed = [StagePlaced("query", 3, 7, (position(number),)) for number in (1, 2)]
    other = StagePlaced("other", 3, 7, (position(9),))
    assert [list(hidden.visible(fact)) for fact in (*placed, other)] == [[], [], []]
    published = BatchPublished("query", Published(3, "", 2, 0), (1,))
    shown = [StagePublished("query", 3, 7, fact.positions) for fact in placed]
    assert list(hidden.visible(published)) == [published, *shown]
    assert list(hidden.visible(published)) == [published]


def test_all_other_facts_are_visible_at_once() -> None:
    fact = StagePublished("query", 3, 7, (position(1),))
    assert list(HiddenPositions().visible(fact)) == [fact]

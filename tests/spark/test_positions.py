"""Tests where reads begin and end: words, numbers and times, for all queues or for each."""

from __future__ import annotations

import pytest

from reliquary.spark.errors import BadOption
from reliquary.spark.offsets import QueueKey
from reliquary.spark.positions import Moment, Positions, parse_positions

SIX = Moment(1_795_068_000_000_000)


def test_positions_are_for_all_queues_for_one_or_for_one_of_one_manager() -> None:
    text = '{"orders": 123, "parts": "latest", "new": "2026-11-19T06:00:00Z", "north": {"orders": 5}}'
    found = parse_positions({"startingOffset": text}, "starting", "earliest")
    assert found.of(QueueKey("south", "orders")) == 123
    assert found.of(QueueKey("north", "orders")) == 5
    assert found.of(QueueKey("north", "parts")) == "latest"
    assert found.of(QueueKey("north", "new")) == SIX
    assert found.of(QueueKey("north", "other")) == "earliest"


@pytest.mark.parametrize("text", ["2026-11-19T06:00:00Z", "2026-11-19T07:00:00+01:00", "1795068000000"])
def test_a_time_is_for_all_queues(text: str) -> None:
    assert parse_positions({"endingTimestamp": text}, "ending", "latest") == Positions(SIX)


def test_without_a_word_there_is_the_default() -> None:
    assert parse_positions({}, "starting", "earliest") == Positions()
    assert parse_positions({}, "ending", "latest") == Positions("latest")


@pytest.mark.parametrize(
    "value", ["first", '{"orders": -1}', '{"orders": "first"}', "[1]", '{"a": {"b": {}}}', '{"orders": "5"}']
)
def test_a_malformed_start_is_refused(value: str) -> None:
    with pytest.raises(BadOption, match="the option startingOffset is earliest, latest, or JSON such as"):
        parse_positions({"startingOffset": value}, "starting", "earliest")


def test_a_read_does_not_end_at_its_beginning() -> None:
    with pytest.raises(BadOption, match="the option endingOffset is latest, or JSON"):
        parse_positions({"endingOffset": "earliest"}, "ending", "latest")


@pytest.mark.parametrize("value", ["yesterday", "2026-11-19T06:00:00", "-5", "9" * 30])
def test_a_time_needs_its_zone(value: str) -> None:
    with pytest.raises(BadOption, match="the option startingTimestamp is a time with its zone"):
        parse_positions({"startingTimestamp": value}, "starting", "earliest")


def test_both_are_one_too_many() -> None:
    with pytest.raises(BadOption, match="give startingOffset or startingTimestamp, not both"):
        parse_positions({"startingOffset": "latest", "startingTimestamp": "5"}, "starting", "earliest")


@pytest.mark.parametrize(
    ("positions", "sentence"),
    [
        (Positions(queues={"parts": 5}), "names 'parts', and the query reads orders"),
        (Positions(managers={"south": {}}), "names the manager 'south', and there is east, north"),
        (
            Positions(managers={"orders": {"0": 5}}),
            "has an object for the queue 'orders', which has no partitions: .* such as {\"orders\": 123}",
        ),
        (Positions(managers={"north": {"orders": 1}}), "names 'orders', and the query reads no queue"),
    ],
)
def test_a_name_that_is_not_read_is_refused(positions: Positions, sentence: str) -> None:
    with pytest.raises(BadOption, match=sentence):
        positions.check({"north": [], "east": ["orders"]}, "startingOffset")
    Positions(queues={"orders": 1}).check({"north": [], "east": ["orders"]}, "startingOffset")

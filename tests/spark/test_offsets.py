"""Tests offsets in checkpoints: of one server as they were, of many managers, of managers with new names."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.spark.errors import BadOffset
from reliquary.spark.offsets import QueueKey, QueueOffset, check_managers, from_json, renamed, to_json

NAMES = st.text("abcß.", min_size=1, max_size=3)
PLACES = st.builds(QueueOffset, st.sampled_from(["one", "two@7"]), st.integers(0, 1 << 56))
OFFSETS = st.dictionaries(st.builds(QueueKey, NAMES, NAMES), PLACES)


@given(OFFSETS)
def test_an_offset_goes_through_a_checkpoint(offset: dict[QueueKey, QueueOffset]) -> None:
    text = json.dumps(to_json(offset))
    assert from_json(json.loads(text), ["north", "south"]) == offset
    assert json.dumps(to_json(dict(reversed(offset.items())))) == text


FIRST = {"v": 1, "queues": {"orders": {"inc": "one", "id": 7}}}


def test_an_offset_of_the_first_version_is_that_of_the_one_manager() -> None:
    assert from_json(FIRST, ["north"]) == {QueueKey("north", "orders"): QueueOffset("one", 7)}


def test_a_single_manager_may_have_another_name() -> None:
    written = to_json({QueueKey("a:8480", "orders"): QueueOffset("one", 7)})
    assert from_json(written, ["north"]) == {QueueKey("north", "orders"): QueueOffset("one", 7)}


def test_an_offset_of_the_first_version_finds_its_manager_among_several() -> None:
    offset = from_json(FIRST | {"queues": FIRST["queues"] | {"old": {"inc": "gone", "id": 3}}}, ["n", "s"])  # type: ignore[operator]
    there = {
        QueueKey("n", "orders"): "two",
        QueueKey("s", "orders"): "one@5",
        QueueKey("s", "parts"): "three",
    }
    found = renamed(offset, there, ["n", "s"])
    assert found == {
        QueueKey("s", "orders"): QueueOffset("one", 7),
        QueueKey("s", "old"): QueueOffset("gone", 3),
    }
    check_managers(found, ["n", "s"], all_there=True)


def test_a_manager_with_a_new_name_is_read_on_and_one_that_is_left_out_keeps_its_place() -> None:
    offset = {
        QueueKey("a:1", "orders"): QueueOffset("one", 7),
        QueueKey("b:1", "orders"): QueueOffset("two", 8),
        QueueKey("south", "orders"): QueueOffset("three", 9),
    }
    there = {QueueKey("north", "orders"): "one", QueueKey("south", "orders"): "three"}
    assert renamed(offset, there, ["north", "south"]) == {
        QueueKey("north", "orders"): QueueOffset("one", 7),
        QueueKey("b:1", "orders"): QueueOffset("two", 8),
        QueueKey("south", "orders"): QueueOffset("three", 9),
    }


def test_a_queue_that_the_offset_has_is_not_taken_from_elsewhere() -> None:
    offset = {
        QueueKey("old", "orders"): QueueOffset("one", 7),
        QueueKey("north", "orders"): QueueOffset("one", 9),
    }
    assert renamed(offset, {QueueKey("north", "orders"): "one"}, ["north"]) == offset


def test_managers_whose_names_were_exchanged_are_read_on_under_their_new_names() -> None:
    offset = {
        QueueKey("north", "orders"): QueueOffset("one", 7),
        QueueKey("north", "gone"): QueueOffset("old", 3),
        QueueKey("south", "orders"): QueueOffset("two", 8),
        QueueKey("west", "orders"): QueueOffset("three", 9),
    }
    there = {
        QueueKey("north", "orders"): "three",
        QueueKey("south", "orders"): "one@4",
        QueueKey("west", "orders"): "two",
    }
    found = renamed(offset, there, ["north", "south", "west"])
    assert found == {
        QueueKey("south", "orders"): QueueOffset("one", 7),
        QueueKey("south", "gone"): QueueOffset("old", 3),
        QueueKey("west", "orders"): QueueOffset("two", 8),
        QueueKey("north", "orders"): QueueOffset("three", 9),
    }


def test_a_name_that_another_manager_had_is_refused_while_that_one_is_not_there() -> None:
    offset = {QueueKey("a", "orders"): QueueOffset("one", 7), QueueKey("b", "orders"): QueueOffset("two", 8)}
    for managers in (["b"], ["a", "b"]):
        with pytest.raises(BadOffset, match="b has the queues that the checkpoint has for a, and no manager"):
            renamed(offset, {QueueKey("b", "orders"): "one"}, managers)
    named = {QueueKey("b", "orders"): "one", QueueKey("c", "orders"): "two"}
    assert renamed(offset, named, ["b", "c"]) == {
        QueueKey("b", "orders"): QueueOffset("one", 7),
        QueueKey("c", "orders"): QueueOffset("two", 8),
    }


def test_a_queue_that_was_made_anew_moves_no_manager() -> None:
    offset = {QueueKey("a", "orders"): QueueOffset("one", 7), QueueKey("b", "orders"): QueueOffset("two", 8)}
    there = {QueueKey("a", "orders"): "new", QueueKey("b", "orders"): "two"}
    assert renamed(offset, there, ["a", "b"]) == offset


@pytest.mark.parametrize(
    ("managers", "sentence"),
    [
        ([""], "written for one server, and none of the managers north, south has the queues that it read"),
        (["a", "b"], "the checkpoint is of the managers a, b, and the query names north, south"),
    ],
)
def test_an_offset_of_quite_other_managers_is_refused(managers: list[str], sentence: str) -> None:
    offset = {QueueKey(manager, "orders"): QueueOffset("one", 7) for manager in managers}
    with pytest.raises(BadOffset, match=sentence):
        check_managers(offset, ["north", "south"], all_there=True)
    check_managers(offset, ["north", "south"], all_there=False)
    check_managers({}, ["north", "south"], all_there=True)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({"v": 3, "managers": {}}, "an offset of version 3, and this is version 2"),
        ({"orders": 7}, "an offset that this source did not write"),
        ({"v": 1, "queues": {"orders": {"inc": "x", "id": "7"}}}, "an offset that this source did not write"),
        ({"v": 2, "queues": {}}, "an offset that this source did not write"),
    ],
)
def test_a_foreign_offset_is_refused(written: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadOffset, match=sentence):
        from_json(written, ["north"])

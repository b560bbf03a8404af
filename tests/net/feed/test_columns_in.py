"""Tests that columns become the messages of an equal send, and that bad rows are refused with a reason."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.net.api.messages import MessageIn, message_of
from reliquary.net.feed.column_sources import TAILS, made_of
from reliquary.net.feed.columns_in import FIELDS, GROUP, BadRow, Group, Intake
from reliquary.net.feed.schema import TYPE_OF
from reliquary.queueing.model.message import Acknowledgement, Message
from reliquary.wire.columns import NAMES, WRITTEN

GUID = "9a565bde-8017-46d1-80c7-cb4654ac7e19"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

values: dict[str, st.SearchStrategy[Any]] = {
    "body": st.binary(max_size=20),
    "body_type": st.integers(0, 2**32),
    "label": st.text(max_size=10),
    "priority": st.integers(-1, 9),
    "durable": st.booleans(),
    "expires": st.sampled_from([0, 7, 2**33]),
    "reach": st.sampled_from([0, 1, 7]),
    "delay": st.sampled_from([0.0, 1.5, -1.0, float("nan")]),
    "correlation": st.sampled_from(["", f"{GUID}\\7", "seven"]),
    "tag": st.integers(0, 9),
    "extension": st.binary(max_size=5),
    "acknowledgements": st.sampled_from([[], ["full-receive"], ["pos-arrival", "neg-arrival"]]),
    "journal": st.booleans(),
    "deadletter": st.booleans(),
    "deadletter_queue": st.sampled_from(["", "bin", "DIRECT="]),
    "tracing_queue": st.sampled_from(["", GUID, "here"]),
    "traceparent": st.sampled_from(["", PARENT, PARENT.upper(), "00-1"]),
    "tracestate": st.sampled_from(["", "a=1,b=2", "x" * 600]),
    "response_queue": st.sampled_from(["", "answers", "x" * 2000]),
    "administration_queue": st.sampled_from(["", "admin"]),
    "authentication": st.sampled_from(["none", "xmlsig", "sig10"]),
}


def batch_of(rows: list[dict[str, Any]], names: list[str]) -> pa.RecordBatch:
    """Return rows as a record batch."""
    return pa.record_batch({name: pa.array([row.get(name) for row in rows], TYPE_OF[name]) for name in names})


def expected(row: dict[str, Any]) -> Message | str:
    """Return what a send of these fields is, or why it is none."""
    given = {name: value for name, value in row.items() if value is not None}
    if given.get("deadletter") is False:
        del given["deadletter"]  # a column has no third value: what is refused is kept
    if "acknowledgements" in given:
        given["acknowledgements"] = tuple(map(Acknowledgement, given["acknowledgements"]))
    try:
        return message_of(msgspec.convert(given, MessageIn))
    except (UsageError, msgspec.ValidationError) as why:
        return str(why)


def test_every_column_of_a_sink_is_taken() -> None:
    assert {"queue", *FIELDS} == WRITTEN
    assert set(values) == set(FIELDS) - {"peek_when_locked"}, "which a send has not"


@settings(max_examples=150)
@given(st.data())
def test_a_row_is_what_a_send_of_it_is(data: st.DataObject) -> None:
    names = sorted(data.draw(st.sets(st.sampled_from(sorted(values)), min_size=1, max_size=4)))
    row = {name: data.draw(st.one_of(st.none(), values[name])) for name in names}
    wanted = expected(row)
    intake = Intake(batch_of([], names).schema, "orders")
    batch = batch_of([row], names)
    if isinstance(wanted, str):
        with pytest.raises(BadRow) as bad:
            list(intake.groups(batch))
        assert bad.value.row == 0
        assert len(names) > 1 or str(bad.value) == wanted
    else:
        assert list(intake.groups(batch)) == [Group("orders", [wanted], [0])]


@pytest.mark.parametrize("context", ["", PARENT, f"{PARENT} a=1,b=2"])
def test_a_message_that_is_read_and_written_again_stays_in_its_trace(context: str) -> None:
    names = ("traceparent", "tracestate")
    read = [pa.repeat(made_of(name, TAILS[name], [context, context]), 2) for name in names]
    batch = pa.record_batch(read, names=list(names))
    [group] = Intake(batch.schema, "orders").groups(batch)
    assert [message.trace_context for message in group.messages] == [context] * 2


def test_a_malformed_trace_makes_a_bad_row() -> None:
    rows = [{"traceparent": PARENT}, {"traceparent": "00-1"}, {"tracestate": "a=1"}]
    batch = batch_of(rows, ["traceparent", "tracestate"])
    whole, *bad = Intake(batch.schema, "orders", "bin").groups(batch)
    assert (whole.rows, [each.rows for each in bad]) == ([0], [[1], [2]])
    malformed, alone = (each.messages[0].label for each in bad)
    assert malformed.startswith("traceparent and tracestate are those of W3C Trace Context, such as 00-")
    assert malformed.endswith("not '00-1'")
    assert alone == "tracestate means nothing without traceparent"


def test_peek_when_locked_is_a_flag_of_its_own() -> None:
    batch = batch_of([{"peek_when_locked": True}], ["peek_when_locked"])
    [group] = Intake(batch.schema, "orders").groups(batch)
    assert group.messages[0].allow_peek_when_locked


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([f"{GUID}\\1", "bad"])), max_size=12
    )
)
def test_rows_keep_their_order_and_bad_ones_their_place(rows: list[tuple[str | None, str]]) -> None:
    batch = batch_of([{"queue": q, "correlation": c} for q, c in rows], ["queue", "correlation"])
    groups = list(Intake(batch.schema, "orders", "bin").groups(batch))
    assert [row for group in groups for row in group.rows] == list(range(len(rows)))
    for group in groups:
        assert len(group.messages) == len(group.rows)
        for row in group.rows:
            queue, correlation = rows[row]
            assert group.dead == (correlation == "bad")
            assert group.queue == ("bin" if group.dead else queue or "orders")
    for one, two in pairwise(groups):
        assert one.dead or two.dead or one.queue != two.queue


def test_groups_are_bounded() -> None:
    batch = pa.record_batch({"body": pa.array([b"x"] * (GROUP + 1))})
    assert [len(group.rows) for group in Intake(batch.schema, "orders").groups(batch)] == [GROUP, 1]


def test_a_dead_row_tells_why_and_keeps_what_it_had() -> None:
    names = ["body", "correlation", "tag", "label"]
    batch = batch_of([{"body": b"b", "correlation": "x" * 300, "tag": 4}], names)
    [group] = Intake(batch.schema, "orders", "bin").groups(batch)
    [message] = group.messages
    assert message.body == b"b"
    assert message.label.startswith("correlation is the id of a message")
    assert len(message.label) <= 249
    assert msgspec.json.decode(message.extension) == {"correlation": "x" * 300, "tag": 4}
    large = batch_of([{"correlation": "x" * 2_000_000}], ["correlation"])
    [group] = Intake(large.schema, "orders", "bin").groups(large)
    assert group.messages[0].extension == b"", "what is too large for an extension is left out"


def test_a_row_needs_a_queue() -> None:
    batch = batch_of([{"queue": "a"}, {"queue": None}], ["queue"])
    with pytest.raises(BadRow, match="names no queue") as bad:
        list(Intake(batch.schema, "").groups(batch))
    assert bad.value.row == 1
    with pytest.raises(UsageError, match="name it with the parameter queue, or in a column queue"):
        Intake(pa.schema({"body": pa.binary()}), "")


@pytest.mark.parametrize(
    ("column", "given"),
    [
        ("body", pa.array(["ä", None])),
        ("body", pa.array(["ä", None], pa.large_string())),
        ("body", pa.array(["ä".encode(), None], pa.large_binary())),
        ("body", pa.array(["ä", None]).dictionary_encode()),
        ("label", pa.array(["ä", None], pa.large_string())),
        ("label", pa.array(["ä", None]).dictionary_encode()),
        ("priority", pa.array([5, None], pa.int64())),
        ("priority", pa.array([5, None], pa.int8())),
        ("tag", pa.array([5, None], pa.uint32())),
        ("delay", pa.array([5, None], pa.int32())),
        ("acknowledgements", pa.array([[], None], pa.large_list(pa.large_string()))),
        ("label", pa.nulls(2)),
    ],
    ids=lambda given: str(given.type) if isinstance(given, pa.Array) else given,
)
def test_types_of_equal_meaning_are_taken(column: str, given: pa.Array) -> None:
    batch = pa.record_batch({column: given})
    [group] = Intake(batch.schema, "orders").groups(batch)
    field = FIELDS[column]
    first, second = (getattr(message, field.name) for message in group.messages)
    assert second == field.default
    value = given[0].as_py()
    if column == "body":
        assert first == "ä".encode()
    elif value is not None and column != "acknowledgements":
        assert first == (field.make(value) if field.make else value)


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"bodies": pa.binary()}, r"there is no column 'bodies'; a message is written from queue, body,"),
        ({"body": pa.int64()}, "the column 'body' is int64, it must be binary or string"),
        ({"priority": pa.float64()}, "the column 'priority' is double, it must be a whole number"),
        ({"durable": pa.string()}, "the column 'durable' is string, it must be boolean"),
        ({"acknowledgements": pa.string()}, "must be a list of strings"),
        ({"label": pa.binary()}, "the column 'label' is binary, it must be string"),
    ],
)
def test_wrong_columns_are_refused_by_name(schema: dict[str, pa.DataType], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        Intake(pa.schema(schema), "orders")


def test_a_column_is_there_once() -> None:
    with pytest.raises(UsageError, match="the column 'body' is there twice"):
        Intake(pa.schema([("body", pa.binary()), ("body", pa.binary())]), "orders")


def test_what_a_feed_gave_can_be_written_again() -> None:
    batch = batch_of([{"feed_id": 7, "label": "a", "sent": None}], list(NAMES))
    [group] = Intake(batch.schema, "orders").groups(batch)
    assert [message.label for message in group.messages] == ["a"]


def test_a_value_that_does_not_fit_is_refused_by_its_column() -> None:
    batch = pa.record_batch({"tag": pa.array([2**64 - 1], pa.uint64())})
    with pytest.raises(UsageError, match="the column 'tag' cannot be read"):
        list(Intake(batch.schema, "orders").groups(batch))

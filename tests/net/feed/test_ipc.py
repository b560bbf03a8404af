"""Tests that Arrow streams give equal batches however they are cut, and that other bytes are refused."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.net.api.errors import Refused
from reliquary.net.feed.ipc import IpcStream, batches_of

PLAIN = pa.record_batch({"body": pa.array([b"one", b"two"]), "label": pa.array(["a", None])})
WORDS = pa.record_batch({"label": pa.array(["a", "b", "a"]).dictionary_encode()})


def stream(*batches: pa.RecordBatch) -> bytes:
    """Return the batches as one Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def cut_at(data: bytes, cuts: set[int]) -> list[bytes]:
    places = [0, *sorted(cuts), len(data)]
    return [data[first:last] for first, last in pairwise(places)]


@pytest.mark.parametrize("batch", [PLAIN, WORDS], ids=["plain", "with a dictionary"])
@given(data=st.data())
def test_any_cuts_give_equal_batches(batch: pa.RecordBatch, data: st.DataObject) -> None:
    whole = stream(batch, batch)
    reader = IpcStream()
    found = [
        each
        for part in cut_at(whole, data.draw(st.sets(st.integers(0, len(whole)), max_size=6)))
        for message in reader.feed(part)
        for each in batches_of(message)
    ]
    reader.end()
    assert found == [batch, batch]
    assert reader.schema == batch.schema


def test_a_stream_without_batches_has_a_schema() -> None:
    sink = pa.BufferOutputStream()
    pa.ipc.new_stream(sink, PLAIN.schema).close()
    reader = IpcStream()
    assert reader.schema is None
    assert list(reader.feed(bytes(sink.getvalue()))) == []
    reader.end()
    assert reader.schema == PLAIN.schema


def test_a_stream_that_breaks_off_is_no_stream() -> None:
    whole = stream(PLAIN)
    for cut in range(0, len(whole), 11):
        reader = IpcStream()
        list(reader.feed(whole[:cut]))
        with pytest.raises(UsageError, match="is incomplete"):
            reader.end()


def test_bytes_after_the_end_are_refused() -> None:
    reader = IpcStream()
    with pytest.raises(UsageError, match="follow the end"):
        list(reader.feed(stream(PLAIN) + b"x"))


@given(st.binary(min_size=8, max_size=200))
def test_other_bytes_are_refused(data: bytes) -> None:
    for given_bytes in (data, b"\xff\xff\xff\xff\x10\0\0\0" + data + bytes(16)):
        reader = IpcStream()
        with pytest.raises((UsageError, Refused)):  # noqa: PT012 - whichever notices
            list(reader.feed(given_bytes))
            reader.end()


@given(st.data())
def test_a_damaged_stream_never_does_more_than_be_refused(data: st.DataObject) -> None:
    whole = bytearray(stream(PLAIN))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    reader = IpcStream()
    try:
        for message in reader.feed(bytes(whole)):
            for batch in batches_of(message):
                batch.to_pylist()
        reader.end()
    except (UsageError, Refused):
        pass


def test_a_batch_may_not_be_too_large() -> None:
    with pytest.raises(Refused, match="a record batch may have 400 bytes, this one has"):
        list(IpcStream(400).feed(stream(pa.record_batch({"body": pa.array([bytes(500)])}))))
    words = pa.array([str(number) * 200 for number in range(5)]).dictionary_encode()
    with pytest.raises(Refused, match="schema and dictionaries may have 2500 bytes"):
        list(IpcStream(2500).feed(stream(pa.record_batch({"label": words, "correlation": words}))))

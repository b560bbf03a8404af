"""Bodies, read while they arrive."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.httpr.codec.encode import TERMINATOR, batch_bytes
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.headers import encode_request, encode_response
from reliquary.protocols.httpr.codec.reader import (
    BatchEnded,
    HeaderRead,
    MessageRead,
    Read,
    RequestReader,
    ResponseReader,
)
from reliquary.protocols.httpr.codec.values import (
    SENDS,
    BatchLimits,
    Carried,
    Disposition,
    RequestHeader,
    ResponseHeader,
)
from tests.protocols.httpr.codec.strategies import batches, requests, responses
from tests.protocols.httpr.codec.vector import REQUESTS, VECTORS

LIMITS = BatchLimits(100_000_000, 10)
PUSH = b"request:PUSH HTTPR/1.0\r\nsessionid:1\r\ntransactionid:0000000000000001\r\n\r\n"
LAST = TERMINATOR[Disposition.LAST]


def reader(limits: BatchLimits = LIMITS) -> RequestReader:
    return RequestReader(lambda _: limits)


def read(parts: Iterable[bytes], using: RequestReader | ResponseReader) -> list[Read]:
    """All that is read of a body that comes in these parts."""
    events = [event for part in parts for event in using.feed(part)]
    using.end()
    assert using.done
    return events


def pushed(batch: bytes, limits: BatchLimits = LIMITS) -> list[Carried]:
    """The messages of a batch."""
    events = read([PUSH + batch], reader(limits))
    assert isinstance(events[0], HeaderRead)
    assert events[-1] == BatchEnded(Disposition.LAST)
    return [event.carried for event in events if isinstance(event, MessageRead)]


def refusal(batch: bytes, limits: BatchLimits = LIMITS) -> int:
    """The number with which a batch is refused, and that it is the same whatever the network does to it."""
    numbers = []
    for size in (len(PUSH + batch), 1 if len(batch) < 3000 else 1000):
        using = reader(limits)
        with pytest.raises(HttprFault) as refused:
            read(in_parts(PUSH + batch, size), using)
        assert using.header is not None
        numbers.append(int(refused.value.number))
    assert numbers[0] == numbers[1]
    return numbers[0]


def in_parts(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def a_reader_for(name: str) -> RequestReader | ResponseReader:
    return reader() if name in REQUESTS else ResponseReader(LIMITS)


# -- whole and in parts


@pytest.mark.httpr(*("H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H11", "H12", "H13", "H14", "H15"))
@pytest.mark.httpr("H16", "H17", "T03")
@pytest.mark.spec("HR-007", "HR-008")
@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_is_read_the_same_in_every_split(name: str) -> None:
    vector = VECTORS[name]
    assert read([vector.data], a_reader_for(name)) == vector.events
    assert read(in_parts(vector.data, 1), a_reader_for(name)) == vector.events
    for at in range(len(vector.data)):
        assert read([vector.data[:at], vector.data[at:]], a_reader_for(name)) == vector.events


@pytest.mark.httpr("H3", "T03")
@pytest.mark.spec("HR-007", "HR-008")
def test_the_chunks_of_http_mean_nothing() -> None:
    data = VECTORS["H3"].data
    for parts in ([data[:181], data[181:]], in_parts(data, 7), in_parts(data, 64), [b"", data, b""]):
        assert read(parts, reader()) == VECTORS["H3"].events
    assert read([memoryview(data)], reader()) == VECTORS["H3"].events  # type: ignore[list-item]


@pytest.mark.httpr("T04")
@pytest.mark.spec("HR-120")
@settings(max_examples=60)
@given(requests(sorted(SENDS, key=str)), batches, st.lists(st.integers(0, 400), max_size=5))
def test_a_batch_goes_both_ways_in_every_split(
    header: RequestHeader, batch: list[Carried], cuts: list[int]
) -> None:
    data = encode_request(header) + batch_bytes([(each.header, each.body) for each in batch])
    expected = [HeaderRead(header), *map(MessageRead, batch), BatchEnded(Disposition.LAST)]
    assert read([data], reader()) == expected
    assert read(in_parts(data, 1), reader()) == expected
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    assert read([data[a:b] for a, b in pairwise(places)], reader()) == expected


@settings(max_examples=60)
@given(responses(), batches)
def test_a_response_goes_both_ways_in_every_split(header: ResponseHeader, batch: list[Carried]) -> None:
    data, expected = encode_response(header), [HeaderRead(header)]
    if header.transaction_id is not None:
        data += batch_bytes([(each.header, each.body) for each in batch])
        expected += [*map(MessageRead, batch), BatchEnded(Disposition.LAST)]  # type: ignore[list-item]
    assert read([data], ResponseReader(LIMITS)) == expected
    assert read(in_parts(data, 1), ResponseReader(LIMITS)) == expected

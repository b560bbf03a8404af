"""Bodies, read while they arrive."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.httpr.codec.encode import (
    END_OF_MESSAGE,
    LAST_CHUNK,
    TERMINATOR,
    batch_bytes,
    chunk,
    chunked_head,
    message_head,
)
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.headers import encode_request, encode_response
from reliquary.protocols.httpr.codec.reader import (
    IN_MEMORY,
    LARGE,
    MOST_LINE,
    MOST_LONG_HEADERS,
    MOST_MESSAGE_FIELDS,
    MOST_MESSAGE_HEADER,
    PIECE,
    SMALL,
    BatchEnded,
    BodyIncomplete,
    BodyPart,
    HeaderRead,
    LargeBegun,
    LargeEnded,
    LargePiece,
    RequestReader,
    ResponseReader,
)
from reliquary.protocols.httpr.codec.values import (
    SENDS,
    BatchLimits,
    Carried,
    Disposition,
    Error,
    RequestHeader,
    ResponseHeader,
)
from tests.protocols.httpr.codec.mutations import damaged
from tests.protocols.httpr.codec.strategies import batches, requests, responses
from tests.protocols.httpr.codec.vector import REQUESTS, VECTORS

LIMITS = BatchLimits(100_000_000, 10)
PUSH = b"request:PUSH HTTPR/1.0\r\nsessionid:1\r\ntransactionid:0000000000000001\r\n\r\n"
LAST = TERMINATOR[Disposition.LAST]


def reader(limits: BatchLimits = LIMITS) -> RequestReader:
    return RequestReader(lambda _: limits)


def read(parts: Iterable[bytes], using: RequestReader | ResponseReader) -> list[BodyPart]:
    """Return all that is read of a body that comes in these parts."""
    events = [event for part in parts for event in using.feed(part)]
    using.end()
    assert using.done
    return events


def pushed(batch: bytes, limits: BatchLimits = LIMITS) -> list[Carried]:
    """Return the messages of a batch."""
    events = read([PUSH + batch], reader(limits))
    assert isinstance(events[0], HeaderRead)
    assert events[-1] == BatchEnded(Disposition.LAST)
    return [event for event in events if isinstance(event, Carried)]


def refusal(batch: bytes, limits: BatchLimits = LIMITS) -> int:
    """Return the number with which a batch is refused; it must not depend on how the bytes are split."""
    numbers = []
    for size in (len(PUSH + batch), 1 if len(batch) < 9000 else 1000):
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


@pytest.mark.httpr("H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H11", "H12", "H13", "H14", "H15")
@pytest.mark.httpr("H16", "H17", "T03")
@pytest.mark.spec("HR-007", "HR-008")
@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_is_read_alike_in_every_split(name: str) -> None:
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
    expected = [HeaderRead(header), *batch, BatchEnded(Disposition.LAST)]
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
        expected += [*batch, BatchEnded(Disposition.LAST)]  # type: ignore[list-item]
    assert read([data], ResponseReader(LIMITS)) == expected
    assert read(in_parts(data, 1), ResponseReader(LIMITS)) == expected


@pytest.mark.httpr("T03")
@pytest.mark.spec("HR-008")
def test_a_damaged_body_gets_one_verdict_in_every_split() -> None:
    chance = random.Random(8)
    for _ in range(1500):
        name = chance.choice(list(VECTORS))
        data = damaged(VECTORS[name].data, chance)
        whole = outcome([data], a_reader_for(name))
        places = [0, *sorted(chance.randrange(len(data) + 1) for _ in range(3)), len(data)]
        assert outcome([data[a:b] for a, b in pairwise(places)], a_reader_for(name)) == whole, data
        assert outcome(in_parts(data, 1), a_reader_for(name)) == whole, data


def outcome(parts: Iterable[bytes], using: RequestReader | ResponseReader) -> object:
    """Return what is read of a body, or why it is refused, and whether its header was understood."""
    try:
        return read(parts, using)
    except HttprFault as fault:
        return fault.number, using.header
    except BodyIncomplete:
        return "cut", using.header


# -- messages


@pytest.mark.httpr("T04")
@pytest.mark.spec("HR-120")
def test_data_may_be_anything() -> None:
    for body in (
        b"\r\n",
        b"a\r\n\r\npayload-disposition:last\r\n",
        bytes(range(256)),
        b"message-size:1\r\n\r\n",
    ):
        assert pushed(batch_bytes([("", body), ("app-x:1\r\n", body)])) == [
            Carried("", body),
            Carried("app-x:1\r\n", body),
        ]


def test_a_batch_may_have_no_messages() -> None:
    assert pushed(LAST) == []


@pytest.mark.httpr("T37")
@pytest.mark.spec("HR-004", "HR-109")
def test_the_header_of_a_message_is_kept_as_it_came_but_for_folds() -> None:
    head = (
        b"Message-Size :\r\n 2\r\nTarget-uri: http:QM1#/QueueQuery@QM1\r\nAPP-x \t:  a\r\n \r\n\tb \r\n"
        b"empty:\r\napp-latin:\xe9\r\nmessage-size:2\r\napp-x:again\r\n\r\nhi\r\n"
    )
    assert pushed(head + LAST) == [
        Carried(
            "Target-uri: http:QM1#/QueueQuery@QM1\r\nAPP-x:  a b \r\n"
            "empty:\r\napp-latin:\xe9\r\napp-x:again\r\n",
            b"hi",
        )
    ]
    usual = b"message-size:2\r\napp-latin:\xe9\r\nApp-X:\ta b \r\nempty:\r\n\r\nhi\r\n"
    assert pushed(usual + LAST) == [Carried("app-latin:\xe9\r\nApp-X:\ta b \r\nempty:\r\n", b"hi")]


@pytest.mark.spec("HR-002", "HR-004")
@pytest.mark.parametrize(
    "text", [b"Payload-Disposition : LAST \r\n", b"payload-disposition:\r\n\t last\t\r\n"]
)
def test_a_terminator_is_read_in_any_case_with_blanks(text: bytes) -> None:
    assert pushed(text) == []


@pytest.mark.parametrize(
    "head",
    [
        *(
            b"target-uri:x\r\nmessage-size:0",
            b"message-size:0\r\nmessage-encoding:chunked",
            b"message-size:-1",
        ),
        *(b"message-size:0\r\nMESSAGE-SIZE:1", b"message-size:0\r\nnonsense", b"message-size:0\r\na b:c"),
        *(
            b"message-size:",
            b"message-size:x",
            b"message-size:0x1",
            b"message-encoding:gzip",
            b" message-size:0",
        ),
        *(
            b"message-size:0\r\na:\x00",
            b"message-size:0\r\na:b\rc",
            b"message-size:0\r\na:b\nc",
            b"",
            b"hello",
        ),
        *(b"message-size:0\r\n\xe9:x", b"message-sized:0", b"message-size 0", b"message-size:0\r\n:x"),
        *(b"payload-disposition last", b"payload-disposition:last,abort", b"payload-disposition:lost\r\nx:y"),
    ],
)
def test_a_message_that_does_not_begin_as_it_must_is_refused(head: bytes) -> None:
    assert refusal(head + b"\r\n\r\n\r\n" + LAST) == 520


@pytest.mark.parametrize("batch", [b"message-size:4\r\n\r\nhello\r\n", b"message-size:3\r\n\r\nhi\r\n"])
def test_a_message_that_is_not_as_long_as_it_says_is_refused(batch: bytes) -> None:
    assert refusal(batch + LAST) == 520


@pytest.mark.parametrize("more", [b"x", b"\r\n", b" ", LAST, b"\r\n\r\n"])
def test_nothing_follows_the_terminator(more: bytes) -> None:
    assert refusal(LAST + more) == 520


# -- chunks


def chunked(data: bytes) -> list[Carried]:
    return pushed(b"message-encoding:chunked\r\napp-x:1\r\n\r\n" + data + LAST)


@pytest.mark.spec("HR-114")
@pytest.mark.parametrize(
    "data",
    [
        b"5\r\nhello\r\n0\r\n\r\n\r\n",
        b"5\r\nhello\r\n0\r\n\r\n",
        b'005;a\r\nhello\r\n000;b=c;d="e;f"\r\n\r\n\r\n',
        b'5 ; a=b\r\nhello\r\n0 \r\nEtag:\r\n "x"\r\napp-y:2\r\n\r\n\r\n',
        b"1\r\nh\r\n4\r\nello\r\n0\r\na:b\r\n\r\n",
    ],
)
def test_chunks_are_read_with_extensions_and_trailers(data: bytes) -> None:
    assert chunked(data) == [Carried("app-x:1\r\n", b"hello")]


@pytest.mark.spec("HR-002", "HR-114")
def test_chunks_may_have_sizes_in_any_case() -> None:
    body = bytes(range(0xAB))
    for size in (b"AB", b"ab", b"0aB"):
        data = b"Message-Encoding: CHUNKED\r\n\r\n" + size + b"\r\n" + body + b"\r\n0\r\n\r\n\r\n"
        assert pushed(data + data + LAST) == [Carried("", body)] * 2


@pytest.mark.spec("HR-114")
@pytest.mark.parametrize(
    "data",
    [
        *(b"\r\n", b"x\r\n", b"-1\r\n", b"0x5\r\nhello\r\n", b"5\r\nhello0\r\n\r\n\r\n", b"5\nhello"),
        *(
            b"5 x\r\nhello\r\n",
            b"5;\x00\r\nhello\r\n",
            b"4\r\nhello\r\n0\r\n\r\n\r\n",
            b"6\r\nhello\r\n0\r\n",
        ),
        *(b"0\r\nnonsense\r\n\r\n\r\n", b"0\r\n a:b\r\n\r\n\r\n", b"0\r\n\r\n\rx", b"0\r\n\r\n\r\n\r\n"),
        *(b"0" * (MOST_LINE + 1), b"0;" + b"x" * MOST_LINE + b"\r\n\r\n\r\n"),
        *(b"0\r\n" + b"a:b\r\n" * 201 + b"\r\n\r\n", b"0\r\na:" + b"x" * 65536 + b"\r\n\r\n"),
    ],
)
def test_chunks_that_are_none_are_refused(data: bytes) -> None:
    assert refusal(b"message-encoding:chunked\r\n\r\n" + data + LAST) == 520


# -- limits


@pytest.mark.httpr("T34")
@pytest.mark.spec("HR-098")
def test_a_message_that_is_too_large_is_refused_before_it_comes() -> None:
    limits = BatchLimits(1000, 10)
    assert pushed(b"message-size:1000\r\n\r\n" + bytes(1000) + b"\r\n" + LAST, limits)
    for size in (b"1001", b"9" * 18, b"9" * 40):
        using = reader(limits)
        with pytest.raises(HttprFault) as refused:
            using.feed(PUSH + b"message-size:" + size + b"\r\n\r\n")
        assert refused.value.number == 521
        assert refusal(b"message-size:" + size + b"\r\n\r\n" + bytes(1001) + b"\r\n" + LAST, limits) == 521


@pytest.mark.httpr("T34")
@pytest.mark.spec("HR-098")
def test_chunks_are_refused_as_soon_as_they_announce_too_much() -> None:
    limits = BatchLimits(1000, 10)
    head = b"message-encoding:chunked\r\n\r\n3e0\r\n" + bytes(0x3E0) + b"\r\n"
    assert pushed(head + b"8\r\n12345678\r\n0\r\n\r\n\r\n" + LAST, limits)
    assert refusal(head + b"9\r\n", limits) == 521
    assert refusal(b"message-encoding:chunked\r\n\r\n" + b"F" * 4000 + b"\r\n", limits) == 521


@pytest.mark.httpr("T24", "T34")
@pytest.mark.parametrize("head", [b"message-size:0\r\n\r\n\r\n", b"MESSAGE-SIZE:0\r\n\r\n\r\n"])
def test_too_many_messages_are_refused(head: bytes) -> None:
    limits = BatchLimits(1000, 5)
    assert len(pushed(head * 5 + LAST, limits)) == 5
    assert refusal(head * 6 + LAST, limits) == 522
    assert refusal(head * 6, limits) == 522


def test_the_limits_are_those_of_the_request() -> None:
    asked = []

    def limits_for(header: RequestHeader) -> BatchLimits:
        asked.append(header)
        return BatchLimits(3, 1)

    RequestReader(limits_for).feed(VECTORS["H16"].data)
    assert asked == [VECTORS["H16"].header]
    with pytest.raises(HttprFault):
        RequestReader(limits_for).feed(VECTORS["H6"].data)
    asked.clear()
    RequestReader(limits_for).feed(VECTORS["H8"].data)
    assert asked == []


@pytest.mark.parametrize("name", [b"message-size", b"Message-Size"])
def test_the_header_of_a_message_has_limits(name: bytes) -> None:
    first = name + b":0\r\n"
    fields = b"a:b\r\n" * (MOST_MESSAGE_FIELDS - 1)
    assert pushed(first + fields + b"\r\n\r\n" + LAST)
    assert refusal(first + fields + b"c:d\r\n\r\n\r\n" + LAST) == 520
    room = MOST_MESSAGE_HEADER - len(first) - len(b"a:\r\n\r\n")
    assert pushed(first + b"a:" + b"x" * room + b"\r\n\r\n\r\n" + LAST)
    for field in (b"a:" + b"x" * (room + 1), b"a:" + b"x" * 2 * room, b"a:" + b"\r\n " * (room // 3 + 1)):
        using = reader()
        with pytest.raises(HttprFault) as refused:
            read([PUSH, first, field, b"\r\n\r\n\r\n", LAST], using)
        assert refused.value.number == 520


@pytest.mark.parametrize(
    "bomb", [b"app-x:" + b"y" * 70_000, b"a:b\r\n" * 14_000, b"app-x:1" + b"\r\n " * 24_000]
)
def test_a_header_that_does_not_end_is_refused(bomb: bytes) -> None:
    start = PUSH[:-2] + bomb
    for parts in ([start], in_parts(start, 500), [start + b"\r\n\r\n"]):
        with pytest.raises(HttprFault) as refused:
            read(parts, reader())
        assert refused.value.number == 520


def test_a_long_header_is_read_in_every_split() -> None:
    head = "".join(f"app-{number}: {number:060}\r\n" for number in range(150))
    block = PUSH[:-2] + head.encode() + b"\r\n"
    data = block + batch_bytes([(head, b"a"), (head, b"b")])
    expected = read([data], reader())
    assert len(expected) == 4
    for size in (1, 7, 1000, MOST_LINE, MOST_LINE + 1):
        assert read(in_parts(data, size), reader()) == expected
    for end in (MOST_LINE + 1, len(block) - 1, len(block) + MOST_LINE + 1):
        with pytest.raises(BodyIncomplete):
            read(in_parts(data[:end], 100), reader())
    with pytest.raises(HttprFault) as refused:
        read(in_parts(b"request" + b"x" * 9000, 100), reader())
    assert refused.value.number == 519


def test_a_terminator_that_does_not_end_is_refused() -> None:
    assert refusal(b"payload-disposition:" + b" " * 5000 + b"last\r\n") == 520
    assert refusal(b"payload-disposition:" + b"l" * 5000) == 520
    for hostile in (b" " * 300_000, b"\r\n " * 100_000, b" x" * 150_000):
        assert refusal(b"payload-disposition" + hostile) == 520
        assert refusal(b"payload-disposition:" + hostile) == 520


# -- large messages


def large(parts: Iterable[bytes]) -> list[BodyPart]:
    return read([PUSH, *parts, b"\r\n", LAST], reader())[1:-1]


def pieces(events: list[BodyPart]) -> list[bytes]:
    return [event.data for event in events if isinstance(event, LargePiece)]


def test_a_large_message_comes_in_pieces_for_every_split() -> None:
    body = random.Random(1).randbytes(LARGE + PIECE // 2)
    data = message_head("app-x:1\r\n", len(body)) + body
    expected = large([data])
    assert (expected[0], expected[-1]) == (LargeBegun("app-x:1\r\n", len(body)), LargeEnded())
    assert [len(piece) for piece in pieces(expected)] == [PIECE] * 4 + [PIECE // 2]
    assert b"".join(pieces(expected)) == body
    assert large(in_parts(data, 1000)) == expected


def test_chunks_come_in_pieces_as_soon_as_they_are_large() -> None:
    body = random.Random(2).randbytes(2 * LARGE)
    chunks = b"".join(chunk(part) for part in in_parts(body, 10_000))
    data = chunked_head("app-x:1\r\n") + chunks + LAST_CHUNK
    expected = large([data])
    assert (expected[0], expected[-1]) == (LargeBegun("app-x:1\r\n", None), LargeEnded())
    assert [len(piece) for piece in pieces(expected)] == [PIECE] * 8
    assert b"".join(pieces(expected)) == body
    assert large(in_parts(data, 1000)) == expected


@pytest.mark.parametrize("size", [LARGE - 1, LARGE])
def test_a_message_that_is_not_large_comes_whole(size: int) -> None:
    body = random.Random(3).randbytes(size)
    for data in (message_head("", size) + body, chunked_head("") + chunk(body) + LAST_CHUNK):
        assert large([data]) == large(in_parts(data, 50_000)) == [Carried("", body)]


def test_small_and_large_messages_are_mixed_in_one_batch() -> None:
    body = bytes(LARGE + 1)
    batch = batch_bytes([("", b"a"), ("", body), ("", b"b")])
    events = read(in_parts(PUSH + batch, 99_999), reader())
    kinds = [type(event) for event in events]
    assert kinds == [
        HeaderRead,
        Carried,
        LargeBegun,
        *[LargePiece] * 5,
        LargeEnded,
        Carried,
        BatchEnded,
    ]
    assert sum(map(len, pieces(events))) == len(body)


@pytest.mark.parametrize("head", [b"message-size:%d\r\n\r\n", b"Message-Size:%d\r\n\r\n"])
def test_what_exceeds_the_memory_of_a_batch_comes_in_pieces_but_for_small_messages(head: bytes) -> None:
    sizes = [LARGE] * 15 + [LARGE // 2, LARGE, SMALL + 1, SMALL, LARGE // 2, 1, LARGE // 2]
    batch = b"".join(head % size + bytes(size) + END_OF_MESSAGE for size in sizes) + LAST
    limits = BatchLimits(LARGE, len(sizes))
    events = read([PUSH + batch], reader(limits))
    whole = [len(event.body) for event in events if isinstance(event, Carried)]
    assert whole == [LARGE] * 15 + [LARGE // 2, SMALL + 1, SMALL, 1]
    assert [event.size for event in events if isinstance(event, LargeBegun)] == [
        LARGE,
        LARGE // 2,
        LARGE // 2,
    ]
    assert sum(whole) <= IN_MEMORY
    assert read(in_parts(PUSH + batch, 100_001), reader(limits)) == events


def test_chunks_that_exceed_the_memory_of_a_batch_come_in_pieces() -> None:
    chunks = chunked_head("") + chunk(bytes(SMALL)) + chunk(b"x") + LAST_CHUNK + END_OF_MESSAGE
    full = batch_bytes([("", bytes(LARGE))] * 15 + [("", bytes(LARGE - 1000))]).removesuffix(LAST)
    limits = BatchLimits(LARGE, 20)
    for parts in ([PUSH + full + chunks + LAST], in_parts(PUSH + full + chunks + LAST, 100_001)):
        assert read(parts, reader(limits))[-4:] == [
            LargeBegun("", None),
            LargePiece(bytes(SMALL) + b"x"),
            LargeEnded(),
            BatchEnded(Disposition.LAST),
        ]


def test_long_headers_have_a_limit_together() -> None:
    one = b"message-size:0\r\na:" + b"x" * (MOST_MESSAGE_HEADER - 40) + b"\r\n\r\n\r\n"
    count = MOST_LONG_HEADERS // MOST_MESSAGE_HEADER
    assert len(pushed(one * count + LAST)) == count
    assert refusal(one * (count + 1) + LAST) == 520


@pytest.mark.spec("HR-098")
def test_a_large_message_is_never_whole_in_memory() -> None:
    using, part, count = reader(), bytes(64 * 1024), 400
    using.feed(PUSH + message_head("", len(part) * count))
    tracemalloc.start()
    try:
        total = 0
        for _ in range(count):
            total += sum(map(len, pieces(using.feed(part))))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert total == len(part) * count
    assert most < 4 * PIECE
    assert using.feed(END_OF_MESSAGE) == [LargeEnded()]


# -- the ends


@pytest.mark.httpr("T09", "T46")
@pytest.mark.spec("HR-117")
@pytest.mark.parametrize("name", VECTORS)
def test_a_body_that_is_cut_off_is_distinguished_from_one_that_is_wrong(name: str) -> None:
    data = VECTORS[name].data
    for end in range(9, len(data)):
        using = a_reader_for(name)
        events = using.feed(data[:end])
        assert not using.done
        assert not any(isinstance(event, BatchEnded) for event in events)
        with pytest.raises(BodyIncomplete):
            using.end()


@pytest.mark.httpr("T47")
@pytest.mark.parametrize(
    "data", [b"", b"G", b"GET / HTTP/1.1\r\n", b"<html>", b"reque", b"requested:x\r\n\r\n", b"\r\n"]
)
def test_a_body_that_does_not_begin_with_a_request_is_not_httpr(data: bytes) -> None:
    for parts in ([data], in_parts(data, 1)):
        with pytest.raises(HttprFault) as refused:
            read(parts, reader())
        assert refused.value.number == 519


def test_what_is_not_httpr_is_not_collected() -> None:
    with pytest.raises(HttprFault) as refused:
        reader().feed(b"<")
    assert refused.value.number == 519


@pytest.mark.parametrize("name", ["H1", "H8", "H12", "H2", "H4", "H11", "H13"])
def test_nothing_follows_a_header_without_a_batch(name: str) -> None:
    for parts in ([VECTORS[name].data + LAST], [VECTORS[name].data, LAST]):
        with pytest.raises(HttprFault) as refused:
            read(parts, a_reader_for(name))
        assert refused.value.number == 520


def test_an_incompatible_server_may_explain_itself() -> None:
    block = encode_response(ResponseHeader(error=Error(510, "INCOMPATIBLE")))
    using = ResponseReader(LIMITS)
    assert read([block + b"We only speak", b" Esperanto.\r\n\r\n"], using) == [HeaderRead(using.header)]  # type: ignore[arg-type]


def test_a_response_that_says_nothing_is_read() -> None:
    assert read([b"\r", b"\n"], ResponseReader(LIMITS)) == [HeaderRead(ResponseHeader())]
    with pytest.raises(HttprFault):
        ResponseReader(LIMITS).feed(b"\rx")
    with pytest.raises(BodyIncomplete):
        read([b""], ResponseReader(LIMITS))


@pytest.mark.spec("HR-086")
def test_a_reader_may_be_set_to_do_without_the_version() -> None:
    data = b"Request: PULL\r\nsessionid: 1\r\n\r\n"
    (event,) = read([data], RequestReader(lambda _: LIMITS, lenient=True))
    assert isinstance(event, HeaderRead)
    with pytest.raises(HttprFault):
        reader().feed(data)

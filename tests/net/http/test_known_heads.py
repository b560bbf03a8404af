"""Tests heads that came before: with and without them, each stream of bytes gives one list of requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.faults import PeerFault
from reliquary.base.time import seconds
from reliquary.net.http.connection import Connection
from reliquary.net.http.known_heads import (
    LONGEST_KEPT,
    MOST_DIGITS,
    MOST_FIELDS,
    MOST_KEPT,
    SELDOM,
    KnownHeads,
    SharedHeads,
)
from reliquary.net.http.limits import Limits
from reliquary.net.http.mounts import Mount, Mounts
from reliquary.net.http.reader import BODY, IDLE, SLICE, RequestReader
from reliquary.net.http.request import Request
from reliquary.net.http.responder import Handler, Responder
from tests.net.http.harness import (
    ManualHandler,
    bodies,
    chunked,
    connect_to,
    echo,
    everywhere,
    post,
    share,
    tick,
)

MOUNT = everywhere(echo)


class Unused(KnownHeads):
    """Keeps nothing, so that the parser reads every head."""

    __slots__ = ()

    def keep(self, data: bytes, target: bytes, request: Request) -> None:
        pass


class Reading:
    """A reader, and all that can be seen of it."""

    def __init__(
        self, limits: Limits | None = None, heads: SharedHeads | None = None, number: int = 7, peer: str = ""
    ) -> None:
        self.found: list[Request] = []
        self.seen: list[object] = []
        self.reader = RequestReader(
            limits or Limits(), Mounts([MOUNT]), number, self._take, lambda _: None, 0, heads=heads
        )
        self.reader.peer = peer

    def _take(self, request: Request) -> None:
        self.found.append(request)
        fields = (request.method, request.path, request.query, request.fields, request.body)
        self.seen.append((*fields, request.keep_alive, request.mount, request.connection, request.peer))

    def feed(self, parts: Sequence[bytes]) -> list[object]:
        """Feed parts; the requests, the phase after each part, and the fault that ended it."""
        try:
            for part in parts:
                rest: bytes | memoryview | None = part
                while rest is not None:
                    rest = self.reader.feed(rest)
                self.seen.append((self.reader.phase, self.reader.continue_owed, self.reader.mount()))
        except PeerFault as fault:
            self.seen.append((fault.status, fault.why))
        return self.seen

    @property
    def heads(self) -> list[bytes]:
        """The heads that it knows, the latest first."""
        return [
            head.start + (head.digits + head.rest if head.rest else b"") for head in self.reader._known._heads
        ]


def full() -> SharedHeads:
    """Return shared heads without room for one."""
    return SharedHeads(0)


def head_of(request: bytes) -> bytes:
    return request[: request.index(b"\r\n\r\n") + 4]


def unparsing() -> type[RequestReader]:
    """Return a class of readers that fail if they parse."""

    def parse(data: bytes | memoryview) -> None:
        raise AssertionError(f"{bytes(data)!r} was parsed")

    return type("Unparsing", (RequestReader,), {"__slots__": (), "_parse": parse})


def without_parser(reading: Reading) -> None:
    """Let the reader fail if it parses."""
    reading.reader.__class__ = unparsing()


# -- what is recognised


def test_a_head_that_came_before_is_not_parsed_whatever_the_length_of_its_body() -> None:
    reading = Reading()
    reading.feed([post("/a?b=1", b"first")])
    without_parser(reading)
    reading.feed([post("/a?b=1", b"again, and longer"), post("/a?b=1", b"") + post("/a?b=1", b"x" * 5000)])
    assert [request.body for request in reading.found] == [
        b"first", b"again, and longer", b"", b"x" * 5000,
    ]  # fmt: skip
    assert {(request.path, request.query) for request in reading.found} == {("/a", b"b=1")}
    assert [request.header(b"content-length") for request in reading.found] == [b"5", b"17", b"0", b"5000"]


@pytest.mark.parametrize("cuts", [(), (100,), (SLICE,), (SLICE + 9, 2 * SLICE), (3 * SLICE,)])
def test_a_long_request_with_a_known_head_is_taken_without_slices(
    cuts: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    manual_handler, body = ManualHandler(), bytes(range(256)) * (SLICE // 64)
    connection, _ = connect_to(share(manual_handler))
    connection.data_received(post("/a", body))  # it is longer than a slice, and its head is kept
    monkeypatch.setattr(Connection, "_next_slice", lambda _: pytest.fail("it was cut"))
    again = post("/a", body[:-1] + b"!")
    for first, last in pairwise((0, *cuts, len(again))):
        connection.data_received(again[first:last])
    assert [request.body for request, _ in manual_handler.asked] == [body, body[:-1] + b"!"]
    assert manual_handler.asked[0][0].notes is manual_handler.asked[1][0].notes


def test_what_follows_a_long_request_is_cut_into_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[int] = []
    next_slice = Connection._next_slice

    def watched(connection: Connection) -> bytes | memoryview:
        found = next_slice(connection)
        cut.append(len(found))
        return found

    manual_handler, body = ManualHandler(), b"x" * 2 * SLICE
    connection, _ = connect_to(share(manual_handler))
    connection.data_received(post("/a", body))
    monkeypatch.setattr(Connection, "_next_slice", watched)
    connection.data_received(post("/a", body) + post("/b", b"y"))
    assert [len(request.body) for request, _ in manual_handler.asked] == [len(body), len(body), 1]
    assert max(cut) == SLICE


def test_a_head_without_a_length_is_known_by_all_of_its_bytes() -> None:
    reading = Reading()
    ask = b"GET / HTTP/1.1\r\nAccept: 1%b\r\n\r\n"
    reading.feed([ask % b"", ask % b"2"])
    assert reading.heads == [ask % b"2", ask % b""]
    without_parser(reading)
    reading.feed([ask % b"" + ask % b"2"])
    assert [request.header(b"accept") for request in reading.found] == [b"1", b"12"] * 2


def test_heads_of_a_client_that_repeats_none_are_seldom_kept_once_there_is_no_room() -> None:
    reading = Reading(heads=full())
    reading.feed([post(f"/{number}") for number in range(2 * SELDOM - 1)])
    assert reading.heads == []
    reading.feed([post("/habit")])
    assert reading.heads == [head_of(post("/habit"))]
    without_parser(reading)
    reading.feed([post("/habit")])


def test_a_client_that_begins_to_repeat_a_head_is_known_again() -> None:
    reading = Reading(heads=full())
    reading.feed([post(f"/{number}") for number in range(5 * SELDOM + 3)])
    reading.feed([post("/habit")] * SELDOM)
    without_parser(reading)
    reading.feed([post("/habit"), post("/habit", b"longer than before")])


def test_what_is_found_out_from_a_head_is_known_of_all_requests_with_it() -> None:
    reading = Reading()
    reading.feed([post("/a", b"first")])
    reading.found[0].notes.route = "found"
    reading.feed([post("/a", b"second"), post("/b", b"third")])
    assert [request.notes.route for request in reading.found] == ["found", "found", None]


def test_a_body_behind_a_known_head_may_come_in_parts() -> None:
    reading = Reading()
    request = post("/a", b"0123456789")
    reading.feed([request, request[:-10]])
    assert (reading.reader.phase, reading.reader.mount()) == (BODY, MOUNT)
    reading.feed([request[-10:-4], request[-4:] + request])
    assert [request.body for request in reading.found] == [b"0123456789"] * 3
    assert reading.reader.phase == IDLE


def test_requests_behind_a_body_that_came_in_parts_are_not_parsed_either() -> None:
    """A client that pipelines is read in slices, which end anywhere."""
    reading = Reading()
    request = post("/a", b"0123456789")
    reading.feed([request])
    without_parser(reading)
    pipelined = request * 5
    reading.feed([pipelined[: len(request) * 2 - 4]])
    assert reading.reader.feed(memoryview(pipelined)[len(request) * 2 - 4 :]) is None
    assert [request.body for request in reading.found] == [b"0123456789"] * 6


def test_a_head_is_kept_before_its_body_has_come() -> None:
    """Some clients send head and body apart, each time."""
    reading = Reading()
    request = post("/a", b"0123456789")
    reading.feed([request[:-10]])
    assert reading.heads == [head_of(request)]
    reading.feed([request[-10:], request[:-10], request[-10:]])
    assert [request.body for request in reading.found] == [b"0123456789"] * 2


def test_the_limit_of_bodies_holds_behind_a_known_head() -> None:
    reading = Reading(Limits(body_bytes=10))
    reading.feed([post("/", b"x" * 10)])
    assert reading.feed([post("/", b"x" * 11)])[-1] == (413, "a body may have 10 bytes, this has 11")


def test_a_slow_body_behind_a_known_head_is_found() -> None:
    reading = Reading(Limits(body_time=seconds(2)))
    reading.feed([post("/", b"x" * 10)])
    reading.reader.now = seconds(60)
    reading.feed([post("/", b"x" * 10)[:-1]])
    assert reading.reader.overdue(seconds(62)) is None
    late = reading.reader.overdue(seconds(63))
    assert late is not None
    assert late.startswith("the body (9 bytes came)")


# -- what is kept


def test_the_latest_heads_are_kept_and_few_of_them() -> None:
    reading = Reading()
    requests = [post(f"/{number}", b"x") for number in range(MOST_KEPT + 1)]
    reading.feed(requests)
    assert reading.heads == [head_of(each) for each in reversed(requests[1:])]
    reading.feed([requests[1], requests[0]])  # one that is used again stays
    assert reading.heads[:2] == [head_of(requests[0]), head_of(requests[1])]
    assert len(reading.heads) == MOST_KEPT


def test_a_long_head_is_not_kept() -> None:
    fits = LONGEST_KEPT - len(head_of(post("/", b"x", "X-Long: ")))
    for size, kept in ((fits, 1), (fits + 1, 0)):
        reading = Reading()
        reading.feed([post("/", b"x", f"X-Long: {'x' * size}")])
        assert len(reading.heads) == kept


def test_a_head_with_many_fields_is_not_kept() -> None:
    for count, kept in ((MOST_FIELDS, 1), (MOST_FIELDS + 1, 0)):
        reading = Reading()
        given = head_of(post("/", b"x")).count(b"\r\n") - 2
        reading.feed([post("/", b"x", *[f"X-{number}: a" for number in range(count - given)])])
        assert len(reading.heads) == kept


NEVER_KEPT = {
    "two lengths": b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    "chunks": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "close": b"POST / HTTP/1.1\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx",
    "old": b"POST / HTTP/1.0\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\nx",
    "expect": b"POST / HTTP/1.1\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\nx",
    "upgrade": b"POST / HTTP/1.1\r\nContent-Length: 1\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nx",
    "upgrade alone": b"POST / HTTP/1.1\r\nContent-Length: 1\r\nUpgrade: x\r\n\r\nx",
    "line breaks before": b"\r\nPOST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
    "folded": b"POST / HTTP/1.1\r\nX-A: a\r\n b\r\nContent-Length: 1\r\n\r\nx",
    "digits": b"POST / HTTP/1.1\r\nContent-Length: " + b"0" * MOST_DIGITS + b"1\r\n\r\nx",
    "space behind": b"POST / HTTP/1.1\r\nContent-Length: 1 \r\n\r\nx",
}


@pytest.mark.parametrize("what", NEVER_KEPT)
def test_a_head_that_says_more_is_the_parsers(what: str) -> None:
    reading = Reading()
    reading.feed([NEVER_KEPT[what]])
    assert reading.heads == []


DOUBTFUL = {
    "a bare line feed": (b"X: a\nb\r\nContent-Length: 5\r\n\r\n", [b"X", b"Content-Length"]),
    "a bare carriage return": (b"X: a\rb\r\nContent-Length: 5\r\n\r\n", [b"X", b"Content-Length"]),
    "a field more": (b"X: a\r\nContent-Length: 5\r\n\r\n", [b"Content-Length"]),
    "a second length": (
        b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", [b"Content-Length", b"content-length"],
    ),
    "an end elsewhere": (b"X: a\r\n\r\nContent-Length: 5\r\n\r\n", [b"X", b"Content-Length"]),
    "no end": (b"Content-Length: 5\r\n", [b"Content-Length"]),
}  # fmt: skip


@pytest.mark.parametrize("what", DOUBTFUL)
def test_a_head_whose_end_or_length_is_in_doubt_is_not_kept(what: str) -> None:
    """The parser lets none of them through; what is kept does not rely on that."""
    lines, names = DOUBTFUL[what]
    data = b"POST / HTTP/1.1\r\n" + lines
    known = KnownHeads()
    known.keep(data, b"/", Request("POST", "/", b"", [(name, b"5") for name in names], b"", 7, True, MOUNT))
    assert known.find(data, 0) is None


def test_nothing_is_known_after_a_request_that_is_the_last() -> None:
    reading = Reading()
    reading.feed([post("/", b"x"), NEVER_KEPT["close"]])
    assert reading.heads == []


def test_nothing_is_known_after_a_trailer_that_ends_the_connection() -> None:
    reading = Reading()
    reading.feed([post("/", b"x"), chunked(b"x", trailers=b"Connection: close\r\n")])
    assert [request.keep_alive for request in reading.found] == [True, False]
    assert reading.heads == []


def test_only_the_first_request_of_a_part_is_kept() -> None:
    """Where those behind it begin, the parser does not say."""
    reading = Reading()
    first, second = post("/a", b"x"), post("/b", b"x")
    reading.feed([first + second])
    assert reading.heads == [head_of(first)]


# -- with and without

HEADS = st.sampled_from(
    [
        b"POST /a HTTP/1.1\r\nContent-Length: %b\r\n\r\n",
        b"POST /a HTTP/1.1\r\nHost: x\r\ncontent-length:%b\r\nAccept: */*\r\n\r\n",
        b"GET /a HTTP/1.1\r\nAccept: %b\r\n\r\n",
        b"POST /a HTTP/1.1\r\nHost: x\r\ncontent-length:%b\r\nAccept: x\r\n\r\n",
        b"PUT /b?c=%%20 HTTP/1.1\r\nCONTENT-LENGTH: \t%b\r\nX-A: Content-Length: 3\r\n\r\n",
        b"HEAD / HTTP/1.1\r\nX: \r\nContent-Length: %b\r\n\r\n",
        b"POST /a HTTP/1.1\r\nContent-Length: %b \r\n\r\n",
        b"POST /a HTTP/1.1\r\nContent-Length: %b\r\nContent-Length: 1\r\n\r\n",
        b"POST /a HTTP/1.1\r\nContent-Length: %b\r\nConnection: close\r\n\r\n",
        b"POST /a HTTP/1.1\r\nContent-Length: %b\r\nExpect: 100-continue\r\n\r\n",
        b"POST /a HTTP/1.1\r\nContent-Length: %b\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
        b"POST /a HTTP/1.1\r\nContent-Length: %b\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /a HTTP/1.1\nContent-Length: %b\n\n",
        b"POST /a HTTP/1.1\r\nX: a\r\n b\r\nContent-Length: %b\r\n\r\n",
        b"POST /a HTTP/1.0\r\nContent-Length: %b\r\nConnection: keep-alive\r\n\r\n",
        b"\r\nPOST /a HTTP/1.1\r\nContent-Length: %b\r\n\r\n",
        b"POST %%ff HTTP/1.1\r\nContent-Length: %b\r\n\r\n",
    ]
)
USUAL_HEADS = st.sampled_from(
    [
        b"POST /a HTTP/1.1\r\nContent-Length: %b\r\n\r\n",
        b"POST /b HTTP/1.1\r\nContent-Length: %b\r\nHost: x\r\n\r\n",
    ]
)
BODIES = st.one_of(st.binary(max_size=40), st.sampled_from([b"POST /a HTTP/1.1\r\n\r\n", b"\r\n\r\n"]))
LENGTHS = st.sampled_from(
    [b"%d", b"%d", b"%d", b"00%d", b"%d0", b"-%d", b"+%d", b"%d,1", b"", b"99999999999999999999"]
)
REMAINS = st.sampled_from(
    [
        b"",
        b"",
        b"",
        b"\r\n",
        b"\r",
        b"\n",
        b"1\r\nx\r\n0\r\n\r\n",
        b"0\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0",
    ]
)


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    body = draw(BODIES)
    if draw(st.integers(0, 3)):
        return draw(USUAL_HEADS) % b"%d" % len(body) + body
    length = draw(LENGTHS)
    return draw(HEADS) % (length % len(body) if b"%" in length else length) + body + draw(REMAINS)


@st.composite
def parts(draw: st.DrawFn) -> list[bytes]:
    """Return a stream of bytes: some requests in one part each, some cut anywhere, some joined."""
    streams = draw(st.lists(requests(), max_size=12))
    kind = draw(st.sampled_from(["one part each", "two parts each", "cut anywhere"]))
    if kind == "one part each":
        return streams
    if kind == "two parts each":
        ends = [len(each) - draw(st.integers(0, 40)) for each in streams]
        return [part for each, end in zip(streams, ends, strict=True) for part in (each[:end], each[end:])]
    whole = b"".join(streams)
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    return [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]


@settings(max_examples=300)
@given(parts(), st.sampled_from([None, Limits(body_bytes=20), Limits(headers=2, head_bytes=70)]))
def test_with_and_without_known_heads_every_stream_is_read_alike(
    stream: list[bytes], limits: Limits | None
) -> None:
    known, plain = Reading(limits), Reading(limits)
    plain.reader._known = Unused()
    assert known.feed(stream) == plain.feed(stream)


ACTS = st.sampled_from(["answer", "answer", "answer the last", "pause", "resume", "drain"])
Move = bytes | str


@st.composite
def moves(draw: st.DrawFn) -> list[Move]:
    """Return what a client sends, and what else happens in between."""
    steps: list[Move] = []
    for part in draw(parts()):
        steps += [part, *draw(st.lists(ACTS, max_size=2))]
    return steps


class Sink:
    """Joins a body that is handed on while it comes, and gives the whole request to a handler."""

    def __init__(self, handler: Handler, request: Request, responder: Responder) -> None:
        self._handler, self._request, self._responder = handler, request, responder

    def feed(self, data: bytes) -> None:
        self._request.body += data

    def end(self) -> None:
        self._handler(self._request, self._responder)

    def lost(self) -> None:
        self._request.body = b"lost"


def streaming(manual_handler: ManualHandler, requests: list[Request]) -> Mount:
    """Return a mount that streams bodies to a handler, and appends its requests to a list."""

    def begin(request: Request, responder: Responder) -> Sink:
        requests.append(request)
        return Sink(manual_handler, request, responder)

    return Mount(prefix="/b", begin=begin)


async def play_steps(steps: Sequence[Move], limits: Limits, *, parsed: bool, streamed: bool) -> list[object]:
    """Play what a client, a handler and a server do; all that the client and the handler see of it, step
    by step.
    """
    manual_handler, seen, begun = ManualHandler(), list[object](), list[Request]()
    shared = share(manual_handler, limits, *[streaming(manual_handler, begun)] * streamed)
    connection, transport = connect_to(shared)
    if parsed:
        connection._reader._known = Unused()
    for step in steps:
        if isinstance(step, bytes):
            connection.data_received(step)
        elif step.startswith("answer") and manual_handler.asked:
            request, responder = manual_handler.asked.pop(-1 if step == "answer the last" else 0)
            responder.respond(200, f"{request.method} {request.path} ".encode() + request.body)
        elif step == "pause":
            connection.pause()
        elif step == "resume":
            connection.resume()
        elif step == "drain":
            shared.draining = True
        await tick(2)
        seen.append(
            (transport.sent, transport.reading, transport.shut, transport.closed, len(manual_handler.asked))
        )
        seen.append([(request.path, request.fields, request.body) for request in begun])
    return seen


@settings(max_examples=150)
@given(
    moves(),
    st.sampled_from([Limits(), Limits(pipelined=2), Limits(body_bytes=20)]),
    st.booleans(),
)
def test_with_and_without_known_heads_a_client_sees_one_conversation(
    steps: list[Move], limits: Limits, streamed: bool
) -> None:
    known = asyncio.run(play_steps(steps, limits, parsed=False, streamed=streamed))
    assert known == asyncio.run(play_steps(steps, limits, parsed=True, streamed=streamed))


def test_the_head_of_a_streamed_request_is_known_when_it_comes_again() -> None:
    manual_handler, begun = ManualHandler(), list[Request]()
    connection, _ = connect_to(share(manual_handler, None, streaming(manual_handler, begun)))
    connection.data_received(post("/b", b"first"))
    connection._reader.__class__ = unparsing()
    longer = post("/b", b"again, and longer")
    for part in (post("/b", b"a") + post("/b", b""), longer[:-9], longer[-9:] + post("/b", b"end")):
        connection.data_received(part)
    came = [b"first", b"a", b"", b"again, and longer", b"end"]
    assert (
        [request.body for request in begun] == [request.body for request, _ in manual_handler.asked] == came
    )


def test_a_streamed_request_behind_a_known_head_that_is_refused_is_the_last() -> None:
    def begin(request: Request, responder: Responder) -> Sink:
        if request.header(b"content-length") != b"5":
            raise PeerFault(403, "no", spec="RFC 9110 15.5.4")
        return Sink(echo, request, responder)

    connection, transport = connect_to(share(echo, None, Mount(prefix="/b", begin=begin)))
    connection.data_received(post("/b", b"first"))
    connection.data_received(post("/b", b"other body") + post("/b", b"third"))
    assert [status for status, _ in bodies(transport.sent)] == [200, 403]
    assert connection.ended


def test_what_was_found_out_from_heads_is_forgotten_with_them() -> None:
    reading = Reading()
    reading.feed([post(body=b"a"), post(body=b"b")])
    first, second = reading.found
    assert first.notes is second.notes
    second.notes.route = "alice"
    reading.reader.forget_heads()
    assert second.notes.route is None
    reading.feed([post(body=b"c")])
    assert reading.found[2].notes is not first.notes


def test_a_request_whose_body_still_comes_is_asked_anew() -> None:
    reading = Reading()
    whole = post(body=b"abc")
    reading.feed([whole, whole[:-1]])
    reading.found[0].notes.route = "alice"
    reading.reader.forget_heads()
    reading.feed([whole[-1:]])
    assert reading.found[1].body == b"abc"
    assert reading.found[1].notes.route is None

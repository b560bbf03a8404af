"""Feeds and batches of a server: what Spark's source and sink are made of, for any process and any thread.

    with FeedClient("http://127.0.0.1:8480", token=...) as server:
        feed = server.open_consumer("orders", "lake", "earliest")
        plan = server.plan("orders", feed.cursor, None, rows=100_000, parts=4, consumer="lake")
        for part in plan.parts:
            for batch in server.read("orders", part.after, part.until, consumer="lake"): ...
        server.move_consumer("orders", "lake", plan.until)

A range is `after < place <= until`; reading it again gives equal rows as long as the consumer is not
moved beyond it.  Staged parts are invisible before their batch is published, once and as a whole.
Everything here may be asked again, so it is, a few times, where the network fails; only what broke off in the
middle is left to the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Literal, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.client.authorization import authorization_of
from reliquary.client.certificates import ClientCertificates
from reliquary.client.errors import BadRequest, NotFound
from reliquary.client.feed_runs import in_full
from reliquary.client.link import PAUSES, SILENCE, Link
from reliquary.client.wire import unreadable_answer
from reliquary.views.writers import WriterInfo

T = TypeVar("T")
Writer = WriterInfo


class Loss(msgspec.Struct, frozen=True):
    """Messages that a consumer lost, because more was kept for it than its limit allows."""

    after: int
    until: int
    messages: int
    bytes: int
    moment: str


class Feed(msgspec.Struct, frozen=True):
    """The extent of the feed of a queue."""

    queue: str
    incarnation: str
    """The identity of the queue: another queue of this name has another."""
    mark: int
    """The mark: up to this number the feed never changes."""
    cursor: int | None
    """The cursor of the requested consumer."""
    messages: int
    bytes: int
    """The upper bound of the bytes in the queue that are kept for consumers."""
    paused: bool = False
    """The consumer that was asked for is paused: begin nothing new for it."""
    loss: Loss | None = None
    """The last loss of this consumer, because its limit was passed."""


class Part(msgspec.Struct, frozen=True):
    """A range of a feed: after < place <= until."""

    after: int
    until: int
    rows: int
    bytes: int


class Plan(msgspec.Struct, frozen=True):
    """The range of a batch, and its parts."""

    until: int
    rows: int
    bytes: int
    parts: tuple[Part, ...]


class Bounds(msgspec.Struct, frozen=True, omit_defaults=True):
    """Rows that are wanted, both ends included; times are microseconds since 1970, of the arrival."""

    from_lookup: int | None = None
    to_lookup: int | None = None
    from_time: int | None = None
    to_time: int | None = None


class StageKey(msgspec.Struct, frozen=True):
    """The batch, the part and the writer of a staged part."""

    query: str
    batch: int
    part: int
    attempt: str


class Staged(msgspec.Struct, frozen=True):
    """A part that may be published."""

    stage: int
    rows: int
    bytes: int
    bad: int
    """Rows that went to the queue for bad ones."""


class Published(msgspec.Struct, frozen=True):
    """A batch that is in its queues."""

    rows: int
    already: bool
    """Whether the batch was published before, and nothing happened now."""


class Consumer(msgspec.Struct, frozen=True):
    """A named reader of a feed."""

    name: str
    cursor: int
    created: str
    moved: str
    keep: str = "none"
    """The limit that counts for it."""
    keep_of: str = "settings"
    """The owner of this limit: `consumer`, `queue` or `settings`."""
    paused: bool = False
    lost: int = 0
    """All messages that it ever lost because its limit was passed."""
    lost_bytes: int = 0
    loss: Loss | None = None


class Reset(msgspec.Struct, frozen=True):
    """The result of a reset of a consumer, or of a dry run."""

    before: int
    cursor: int
    messages: int
    """Messages that it passes over, or can read again if the cursor moves back."""
    bytes: int
    more: bool
    """Whether there are more messages than were counted."""


class _Feeds(msgspec.Struct):
    feeds: list[Feed]


class _Consumers(msgspec.Struct):
    consumers: list[Consumer]


class _Place(msgspec.Struct):
    place: int


class _Writers(msgspec.Struct):
    writers: list[Writer]


NO_BOUNDS = Bounds()


class FeedOptions(TypedDict, total=False):
    """Who asks, and how a server is reached; a token, or a user and a password, say who asks."""

    token: str
    user: str | None
    password: str | None
    ca: str
    """A file with the authorities to trust."""
    certificate: str
    """A file with the certificate that is shown to servers that ask for one."""
    key: str
    """The key of that certificate, unless its file holds it."""
    timeout: float
    """Seconds that the server may be silent."""
    pauses: Sequence[float]
    """Seconds before each further try."""
    compression: str
    """The way in which the server compresses what is read: `lz4` or `zstd`; without it, it does not."""


class FeedClient:
    """One server; its methods are for one thread at a time, and it may be sent to other processes."""

    def __init__(
        self,
        url: str,
        **options: Unpack[FeedOptions],
    ) -> None:
        """The options are those of `FeedOptions`."""
        proof = authorization_of(options.get("token") or None, options.get("user"), options.get("password"))
        files = ClientCertificates(
            options.get("ca", ""), options.get("certificate", ""), options.get("key", "")
        )
        timeout, pauses = options.get("timeout", SILENCE), options.get("pauses", PAUSES)
        self._compression = options.get("compression", "")
        self._link = Link(url, proof, files, timeout, pauses)

    def __enter__(self) -> FeedClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a later call opens a new one."""
        self._link.close()

    # -- feeds

    def feeds(self, match: Sequence[str], consumer: str = "") -> list[Feed]:
        """Return the feeds of queues, by their names or by patterns with `*`."""
        query = _query(match=",".join(match), consumer=consumer)
        return _understood(self._link.ask("GET", f"/feeds{query}"), _Feeds).feeds

    def open_consumer(self, queue: str, name: str, at: int | Literal["earliest", "latest"]) -> Feed:
        """Begin to keep what this reader has not read; one that exists is left as it is."""
        body = {"name": name, "at": str(at)}
        return _understood(self._link.ask("POST", _on(queue, "consumers"), body, changes=True), Feed)

    def consumers(self, queue: str) -> list[Consumer]:
        """Return the readers of a feed."""
        return _understood(self._link.ask("GET", _on(queue, "consumers")), _Consumers).consumers

    def move_consumer(self, queue: str, name: str, cursor: int, incarnation: str = "") -> None:
        """Move a cursor forward: everything up to this number was read."""
        body = {"name": name, "cursor": str(cursor), "incarnation": incarnation}
        self._link.ask("PATCH", _on(queue, "consumers"), body, changes=True)

    def set_consumer(
        self, queue: str, name: str = "", *, keep: str | None = None, paused: bool | None = None
    ) -> None:
        """Limit what is kept for a reader (`7d`, `10g`, `5000`, `7d,10g`, `none`, `inherit`), or pause it.

        Without a name, the limit is for all readers of the queue that have none of their own.
        """
        body = {"name": name, "keep": keep, "paused": paused}
        self._link.ask("PUT", _on(queue, "consumers"), body, changes=True)

    def reset_consumer(self, queue: str, name: str, to: int | str, *, dry_run: bool = False) -> Reset:
        """Move a cursor forward or back: to `earliest`, `latest`, a number or a time (RFC 3339)."""
        body = {"name": name, "to": str(to), "dry_run": dry_run}
        return _understood(self._link.ask("POST", _on(queue, "reset"), body, changes=not dry_run), Reset)

    def place_of(self, queue: str, moment: int, incarnation: str = "") -> int:
        """Return the place before the first message that arrived then or later, or the mark.

        A moment is microseconds since 1970.  Messages that left the queue are found while a consumer keeps
        them.
        """
        query = _query(from_time=moment, incarnation=incarnation)
        return _understood(self._link.ask("GET", _on(queue, "place") + query), _Place).place

    def drop_consumer(self, queue: str, name: str) -> None:
        """Keep nothing for this reader any more."""
        self._link.ask("DELETE", _on(queue, "consumers") + _query(name=name), changes=True)

    def plan(
        self,
        queue: str,
        after: int,
        until: int | None,
        *,
        rows: int | None = None,
        bytes: int | None = None,  # noqa: A002 - the word of the answer
        parts: int = 1,
        consumer: str = "",
        incarnation: str = "",
        bounds: Bounds = NO_BOUNDS,
    ) -> Plan:
        """Plan a read of at most this many rows and bytes, at least one row, in ranges of about
        equal size.
        """
        body = {
            "after": str(after),
            "until": None if until is None else str(until),
            "rows": rows,
            "bytes": bytes,
            "parts": parts,
            "consumer": consumer,
            "incarnation": incarnation,
            "bounds": {name: str(value) for name, value in _given(bounds).items()},
        }
        return _understood(self._link.ask("POST", _on(queue, "plan"), body), Plan)

    def read(
        self,
        queue: str,
        after: int,
        until: int,
        *,
        columns: Sequence[str] = (),
        consumer: str = "",
        incarnation: str = "",
        bounds: Bounds = NO_BOUNDS,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a range in the order of arrival, with these columns or with all of them."""
        query = _query(
            after=after,
            until=until,
            columns=",".join(columns),
            consumer=consumer,
            incarnation=incarnation,
            encoding="runs",
            compression=self._compression,
            **_given(bounds),
        )
        with self._link.reading(_on(queue, "feed") + query) as answer:
            try:
                for batch in pa.ipc.open_stream(answer):
                    yield in_full(batch)
            except pa.ArrowInvalid as why:
                raise unreadable_answer(why) from why

    # -- batches

    def stage(
        self,
        queue: str,
        place: StageKey,
        batches: Iterable[pa.RecordBatch],
        schema: pa.Schema,
        *,
        bad: str = "fail",
    ) -> Staged:
        """Write a part of a batch, which is not visible yet; a repeated attempt starts the part again."""
        for word in (place.query, place.attempt):
            if not word or "/" in word:
                raise BadRequest("INVALID_PARAMETER", f"a query and an attempt have no slash: {word[:80]!r}")
        words = (place.query, str(place.batch), str(place.part), place.attempt)
        path = "/".join(quote(word, safe="") for word in words)
        answer = self._link.put(f"/stages/{path}{_query(queue=queue, bad=bad)}", _stream(schema, batches))
        return _understood(answer, Staged)

    def publish(
        self,
        query: str,
        batch: int,
        stages: Sequence[int],
        *,
        writer: str = "",
        take_over: bool = False,
        spread: str = "",
    ) -> Published:
        """Put all of these parts into their queues, in this order; once for each query and batch.

        `spread` says how the rows of the batch are spread over managers: a batch that comes again is refused
        if they were spread in another way.
        """
        body = {
            "query": query,
            "batch": batch,
            "writer": writer,
            "stages": [str(each) for each in stages],
            "take_over": take_over,
        }
        if spread:
            body["spread"] = spread
        return _understood(self._link.ask("POST", "/publish", body, changes=True), Published)

    def unstage(self, stages: Sequence[int]) -> None:
        """Drop parts that will not be published; parts that are published or gone are no error."""
        self._link.ask("POST", "/unstage", {"stages": [str(each) for each in stages]}, changes=True)

    def writers(self) -> list[Writer]:
        """Return the last batch of each query."""
        return _understood(self._link.ask("GET", "/writers"), _Writers).writers

    def writer(self, query: str) -> Writer | None:
        """Return the last batch of a query; None if it has published nothing."""
        try:
            return _understood(self._link.ask("GET", f"/writers/{quote(query, safe='')}"), Writer)
        except NotFound:
            return None

    def forget_writer(self, *, query: str = "", writer: str = "") -> None:
        """Forget the batches of a query, or who writes under a name; be sure that none of them goes on."""
        self._link.ask("DELETE", f"/writers{_query(query=query, writer=writer)}", changes=True)


def _on(queue: str, noun: str) -> str:
    return f"/queues/{quote(queue, safe='')}/{noun}"


def _query(**given: object) -> str:
    """Parameters without those that are empty."""
    said = {name: value for name, value in given.items() if value not in {"", None}}
    return f"?{urlencode(said)}" if said else ""


def _given(bounds: Bounds) -> dict[str, int]:
    return {name: value for name, value in msgspec.structs.asdict(bounds).items() if value is not None}


def _understood(answer: bytes, record: type[T]) -> T:
    """Return the record of an answer; numbers of the server travel as strings of digits."""
    try:
        return msgspec.json.decode(answer, type=record, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError) as why:
        raise unreadable_answer(why) from why


def _stream(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """Yield an Arrow stream, a piece for each batch."""
    pieces = _Pieces()
    with pa.ipc.new_stream(pa.PythonFile(pieces, "w"), schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield pieces.take()
    yield pieces.take()


class _Pieces:
    """A file that hands out what was written to it."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def close(self) -> None:
        """Do nothing: this feed keeps no resource open."""

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken

"""Where the time of a message that comes in by HTTPR goes: parse, engine, store.  One process, no network."""

from __future__ import annotations

from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

from bench.httpr_message import push
from reliquary.base.time import SECOND, Instant
from reliquary.base.turn import Event, Reply
from reliquary.engine.protocols import assemble
from reliquary.protocols.httpr.codec.reader import BatchEnded, HeaderRead, RequestReader
from reliquary.protocols.httpr.codec.values import (
    BatchLimits,
    Capabilities,
    Carried,
    Command,
    RequestHeader,
    SessionMark,
)
from reliquary.protocols.httpr.events import Addressed, Answer, RequestArrived
from reliquary.protocols.httpr.protocol import httpr
from reliquary.protocols.httpr.tables import TABLES as HTTPR_TABLES
from reliquary.queueing.model.events import CreateQueue, StartManager
from reliquary.queueing.model.tables import TABLES
from reliquary.store import RocksDisk, StagedRows

NOW = Instant(1_785_585_600 * SECOND)
MESSAGES = 40_000
IN_A_TICK = 8
"""Requests of a connection that one batch of the engine finds."""
ORIGIN = "httpr://localhost"


class _Chance:
    """A source of random bits that repeats with its seed."""

    bits = Random(1).getrandbits


class _Served:
    """A server agent without a network, with one session."""

    def __init__(self, folder: Path, batch: int) -> None:
        self.disk = RocksDisk(folder / "shares", TABLES + HTTPR_TABLES)
        rows = StagedRows(self.disk)
        self.core, self.manager, _ = assemble(self.disk, rows, _Chance(), (httpr(),))
        first: tuple[Event, ...] = (
            StartManager("BENCH"),
            Addressed(ORIGIN, frozenset({"localhost"})),
            CreateQueue(0, "bench"),
        )
        for event in first:
            self.core.turn(event, NOW)
        wanted = Capabilities(maximum_batch_size=batch, maximum_pipeline_depth=32, sessions=True)
        header = RequestHeader(
            command=Command.GET_RESPONDER_INFO,
            requester="httpr://bench.example/httpr/load",
            channel="bench",
            session=SessionMark.BEGIN,
            capabilities=wanted,
        )
        turn = self.core.turn(RequestArrived(1, 1, "bench", header), NOW)
        answers = [each.answer for each in turn.effects if isinstance(each, Reply)]
        assert isinstance(answers[0], Answer)
        self.session = answers[0].header.session_id
        self.core.close()

    @property
    def stored(self) -> int:
        """The number of messages in the queue."""
        queues = self.manager.state.queues.values()
        return len(next(each for each in queues if each.record.pathname.endswith("bench")).order)


def shares(folder: Path, batch: int) -> dict[str, Any]:
    """Processor time of a message in each room, in microseconds, and what each is of their sum."""
    served = _Served(folder, batch)
    template = push("bench", served.session, f"{ORIGIN}/httpr/bench#bench", batch)
    posts = [bytes(template.with_id(number)) for number in range(1, MESSAGES // batch + 1)]
    requests = [post.partition(b"\r\n\r\n")[2] for post in posts]
    begun = process_time()
    events = [_read(request) for request in requests]
    parse, turns, closing, syncing = process_time() - begun, 0.0, 0.0, 0.0
    begun = process_time()
    for start in range(0, len(events), IN_A_TICK):
        first = perf_counter()
        for event in events[start : start + IN_A_TICK]:
            served.core.turn(event, NOW)
        turned = perf_counter()
        served.core.close()
        closed = perf_counter()
        served.disk.sync()
        turns, closing = turns + turned - first, closing + closed - turned
        syncing += perf_counter() - closed
    spent = process_time() - begun  # asked once: where it is slow to ask, the answer would be too large
    engine, store = spent * turns / (turns + closing), spent * closing / (turns + closing)
    count = len(requests) * batch
    assert served.stored == count, f"{served.stored} of {count} were stored"
    served.disk.close()
    total = parse + engine + store
    return {
        "parse_us": round(parse / count * 1e6, 2),
        "engine_us": round(engine / count * 1e6, 2),
        "store_us": round(store / count * 1e6, 2),
        "sync_us": round(syncing / count * 1e6, 2),
        "parse_share": round(parse / total, 2),
        "engine_share": round(engine / total, 2),
        "store_share": round(store / total, 2),
    }


def _read(request: bytes) -> RequestArrived:
    """Return the header and the messages that the network reads from a request."""
    reader = RequestReader(lambda _: BatchLimits(100_000_000, 1000))
    header, *messages, end = reader.feed(request)
    reader.end()
    assert isinstance(header, HeaderRead), header
    assert isinstance(header.header, RequestHeader), header
    assert isinstance(end, BatchEnded), end
    batch = tuple([each for each in messages if isinstance(each, Carried)])
    return RequestArrived(1, 1, "bench", header.header, batch, end.disposition)

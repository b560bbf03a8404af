"""Where the time of a message that comes in by SRMP goes: parse, engine, store.  One process, no network."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

from reliquary.base.time import SECOND, Instant
from reliquary.base.turn import Event
from reliquary.engine.protocols import assemble
from reliquary.protocols.srmp.codec.decode import decode
from reliquary.protocols.srmp.codec.encode import encode
from reliquary.protocols.srmp.codec.messages import message_of
from reliquary.protocols.srmp.events import Addressed, PostArrived
from reliquary.protocols.srmp.protocol import srmp
from reliquary.protocols.srmp.tables import TABLES as SRMP_TABLES
from reliquary.queueing.model.events import CreateQueue, StartManager
from reliquary.queueing.model.tables import TABLES
from reliquary.store import RocksDisk, StagedRows

NOW = Instant(1_785_585_600 * SECOND)
IN_A_BATCH = 32
"""The messages of a batch: as many as the other measurement has connections."""
LARGEST = 4 * 1024 * 1024


class _Chance:
    """A source of random bits that repeats with its seed."""

    bits = Random(1).getrandbits


def shares(folder: Path, content_type: str, posts: list[bytes]) -> dict[str, Any]:
    """Processor time of a message in each room, in microseconds, and what each is of their sum."""
    parse = _each(lambda: [decode(content_type, post, largest=LARGEST) for post in posts], len(posts))
    message = message_of(decode(content_type, posts[0], largest=LARGEST))
    write = _each(lambda: [encode(message) for _ in posts], len(posts))
    disk = RocksDisk(folder / "shares", TABLES + SRMP_TABLES)
    rows = StagedRows(disk)
    core, manager, _ = assemble(disk, rows, _Chance(), (srmp(),))
    first: tuple[Event, ...] = (
        StartManager("BENCH"),
        Addressed("localhost", frozenset({"localhost"})),
        CreateQueue(0, "bench"),
    )
    for event in first:
        core.turn(event, NOW)
    core.close()
    turns = closing = syncing = 0.0
    for start in range(0, len(posts), IN_A_BATCH):
        begun = process_time()
        for post in posts[start : start + IN_A_BATCH]:
            core.turn(PostArrived(1, content_type, post), NOW)
        turned = process_time()
        core.close()
        closed = process_time()
        syncs = perf_counter()
        disk.sync()
        turns, closing, syncing = (
            turns + turned - begun, closing + closed - turned, syncing + perf_counter() - syncs,
        )  # fmt: skip
    stored = next(queue for queue in manager.state.queues.values() if queue.record.pathname.endswith("bench"))
    assert len(stored.order) == len(posts), f"{len(stored.order)} of {len(posts)} were stored"
    disk.close()
    engine, store = turns / len(posts) * 1e6 - parse, closing / len(posts) * 1e6
    total = parse + engine + store
    return {
        "decode_us": round(parse, 1),
        "encode_us": round(write, 1),
        "engine_us": round(engine, 1),
        "store_us": round(store, 1),
        "sync_us": round(syncing / len(posts) * 1e6, 1),
        "parse_share": round(parse / total, 2),
        "engine_share": round(engine / total, 2),
        "store_share": round(store / total, 2),
        "cores": os.cpu_count(),
    }


def _each(work: Any, count: int) -> float:
    """Return the microseconds of one call, from the best of three runs."""
    times = []
    for _ in range(3):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times) / count * 1e6

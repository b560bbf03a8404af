"""Where the time of a message that comes in by WS-RM goes: parse, engine, store.  One process, no network."""

from __future__ import annotations

from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

from bench.wsrm_message import CONTENT_TYPE, Template, create, identifier_in
from reliquary.base.time import SECOND, Instant
from reliquary.base.turn import Event, Reply
from reliquary.engine.protocols import assemble
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.events import Addressed, PostAnswer, PostArrived
from reliquary.protocols.wsrm.protocol import wsrm
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.queueing.model.events import CreateQueue, StartManager
from reliquary.queueing.model.tables import TABLES
from reliquary.store import RocksDisk, StagedRows

NOW = Instant(1_785_585_600 * SECOND)
MESSAGES = 20_000
ORIGIN = "http://localhost"
URL = f"{ORIGIN}/wsrm/bench"


class _Chance:
    """A source of random bits that repeats with its seed."""

    bits = Random(1).getrandbits


class _Served:
    """A destination without a network, with one sequence."""

    def __init__(self, folder: Path, window: int) -> None:
        protocol = wsrm(WsrmSettings(window=window, seed=b"bench"))
        self.disk = RocksDisk(folder / "shares", TABLES + protocol.tables)
        self.core, self.manager, _ = assemble(self.disk, StagedRows(self.disk), _Chance(), (protocol,))
        first: tuple[Event, ...] = (
            StartManager("BENCH"),
            Addressed(ORIGIN, frozenset({"localhost"})),
            CreateQueue(0, "bench"),
        )
        for event in first:
            self.core.turn(event, NOW)
        turn = self.core.turn(PostArrived(1, "bench", CONTENT_TYPE, create(URL, 1)), NOW)
        answers = [each.answer for each in turn.effects if isinstance(each, Reply)]
        assert isinstance(answers[0], PostAnswer)
        self.identifier = identifier_in(answers[0].body)
        self.core.close()

    @property
    def stored(self) -> int:
        """The number of messages in the queue."""
        queues = self.manager.state.queues.values()
        return len(next(each for each in queues if each.record.pathname.endswith("bench")).order)


def shares(folder: Path, window: int) -> dict[str, Any]:
    """Processor time of a message in each room, in microseconds, and what each is of their sum."""
    served = _Served(folder, window)
    template = Template("/wsrm/bench", URL, served.identifier, 1)
    posts = [template.with_number(number).partition(b"\r\n\r\n")[2] for number in range(1, MESSAGES + 1)]
    begun = process_time()
    for post in posts:
        decode(CONTENT_TYPE, post)
    parse, turns, closing, syncing = process_time() - begun, 0.0, 0.0, 0.0
    begun = process_time()
    for start in range(0, len(posts), window):
        first = perf_counter()
        for post in posts[start : start + window]:
            served.core.turn(PostArrived(1, "bench", CONTENT_TYPE, post), NOW)
        turned = perf_counter()
        served.core.close()
        closed = perf_counter()
        served.disk.sync()
        turns, closing = turns + turned - first, closing + closed - turned
        syncing += perf_counter() - closed
    spent = process_time() - begun  # asked once: where it is slow to ask, the answer would be too large
    engine, store = spent * turns / (turns + closing) - parse, spent * closing / (turns + closing)
    assert served.stored == MESSAGES, f"{served.stored} of {MESSAGES} were stored"
    served.disk.close()
    total = parse + engine + store
    return {
        "decode_us": round(parse / MESSAGES * 1e6, 1),
        "engine_us": round(engine / MESSAGES * 1e6, 1),
        "store_us": round(store / MESSAGES * 1e6, 1),
        "sync_us": round(syncing / MESSAGES * 1e6, 1),
        "decode_share": round(parse / total, 2),
        "engine_share": round(engine / total, 2),
        "store_share": round(store / total, 2),
    }

"""A large message needs little memory on its way in and out, over a real disk, and leaves no rows there."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections import deque
from pathlib import Path
from random import Random

import pytest

from reliquary.base.turn import Continue, Event, Reply
from reliquary.engine.core import Core
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model.events import (
    CreateQueue,
    PieceStored,
    PurgeQueue,
    ReceiveMessages,
    SendMessages,
    StartManager,
    StorePiece,
)
from reliquary.queueing.model.message import Delivery, Message, StoredBody
from reliquary.queueing.model.tables import TABLES
from reliquary.queueing.rules.spool import read_piece
from reliquary.sim.chance import SeededChance
from reliquary.store import RocksDisk, StagedRows, tuning
from tests.queueing.manager_harness import COMPUTER, NOON

PIECE = 256 * 1024
HEAP = 2 * 1024 * 1024
"""What may be on Python's heap beside whatever has to be there: a few pieces under way."""


class OverRocks:
    """A manager over a folder; each event is a batch."""

    def __init__(self, folder: Path) -> None:
        self.disk = RocksDisk(folder, TABLES)
        rows = StagedRows(self.disk)
        self.manager = QueueManager(rows, SeededChance(1))
        self.core = Core(self.disk, rows)
        self.core.add(self.manager)
        self.ask(StartManager(COMPUTER))
        self.ask(CreateQueue(1, "orders"))

    def ask(self, event: Event) -> object:
        answer: object = None
        events = deque([event])
        while events:
            turn = self.core.turn(events.popleft(), NOON)
            if self.core.close().after_sync:
                self.disk.sync()
            for effect in turn.effects:
                if isinstance(effect, Continue):
                    events.append(effect.event)
                elif isinstance(effect, Reply):
                    answer = effect.answer
        return answer

    def bring(self, pieces: int) -> StoredBody:
        """Let a body come, piece by piece."""
        body = StoredBody(0, 0, 0)
        for index in range(pieces):
            answer = self.ask(StorePiece(1, body.spool, piece(index)))
            assert isinstance(answer, PieceStored), answer
            body = StoredBody(answer.spool, answer.size, answer.pieces)
        return body

    def send(self, pieces: int) -> StoredBody:
        body = self.bring(pieces)
        self.ask(SendMessages(1, "orders", (Message.of(stored_body=body, delivery=Delivery.RECOVERABLE),)))
        return body

    def take_out(self, body: StoredBody) -> None:
        """Read it as a network that sends it bit by bit, and let its message go."""
        for index in range(body.pieces):
            assert read_piece(self.manager.state, body.spool, index) == piece(index)
        self.ask(PurgeQueue(1, "orders"))
        assert self.manager.state.messages.bodies.piece(body.spool, 0) is None


def piece(index: int) -> bytes:
    """Return bytes that differ from piece to piece, and that no store makes smaller."""
    return Random(index).randbytes(PIECE)


def grown(folder: Path, pieces: int) -> None:
    """Let a message come and go, and see how much the heap grew at its highest."""
    manager = OverRocks(folder)
    tracemalloc.start()
    try:
        body = manager.send(pieces)
        manager.take_out(body)
        _, peak = tracemalloc.get_traced_memory()
        assert peak < HEAP
    finally:
        tracemalloc.stop()
        manager.disk.close()


def test_a_message_of_20_megabytes_is_never_whole_in_memory(tmp_path: Path) -> None:
    grown(tmp_path, 20_000_000 // PIECE)


@pytest.mark.long
def test_a_message_of_100_megabytes_is_never_whole_in_memory(tmp_path: Path) -> None:
    grown(tmp_path, 100_000_000 // PIECE)


def test_a_caller_that_wants_it_whole_has_it_once(tmp_path: Path) -> None:
    manager = OverRocks(tmp_path)
    body = manager.send(40)
    tracemalloc.start()
    try:
        answer = manager.ask(ReceiveMessages(1, "orders"))
        kept, peak = tracemalloc.get_traced_memory()
        assert body.size <= kept <= peak < body.size + HEAP
    finally:
        tracemalloc.stop()
        manager.disk.close()
    [delivered] = answer.messages  # type: ignore[attr-defined]
    assert delivered.message.body == b"".join(map(piece, range(40)))


PROCESS = """
import sys
from pathlib import Path
from tests.queueing.rules.test_spool_memory import PIECE, OverRocks

def highest():
    return 1024 * int(next(each for each in open("/proc/self/status") if each.startswith("VmHWM")).split()[1])

manager, before = OverRocks(Path(sys.argv[1])), highest()
for _ in range(5):
    manager.take_out(manager.send(100_000_000 // PIECE))
print(highest() - before)
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells it so")
def test_large_messages_take_no_more_of_the_process_than_the_store_is_given(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROCESS, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) < tuning.WRITE_BUFFERS + tuning.BLOCK_CACHE + 32 * 1024 * 1024


@pytest.mark.long
def test_the_place_of_large_messages_on_disk_comes_back(tmp_path: Path) -> None:
    manager = OverRocks(tmp_path)
    for _ in range(10):
        manager.take_out(manager.send(100_000_000 // PIECE))
    manager.disk.close()
    assert sum(each.stat().st_size for each in tmp_path.rglob("*") if each.is_file()) < 300_000_000

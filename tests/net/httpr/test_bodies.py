"""Tests large bodies between the network and a real engine."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.engine.core import Core
from reliquary.engine.loop import Engine
from reliquary.net.clock import RealClock
from reliquary.net.httpr.bodies import EngineBodies
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model.events import Answer, PieceStored, StartManager, StopManager
from reliquary.queueing.model.tables import TABLES
from reliquary.store import MemoryDisk, StagedRows
from tests.net.endpoint_harness import Chance
from tests.net.http.harness import play, until


def test_a_body_is_stored_read_and_dropped() -> None:
    async def scene() -> None:
        disk = MemoryDisk(TABLES)
        rows = StagedRows(disk)
        manager = QueueManager(rows, Chance())
        core = Core(disk, rows)
        core.add(manager)
        engine = Engine(core, disk, RealClock())
        engine.start()
        engine.submit(StartManager("HERE"))
        bodies = EngineBodies(engine, manager.state)
        reported: list[Answer] = []

        bodies.store(0, b"hello", reported.append)
        await until(lambda: len(reported) == 1)
        assert isinstance(reported[0], PieceStored)
        spool = reported[0].spool
        bodies.store(spool, b" world", reported.append)
        await until(lambda: len(reported) == 2)
        assert reported[1] == PieceStored(HResult.OK, "", spool, 2, 11)
        assert bodies.read(spool, 0) + bodies.read(spool, 1) == b"hello world"
        with pytest.raises(UsageError, match="no piece 2"):
            bodies.read(spool, 2)

        bodies.store(spool + 99, b"x", reported.append)
        await until(lambda: len(reported) == 3)
        assert reported[2].status is not HResult.OK
        assert not isinstance(reported[2], PieceStored)

        bodies.drop(spool)
        await until(lambda: spool not in manager.state.messages.bodies.loose)
        with pytest.raises(UsageError):
            bodies.read(spool, 0)

        await engine.stop(StopManager())
        bodies.store(0, b"late", reported.append)
        bodies.drop(spool)
        assert len(reported) == 3
        assert engine._callers == {}

    play(scene)

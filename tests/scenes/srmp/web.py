"""A manager that uses SRMP on a real socket; a test sees its answers, its queues and its log.

async with server() as here:
    status = await here.post(content_type, body)
    here.bodies("orders"), here.failures
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from reliquary.base.time import seconds
from reliquary.base.turn import Effect
from reliquary.engine.loop import Engine
from reliquary.engine.protocols import assemble
from reliquary.net.clock import RealClock
from reliquary.net.http import Limits, Listener, Mount
from reliquary.net.srmp.receiving import Receiving, nothing
from reliquary.protocols.srmp import tables
from reliquary.protocols.srmp.effects import EndSession, ListenTo, Post, SendApdu
from reliquary.protocols.srmp.events import Addressed
from reliquary.protocols.srmp.protocol import srmp
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model import tables as manager_tables
from reliquary.queueing.model.events import CreateQueue, StartManager, StopManager
from reliquary.queueing.model.queue import QueueSettings
from reliquary.store import MemoryDisk, StagedRows
from tests.net.endpoint_harness import Chance
from tests.net.http.harness import wire
from tests.queueing.state_checks import walk

LARGEST = 100_000


class Server:
    """A manager, SRMP and a listener in one process."""

    def __init__(self, quota: int | None = None) -> None:
        self.quota = quota
        self.disk = MemoryDisk(manager_tables.TABLES + tables.TABLES)
        rows = StagedRows(self.disk)
        spoken = srmp(SrmpSettings(largest_message=LARGEST))
        core, self.manager, _ = assemble(self.disk, rows, Chance(), (spoken,))
        self.engine = Engine(core, self.disk, RealClock())
        self.out: list[Effect] = []
        """The effects that would be sent; they are not carried."""
        for kind in (Post, SendApdu, EndSession, ListenTo):
            self.engine.performers[kind] = self.out.append
        self.failures: list[BaseException] = []
        self.engine.on_failure = self.failures.append
        self.receiving = Receiving(self.engine, self.manager.state, LARGEST)
        mounts = (self.receiving.mount(), Mount(prefix="", handler=nothing))
        self.listener = Listener(mounts, limits=Limits(body_bytes=LARGEST))
        self.port = 0

    async def open(self) -> None:
        self.engine.start()
        self.engine.submit(StartManager("HERE", "", self.quota))
        self.engine.submit(Addressed("bench.example", frozenset({"bench.example", "beta.example"})))
        await self.create("orders")
        await self.create("torders", transactional=True)
        _, self.port = await self.listener.listen()

    async def create(self, path: str, **settings: Any) -> None:
        await self.engine.ask(lambda caller: CreateQueue(caller, path, QueueSettings(**settings)))

    async def post(self, content_type: str, body: bytes, target: str = "/msmq/private$/orders") -> int:
        """Post on a new connection; return the status, or 0 where the server closed the connection."""
        async with wire(self.port) as client:
            head = f"POST {target} HTTP/1.1\r\nHost: bench.example\r\nContent-Type: {content_type}\r\n"
            head += f'Content-Length: {len(body)}\r\nConnection: close\r\nSOAPAction: "MSMQMessage"\r\n\r\n'
            client.send(head.encode() + body)
            answer = await client.rest()
            return int(answer.split(b" ")[1]) if answer else 0

    def bodies(self, path: str = "orders") -> list[bytes]:
        """Return the bodies of the messages in a queue."""
        state = self.manager.state
        queue = state.find(state.parse(path))
        assert queue is not None
        return [state.messages.get(position).body for position in walk(queue)]

    async def close(self) -> None:
        await self.listener.drain(seconds(0.001))
        await self.engine.stop(None if self.failures else StopManager())


@asynccontextmanager
async def server(quota: int | None = None) -> AsyncIterator[Server]:
    """Yield a server that is open."""
    made = Server(quota)
    await made.open()
    try:
        yield made
    finally:
        await made.close()

"""A harness for the data plane: a real listener on the loopback over a store in memory."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import quote

import uvloop

from reliquary.base.faults import UsageError
from reliquary.base.time import seconds
from reliquary.client.nouns import NOUNS
from reliquary.engine.core import Core
from reliquary.engine.loop import Engine
from reliquary.net.api import DataPlane
from reliquary.net.api.administration import routes_of
from reliquary.net.api.routes import ROUTES, merged
from reliquary.net.clock import RealClock
from reliquary.net.http import HttpClient, Listener
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model.administration import Plane
from reliquary.queueing.model.events import CreateQueue, StartManager, StopManager
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import TABLES
from reliquary.store import MemoryDisk, StagedRows
from tests.net.http.harness import until
from tests.views.viewing import ManagerAlone

API = "/api/v1"


class SeededChance:
    """Random bits from a fixed seed: every run has equal ids."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)

    def bits(self, count: int) -> int:
        return self._random.getrandbits(count)


@dataclass
class Harness:
    """A running data plane and a client of it."""

    engine: Engine
    state: State
    plane: DataPlane
    listener: Listener
    client: HttpClient
    port: int

    async def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Send one request with JSON; return the answer's status and JSON."""
        data = b"" if body is None else json.dumps(body).encode()
        return await self.raw(method, path, data)

    async def raw(self, method: str, path: str, data: bytes) -> tuple[int, Any]:
        """Send one request with any bytes."""
        answer = await self.client.request(method, API + path, data)
        return answer.status, json.loads(answer.body) if answer.body else None

    async def ok(self, method: str, path: str, body: object = None) -> Any:
        """Send one request that must be done."""
        status, answer = await self.call(method, path, body)
        assert status < 300, answer
        return answer

    async def refused(self, method: str, path: str, body: object = None) -> tuple[int, str, str]:
        """Send one request that must be refused; return status, code and sentence."""
        status, answer = await self.call(method, path, body)
        assert status >= 400, answer
        assert set(answer) == {"error", "code"}
        return status, answer["code"], answer["error"]

    async def create(self, name: str, **settings: Any) -> None:
        await self.engine.ask(lambda to: CreateQueue(to, name, QueueSettings(**settings)))

    async def send(self, queue: str, *texts: str, **fields: object) -> list[str]:
        """Send texts; their lookup ids."""
        answer = await self.ok("POST", on(queue, "messages"), [{"text": text, **fields} for text in texts])
        return [each["lookup_id"] for each in answer["messages"]]

    async def texts(self, queue: str) -> list[str]:
        """Return the texts of the messages in a queue."""
        return bodies(await self.ok("GET", on(queue, "messages")))

    def waiting(self, queue: str = "orders") -> int:
        """Return the number of readers that wait at a queue."""
        found = self.state.find(self.state.parse(queue))
        assert found is not None
        return len(found.readers.waiting)

    async def wait_for_readers(self, count: int, queue: str = "orders") -> None:
        """Return when this many readers wait."""
        await until(lambda: self.waiting(queue) == count)


def on(queue: str, verb: str) -> str:
    """Return a path of a queue."""
    return f"/queues/{quote(queue, safe='')}/{verb}"


def bodies(answer: Any) -> list[str]:
    """Return the texts of an answer with messages."""
    return [b64decode(each["body"]).decode() for each in answer["messages"]]


Scene = Callable[[Harness], Awaitable[None]]


def play(scene: Scene, disk: MemoryDisk | None = None) -> None:
    """Run a scene; an engine that fails and whatever reaches the loop's exception handler fail it."""
    wrong: list[object] = []

    async def whole() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        loop.set_exception_handler(lambda _, context: wrong.append(context))
        store = disk or MemoryDisk(TABLES)
        rows = StagedRows(store)
        manager = QueueManager(rows, SeededChance())
        core = Core(store, rows)
        core.add(manager)
        engine = Engine(core, store, RealClock())

        def fail(failure: BaseException) -> None:
            wrong.append(failure)
            task.cancel()

        engine.on_failure = fail
        engine.start()
        engine.submit(StartManager("HERE"))
        machines = ManagerAlone(manager.state)
        of_nouns = [routes_of(noun, machines) for noun in NOUNS if noun.plane is Plane.DATA]
        routes = merged(ROUTES, *of_nouns)
        plane = DataPlane(engine, manager.state, SeededChance(), "1.2.3", routes=routes)
        listener = Listener(plane.mounts())
        _, port = await listener.listen()
        try:
            async with HttpClient(f"http://127.0.0.1:{port}") as client:
                harness = Harness(engine, manager.state, plane, listener, client, port)
                await harness.create("orders")
                await asyncio.wait_for(scene(harness), 60)
        finally:  # uvloop does not close while sockets are open, so a scene that fails would never end
            await listener.drain(seconds(5))
            await engine.stop(StopManager())

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            runner.run(whole())
        except asyncio.CancelledError:
            assert wrong, "cancelled without a request"
    for each in wrong:
        if isinstance(each, BaseException):
            raise AssertionError(f"the engine failed: {each!r}") from each
    assert not wrong, wrong


def refusal(act: Callable[[], object]) -> str:
    """Return the sentence of a UsageError."""
    try:
        act()
    except UsageError as why:
        return str(why)
    raise AssertionError("it was not refused")

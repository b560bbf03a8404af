"""A harness for the control plane: a whole server on a folder, on loopback ports that were free."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

from reliquary.net.http import HttpClient, Response
from reliquary.server.build import Server, build
from reliquary.server.config import Settings
from reliquary.server.first_queues import make_queues


@dataclass
class Harness:
    """A running server and clients of both planes."""

    server: Server
    data: HttpClient
    control: HttpClient
    folder: Path
    url: str
    """The address of the data plane."""
    control_url: str

    async def get(self, path: str) -> Response:
        """Return a page of the control plane."""
        return await self.control.request("GET", path)

    async def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Send one request to the control plane; return status and JSON."""
        data = b"" if body is None else json.dumps(body).encode()
        answer = await self.control.request(method, "/api/v1" + path, data)
        return answer.status, json.loads(answer.body)

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

    async def send(self, queue: str, *texts: str) -> None:
        """Send messages through the data plane."""
        body = json.dumps([{"text": text} for text in texts]).encode()
        answer = await self.data.request("POST", f"/api/v1/queues/{queue}/messages", body)
        assert answer.status == 201, answer.body


async def whole(
    folder: Path, scene: Callable[[Harness], Awaitable[None]], seconds: float = 30, **chosen: Any
) -> None:
    """Run a scene on a whole server, in the loop that runs; one that takes longer fails."""
    usual: dict[str, Any] = {
        "data_port": 0,
        "control_port": 0,
        "computer_name": "HERE",
        "queues": ("orders",),
    }
    settings = Settings(folder=folder / "data", **usual | chosen)
    server = await build(settings)
    await make_queues(server.opened, settings.queues)
    data, control = await server.listen(settings)
    try:
        async with HttpClient(data) as at_data, HttpClient(control) as at_control:
            harness = Harness(server, at_data, at_control, settings.folder, data, control)
            await asyncio.wait_for(scene(harness), seconds)
    finally:
        await server.stop()


def play(folder: Path, scene: Callable[[Harness], Awaitable[None]], **chosen: Any) -> None:
    """Run a scene on a whole server; whatever reaches the loop's exception handler fails it."""
    wrong: list[object] = []

    async def watched() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
        await whole(folder, scene, **chosen)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(watched())
    assert not wrong, wrong

"""All endpoints of a server are built, paused and stopped alike; one more is one more line."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from reliquary.base.time import Duration
from reliquary.net.counters import Family, Metric
from reliquary.net.http import HttpClient, Listener, Mount, Request, Responder
from reliquary.server import build as building
from reliquary.server.build import build
from reliquary.server.config import Settings
from reliquary.server.endpoint import Endpoint, Parts, ServerProtocol
from reliquary.server.first_queues import make_queues
from reliquary.server.names import Listening
from reliquary.server.protocols import PROTOCOLS
from tests.console.harness import Harness, play

HAPPENED: list[str] = []


class Toy(Endpoint):
    """Notes what becomes of it, and answers under one path."""

    def __init__(self, parts: Parts) -> None:
        self._opened = parts.opened
        self._asked = 0
        HAPPENED[:] = ["build"]

    def mounts(self) -> Sequence[Mount]:
        return (Mount(prefix="/toy/", handler=self._answer),)

    def _answer(self, request: Request, responder: Responder) -> None:
        self._asked += 1
        responder.respond(200, request.path.encode())

    async def listen(self, listener: Listener, at: Sequence[Listening]) -> None:
        assert listener.connections == 0
        HAPPENED.append(f"listen at {at[0].scheme}")

    def pause(self, pressed: bool) -> None:
        HAPPENED.append("pause" if pressed else "resume")

    def stop_accepting(self) -> None:
        HAPPENED.append("stop accepting")

    async def finish(self) -> None:
        HAPPENED.append("finish")
        await self._opened.settled()  # the engine still answers

    def hang_up(self) -> None:
        HAPPENED.append("hang up")

    async def drain(self, within: Duration) -> None:
        HAPPENED.append("drain")

    def names_of(self, queue: str) -> Iterable[str]:
        return (f"toy:{queue}",)

    def counters(self) -> Iterable[Family]:
        yield Metric("toy_requests_total", "counter", "Requests to the toy.").now(self._asked)


class ToySetup:
    protocol = None
    anonymous_senders = False

    def build(self, parts: Parts) -> Toy:
        return Toy(parts)


@pytest.fixture(autouse=True)
def with_toy(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = ServerProtocol(prepare=lambda _: ToySetup())
    monkeypatch.setattr(building, "PROTOCOLS", (*PROTOCOLS, toy))


def test_an_endpoint_is_built_started_and_stopped_in_order(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        harness.server.opened.engine.on_pressure(True)
        harness.server.opened.engine.on_pressure(False)

    play(tmp_path, scene)
    assert HAPPENED == [
        "build", "listen at http", "pause", "resume", "stop accepting", "finish", "hang up", "drain",
    ]  # fmt: skip


def test_a_further_endpoint_has_its_mount_and_its_counters(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.data.request("GET", "/toy/1")).body == b"/toy/1"
        assert (await harness.data.request("GET", "/api/v1/health")).status == 200
        lines = (await harness.get("/metrics")).body.decode().splitlines()
        place = lines.index("reliquary_toy_requests_total 1")
        assert lines[place - 2 : place] == [
            "# HELP reliquary_toy_requests_total Requests to the toy.",
            "# TYPE reliquary_toy_requests_total counter",
        ]
        assert lines.index("# TYPE reliquary_srmp_messages_total counter") > place

    play(tmp_path, scene)


def test_the_data_plane_takes_nothing_new_before_endpoints_finish(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path / "data", data_port=0, control_port=0, queues=("orders",))

    async def scene() -> None:
        server = await build(settings)
        await make_queues(server.opened, settings.queues)
        data, _ = await server.listen(settings)
        refused: list[int] = []
        async with HttpClient(data) as client:
            await client.request("GET", "/api/v1/health")

            async def finish() -> None:
                answer = await client.request("POST", "/api/v1/queues/orders/messages", b"{}")
                refused.append(answer.status)

            server.endpoints[-1].finish = finish  # type: ignore[method-assign]
            await server.stop()
        assert refused == [503]

    asyncio.run(scene())

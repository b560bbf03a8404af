"""The trail of one message: each room is entered once for its work, and nobody calls up the stairs.

    net  -->  engine  -->  queueing  -->  staged rows      the turn
              engine  -->  store                           one write, one sync
    net  <--  engine                                       only now

The calls of the loop's thread are recorded while a client in another thread sends a message, and then
receives it.  Whoever changes the road of a message changes this file too.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
import uvloop

import reliquary
from reliquary.server.build import build, make_queues
from reliquary.server.config import Settings

SOURCE = str(Path(reliquary.__file__).parent) + "/"

ROAD = [
    "net/http/connection data_received",
    "engine/loop submit",
    "queueing/manager handle",
    "queueing/manager settle",
    "store/rocks apply",
    "store/rocks sync",
    "net/http/responder respond",
]
STAIRS = {
    ("net", "engine"),  # an event is submitted
    ("engine", "queueing"),  # it has its turn
    ("queueing", "store"),  # rows are staged, nothing is written
    ("engine", "store"),  # what was staged is written and synced
    ("engine", "net"),  # the answer, and the time
}

ONCE = {("queueing", "wire")}
"""The access list of a queue is read the first time that somebody uses it."""


class Trail:
    """The functions of ours that were called, and which room called which."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.stairs: set[tuple[str, str]] = set()

    def record(self, frame: FrameType, event: str, _: object) -> None:
        """Called by the interpreter."""
        module = _module(frame)
        if event != "call" or not module:
            return
        self.functions.append(f"{module} {frame.f_code.co_name}")
        caller = frame.f_back
        while caller is not None and not _module(caller):
            caller = caller.f_back
        above, here = _module(caller).partition("/")[0] if caller else "", module.partition("/")[0]
        if above not in ("", here) and here != "base":
            self.stairs.add((above, here))


def _module(frame: FrameType) -> str:
    name = frame.f_code.co_filename
    return name[len(SOURCE) : -len(".py")] if name.startswith(SOURCE) else ""


@pytest.fixture
def walk(tmp_path: Path) -> Callable[..., list[Trail]]:
    """The trails of requests to a server in this process."""

    async def walked(requests: tuple[tuple[str, object], ...]) -> list[Trail]:
        settings = Settings(folder=tmp_path / "store", data_port=0, control_port=0)
        server = await build(settings)
        await make_queues(server.opened, ("orders",))
        address, _ = await server.listen(settings)
        await server.opened.settled()  # SRMP was told its address
        trails = []
        for path, body in requests:
            trails.append(Trail())
            asked = asyncio.to_thread(_ask, address, f"/api/v1/queues/orders/{path}", body)
            sys.setprofile(trails[-1].record)
            try:
                await asked
            finally:
                sys.setprofile(None)
        await server.stop()
        return trails

    def play(*requests: tuple[str, object]) -> list[Trail]:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(walked(requests))

    return play


def _ask(address: str, path: str, body: object) -> None:
    """Head and body in one piece, so that they arrive as one."""
    host, _, port = address.removeprefix("http://").partition(":")
    data = json.dumps(body)
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {len(data)}\r\n\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{head}{data}".encode())
        answer = b""
        while piece := connection.recv(1 << 20):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 20"), answer


def test_a_message_walks_one_road_in_and_out(walk: Callable[..., list[Trail]]) -> None:
    send, receive = walk(("messages", {"text": "hello"}), ("receive", {}))
    for trail in (send, receive):
        assert [function for function in trail.functions if function in ROAD] == ROAD
        assert trail.stairs - ONCE == STAIRS


def test_many_messages_in_one_request_walk_it_once(walk: Callable[..., list[Trail]]) -> None:
    send, receive = walk(("messages", [{"text": "hello"}] * 100), ("receive", {"count": 100}))
    for trail in (send, receive):
        assert [function for function in trail.functions if function in ROAD] == ROAD

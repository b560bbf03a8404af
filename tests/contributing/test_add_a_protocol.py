"""The page about adding a protocol is true: the ferry was written after it, and others have its files."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import fields
from pathlib import Path

import pytest
import uvloop

from reliquary.base.time import MINUTE
from reliquary.engine.open import OpenedEngine
from reliquary.engine.protocols import tables_of
from reliquary.protocols.standard import ALL_TABLES, standard
from reliquary.queueing.model.events import CreateQueue, Received, ReceiveMessages, SendMessages
from reliquary.queueing.model.message import Delivery, Message
from reliquary.queueing.model.protocol import Protocol
from reliquary.server.build import Server, build
from reliquary.server.config import Settings
from reliquary.server.protocols import PROTOCOLS
from tests.contributing.ferry import in_a_server

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "contributing" / "add-a-protocol.md").read_text()
FILES = re.findall(r"^\| \d+ \| `([^`]+)`", PAGE, re.MULTILINE)
LISTS = re.findall(r"^\| `(src/[^`]+)` \|", PAGE, re.MULTILINE)
DESTINATION = "DIRECT=FERRY://there/private$/orders"


# -- the page


ELSEWHERE = {"src/reliquary/protocols/srmp/nouns.py": "src/reliquary/client/streams.py"}
"""The only noun of SRMP is the stream, which it shares with MQQB."""


@pytest.mark.parametrize("name", ["srmp", "httpr", "wsrm", "mqqp", "mqqb"])
def test_every_protocol_has_the_files_of_the_page(name: str) -> None:
    assert len(FILES) == 12
    files = [file.replace("NAME", name) for file in FILES]
    assert [file for file in files if not (ROOT / ELSEWHERE.get(file, file)).exists()] == []


def test_the_lists_of_the_page_are_where_a_protocol_is_named() -> None:
    assert len(LISTS) == 4
    for file in LISTS:
        text = (ROOT / file).read_text().casefold()
        assert "srmp" in text, file
        assert "httpr" in text, file
        assert "wsrm" in text, file
        assert "mqqp" in text, file


def test_the_page_tells_of_every_field_of_a_protocol() -> None:
    documented = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", PAGE, re.MULTILINE)
    words = {word for cell in documented for word in re.findall(r"`(\w+)`", cell)}
    assert words == {each.name for each in fields(Protocol)} - {"name"}


# -- the ferry


def test_the_ferry_is_known_nowhere_else() -> None:
    """No file of src names the ferry."""
    sources = [path for path in (ROOT / "src").rglob("*.py") if "ferry" in path.read_text().casefold()]
    assert sources == []
    tree = ast.parse((ROOT / "tests" / "contributing" / "ferry.py").read_text())
    imported = {
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module is not None
    }
    assert not any(module.startswith(("reliquary.protocols", "tests")) for module in imported)


class Site:
    """A server with the ferry."""

    server: Server
    url: str

    def __init__(self, folder: Path) -> None:
        self.settings = Settings(folder=folder, data_port=0, control_port=0)

    async def start(self, harbours: dict[str, str]) -> None:
        self.server = await build(self.settings, in_a_server(harbours))
        self.url, _ = await self.server.listen(self.settings)

    @property
    def opened(self) -> OpenedEngine:
        return self.server.opened


Scene = Callable[[Site, Site, dict[str, str]], Awaitable[None]]


def play(folder: Path, scene: Scene) -> None:
    """Run a scene with a server here and a server there; the third argument has the address of each host."""

    async def played() -> None:
        harbours: dict[str, str] = {}
        here, there = Site(folder / "here"), Site(folder / "there")
        await here.start(harbours)
        await there.start(harbours)
        harbours["there"] = there.url
        await there.opened.engine.ask(lambda to: CreateQueue(to, "orders"))
        await asyncio.wait_for(scene(here, there, harbours), 60)
        await here.server.stop()
        await there.server.stop()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(played())


async def send(opened: OpenedEngine, *bodies: bytes) -> None:
    messages = tuple(Message(body=body, delivery=Delivery.RECOVERABLE) for body in bodies)
    await opened.engine.ask(lambda to: SendMessages(to, DESTINATION, messages))


async def receive(opened: OpenedEngine, count: int) -> list[bytes]:
    """Receive this many messages, one after the other."""
    bodies: list[bytes] = []
    while len(bodies) < count:
        answer = await opened.engine.ask(lambda to: ReceiveMessages(to, "orders", timeout=MINUTE))
        assert isinstance(answer, Received)
        bodies += [each.message.body for each in answer.messages]
    return bodies


def test_a_registered_carrier_sends_and_receives_over_http(tmp_path: Path) -> None:
    async def scene(here: Site, there: Site, _: dict[str, str]) -> None:
        await send(here.opened, b"a", b"b", b"c")
        assert await receive(there.opened, 3) == [b"a", b"b", b"c"]

    play(tmp_path, scene)


def test_what_waits_for_a_server_that_is_away_arrives_when_it_is_back(tmp_path: Path) -> None:
    async def scene(here: Site, there: Site, harbours: dict[str, str]) -> None:
        await send(here.opened, b"a")
        assert await receive(there.opened, 1) == [b"a"]
        await there.server.stop()
        await send(here.opened, b"b")
        await there.start(harbours)
        harbours["there"] = there.url
        assert await receive(there.opened, 1) == [b"b"]

    play(tmp_path, scene)


def test_a_server_has_the_protocols_of_every_manager_in_their_order(tmp_path: Path) -> None:
    protocols = [each.prepare(Settings(folder=tmp_path)).protocol for each in PROTOCOLS]
    served = [each for each in protocols if each is not None]
    assert [each.name for each in served] == [
        each.name for each in standard()
    ]  # the first that claims a name has it
    assert tables_of(served) == ALL_TABLES

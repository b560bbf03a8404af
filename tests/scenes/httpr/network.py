"""A network between sides: requests and responses go as bytes, in their order, and may get lost.

    network = Network(alpha, beta)
    network.carry()                  all that waits goes, also what that leads to
    network.crash(beta)              what was not flushed is gone, and its connections are
    network.restore(beta, saved)     its store is as it was when `beta.backup()` gave `saved`
    network.advance(5)               time passes for all of them, a tenth of a second at a time
    network.went                     what was asked so far, as lines, with the answers; None for a lost one
    network.loses_answer = ...       which answers do not arrive, by the lines of their requests

A connection of a client is one of its server's, for as long as neither hangs up.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import unquote, urlsplit

from reliquary.base.chance import new_guid
from reliquary.base.restoration import Restoration
from reliquary.protocols.httpr.effects import CutConnection, HangUp, SendRequest
from reliquary.protocols.httpr.events import ConnectionGone, Failure
from reliquary.protocols.httpr.schemes import AGENT_PATH
from reliquary.store.memory import MemoryDisk
from tests.scenes.httpr.harness import Side
from tests.scenes.httpr.script import to_lines

_connections = count(1_000_000)
Asks = Callable[[list[str]], bool]


@dataclass
class Asked:
    """A request on its way."""

    request: SendRequest
    data: bytes
    lines: list[str]
    caller: int = 0
    answer: list[str] | None = None


@dataclass
class Line:
    """One connection between a client agent and a server agent."""

    client: Side
    server: Side
    channel: int
    epoch: int
    number: int = field(default_factory=lambda: next(_connections))
    waiting: list[Asked] = field(default_factory=list)
    """Requests without an answer, oldest first."""
    broken: bool = False


class Network:
    """Carries requests and responses between the two managers of a scene."""

    def __init__(self, *sides: Side) -> None:
        self.sides = sides
        self.hosts = {side.host: side for side in sides}
        self.went: list[Asked] = []
        self.loses_request: Asks = lambda _: False
        self.loses_answer: Asks = lambda _: False
        self._lines: dict[tuple[str, int, int], Line] = {}
        self._done = dict.fromkeys(self.hosts, 0)

    def carry(self) -> None:
        """Carry all that waits, and what that leads to."""
        while self._carry_out() or self._carry_back():
            pass

    def advance(self, span: float) -> None:
        """Advance the clocks of all managers in steps of 0.1 s."""
        for _ in range(round(span * 10)):
            for side in self.sides:
                side.advance(0.1)
            self.carry()

    def restore(self, side: Side, saved: MemoryDisk, *, marked: bool = True) -> None:
        """Start another process over a backup; `marked`: the store knows that it was restored."""
        side.disk = deepcopy(saved)
        side.restoration = Restoration(new_guid(side.chance), side.now) if marked else None
        self.crash(side)

    def crash(self, side: Side) -> None:
        """Start another process over the disk of a side."""
        for key, line in list(self._lines.items()):
            if side in (line.client, line.server):
                del self._lines[key]
                if line.client is not side and line.waiting:
                    line.client.fail(line.waiting[0].request)
        self._done[side.host] = len(side.out)  # what was to leave did not
        side.restart(crash=True)

    def _carry_out(self) -> bool:
        moved = False
        for side in self.sides:
            while self._done[side.host] < len(side.out):
                effect = side.out[self._done[side.host]]
                self._done[side.host] += 1
                moved = True
                if isinstance(effect, SendRequest):
                    self._send(side, effect)
                elif isinstance(effect, HangUp):
                    self._hang_up(self._lines.pop((side.host, effect.channel, effect.epoch), None))
                elif isinstance(effect, CutConnection):
                    self._cut(side, effect.connection)
        return moved

    def _send(self, client: Side, request: SendRequest) -> None:
        url = urlsplit(request.url)
        server = self.hosts.get(url.netloc)
        key = client.host, request.channel, request.epoch
        if server is None:
            client.fail(request, Failure.NO_CONNECTION)
            return
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = Line(client, server, request.channel, request.epoch)
        data = client.request_bytes(request)
        asked = Asked(request, data, to_lines(data))
        self.went.append(asked)
        line.waiting.append(asked)
        if line.broken or self.loses_request(asked.lines):
            self._break(line)
            return
        asked.caller = server.post(data, line.number, unquote(url.path.removeprefix(AGENT_PATH)))

    def _carry_back(self) -> bool:
        moved = False
        for line in list(self._lines.values()):
            while line.waiting and not line.broken:
                asked = line.waiting[0]
                data = line.server.response(asked.caller)
                if data is None:
                    break
                moved = True
                if self.loses_answer(asked.lines):
                    self._break(line)
                    break
                line.waiting.pop(0)
                asked.answer = to_lines(data)
                line.client.responded(asked.request, data)
        return moved

    def _break(self, line: Line) -> None:
        """Break a connection and inform both ends."""
        line.broken = True
        line.server.handle(ConnectionGone(line.number))
        line.client.fail(line.waiting[0].request)

    def _hang_up(self, line: Line | None) -> None:
        if line is not None and not line.broken:
            line.broken = True
            line.server.handle(ConnectionGone(line.number))

    def _cut(self, server: Side, number: int) -> None:
        for line in self._lines.values():
            if line.server is server and line.number == number and not line.broken and line.waiting:
                self._break(line)

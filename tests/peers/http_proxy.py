"""An HTTP proxy that loses or repeats whole messages by a plan, in a thread of its own.

    client ---> proxy ---> target        PASS           as it is
    client ---> x                        LOSE_REQUEST   the target never sees it; the client's connection ends
    client ---> proxy ---> target ---> x LOSE_RESPONSE  the target has done it; the client's connection ends
    client ---> proxy ==2> target        REPEAT         the target sees it twice; the first response counts

A plan decides what happens to each request; plans that end by themselves let a sender with retries succeed.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from types import TracebackType

from tests.net.stream_server import stream_server


class ProxyAction(Enum):
    """What the proxy does with one request."""

    PASS = "pass"
    LOSE_REQUEST = "lose the request"
    LOSE_RESPONSE = "lose the response"
    REPEAT = "send twice"


Plan = Callable[[bytes], ProxyAction]
"""It gets a whole request, and is asked once for each."""


def scripted(actions: Mapping[int, ProxyAction], containing: bytes = b"") -> Plan:
    """Return a plan by numbers; only requests that contain these bytes are counted, from 1, and concerned."""
    seen = 0

    def plan(request: bytes) -> ProxyAction:
        nonlocal seen
        if containing not in request:
            return ProxyAction.PASS
        seen += 1
        return actions.get(seen, ProxyAction.PASS)

    return plan


def every(step: int, action: ProxyAction, containing: bytes = b"") -> Plan:
    """Return a plan with this treatment for every `step`th request that contains these bytes."""
    seen = 0

    def plan(request: bytes) -> ProxyAction:
        nonlocal seen
        seen += containing in request
        return action if containing in request and seen % step == 0 else ProxyAction.PASS

    return plan


def seeded(seed: int, shares: Mapping[ProxyAction, float], containing: bytes = b"") -> Plan:
    """Return a plan by chance: each treatment has its share of the requests that contain these bytes."""
    chance = random.Random(seed)

    def plan(request: bytes) -> ProxyAction:
        if containing not in request:
            return ProxyAction.PASS
        rest = 1 - sum(shares.values())
        return chance.choices([*shares, ProxyAction.PASS], [*shares.values(), rest])[0]

    return plan


def pass_all(_request: bytes) -> ProxyAction:
    """Return the treatment by a proxy that changes nothing."""
    return ProxyAction.PASS


class HttpProxy:
    """A proxy while the block runs, in front of a port of 127.0.0.1."""

    def __init__(self, target_port: int, plan: Plan = pass_all) -> None:
        self.plan = plan
        self.counts: Counter[ProxyAction] = Counter()
        """The number of requests with each treatment."""
        self.port = 0
        self.target_port = target_port
        """Where requests go; a test may change it."""
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._listens = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        """The address at which clients reach the proxy."""
        return f"http://127.0.0.1:{self.port}"

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._main())
        except BaseException as error:  # noqa: BLE001 - raised again where the block ends
            self._error = error
        finally:
            self._loop.close()
            self._listens.set()

    async def _main(self) -> None:
        async with stream_server(self._serve) as self.port:
            self._listens.set()
            await self._stop.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await read_message(reader):
            action = self.plan(request)
            self.counts[action] += 1
            if action is ProxyAction.LOSE_REQUEST:
                return
            response = await self._forward(request)
            if action is ProxyAction.REPEAT:
                await self._forward(request)
            if action is ProxyAction.LOSE_RESPONSE or not response:
                return
            writer.write(response)
            await writer.drain()
            if b"\r\nconnection: close" in response.partition(b"\r\n\r\n")[0].lower():
                return

    async def _forward(self, request: bytes) -> bytes:
        """Return the target's response; nothing where it has gone."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            return b""
        try:
            writer.write(request)
            return await read_message(reader)
        finally:
            writer.close()

    def __enter__(self) -> HttpProxy:
        self._thread.start()
        self._listens.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._error is not None:
            raise self._error


async def read_message(reader: asyncio.StreamReader) -> bytes:
    """Return one request or response; nothing where the connection ended before its end.

    What has a body says its length or is chunked; a response with neither, in this, has none.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        fields = head.lower()
        if b"\r\ntransfer-encoding: chunked" in fields:
            return head + await _chunks(reader)
        _, found, rest = fields.partition(b"\r\ncontent-length:")
        return head + await reader.readexactly(int(rest.split(b"\r\n", 1)[0]) if found else 0)
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while True:
        line = await reader.readuntil(b"\r\n")
        length = int(line.split(b";")[0], 16)
        body += line + await reader.readexactly(length + 2)
        if length == 0:
            return body

"""The lower bound for a server in Python: a listener on httptools and uvloop that answers without a store.

`python -m bench.floor PORT` prints "ready".  Every request gets the answer that the API gives to a send of
one message.  The listener parses requests and does nothing else, so the time that Reliquary takes beyond it
is spent on the queue.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, cast

import uvloop
from httptools import HttpRequestParser

_ID = "6f1c6a5e-8a0e-4b0e-9d43-0f8f3c1b2a55"
_BODY = f'{{"messages":[{{"id":"{_ID}\\\\1234567","lookup_id":"504403158265495551"}}]}}'.encode()
ANSWER = (
    b"HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(_BODY)
) + _BODY


class Listener(asyncio.Protocol):
    """One connection of the server that only parses and answers."""

    def __init__(self) -> None:
        self._parser: Any = HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._url = b""
        self._body = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self._url = url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Ignore the header fields of a request."""

    def on_body(self, body: bytes) -> None:
        self._body = body

    def on_message_complete(self) -> None:
        assert self._transport is not None
        self._transport.write(ANSWER)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Listener, "127.0.0.1", port)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))

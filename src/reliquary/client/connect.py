"""Connect: to a server by its address, or to a folder, whose manager then runs in this process."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from ssl import SSLContext
from types import TracebackType
from typing import Any

from reliquary.client.address import DEFAULT, control_of, is_address
from reliquary.client.local import open_local
from reliquary.client.manager import AsyncManager
from reliquary.client.remote import RemoteTransport
from reliquary.client.transport import Transport

TOKEN_VARIABLE = "RELIQUARY_TOKEN"


class Connecting:
    """What `connect_async` returns: to be awaited, or entered with `async with`."""

    def __init__(
        self, target: str | Path, control: str | None, tls: SSLContext | None, token: str | None
    ) -> None:
        self._target = target
        self._control = control
        self._tls = tls
        self._token = token
        self._manager: AsyncManager | None = None

    async def _connect(self) -> AsyncManager:
        return AsyncManager(await transport_of(self._target, self._control, self._tls, self._token))

    def __await__(self) -> Generator[Any, None, AsyncManager]:
        return self._connect().__await__()

    async def __aenter__(self) -> AsyncManager:
        self._manager = await self._connect()
        return self._manager

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._manager is not None
        await self._manager.close()


async def transport_of(
    target: str | Path, control: str | None, tls: SSLContext | None, token: str | None
) -> Transport:
    """The transport that a target asks for."""
    if is_address(target):
        token = token or os.environ.get(TOKEN_VARIABLE) or None
        return RemoteTransport(str(target), control or control_of(str(target)), tls, token)
    return await open_local(target)


def connect_async(
    target: str | Path = DEFAULT,
    *,
    control: str | None = None,
    tls: SSLContext | None = None,
    token: str | None = None,
) -> Connecting:
    """A queue manager: a server such as `http://127.0.0.1:8480`, or a folder to run one in process.

        async with connect_async() as qm:
            await qm.queue("orders").send("hello")

    `control` is the control plane's address, by default the next port; `tls` is for https, by
    default what the system trusts; `token` says who asks, by default that of RELIQUARY_TOKEN, and
    without any the anonymous user does.  A server is not spoken to before the first request; a
    folder is opened now, and nobody else can have it meanwhile.
    """
    return Connecting(target, control, tls, token)

"""Connects to a server by its address, to queues over MQQP, or to a folder with a manager in this process."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext
from types import TracebackType
from typing import Any

from reliquary.client.address import DEFAULT, control_of, is_address, is_mqqp, mqqp_address
from reliquary.client.authorization import authorization_of
from reliquary.client.errors import BadRequest
from reliquary.client.manager import AsyncManager
from reliquary.client.remote import RemoteTransport
from reliquary.client.transport import Transport

TOKEN_VARIABLE = "RELIQUARY_TOKEN"


@dataclass(frozen=True, slots=True)
class Target:
    """The address that an application connects to, and its options."""

    where: str | Path
    control: str | None = None
    tls: SSLContext | None = None
    token: str | None = field(default=None, repr=False)
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    async def transport(self) -> Transport:
        """Return the transport for this target."""
        if is_mqqp(self.where):
            from reliquary.client.mqqp import open_mqqp  # NTLM is slow to load, and few need it

            if self.control is not None or self.tls is not None or self.token is not None:
                raise BadRequest("INVALID_PARAMETER", "control, tls and token are not for MQQP")
            return await open_mqqp(mqqp_address(str(self.where), self.user, self.password))
        if is_address(self.where):
            address = str(self.where)
            control = self.control or control_of(address)
            return RemoteTransport(address, control, self.tls, self._authorization())
        if self.user is not None or self.password is not None:
            raise BadRequest(
                "INVALID_PARAMETER", "user and password are for a server; a folder is opened without them"
            )
        from reliquary.client.local import (
            open_local,
        )  # it loads all protocols, which the client of a server does not need

        return await open_local(self.where)

    def _authorization(self) -> str | None:
        """Return the credential: the argument, or RELIQUARY_TOKEN."""
        token = self.token or None
        if token is None and self.user is None and self.password is None:
            token = os.environ.get(TOKEN_VARIABLE) or None
        return authorization_of(token, self.user, self.password)


class Connecting:
    """The result of `connect_async`, for `await` or `async with`."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._manager: AsyncManager | None = None

    async def _connect(self) -> AsyncManager:
        return AsyncManager(await self._target.transport())

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


def connect_async(
    target: str | Path = DEFAULT,
    *,
    control: str | None = None,
    tls: SSLContext | None = None,
    token: str | None = None,
    user: str | None = None,
    password: str | None = None,
) -> Connecting:
    """Return a queue manager: a server such as `http://127.0.0.1:8480`, or a folder to run one in process.

        async with connect_async() as qm:
            await qm.queue("orders").send("hello")

    `control` is the control plane's address, by default the next port; `tls` is for https, by default
    what the system trusts; `token`, or `user` with `password`, authenticates, by default the token of
    RELIQUARY_TOKEN; without any the user is anonymous.  The connection to a server is opened with the
    first request; a folder is opened and locked now.

    With `mqqp://host[:port]/private$/orders` queues of another manager, ours or MSMQ, are read:

        async with connect_async("mqqp://far/private$/orders", user="me", password="...") as qm:
            message = await qm.queue().receive(timeout=5)

    `qm.queue()` is the queue of the address, and `qm.queue("private$/other")` another one of that
    manager.  `user` and `password` are for NTLM and may stand in the address; without them the reader
    is anonymous.  Receiving, peeking, browsing, cursors and purging work as with a local queue;
    sending and administration are refused.  Nothing is written to disk here.
    """
    return Connecting(Target(target, control, tls, token, user, password))

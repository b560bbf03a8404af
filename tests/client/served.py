"""A real server in a thread of the test, on ports of its own choosing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reliquary.client.sync.portal import Portal
from reliquary.net.identity.users import User
from reliquary.server.build import Server, build
from reliquary.server.config import Settings
from reliquary.server.table import Options


@dataclass(frozen=True)
class Served:
    """Where a running server is, and the server itself."""

    data: str
    control: str
    server: Server
    portal: Portal


@contextmanager
def served(
    folder: Path,
    certificate: Path | None = None,
    users: tuple[User, ...] = (),
    tables: tuple[Options, ...] = (),
    port: int = 0,
    client_ca: Path | None = None,
) -> Iterator[Served]:
    """Run a server while the block runs; a certificate's file holds its key too.

    With `client_ca`, clients must show a certificate that it signed.
    """
    settings = Settings(
        folder=folder,
        data_port=port,
        control_port=0,
        tls_certificate=certificate,
        tls_key=certificate,
        tls_client_ca=client_ca,
        tls_client_required=client_ca is not None,
        users=users,
        tables=tables,
    )
    portal = Portal()
    try:
        server = portal.call(build(settings))
        data, control = portal.call(server.listen(settings))
        try:
            yield Served(data, control, server, portal)
        finally:
            portal.call(server.stop())
    finally:
        portal.close()


async def turn(times: int = 10) -> None:
    """Let the event loop run once."""
    for _ in range(times):
        went = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(went.set_result, None)
        await went

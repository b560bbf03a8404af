"""The server that Samba's tests talk to: an endpoint mapper at port 135, and something to be found there.

It runs in a network namespace of its own, so that it can have that port; it ends when its input does.  Some
tests look for Netlogon, because every domain has it, and send a long request to it in fragments: here stands
something that has Netlogon's name, answers that one method, and is no Netlogon.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Final
from uuid import UUID

import uvloop

from reliquary.base.time import seconds
from reliquary.net.identity.nt_hash import nt_hash
from reliquary.net.identity.users import User, Users
from reliquary.net.rpc.listener import RpcListener
from reliquary.protocols.rpc.events import Bound, Called
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import SyntaxId

USER: Final = "alice"
PASSWORD: Final = "Passw0rd!"
NETLOGON: Final = SyntaxId(UUID("12345678-1234-abcd-ef00-01234567cffb"), 1)
REQ_CHALLENGE: Final = 4


class PretendedNetlogon:
    """Answers NetrServerReqChallenge with a challenge of zeros and the status 0."""

    def __init__(self) -> None:
        self.listener: RpcListener | None = None

    def bound(self, connection: int, peer: str, event: Bound) -> None:
        pass

    def called(self, connection: int, peer: str, event: Called) -> None:
        assert self.listener is not None
        if event.opnum == REQ_CHALLENGE:
            self.listener.respond(connection, event.call, (bytes(12),))
        else:
            self.listener.fault(connection, event.call, FaultStatus.OP_RANGE)

    def cancelled(self, connection: int, call: int, *, forgotten: bool) -> None:
        pass

    def connection_lost(self, connection: int) -> None:
        pass

    def association_lost(self, association: int) -> None:
        pass


async def serve() -> None:
    """Listen until standard input is closed."""
    users = Users(UUID(int=1), (User(name=USER, nt_hash=nt_hash(PASSWORD)),))
    service = PretendedNetlogon()
    listener = service.listener = RpcListener({NETLOGON: service}, users=users)
    await listener.listen()
    await listener.listen_as_mapper()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await listener.drain(seconds(0.001))


if __name__ == "__main__":
    uvloop.run(serve())

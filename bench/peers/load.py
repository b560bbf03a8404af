"""The load of a peer, in a process of its own: the producers, consumers and times of `bench.load`.

Reads one JSON line of settings, runs, writes one JSON line of figures.
"""

from __future__ import annotations

import json
import sys

import msgspec
import uvloop

from bench.load import Run, Settings
from bench.peers.link import Link
from bench.peers.peer import Peer
from bench.peers.table import PEERS


class PeerSettings(Settings):
    """One shape of load, of one peer."""

    peer: str = ""


class Peered:
    """The way in which a load reaches a peer."""

    def __init__(self, peer: Peer) -> None:
        self._link = peer.link

    async def producer(self, settings: Settings) -> Link:
        """Open a connection that sends."""
        link = await self._link.open(settings)
        await link.start_producing()
        return link

    async def consumer(self, settings: Settings, number: int) -> Link:
        """Open a connection that receives."""
        link = await self._link.open(settings)
        await link.start_consuming(number)
        return link


async def _main() -> None:
    settings = msgspec.json.decode(sys.stdin.readline(), type=PeerSettings)
    print(json.dumps(await Run(settings, Peered(PEERS[settings.peer])).run()), flush=True)


if __name__ == "__main__":
    uvloop.run(_main())

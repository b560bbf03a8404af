"""Two managers that exchange messages by every protocol, so that the console has records of all nouns."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.client.connect import connect_async
from reliquary.client.feed import FeedClient, StageKey
from reliquary.protocols.mqqb.machine import Mqqb
from reliquary.protocols.mqqb.views import sessions
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.views import associations
from reliquary.server.mqqb import MqqbEndpoint
from reliquary.server.mqqb_options import MqqbOptions
from reliquary.server.mqqp import MqqpEndpoint
from reliquary.server.mqqp_options import MqqpOptions
from tests.console.harness import Harness
from tests.net.http.harness import until
from tests.server.endpoints import endpoint_of
from tests.server.mqqb_peer import connect_peer, message_to
from tests.server.test_srmp_between import site

LISTS: Final = ("outgoing", "streams", "channels", "sequences", "rpc", "sessions", "transactions", "writers")
"""The plurals of the nouns that have records afterwards."""
TABLES: Final = (
    MqqbOptions(enabled=True, listen_port=0),
    MqqpOptions(enabled=True, handshake_port=0, read_port=0),
)
"""Settings that turn on the protocols which are off by default."""
IN_DOUBT: Final = str(UUID(int=7))
"""The identifier of the transaction that is prepared."""


def publish(url: str) -> None:
    """Publish a batch of two rows to a queue, as a query of Spark does."""
    rows = pa.record_batch({"body": pa.array([b"one", b"two"])})
    with FeedClient(url) as client:
        staged = client.stage("orders", StageKey("query-7", 3, 0, "a"), [rows], rows.schema)
        client.publish("query-7", 3, [staged.stage], writer="lake")


async def exchange(harness: Harness, folder: Path, more: AsyncExitStack) -> None:
    """Let records of all protocols appear, and keep them while the stack is open."""
    here = harness.url.removeprefix("http://")
    ordered = await more.enter_async_context(connect_async(harness.url, control=harness.control_url))
    await ordered.create_queue("ordered", transactional=True)
    await ordered.create_queue("nothing")
    far = await more.enter_async_context(site(folder))
    await far.create("back", transactional=True)
    await far.commit(f"DIRECT=http://{here}/msmq/private$/ordered", "by SRMP")
    await far.send(f"DIRECT=HTTPR://{here}/httpr/mq#orders", "by HTTPR")
    await far.send(f"DIRECT=WSRM://{here}/wsrm/orders", "by WS-RM")
    async with ordered.transaction():
        await ordered.queue(far.destination("back")).send("back by SRMP")
    prepared = ordered.transaction(id=IN_DOUBT, owner="shop")
    await prepared.begin()
    await ordered.queue("ordered", transaction=prepared).send("in doubt")
    await prepared.prepare()
    await asyncio.to_thread(publish, harness.url)
    peer = await connect_peer(endpoint_of(harness.server, MqqbEndpoint).bound[1])
    more.callback(peer.close)
    await peer.open()
    peer.send(message_to(r"TCP:127.0.0.1\orders", b"by MQQB"))
    port = endpoint_of(harness.server, MqqpEndpoint).ports.handshake
    reader = await more.enter_async_context(connect_async(f"mqqp://127.0.0.1:{port}/nothing"))
    waiting = asyncio.create_task(reader.queue().receive(timeout=None))

    async def stop_waiting() -> None:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    more.push_async_callback(stop_waiting)
    mqqp = harness.server.opened.machine(Mqqp).state
    mqqb = harness.server.opened.machine(Mqqb).state
    await until(lambda: far.waiting == 0 and any(each.pending for each in associations(mqqp)))
    await until(lambda: any(each.received for each in sessions(mqqb)))

"""Our client agent and our server agent over a bad network: nothing is lost, doubled or reordered."""

from __future__ import annotations

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.httpr.codec.values import Capabilities
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from tests.protocols.httpr.far_server import AGENT, ORDERS
from tests.protocols.httpr.two_agents import TwoAgents

BACK = "DIRECT=HTTPR://bench.example/httpr/mq#inbox"
PEERS = {
    "push": Peer(responder=AGENT),
    "sessionless": Peer(responder=AGENT, sessions=False),
    "pull": Peer(responder=AGENT, pull=True),
    "shared": Peer(responder=AGENT, pull=True, channel="primary"),
    "exchange": Peer(responder=AGENT, pull=True, exchange=True, channel="primary"),
}


def settings(peer: Peer, depth: int) -> HttprSettings:
    proposed = Capabilities(
        idle_session_interval=60,
        empty_batch_delay=20_000,
        max_wait_batch=20_000,
        maximum_batch_size=3,
        maximum_pipeline_depth=depth,
        sessions=True,
    )
    return HttprSettings(peers=(peer,), proposed=proposed, forget_after=seconds(60))


@pytest.mark.spec("HR-012", "HR-013", "HR-031", "HR-041", "HR-050", "HR-053", "HR-055", "HR-056", "HR-082")
@pytest.mark.parametrize("kind", PEERS)
@pytest.mark.parametrize("seed", range(20))
def test_each_message_arrives_once_and_in_order(seed: int, kind: str) -> None:
    peer = PEERS[kind]
    world = TwoAgents(seed, settings(peer, depth=1 + seed % 4))
    there = [b"there %d" % each for each in range(20)]
    back = [b"back %d" % each for each in range(20)] if peer.pull else []
    to_send, to_return = list(there), list(back)
    for _ in range(60):
        if to_send and world.chance.random() < 0.3:
            world.send(world.client, ORDERS, to_send[:3])
            del to_send[:3]
        if to_return and world.chance.random() < 0.3:
            world.send(world.server, BACK, to_return[:3])
            del to_return[:3]
        world.step(trouble=True)
    for bench, to, rest in ((world.client, ORDERS, to_send), (world.server, BACK, to_return)):
        if rest:
            world.send(bench, to, rest)
    for _ in range(400):
        if world.server.bodies("orders") == there and world.client.bodies("inbox") == back:
            break
        world.step(trouble=False)
    assert (world.server.bodies("orders"), world.client.bodies("inbox")) == (there, back)

"""Tests our client agent and our server agent over a bad network: nothing is lost, doubled or reordered."""

from __future__ import annotations

from copy import deepcopy

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.httpr.codec.values import Capabilities
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.queueing.rules.era import NOT_KNOWN
from tests.protocols.httpr.far_server import AGENT, ORDERS
from tests.protocols.httpr.httpr_harness import HttprBench
from tests.protocols.httpr.two_agents import TwoAgents
from tests.queueing.state_checks import walk

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


# -- one of the stores is restored from a backup


class Traffic:
    """Messages one way between two agents, and what became of them."""

    def __init__(self, world: TwoAgents, source: HttprBench, sink: HttprBench) -> None:
        self.world, self.source, self.sink = world, source, sink
        self.to, self.queue = (ORDERS, "orders") if source is world.client else (BACK, "inbox")
        self.sent: list[bytes] = []
        self.seen: list[bytes] = []
        """What was in the sink's queue just before its store was restored."""

    def send(self) -> None:
        body = b"%s %d" % (self.queue.encode(), len(self.sent))
        self.world.send(self.source, self.to, [body])
        self.sent.append(body)

    @property
    def arrived(self) -> list[bytes]:
        return self.sink.bodies(self.queue)

    def check(self, waited: int, begun: int, restored: HttprBench) -> None:
        """Compare what arrived with what was sent: `waited` before the backup, from `begun` on after it."""
        aside = dead_letters(restored)
        ours = [body for body in aside if body in self.sent]
        everything = self.arrived + [body for body in self.seen if body not in self.arrived]
        assert sorted(self.arrived) == sorted(set(self.arrived)), "doubled"
        assert self.arrived == [body for body in self.sent if body in self.arrived], "order"
        new = self.sent[begun:]
        assert [body for body in new if body not in self.arrived] == [], "a message of the new era is missing"
        if restored is self.source:
            missing = [body for body in self.sent[:waited] if body not in everything + ours]
        else:
            assert [body for body in self.arrived if body in self.seen and body in ours] == [], "doubled"
            missing = [body for body in self.sent if body not in everything + ours]
        assert missing == [], "lost without a report"


def dead_letters(bench: HttprBench) -> list[bytes]:
    kept = walk(bench.queue("system$;deadletter"))
    assert {position.reason for position in kept} <= {NOT_KNOWN}
    return [bench.state.messages.get(position).body for position in kept]


def play_restore(seed: int, kind: str, of: str) -> None:
    """Let a seed restore the store of one of the agents, in the middle of bad traffic."""
    world = TwoAgents(seed, settings(PEERS[kind], depth=1 + seed % 4))
    ways = [Traffic(world, world.client, world.server)]
    if PEERS[kind].pull:
        ways.append(Traffic(world, world.server, world.client))
    restored = world.client if of == "client" else world.server
    happen(world, ways, world.chance.randrange(1, 40))
    restored.flush()
    saved = deepcopy(restored.disk)
    waited = [len(way.sent) for way in ways]
    happen(world, ways, world.chance.randrange(40))
    for way in ways:
        way.seen = way.arrived if way.sink is restored else []
    world.restore(restored, saved)
    begun = [len(way.sent) for way in ways]
    happen(world, ways, 30)
    for way in ways:
        way.send()
    for _ in range(400):
        world.step(trouble=False)
        if all(way.sent[-1] in way.arrived for way in ways):
            break
    for way, first, later in zip(ways, waited, begun, strict=True):
        way.check(first, later, restored)


def happen(world: TwoAgents, ways: list[Traffic], steps: int) -> None:
    for _ in range(steps):
        for way in ways:
            if world.chance.random() < 0.3:
                way.send()
        world.step(trouble=True)


OF = pytest.mark.parametrize("of", ["client", "server"])


@pytest.mark.spec("HR-055", "HR-102", "HR-103")
@OF
@pytest.mark.parametrize("kind", PEERS)
@pytest.mark.parametrize("seed", range(2))
def test_a_restore_loses_nothing_silently_and_doubles_and_reorders_nothing(
    seed: int, kind: str, of: str
) -> None:
    play_restore(seed, kind, of)


@pytest.mark.long
@OF
@pytest.mark.parametrize("kind", PEERS)
@pytest.mark.parametrize("seed", range(2, 60))
def test_a_restore_loses_nothing_silently_and_doubles_and_reorders_nothing_in_many_seeds(
    seed: int, kind: str, of: str
) -> None:
    play_restore(seed, kind, of)

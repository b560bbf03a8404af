"""Tests the network as a server has it: effects reach it through an engine, and it ends in order."""

from __future__ import annotations

from typing import Any, cast

from reliquary.base.time import seconds
from reliquary.base.turn import Event
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.mqqb.network import plug_in
from reliquary.protocols.mqqb.effects import Dial, HangUp, SendPackets, SendPing, SendStored
from reliquary.protocols.mqqb.events import Accepted, ConnectionLost
from reliquary.protocols.mqqb.settings import MqqbSettings
from tests.net.http.harness import play, until
from tests.net.mqqb.harness import HOST, harness


class StoppedEngine:
    """An engine that takes nothing any more."""

    def __init__(self) -> None:
        self.performers: dict[type, Any] = {}
        self.asked: list[Event] = []

    def submit(self, event: Event) -> None:
        self.asked.append(event)
        raise EngineStopped("the engine has stopped")


def test_every_effect_has_its_performer_and_a_stopped_engine_raises_no_error() -> None:
    async def scene() -> None:
        engine = StoppedEngine()
        network = plug_in(cast("Engine", engine), MqqbSettings(), networks=("127.0.0.0/8",))
        assert set(engine.performers) == {Dial, SendPackets, SendStored, HangUp, SendPing}
        _, port = await network.listen(HOST, 0)
        async with harness() as other:
            other.network.dial(Dial(1, HOST, port))
            await until(lambda: engine.asked)
            assert engine.asked == [Accepted(-1, HOST)]
        network.stop_accepting()
        await network.drain(seconds(1))

    play(scene)


def test_a_network_that_is_drained_closes_all_connections_of_both_directions() -> None:
    async def scene() -> None:
        async with harness() as here, harness() as there:
            here.network.dial(Dial(1, HOST, there.port))
            await there.events.next(Accepted)
            there.network.dial(Dial(1, HOST, here.port))
            await here.events.next(Accepted)
            await until(lambda: here.network.connections == there.network.connections == 2)
            assert await here.network.drain(seconds(5)) == 0
            assert not here.network.connections
            await there.events.next(ConnectionLost, 2)

    play(scene)

"""Two servers, and the disk of one has too little room: by every protocol messages wait, and arrive once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reliquary.queueing.model.events import AwaitDisk, FlowControl
from reliquary.server.table import Options
from tests.net.http.harness import until
from tests.server import test_httpr_between as httpr
from tests.server import test_wsrm_between as wsrm
from tests.server.test_srmp_between import Site, play, site, texts

BODIES = ["one", "two", "three"]


@pytest.mark.parametrize(
    ("destination", "options"),
    [
        pytest.param(Site.destination, (), id="SRMP"),
        pytest.param(httpr.destination, (httpr.OPTIONS,), id="HTTPR"),
        pytest.param(wsrm.destination, (wsrm.OPTIONS,), id="WS-RM"),
    ],
)
def test_messages_wait_while_the_receiver_has_too_little_room(
    tmp_path: Path, destination: Callable[[Site, str], str], options: tuple[Options, ...]
) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a", tables=options) as a, site(tmp_path / "b", tables=options) as b:
            await b.create("orders")
            engine = b.server.opened.engine
            engine.submit(FlowControl(True, "the disk has too little room"))
            await engine.ask(AwaitDisk)
            turns = engine.turns
            await a.send(destination(b, "orders"), *BODIES)
            await until(lambda: engine.turns >= turns + 3)  # it was asked, and refused
            assert a.waiting  # WS-RM stores messages that overtook the first one, and acknowledges them
            assert (await b.call("queues/orders/receive", {"timeout": 0}))["messages"] == []
            engine.submit(FlowControl(False))
            assert texts(await b.receive("orders", 3)) == BODIES
            await until(lambda: a.waiting == 0)

    play(scene)

"""Tests messages that change their protocol at each manager on their way, over real servers.

    first --SRMP--> gateway --WS-RM--> gateway --HTTPR--> last
    first --HTTPR--> gateway --WS-RM--> gateway --SRMP--> last, and every other order

Each arrives once, in the order in which it was sent, with its body, its label and its identifier.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.httpr.settings import HttprSettings, Service
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.wsrm.settings import EndpointSettings, WsrmSettings
from reliquary.server.httpr_options import HttprOptions
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.table import Options
from reliquary.server.wsrm_options import WsrmOptions
from tests.net.http.harness import until
from tests.server.test_srmp_between import SOON, Site, play, site, texts

ONWARD = "onward"
"""The name of a queue under which gateways are addressed; none of them has it."""
SENT = [f"{number}" for number in range(40)]


def destination(protocol: str, there: Site, queue: str, *, gateway: bool = False) -> str:
    """Return the name of a queue at a server, for a sender that uses this protocol."""
    host = there.url.partition("://")[2]
    return {
        "srmp": f"DIRECT=http://{host}/msmq/private$/{queue}",
        "httpr": f"DIRECT=HTTPR://{host}/httpr/{queue if gateway else f'mq#{queue}'}",
        "wsrm": f"DIRECT=WSRM://{host}/wsrm/{queue}",
    }[protocol]


def tables(onward: str = "") -> tuple[Options, ...]:
    """Return the settings of a server; a gateway passes messages of all protocols on."""
    srmp: dict[str, Any] = dict(SOON)
    httpr: dict[str, Any] = {"retry_ladder": (seconds(0.1),)}
    wsrm: dict[str, Any] = {"retransmission": seconds(0.2), "acknowledgement_interval": seconds(0.02)}
    if onward:
        if not onward.upper().startswith("DIRECT=HTTP:"):  # what goes on by SRMP came by another protocol
            srmp["inbound_redirections"] = (Redirection("http://localhost:*", onward),)
        httpr["services"] = (Service(name=ONWARD, into=onward),)
        wsrm["endpoints"] = (EndpointSettings(name=ONWARD, queue=onward),)
    return (
        SrmpOptions(protocol=SrmpSettings(**srmp)),
        HttprOptions(protocol=HttprSettings(**httpr)),
        WsrmOptions(protocol=WsrmSettings(**wsrm)),
    )


ORDERS = list(permutations(("srmp", "wsrm", "httpr")))
CHAINS = [
    pytest.param(each, id="-".join(each), marks=[] if each in ORDERS[:2] else [pytest.mark.long])
    for each in ORDERS
]


@pytest.mark.parametrize("protocols", CHAINS)
def test_a_message_changes_its_protocol_twice_and_arrives_once_and_in_order(
    tmp_path: Path, protocols: tuple[str, ...]
) -> None:
    async def scene() -> None:
        async with AsyncExitStack() as stack:
            last = await stack.enter_async_context(site(tmp_path / "last", tables=tables()))
            await last.create("orders", transactional=True)
            sites, name = [last], destination(protocols[-1], last, "orders")
            for number, protocol in enumerate(reversed(protocols[:-1])):
                gateway = await stack.enter_async_context(site(tmp_path / f"{number}", tables=tables(name)))
                name = destination(protocol, gateway, ONWARD, gateway=True)
                sites.append(gateway)
            first = await stack.enter_async_context(site(tmp_path / "first", tables=tables()))
            await first.commit(name, *SENT[:20], label="fruit")
            await first.commit(name, *SENT[20:], label="fruit")
            came = await last.receive("orders", len(SENT))
            assert texts(came) == SENT
            assert {each["label"] for each in came} == {"fruit"}
            origin = first.server.opened.state.identity().identifier
            assert {each["id"].partition("\\")[0] for each in came} == {str(origin)}
            ids = [int(each["id"].partition("\\")[2]) for each in came]
            assert all(one < other for one, other in pairwise(ids))
            await until(lambda: sum(each.waiting for each in (first, *sites)) == 0)

    play(scene)


def test_messages_of_a_gateway_survive_its_restart_and_new_settings(tmp_path: Path) -> None:
    async def scene() -> None:
        async with AsyncExitStack() as stack:
            last = await stack.enter_async_context(site(tmp_path / "last", tables=tables()))
            first = await stack.enter_async_context(site(tmp_path / "first", tables=tables()))
            nowhere = "DIRECT=HTTPR://localhost:9/httpr/mq#orders"
            async with site(tmp_path / "gateway", tables=tables(nowhere)) as gateway:
                await first.commit(destination("wsrm", gateway, ONWARD), "one")
                await until(lambda: (first.waiting, gateway.waiting) == (0, 1))
            await last.create("orders", transactional=True)
            onward = destination("httpr", last, "orders")
            async with site(tmp_path / "gateway", tables=tables(onward)) as gateway:
                assert gateway.waiting == 1  # it goes where it was to go when it came
                await first.commit(destination("wsrm", gateway, ONWARD), "two")
                assert texts(await last.receive("orders", 1)) == ["two"]
                await until(lambda: gateway.waiting == 1)

    play(scene)

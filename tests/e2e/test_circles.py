"""Forwarding that leads back to itself ends after a number of hops, with a dead letter and a warning."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import reliquary
from reliquary import Manager, Message
from reliquary.base.time import Duration, seconds
from reliquary.protocols.httpr.settings import HttprSettings, Peer, Service
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.wsrm.settings import EndpointSettings, PeerSettings, WsrmSettings
from reliquary.server.httpr_options import HttprOptions
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.table import Options
from reliquary.server.wsrm_options import WsrmOptions
from tests.client.served import served
from tests.ports import free_ports

PATIENCE = 25
FAR = "DIRECT=HTTP://far.example/msmq/private$/orders"
FAR_AGENT = "httpr://far.example/httpr/mq#orders"


def srmp(port: int) -> SrmpOptions:
    """Return settings that pass all for far.example on to the server at this port."""
    way = Redirection("http://far.example/*", f"http://127.0.0.1:{port}/")
    return SrmpOptions(protocol=SrmpSettings(store_and_forward=True, outbound_redirections=(way,)))


def httpr(port: int) -> HttprOptions:
    peer = Peer(responder=f"httpr://localhost:{port}/httpr/mq", carries=("httpr://far.example/*",))
    return HttprOptions(protocol=HttprSettings(forward=True, peers=(peer,), missing_queue_time=Duration(0)))


def wsrm(port: int) -> WsrmOptions:
    endpoint = EndpointSettings(name="round", queue="wsrm://far.example/orders")
    peer = PeerSettings(address="wsrm://far.example/*", url=f"http://127.0.0.1:{port}/wsrm/round")
    return WsrmOptions(
        protocol=WsrmSettings(endpoints=(endpoint,), peers=(peer,), retries=1, retransmission=seconds(0.1))
    )


@contextmanager
def managers(folder: Path, *tables: tuple[int, Options]) -> Iterator[list[Manager]]:
    """Yield a server for each port with its settings, and a connection to each."""
    with ExitStack() as stack:
        found = []
        for port, options in tables:
            running = stack.enter_context(served(folder / str(port), tables=(options,), port=port))
            found.append(stack.enter_context(reliquary.connect(running.data, control=running.control)))
        yield found


def dead_letter(among: list[Manager]) -> Message | None:
    """Return the dead letter of the manager at which the circle ended, whichever that is."""
    for _ in range(PATIENCE * 10 // len(among)):
        for manager in among:
            message = manager.queue(r"system$;deadletter").receive(timeout=0.1)
            if message is not None:
                return message
    return None


@pytest.mark.parametrize(
    ("options", "name"),
    [
        pytest.param(srmp, FAR, id="SRMP"),
        pytest.param(httpr, FAR_AGENT, id="HTTPR"),
        pytest.param(wsrm, "wsrm://far.example/orders", id="WS-RM"),
    ],
)
@pytest.mark.parametrize("count", [1, 2], ids=["to itself", "through two managers"])
def test_a_circle_ends_with_a_dead_letter_and_a_warning(
    options: type[Options], name: str, count: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ports = free_ports(count)
    tables = [(port, options(ports[place - 1])) for place, port in enumerate(ports)]  # type: ignore[call-arg]
    with managers(tmp_path, *tables) as running:
        running[0].queue(name).send(b"<order/>", deadletter=True)
        found = dead_letter(running)
    assert found is not None
    assert found.body == b"<order/>"
    assert "circle" in caplog.text


def test_a_circle_over_two_protocols_ends_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, second = free_ports(2)
    inbound = Redirection("http://far.example/*", f"DIRECT=HTTPR://localhost:{second}/httpr/round")
    onward = HttprSettings(services=(Service(name="round", into=FAR),))
    outbound = Redirection("http://far.example/*", f"http://127.0.0.1:{first}/")
    with ExitStack() as stack:
        a = stack.enter_context(
            served(
                tmp_path / "a",
                tables=(SrmpOptions(protocol=SrmpSettings(inbound_redirections=(inbound,))),),
                port=first,
            )
        )
        back = SrmpOptions(protocol=SrmpSettings(outbound_redirections=(outbound,)))
        b = stack.enter_context(
            served(tmp_path / "b", tables=(HttprOptions(protocol=onward), back), port=second)
        )
        running = [stack.enter_context(reliquary.connect(each.data, control=each.control)) for each in (a, b)]
        running[1].queue(FAR).send(b"<order/>", deadletter=True)
        found = dead_letter(running)
    assert found is not None
    assert found.body == b"<order/>"
    assert "circle" in caplog.text

"""Tests the route of a received message."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.schemes import HTTPR
from reliquary.protocols.srmp import tables
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.receiver.routing import MessageTarget, route
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import State
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows

OURS = "http://bench.example/msmq/private$/orders"
THEIRS = "http://gamma.example:8080/msmq/private$/orders"
AGENT = f"{HTTPR.word}://gamma.example/httpr/mq#orders"
HERE = ".\\private$\\orders"


def state(*redirections: Redirection, store_and_forward: bool = False) -> State:
    settings = SrmpSettings(inbound_redirections=redirections, store_and_forward=store_and_forward)
    made = State(StagedRows(MemoryDisk(tables.TABLES)), settings)
    made.address.authorities = frozenset({"bench.example", "bench.example:8080"})
    made.listening = frozenset({"234.1.1.1:8001"})
    return made


@pytest.mark.parametrize(
    ("to", "name"),
    [
        (OURS, OURS),
        ("HTTP://BENCH.EXAMPLE/MSMQ/PRIVATE$/ORDERS", OURS),
        ("http://bench.example:80/msmq/private$/orders?Lane=1", f"{OURS}?lane=1".replace("ple/", "ple:80/")),
        ("https://bench.example/msmq/private$/orders", OURS.replace("http", "https")),
        ("http://bench.example:8080/msmq/private$/orders", OURS.replace("example", "example:8080")),
    ],
)
def test_all_spellings_of_a_local_url_lead_to_one_queue_as_separate_streams(to: str, name: str) -> None:
    """A sender has an outgoing queue, and a stream, for each spelling; only letter case is ignored."""
    way = route(state(), to)
    assert (way.destination.casefold(), way.name, way.known_as) == (HERE, name, HERE)


def test_public_queues_and_names_with_escapes() -> None:
    assert route(state(), "http://bench.example/msmq/orders").destination == ".\\orders"
    assert route(state(), OURS + "%20two").destination == HERE + " two"


@pytest.mark.spec("SR-185")
@pytest.mark.parametrize(
    "to",
    [
        THEIRS,
        "http://bench.example:81/msmq/private$/orders",
        "https://bench.example:80/msmq/private$/orders",
    ],
)
def test_another_authority_is_another_host(to: str) -> None:
    with pytest.raises(SrmpFault) as refused:
        route(state(), to)
    assert refused.value.element == "to"
    assert route(state(store_and_forward=True), to) == MessageTarget(
        f"DIRECT={to}".replace("http", "HTTP").replace("HTTPs", "HTTPS")
    )


@pytest.mark.spec("SR-187", "SR-188", "SR-132")
def test_the_first_redirection_that_matches_counts() -> None:
    aimed = state(
        Redirection("http://gate.example/one", OURS),
        Redirection("http://gate.example/*", THEIRS),
        Redirection("http://gate.example/two", OURS),
    )
    assert route(aimed, "http://gate.example/one") == MessageTarget(HERE, "http://gate.example/one", HERE)
    assert route(aimed, "http://gate.example/two") == MessageTarget(
        f"DIRECT={THEIRS}".replace("http", "HTTP")
    )
    assert route(aimed, OURS) == MessageTarget(HERE, OURS, HERE)


@pytest.mark.spec("SR-187")
@pytest.mark.parametrize("target", [f"DIRECT={AGENT}", AGENT, AGENT.lower()])
def test_a_redirection_may_lead_to_another_protocol(target: str) -> None:
    way = route(state(Redirection(OURS, target)), OURS)
    assert (way.destination.casefold(), way.name) == (f"direct={AGENT}".casefold(), OURS)
    assert way.crosses


@pytest.mark.parametrize(
    "target", ["DIRECT=SPX:0123:45\\private$\\orders", "DIRECT=NONE://x/y", f"DIRECT={THEIRS}"]
)
def test_a_redirection_to_where_no_protocol_leads_is_refused(target: str) -> None:
    with pytest.raises(SrmpFault) as refused:
        route(state(Redirection(OURS, target)), OURS)
    assert refused.value.element == "to"


def test_a_redirection_to_an_invalid_url_is_refused() -> None:
    for target in (
        "nowhere",
        "MSMQ:MULTICAST=234.1.1.1:8001",
        "http://bench.example/",
        "http://bench.example/msmq/",
    ):
        with pytest.raises(SrmpFault):
            route(state(Redirection(OURS, target)), OURS)


@pytest.mark.spec("SR-184")
def test_a_multicast_address_is_local_when_a_queue_listens_to_it() -> None:
    listening = "MSMQ:MULTICAST=234.1.1.1:8001"
    assert route(state(), listening) == MessageTarget(
        "MULTICAST=234.1.1.1:8001", "MULTICAST=234.1.1.1:8001", "MULTICAST=234.1.1.1:8001", multicast=True
    )
    with pytest.raises(SrmpFault):
        route(state(store_and_forward=True), "MSMQ:MULTICAST=234.1.1.1:8002")

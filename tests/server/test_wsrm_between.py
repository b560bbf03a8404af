"""Tests two whole servers in one process: messages by WS-ReliableMessaging over real sockets, plain and by
TLS.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from reliquary.base.time import seconds
from reliquary.net.identity.users import User
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Soap, Version
from reliquary.protocols.wsrm.machine import Wsrm
from reliquary.protocols.wsrm.settings import EndpointSettings, PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.state import Count
from reliquary.protocols.wsrm.views import sequences
from reliquary.server.wsrm import SCHEMES, WsrmEndpoint
from reliquary.server.wsrm_options import WsrmOptions
from tests.net.http.harness import until
from tests.server.endpoints import endpoint_of
from tests.server.test_httpr_between import Trusted
from tests.server.test_srmp_between import Site, play, site, texts

SOON: dict[str, Any] = {"retransmission": seconds(0.2), "idle": seconds(0.2)}
OPTIONS = WsrmOptions(protocol=WsrmSettings(**SOON))


def destination(there: Site, queue: str) -> str:
    """Return a queue of a server, for a sender on another computer."""
    scheme, _, rest = there.url.partition("://")
    return f"DIRECT={SCHEMES[scheme].upper()}://{rest}/wsrm/{queue}"


def counted(there: Site, kind: Count) -> int:
    return there.server.opened.machine(Wsrm).state.counts[kind]


@pytest.mark.parametrize("soap", Soap)
@pytest.mark.parametrize("addressing", Addressing)
@pytest.mark.parametrize("version", Version)
def test_messages_go_from_one_server_to_another_in_their_order(
    tmp_path: Path, version: Version, soap: Soap, addressing: Addressing
) -> None:
    peer = PeerSettings(address="wsrm://*", dialect=Dialect(version, soap, addressing))
    options = WsrmOptions(protocol=WsrmSettings(peers=(peer,), **SOON))

    async def scene() -> None:
        async with site(tmp_path / "a", tables=(options,)) as a, site(tmp_path / "b", tables=(OPTIONS,)) as b:
            await b.create("orders")
            sent = [f"{number}" for number in range(100)]
            await a.send(destination(b, "orders"), *sent, label="urn:fruit", priority=5)
            came = await b.receive("orders", 100)
            assert texts(came) == sent
            assert {(each["label"], each["priority"]) for each in came} == {("urn:fruit", 5)}
            await until(lambda: a.waiting == 0)
            assert counted(a, Count.RETRANSMISSIONS) == 0
            [inbound] = sequences(b.server.opened.machine(Wsrm).state)
            assert (inbound.version, inbound.soap) == (version.value, soap.value)
            assert inbound.addressing == addressing.value

    play(scene)


def test_a_sequence_without_messages_ends_at_both_ends(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a", tables=(OPTIONS,)) as a, site(tmp_path / "b", tables=(OPTIONS,)) as b:
            await b.create("orders")
            await a.send(destination(b, "orders"), "one")
            assert texts(await b.receive("orders", 1)) == ["one"]
            here, there = (each.server.opened.machine(Wsrm).state for each in (a, b))
            await until(lambda: not list(sequences(here)))
            assert [each.state for each in sequences(there)] == ["ended"]

    play(scene)


def test_acknowledgements_may_come_as_requests_of_their_own(tmp_path: Path) -> None:
    peer = PeerSettings(address="wsrm://*", addressable=True)
    options = WsrmOptions(protocol=WsrmSettings(peers=(peer,), **SOON))

    async def scene() -> None:
        async with site(tmp_path / "a", tables=(options,)) as a, site(tmp_path / "b", tables=(OPTIONS,)) as b:
            await b.create("orders")
            await a.send(destination(b, "orders"), "one", "two")
            assert texts(await b.receive("orders", 2)) == ["one", "two"]
            await until(lambda: a.waiting == 0)
            assert endpoint_of(b.server, WsrmEndpoint).courier.posted > 0

    play(scene)


@pytest.mark.long
def test_a_bounded_endpoint_that_is_not_read_stops_the_source_without_a_retransmission(
    tmp_path: Path,
) -> None:
    endpoint = EndpointSettings(name="slow", queue="orders", window=4, bounded=True)
    options = WsrmOptions(protocol=WsrmSettings(endpoints=(endpoint,), **SOON))

    async def scene() -> None:
        async with site(tmp_path / "a", tables=(OPTIONS,)) as a, site(tmp_path / "b", tables=(options,)) as b:
            await b.create("orders")
            sent = [f"{number}" for number in range(12)]
            await a.send(destination(b, "slow"), *sent)
            here = a.server.opened.machine(Wsrm).state
            await until(lambda: any(each.polling for each in sequences(here)))
            assert a.waiting == 8
            assert texts(await b.receive("orders", 12)) == sent
            await until(lambda: a.waiting == 0)
            assert counted(a, Count.RETRANSMISSIONS) == counted(b, Count.NO_ROOM) == 0

    play(scene)


def test_a_server_that_knows_users_is_shown_who_we_are(tmp_path: Path) -> None:
    alice = User(name="alice", token_sha256=sha256(b"secret").hexdigest(), groups=("administrators",))

    async def scene() -> None:
        async with site(tmp_path / "b", tables=(OPTIONS,), users=(alice,)) as b:
            await b.create("orders")
            answers = endpoint_of(b.server, WsrmEndpoint).receiving.answers
            wrong, right = (
                WsrmOptions(protocol=WsrmSettings(**SOON), tokens={b.url: token})
                for token in ("guessed", "secret")
            )
            async with site(tmp_path / "a", tables=(wrong,)) as a:
                await a.send(destination(b, "orders"), "two lamps")
                await until(lambda: answers[401] > 0)
            async with site(tmp_path / "a", tables=(right,)) as a:
                await until(lambda: a.waiting == 0)
            [inbound] = sequences(b.server.opened.machine(Wsrm).state)
            assert inbound.acknowledged == "1"

    play(scene)


def test_servers_use_tls_when_they_trust_each_other(tmp_path: Path) -> None:
    among = Trusted(tmp_path)
    known = WsrmOptions(protocol=WsrmSettings(**SOON), **among.trust)

    async def scene() -> None:
        async with (
            site(tmp_path / "a", tables=(known,), **among.server) as a,
            site(tmp_path / "b", tables=(known,), **among.server) as b,
        ):
            await b.create("orders")
            assert b.server.opened.machine(Wsrm).state.address.origin == b.url
            await a.send(destination(b, "orders"), "one")
            assert texts(await b.receive("orders", 1)) == ["one"]
            await until(lambda: a.waiting == 0)

    play(scene)

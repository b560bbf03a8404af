"""Tests two whole servers in one process: batches between their agents over real sockets, plain and by
TLS.
"""

from __future__ import annotations

import ssl
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from reliquary.base.time import seconds
from reliquary.net.identity.users import User
from reliquary.protocols.httpr.codec.values import ErrorNumber
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.server.httpr import SCHEMES, HttprEndpoint
from reliquary.server.httpr_options import HttprOptions
from tests.net.http.harness import until
from tests.net.srmp.certificates import Authority
from tests.server.endpoints import endpoint_of
from tests.server.test_srmp_between import Site, play, site, texts

SOON: dict[str, Any] = {"retry_ladder": (seconds(0.1),)}
OPTIONS = HttprOptions(protocol=HttprSettings(**SOON))


def agent(there: Site, service: str) -> str:
    """Return the name of an agent of a server."""
    scheme, _, rest = there.url.partition("://")
    return f"{SCHEMES[scheme]}{rest}/httpr/{service}"


def destination(there: Site, queue: str) -> str:
    """Return the format name of a queue there, for a sender on another computer."""
    scheme, _, rest = agent(there, queue).partition("://")
    return f"DIRECT={scheme.upper()}://{rest}#{queue}"


@pytest.mark.spec("HR-005", "HR-024")
def test_messages_go_from_one_server_to_another_in_their_order(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a", tables=(OPTIONS,)) as a, site(tmp_path / "b", tables=(OPTIONS,)) as b:
            await b.create("orders")
            sent = [f"{number}" for number in range(300)]
            await a.send(destination(b, "orders"), *sent, label="fruit", priority=5)
            came = await b.receive("orders", 300)
            assert texts(came) == sent
            assert {(each["label"], each["priority"]) for each in came} == {("fruit", 5)}
            await until(lambda: a.waiting == 0)
            assert endpoint_of(b.server, HttprEndpoint).receiving.messages_in == 300

    play(scene)


def test_a_server_that_knows_users_is_informed_who_we_are(tmp_path: Path) -> None:
    alice = User(name="alice", token_sha256=sha256(b"secret").hexdigest(), groups=("administrators",))

    async def scene() -> None:
        async with site(tmp_path / "b", tables=(OPTIONS,), users=(alice,)) as b:
            await b.create("orders")
            answers = endpoint_of(b.server, HttprEndpoint).receiving.answers
            wrong, right = (
                HttprOptions(protocol=HttprSettings(**SOON), tokens={b.url: token})
                for token in ("guessed", "secret")
            )
            async with site(tmp_path / "a", tables=(wrong,)) as a:
                await a.send(destination(b, "orders"), "two lamps")
                await until(lambda: answers[ErrorNumber.AGENT_SECURITY] > 0)
            async with site(tmp_path / "a", tables=(right,)) as a:
                await until(lambda: a.waiting == 0)
            assert endpoint_of(b.server, HttprEndpoint).receiving.messages_in == 1

    play(scene)


def test_a_large_message_goes_too(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a", tables=(OPTIONS,)) as a, site(tmp_path / "b", tables=(OPTIONS,)) as b:
            await b.create("orders")
            large = "".join(f"{number:08d}" for number in range(500_000))
            await a.send(destination(b, "orders"), "before", large, "behind")
            assert texts(await b.receive("orders", 3)) == ["before", large, "behind"]
            await until(lambda: a.waiting == 0)

    play(scene)


def test_messages_are_fetched_from_a_server_that_is_asked(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a", tables=(OPTIONS,)) as a:
            await a.create("orders")
            peer = Peer(responder=agent(a, "orders"), pull=True, into="copies")
            fetching = HttprOptions(protocol=HttprSettings(peers=(peer,), **SOON))
            async with site(tmp_path / "b", tables=(fetching,)) as b:
                await b.create("copies")
                await a.send("orders", "one", "two")
                assert texts(await b.receive("copies", 2)) == ["one", "two"]
                await a.send("orders", "three")
                assert texts(await b.receive("copies", 1)) == ["three"]
                assert endpoint_of(a.server, HttprEndpoint).receiving.messages_out == 3

    play(scene)


class Trusted:
    """Servers that show each other who they are."""

    def __init__(self, folder: Path) -> None:
        ours = Authority(folder, "ours")
        own = ours.vouch("localhost")
        tls = ssl.create_default_context(cafile=str(ours.file))
        tls.load_cert_chain(own)
        self.trust: dict[str, Any] = {"ca_file": ours.file, "certificate": own, "key": own}
        self.server: dict[str, Any] = {
            "tls": tls, "tls_certificate": own, "tls_key": own, "tls_client_ca": ours.file,
            "tls_client_required": True,
        }  # fmt: skip


def test_agents_use_tls_when_they_trust_each_other(tmp_path: Path) -> None:
    among = Trusted(tmp_path)
    known = HttprOptions(protocol=HttprSettings(**SOON), **among.trust)

    async def scene() -> None:
        async with (
            site(tmp_path / "a", tables=(known,), **among.server) as a,
            site(tmp_path / "b", tables=(known,), **among.server) as b,
        ):
            await b.create("orders")
            assert b.server.opened.machine(Httpr).state.origin == b.url.replace("https", "httprs")
            await a.send(destination(b, "orders"), "one")
            assert texts(await b.receive("orders", 1)) == ["one"]
            await until(lambda: a.waiting == 0)

    play(scene)


def test_messages_are_fetched_by_tls_from_where_the_settings_say(tmp_path: Path) -> None:
    among, shop = Trusted(tmp_path), "httpr://shop.example/httpr/orders"
    known = HttprOptions(protocol=HttprSettings(**SOON), names=("shop.example",), **among.trust)

    async def scene() -> None:
        async with site(tmp_path / "a", tables=(known,), **among.server) as a:
            await a.create("orders")
            peer = Peer(responder=shop, url=f"{a.url}/httpr/orders", pull=True, into="copies")
            fetching = HttprOptions(protocol=HttprSettings(peers=(peer,), **SOON), **among.trust)
            async with site(tmp_path / "b", tables=(fetching,), **among.server) as b:
                await b.create("copies")
                await a.send("orders", "one", "two")
                assert texts(await b.receive("copies", 2)) == ["one", "two"]
                assert a.url.startswith("https://")

    play(scene)

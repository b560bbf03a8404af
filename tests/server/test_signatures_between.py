"""Tests signed messages between whole servers: direct, through a relay, and refused where no signer is
trusted.
"""

from __future__ import annotations

from base64 import b64decode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import CreateQueue
from reliquary.queueing.model.queue import QueueSettings
from reliquary.server.srmp import SrmpEndpoint
from reliquary.server.srmp_options import SrmpOptions
from tests.net.http.harness import until
from tests.server.endpoints import endpoint_of
from tests.server.test_srmp_between import SOON, Site, play, site, texts
from tests.wire.signing_keys import certificate, certificate_pem, key, key_pem

OWN = certificate(key("rsa"), end=datetime(9999, 1, 1, tzinfo=UTC))
SIGNED = {"authentication": "xmlsig"}


@pytest.fixture
def signs(tmp_path: Path) -> dict[str, Any]:
    """Return the options of a server that signs."""
    (tmp_path / "own.key").write_bytes(key_pem(key("rsa")))
    (tmp_path / "own.key").chmod(0o600)
    (tmp_path / "own.pem").write_bytes(certificate_pem(OWN))
    return {"signing_key": tmp_path / "own.key", "signing_certificate": tmp_path / "own.pem"}


async def make_vault(site: Site, *, transactional: bool = False) -> None:
    """Create a queue that takes signed messages only."""
    settings = QueueSettings(authentication=True, transactional=transactional)
    await site.server.opened.engine.ask(lambda to: CreateQueue(to, "vault", settings))


@pytest.mark.spec("SR-109", "SR-201", "SR-208", "SR-286", "SR-288")
def test_a_signed_message_is_authenticated_by_a_server_that_trusts_its_sender(
    tmp_path: Path, signs: dict[str, Any]
) -> None:
    signing = SrmpOptions(protocol=SrmpSettings(**SOON), **signs)
    trusting = SrmpOptions(
        protocol=SrmpSettings(**SOON), trusted_certificates=(signs["signing_certificate"],)
    )

    async def scene() -> None:
        async with (
            site(tmp_path / "a", tables=(signing,)) as a,
            site(tmp_path / "b", tables=(trusting,)) as b,
        ):
            await make_vault(b)
            await a.send(b.destination("vault"), "unsigned", deadletter=True)
            await a.send(b.destination("vault"), "signed", extension="AAAA", **SIGNED)
            (came,) = await b.receive("vault", 1)
            assert texts([came]) == ["signed"]
            assert came["authentication"] == "xmlsig"
            assert b64decode(came["sender_certificate"]) == OWN.public_bytes(Encoding.DER)
            assert texts(await a.receive("system$;deadletter", 1)) == ["unsigned"]
            await until(lambda: a.waiting == 0)

    play(scene)


@pytest.mark.spec("SR-186", "SR-208")
def test_a_relay_passes_a_signed_stream_on_as_it_came(tmp_path: Path, signs: dict[str, Any]) -> None:
    relaying = SrmpOptions(protocol=SrmpSettings(store_and_forward=True, **SOON))
    trusting = SrmpOptions(
        protocol=SrmpSettings(**SOON), trusted_certificates=(signs["signing_certificate"],)
    )

    async def scene() -> None:
        async with (
            site(tmp_path / "r", tables=(relaying,)) as relay,
            site(tmp_path / "b", tables=(trusting,)) as b,
        ):
            redirected = (Redirection(f"{b.url}/*", f"{relay.url}/"),)
            protocol = SrmpSettings(outbound_redirections=redirected, **SOON)
            async with site(tmp_path / "a", tables=(SrmpOptions(protocol=protocol, **signs),)) as a:
                await make_vault(b, transactional=True)
                await a.commit(b.destination("vault"), "one", "two", **SIGNED)
                came = await b.receive("vault", 2)
                assert texts(came) == ["one", "two"]
                assert {each["authentication"] for each in came} == {"xmlsig"}
                await until(lambda: a.waiting == relay.waiting == 0)
                assert endpoint_of(relay.server, SrmpEndpoint).receiving.answers[200] >= 2

    play(scene)

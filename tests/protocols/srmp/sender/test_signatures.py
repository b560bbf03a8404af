"""Signed messages are sent: retries keep the signature, and nothing leaves without a valid key."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.time import Instant
from reliquary.protocols.srmp.codec.decode import decode_apdu
from reliquary.protocols.srmp.codec.messages import message_of
from reliquary.protocols.srmp.codec.values import Arrived
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.signing import sign, verify
from reliquary.protocols.srmp.trust import Signer, Trust
from reliquary.queueing.model.message import AuthenticationLevel, HashAlgorithm, Message
from tests.protocols.srmp.peer import envelope
from tests.protocols.srmp.sending import LARGEST, Sender
from tests.protocols.srmp.signers import KINDS, signer, trust
from tests.wire.signing_keys import certificate, key

SIGNED: dict[str, Any] = {"authentication": AuthenticationLevel.XML_SIG}
FOREIGN = UUID("c2d94f7a-88b1-4f0e-8a53-71be0d5f3e29")


def signing(kind: str = "rsa", **settings: Any) -> SrmpSettings:
    return SrmpSettings(trust=trust(signs=kind), **settings)


def authenticated(arrived: Arrived, now: Instant, by: str = "rsa") -> Message:
    """Return the message as a receiver that trusts the signer reads it."""
    assert arrived.envelope.signature
    return verify(arrived, message_of(arrived), trust(by), now)


def envelopes(bench: Sender) -> list[str]:
    return [bench.arrived(post).text for post in bench.posts]


@pytest.mark.spec("SR-286", "SR-287", "SR-288", "SR-116")
@pytest.mark.parametrize("kind", KINDS)
def test_a_message_goes_signed_and_a_peer_that_trusts_us_accepts_it(kind: str) -> None:
    bench = Sender(settings=signing(kind), signs=True)
    bench.plain(b"body", extension=b"extension", **SIGNED)
    (post,) = bench.posts
    message = authenticated(bench.arrived(post), bench.now, kind)
    assert message.authentication is AuthenticationLevel.XML_SIG
    assert message.sender_certificate == signer(kind).encoded
    assert (message.body, message.extension) == (b"body", b"extension")


@pytest.mark.spec("SR-113")
def test_the_parts_bear_the_guid_of_the_references() -> None:
    bench = Sender(settings=signing(), signs=True)
    bench.plain(b"body", extension=b"extension", **SIGNED)
    (post,) = bench.posts
    source = bench.state.identity().identifier
    for name in ("body", "extension"):
        assert f"Content-Id: {name}@{source}".encode() in post.body
        assert f'URI="cid:{name}@{source}"'.encode() in post.body


@pytest.mark.spec("SR-114")
def test_the_envelope_names_the_hash_that_was_used() -> None:
    careful = SrmpSettings(trust=trust(signs="rsa", allowed=frozenset()))
    bench = Sender(settings=careful, signs=True)
    bench.plain(b"body", hash_algorithm=HashAlgorithm.SHA1, **SIGNED)
    assert "<HashAlgorithm>32780</HashAlgorithm>" in envelopes(bench)[0]


def test_a_message_without_a_request_to_sign_goes_unsigned() -> None:
    bench = Sender(settings=signing(), signs=True)
    bench.plain(b"body")
    assert "Signature" not in envelopes(bench)[0]


def test_a_message_of_a_stream_has_one_signature_each_time_it_goes() -> None:
    bench = Sender(settings=signing(), signs=True)
    bench.stream(b"one", b"two", **SIGNED)
    first = envelopes(bench)
    bench.answer_all()
    bench.forget()
    bench.advance(30)
    assert envelopes(bench) == first
    bench.forget()
    bench.restart()
    assert envelopes(bench) == first
    for post in bench.posts:
        assert authenticated(bench.arrived(post), bench.now).signature


def test_a_message_by_multicast_is_signed_too() -> None:
    bench = Sender(settings=signing(), signs=True)
    bench.plain(b"tick", to="MULTICAST=234.1.1.1:8001", **SIGNED)
    (apdu,) = bench.apdus
    assert authenticated(decode_apdu(apdu.data, largest=LARGEST), bench.now).body == b"tick"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        pytest.param(Trust(), "there is no signing key", id="none"),
        pytest.param(
            Trust(signer=Signer(key("rsa"), certificate(key("rsa"), usage="key_encipherment"))),
            "not for signatures",
            id="not for signatures",
        ),
    ],
)
def test_what_cannot_be_signed_now_waits_and_is_not_lost(bad: Trust, why: str) -> None:
    bench = Sender(settings=SrmpSettings(trust=bad), signs=True)
    bench.plain(b"one", **SIGNED)
    bench.stream(b"two", **SIGNED)
    bench.advance(60)
    assert bench.posts == []
    assert any(why in str(warning) for warning in bench.warnings)
    bench.settings = signing()
    bench.restart()
    assert sorted(bench.sent_bodies()) == [b"one", b"two"]


def test_a_message_that_is_passed_on_is_authenticated_by_the_last_receiver() -> None:
    """The forwarder neither signs nor verifies: envelope and Content-Ids are those that came."""
    text = envelope(
        "http://far.example/msmq/q", block=sign(Message(body=b"body"), FOREIGN, trust(signs="rsa"))[1]
    )
    bench = Sender()
    bench.put("DIRECT=http://far.example/msmq/q", b"body", soap_envelope=text)
    (post,) = bench.posts
    assert isinstance(post, Post)
    assert f"Content-Id: body@{FOREIGN}".encode() in post.body
    assert bench.arrived(post).text == text
    assert authenticated(bench.arrived(post), bench.now).sender_certificate == signer("rsa").encoded


def test_a_signature_that_the_last_receiver_refuses_is_refused_permanently() -> None:
    bench = Sender(settings=signing(), signs=True)
    bench.plain(b"one", negative_journaling=True, **SIGNED)
    bench.answer_all(400)
    bench.advance(60)
    assert bench.posts == []
    (dead,) = bench.receive("system$;deadletter").messages
    assert dead.message.body == b"one"

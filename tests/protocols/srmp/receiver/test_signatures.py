"""A signed message comes: it is authenticated, or it is refused and nothing is changed."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.protocols.srmp.codec.decode import decode
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.events import ApduArrived
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.signing import sign, verify
from reliquary.protocols.srmp.trust import Trust
from reliquary.queueing.model.message import AuthenticationLevel, HashAlgorithm, Message
from tests.protocols.srmp.codec.vector import VECTORS
from tests.protocols.srmp.peer import ALPHA, ORDERS, Post, delivery_receipt, stream_message, user_message
from tests.protocols.srmp.receiving import Receiving
from tests.protocols.srmp.signers import KINDS, signer, trust
from tests.wire.signing_keys import NOW

TRUSTS_RSA = SrmpSettings(trust=trust("rsa", allowed=frozenset()))
SIGNS = trust(signs="rsa", allowed=frozenset())


def signature_of(body: bytes, by: Trust = SIGNS) -> str:
    return sign(Message(body=body), ALPHA, by)[1]


def signed(body: bytes = b"hello", **elements: Any) -> Post:
    """Return a message whose signature is right."""
    return user_message(body=body, block=signature_of(body), **elements)


def forged(**elements: Any) -> Post:
    """Return a message that is not what was signed."""
    return user_message(body=b"jello", block=signature_of(b"hello"), **elements)


def only_message(bench: Receiving, queue: str = "orders") -> Message:
    (delivered,) = bench.receive(queue, count=9).messages
    message: Message = delivered.message
    return message


@pytest.mark.spec("SR-200", "SR-208")
def test_a_signed_message_is_authenticated() -> None:
    bench = Receiving(settings=TRUSTS_RSA)
    assert bench.post(*signed()).status == 200
    message = only_message(bench)
    assert message.authentication is AuthenticationLevel.XML_SIG
    assert message.sender_certificate == signer("rsa").encoded
    assert message.hash_algorithm is HashAlgorithm.SHA_256
    assert len(message.signature) == 256


@pytest.mark.srmp("F-61")
@pytest.mark.spec("SR-201", "SR-207", "SR-208")
@pytest.mark.parametrize(
    ("post", "element"),
    [
        pytest.param(forged(), "DigestValue", id="another body"),
        pytest.param(
            user_message(block=signature_of(b"hello").replace("<SignatureValue>", "<SignatureValue>AAAA")),
            "SignatureValue",
            id="another value",
        ),
        pytest.param(user_message(block=signature_of(b"hello") * 2), "Signature", id="two signatures"),
        pytest.param(
            user_message(block=signature_of(b"hello", trust(signs="ecdsa", allowed=frozenset()))),
            "X509Certificate",
            id="of another sender",
        ),
    ],
)
def test_a_message_whose_signature_is_bad_is_refused_and_changes_nothing(post: Post, element: str) -> None:
    bench = Receiving(settings=TRUSTS_RSA)
    before = len(bench.facts)
    answer = bench.post(*post)
    assert answer.status == 400
    assert answer.why.startswith(f"{element}: ")
    assert len(bench.facts) == before
    assert bench.post(*signed()).status == 200  # the identifier was not remembered


@pytest.mark.srmp("T-67", "F-60")
@pytest.mark.spec("SR-201")
def test_a_queue_may_want_a_signature_on_every_message() -> None:
    bench = Receiving(settings=TRUSTS_RSA)
    bench.create("vault", authentication=True)
    vault = ORDERS.replace("orders", "vault")
    assert bench.post(*user_message(vault)).status == 400
    assert bench.post(*forged(to=vault)).status == 400
    assert bench.post(*signed(to=vault)).status == 200
    assert only_message(bench, "vault").authentication is AuthenticationLevel.XML_SIG


def test_without_a_trusted_signer_no_signature_is_good() -> None:
    answer = Receiving().post(*signed())
    assert answer.status == 400
    assert "not trusted" in answer.why


def test_a_forged_message_of_a_stream_does_not_advance_it() -> None:
    bench = Receiving(settings=TRUSTS_RSA)
    assert bench.post(*stream_message(1, body=b"jello", block=signature_of(b"hello"))).status == 400
    assert bench.post(*stream_message(1, body=b"hello", block=signature_of(b"hello"))).status == 200
    assert bench.post(*stream_message(2, body=b"jello", block=signature_of(b"hello"))).status == 400
    assert bench.post(*stream_message(2)).status == 200
    assert bench.bodies("torders") == [b"hello", b"2"]
    bench.restart()
    first = bench.receive("torders").messages[0].message
    assert first.authentication is AuthenticationLevel.XML_SIG


def test_a_forged_message_by_multicast_is_dropped() -> None:
    group = "234.1.1.1:8001"
    bench = Receiving(settings=TRUSTS_RSA)
    bench.create("ticks", multicast_address=group)
    for post in (forged(to=f"MSMQ:MULTICAST={group}"), signed(to=f"MSMQ:MULTICAST={group}")):
        head = f"POST {group} HTTP/1.1\r\nHost: {group}\r\nContent-Type: {post[0]}\r\n"
        head += f"Content-Length: {len(post[1])}\r\n\r\n"
        bench.handle(ApduArrived(group, head.encode() + post[1]))
    assert bench.bodies("ticks") == [b"hello"]
    assert any("DigestValue" in str(warning) for warning in bench.warnings)


def test_a_signature_on_a_receipt_authenticates_nothing() -> None:
    bench = Receiving(settings=TRUSTS_RSA)
    block = signature_of(b"hello")
    content_type, body = delivery_receipt(ORDERS)
    body = body.replace(b"</se:Header>", block.encode() + b"</se:Header>")
    assert bench.post(content_type, body).status == 200
    assert only_message(bench).authentication is AuthenticationLevel.NONE


@pytest.mark.spec("SR-207", "SR-208")
def test_the_composed_example_is_read_and_fails_only_for_its_unknown_key() -> None:
    vector = VECTORS["c7_max"]
    arrived = decode(vector.content_type, vector.body, largest=1 << 20)
    with pytest.raises(SrmpFault, match="not made with the key") as fault:
        verify(arrived, Message(), trust(*KINDS), NOW)
    assert fault.value.element == "SignatureValue"


def test_a_signed_envelope_that_only_one_of_two_parsers_reads_is_refused() -> None:
    answer = Receiving(settings=TRUSTS_RSA).post(*user_message(block=f"<\u2070x/>{signature_of(b'hello')}"))
    assert (answer.status, answer.why.split(":")[0]) == (400, "Envelope")

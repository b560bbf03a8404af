"""Tests that packets are signed and verified, and which attributes each level covers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.serialization import Encoding

from reliquary.base.faults import UsageError
from reliquary.net.chance import SystemChance
from reliquary.queueing.model.message import (
    Acknowledgement,
    AdministrationKind,
    AuthenticationLevel,
    Delivery,
    HashAlgorithm,
    Message,
    MessageClass,
    MessagePrivacy,
    ObjectId,
    ResponseKind,
)
from reliquary.queueing.packets.messages import construct, deserialize
from reliquary.queueing.packets.sealing import seal, unseal
from reliquary.queueing.packets.signing import STRONG, WEAK, sign, signed_content, verify
from reliquary.wire.packet import properties
from reliquary.wire.packet.security import SecurityHeader
from reliquary.wire.packet.user_message import UserMessage, decode_user_message
from tests.queueing.full_messages import DESTINATION, OTHER, SOURCE, private, public

LEVELS = [AuthenticationLevel.SIG10, AuthenticationLevel.SIG20, AuthenticationLevel.SIG30]
SIG10, SIG20, SIG30 = LEVELS

MESSAGE = Message.of(
    identifier=ObjectId(SOURCE, 1),
    source_machine=SOURCE,
    destination_queue=private(DESTINATION, 7),
    destination_manager=DESTINATION,
    administration_queue=private(SOURCE, 3),
    administration_kind=AdministrationKind.PRIVATE_ON_SOURCE,
    response_queue=private(OTHER, 4),
    response_kind=ResponseKind.PRIVATE_ON_OTHER,
    body=b"the body",
    label="a label",
    sender=b"a SID",
    hash_algorithm=HashAlgorithm.SHA_256,
)
SEVERAL = MESSAGE.changed(
    destination_queues=(private(DESTINATION, 7), public(OTHER)),
    administration_queues=(private(SOURCE, 3),),
)


class Signer:
    """A key and its certificate."""

    def __init__(self, key: rsa.RSAPrivateKey) -> None:
        self.key = key
        self.certificate = certificate_of(key)

    def sign(self, message: Message, level: AuthenticationLevel) -> UserMessage:
        packet = sign(construct(message), level, self.key, self.certificate)
        return decode_user_message(packet.encode())


def certificate_of(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "sender")])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2026, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2036, 1, 1, tzinfo=UTC))
    )
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.DER)


def secured(packet: UserMessage, **changes: Any) -> UserMessage:
    """Return the packet with these fields of its security header changed."""
    assert packet.security is not None
    return msgspec.structs.replace(packet, security=msgspec.structs.replace(packet.security, **changes))


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer(rsa.generate_private_key(65537, 2048))


# -- what is signed


def test_the_parts_come_in_the_order_that_is_printed() -> None:
    message = Message.of(
        identifier=ObjectId(SOURCE, 1),
        source_machine=SOURCE,
        correlation=ObjectId(OTHER, 9),
        application_tag=0x01020304,
        body=b"BODY",
        label="L",
        response_queue="DIRECT=OS:r\\q",
        administration_queue="DIRECT=OS:a\\q",
        destination_queue="DIRECT=OS:d\\q",
        delivery=Delivery.RECOVERABLE,
        priority=6,
        positive_journaling=True,
        acknowledgements=(Acknowledgement.FULL_RECEIVE,),
        message_class=MessageClass.REPORT,
        body_type=8,
        connector_type=DESTINATION,
        extension=b"EXT",
        destination_queues=("DIRECT=OS:d\\q",),
    )
    packet = construct(message)

    def name(text: str) -> bytes:
        return (text + "\0").encode("utf-16-le")

    common = (
        OTHER.bytes_le
        + b"\x09\0\0\0\x04\x03\x02\x01BODYL\0\0\0"
        + name("DIRECT=OS:r\\q")
        + name("DIRECT=OS:a\\q")
    )
    marks = SOURCE.bytes_le + b"\x01\x06\x02\x0e\x01\0\x08\0\0\0" + DESTINATION.bytes_le
    assert signed_content(packet, SIG10) == common
    assert signed_content(packet, SIG20) == common + marks + name("DIRECT=OS:d\\q")
    lists = name("DIRECT=OS:d\\q") + name("") * 3
    assert signed_content(packet, SIG30) == common + b"EXT" + lists + marks


COVERED: list[tuple[dict[str, Any], list[AuthenticationLevel]]] = [
    ({"body": b"another"}, LEVELS),
    ({"label": "another"}, LEVELS),
    ({"correlation": ObjectId(OTHER, 1)}, LEVELS),
    ({"application_tag": 1}, LEVELS),
    ({"response_queue": private(OTHER, 5)}, LEVELS),
    ({"administration_queue": private(SOURCE, 4)}, LEVELS),
    ({"administration_queue": private(DESTINATION, 3)}, LEVELS),
    ({"body_type": 8}, [SIG20, SIG30]),
    ({"message_class": MessageClass.REPORT}, [SIG20, SIG30]),
    ({"acknowledgements": (Acknowledgement.POS_ARRIVAL,)}, [SIG20, SIG30]),
    ({"priority": 7}, [SIG20, SIG30]),
    ({"delivery": Delivery.RECOVERABLE}, [SIG20, SIG30]),
    ({"positive_journaling": True}, [SIG20, SIG30]),
    ({"negative_journaling": True}, [SIG20, SIG30]),
    ({"connector_type": OTHER}, [SIG20, SIG30]),
    ({"destination_queue": private(DESTINATION, 8)}, [SIG20]),
    ({"extension": b"another"}, [SIG30]),
    ({"destination_queues": (public(OTHER),)}, [SIG30]),
]


@pytest.mark.spec("DM-045")
@pytest.mark.parametrize(("change", "levels"), COVERED, ids=[next(iter(change)) for change, _ in COVERED])
def test_a_signature_covers_what_its_level_says(
    change: dict[str, Any], levels: list[AuthenticationLevel]
) -> None:
    changed = construct(SEVERAL.changed(**change))
    found = [
        level
        for level in LEVELS
        if signed_content(changed, level) != signed_content(construct(SEVERAL), level)
    ]
    assert found == levels


def test_a_name_cannot_go_from_one_list_to_another() -> None:
    one = construct(MESSAGE.changed(destination_queues=(public(OTHER),)))
    other = construct(MESSAGE.changed(administration_queues=(public(OTHER),)))
    assert signed_content(one, SIG30) != signed_content(other, SIG30)


def test_a_response_queue_that_is_the_administration_queue_is_signed_as_that() -> None:
    same = MESSAGE.changed(
        response_queue=MESSAGE.administration_queue,
        response_kind=ResponseKind.SAME_AS_ADMINISTRATION,
    )
    named = same.changed(response_kind=ResponseKind.PRIVATE_ON_SOURCE)
    assert signed_content(construct(same), SIG20) == signed_content(construct(named), SIG20)


# -- made and verified


@pytest.mark.spec("DM-045")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("algorithm", [HashAlgorithm.SHA_256, HashAlgorithm.SHA_512])
def test_a_signature_is_verified_as_what_it_is(
    level: AuthenticationLevel, algorithm: HashAlgorithm, signer: Signer
) -> None:
    packet = signer.sign(MESSAGE.changed(hash_algorithm=algorithm), level)
    assert verify(packet) is level
    assert packet.security is not None
    assert packet.security.default_provider
    assert packet.security.certificate == signer.certificate
    assert deserialize(packet.encode()).signature == packet.security.signature


@pytest.mark.spec("DM-045")
def test_a_packet_without_a_signature_has_the_level_none() -> None:
    assert verify(construct(MESSAGE)) is AuthenticationLevel.NONE
    assert verify(construct(Message())) is AuthenticationLevel.NONE


@pytest.mark.spec("DM-053")
def test_for_several_destinations_sig30_stands_with_the_lists(signer: Signer) -> None:
    packet = signer.sign(SEVERAL, SIG30)
    assert packet.security is not None
    assert packet.multi is not None
    assert packet.security.signature == b""
    assert len(packet.multi.signature) == 256
    assert verify(packet) is SIG30
    assert deserialize(packet.encode()).multiple_destination_signature == packet.multi.signature


@pytest.mark.spec("DM-053")
@pytest.mark.parametrize("level", [SIG10, SIG20])
def test_for_several_destinations_other_levels_stay_where_they_are(
    level: AuthenticationLevel, signer: Signer
) -> None:
    packet = signer.sign(SEVERAL, level)
    assert packet.security is not None
    assert packet.security.signature
    assert packet.multi is not None
    assert packet.multi.signature == b""
    assert verify(packet) is level


@pytest.mark.spec("DM-053")
def test_an_older_signature_in_place_of_that_of_several_is_bad(signer: Signer) -> None:
    signed = signer.sign(SEVERAL, SIG20)
    assert signed.security is not None
    assert signed.multi is not None
    moved = msgspec.structs.replace(
        secured(signed, signature=b""),
        multi=msgspec.structs.replace(signed.multi, signature=signed.security.signature),
    )
    assert verify(moved) is MessageClass.NACK_BAD_SIGNATURE


@pytest.mark.parametrize("level", LEVELS)
def test_a_weak_hash_is_replaced_when_signing(level: AuthenticationLevel, signer: Signer) -> None:
    packet = signer.sign(MESSAGE.changed(hash_algorithm=HashAlgorithm.SHA1), level)
    assert packet.properties.hash_algorithm == properties.SHA_512
    assert verify(packet) is level


# -- refusals


@pytest.mark.parametrize("level", LEVELS)
def test_a_changed_body_is_found(level: AuthenticationLevel, signer: Signer) -> None:
    packet = signer.sign(SEVERAL, level)
    changed = msgspec.structs.replace(packet.properties, body=b"another")
    forged = msgspec.structs.replace(packet, properties=changed)
    assert verify(forged) is MessageClass.NACK_BAD_SIGNATURE


def with_hash(number: int, algorithm: hashes.HashAlgorithm, signer: Signer) -> UserMessage:
    packet = construct(MESSAGE)
    packet = msgspec.structs.replace(
        packet, properties=msgspec.structs.replace(packet.properties, hash_algorithm=number)
    )
    signature = signer.key.sign(signed_content(packet, SIG20), PKCS1v15(), algorithm)
    security = SecurityHeader(signature=signature, certificate=signer.certificate)
    return msgspec.structs.replace(packet, security=security)


@pytest.mark.parametrize("number", WEAK)
def test_a_weak_hash_is_good_only_where_it_is_allowed(number: int, signer: Signer) -> None:
    packet = with_hash(number, WEAK[number], signer)
    assert verify(packet) is MessageClass.NACK_BAD_SIGNATURE
    assert verify(packet, weak=True) is SIG20


@pytest.mark.parametrize("number", [properties.MD2, properties.MD4, 0, 0x800D])
def test_a_hash_of_an_unknown_algorithm_is_bad(number: int, signer: Signer) -> None:
    packet = with_hash(number, STRONG[properties.SHA_256], signer)
    assert verify(packet, weak=True) is MessageClass.NACK_BAD_SIGNATURE


@pytest.mark.parametrize("certificate", [b"", b"no certificate", b"0\x82\1\0"])
def test_without_a_certificate_a_signature_is_bad(certificate: bytes, signer: Signer) -> None:
    packet = signer.sign(MESSAGE, SIG20)
    assert verify(secured(packet, certificate=certificate)) is MessageClass.NACK_BAD_SIGNATURE


def test_a_certificate_of_another_kind_of_key_is_bad(signer: Signer) -> None:
    packet = signer.sign(MESSAGE, SIG20)
    other = certificate_of(ec.generate_private_key(ec.SECP256R1()))
    assert verify(secured(packet, certificate=other)) is MessageClass.NACK_BAD_SIGNATURE


def test_a_certificate_of_another_key_is_bad(signer: Signer) -> None:
    packet = signer.sign(MESSAGE, SIG20)
    other = certificate_of(rsa.generate_private_key(65537, 2048))
    assert verify(secured(packet, certificate=other)) is MessageClass.NACK_BAD_SIGNATURE


def test_a_signature_of_several_without_a_certificate_is_bad() -> None:
    packet = construct(Message.of(multiple_destination_signature=b"s"))
    assert packet.security is None
    assert verify(packet) is MessageClass.NACK_BAD_SIGNATURE


@pytest.mark.parametrize("level", [AuthenticationLevel.NONE, AuthenticationLevel.XML_SIG])
def test_a_level_that_a_packet_has_not_is_the_callers_mistake(
    level: AuthenticationLevel, signer: Signer
) -> None:
    with pytest.raises(UsageError, match=level.value):
        sign(construct(MESSAGE), level, signer.key, signer.certificate)


def test_sealed_packets_are_neither_signed_nor_verified(signer: Signer) -> None:
    sealed = secured(signer.sign(MESSAGE, SIG20), encryption_key=b"key")
    with pytest.raises(UsageError, match="before it is sealed"):
        sign(sealed, SIG20, signer.key, signer.certificate)
    with pytest.raises(UsageError, match="before it is verified"):
        verify(sealed)


@pytest.mark.spec("DM-044", "DM-045")
def test_signed_sealed_sent_unsealed_verified(signer: Signer) -> None:
    private_message = MESSAGE.changed(privacy=MessagePrivacy.ADVANCED)
    destination = rsa.generate_private_key(65537, 2048)
    signed = sign(construct(private_message), SIG20, signer.key, signer.certificate)
    sealed = seal(signed, destination.public_key(), SystemChance())
    assert isinstance(sealed, UserMessage)
    clear = unseal(decode_user_message(sealed.encode()), destination)
    assert isinstance(clear, UserMessage)
    assert verify(clear) is SIG20
    assert deserialize(clear.encode()).body == MESSAGE.body

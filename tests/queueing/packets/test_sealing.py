"""Tests that bodies are encrypted and decrypted, and of each failure."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4, RC2
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.algorithms import AES

from reliquary.queueing.model.message import EncryptionAlgorithm, Message, MessageClass, MessagePrivacy
from reliquary.queueing.packets.codes import ENCRYPTION
from reliquary.queueing.packets.messages import construct, deserialize
from reliquary.queueing.packets.sealing import KEY_SIZES, seal, unseal
from reliquary.wire.keyblobs import SessionKeyBlob
from reliquary.wire.packet import properties
from reliquary.wire.packet.properties import PropertiesHeader
from reliquary.wire.packet.security import SecurityHeader
from reliquary.wire.packet.user_message import UserMessage, decode_user_message

AES_KINDS = [EncryptionAlgorithm.AES128, EncryptionAlgorithm.AES192, EncryptionAlgorithm.AES256]


class Seeded:
    """A source of random bits that repeats with its seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def bits(self, count: int) -> int:
        return self._random.getrandbits(count)


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def private_message(**attributes: Any) -> Message:
    given = {"privacy": MessagePrivacy.ADVANCED, "encryption_algorithm": EncryptionAlgorithm.AES256}
    return Message.of(body=b"the secret body", sender=b"sid", **{**given, **attributes})


def sealed_packet(message: Message, key: rsa.RSAPrivateKey) -> UserMessage:
    packet = seal(construct(message), key.public_key(), Seeded(1))
    assert isinstance(packet, UserMessage)
    return packet


def opened(packet: UserMessage, key: rsa.RSAPrivateKey, *, weak: bool = False) -> UserMessage:
    clear = unseal(packet, key, weak=weak)
    assert isinstance(clear, UserMessage)
    return clear


def old_packet(
    level: int, algorithm: int, session_key: bytes, body: bytes, key: rsa.RSAPrivateKey
) -> UserMessage:
    """Return a packet as an old peer makes it."""
    encrypted = key.public_key().encrypt(session_key, PKCS1v15())
    return UserMessage(
        properties=PropertiesHeader(privacy=level, encryption_algorithm=algorithm, body=body),
        security=SecurityHeader(encrypted=True, encryption_key=SessionKeyBlob(algorithm, encrypted).encode()),
    )


# -- both ways


@pytest.mark.spec("DM-044")
@pytest.mark.parametrize("algorithm", AES_KINDS)
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 5000])
def test_what_is_sealed_for_a_destination_is_opened_there(
    algorithm: EncryptionAlgorithm, size: int, key: rsa.RSAPrivateKey
) -> None:
    message = private_message(encryption_algorithm=algorithm, body_type=8)
    message = msgspec.structs.replace(message, body=b"b" * size)
    packet = sealed_packet(message, key)
    assert len(packet.properties.body) == size + 16 - size % 16
    travelled = decode_user_message(packet.encode())
    assert deserialize(opened(travelled, key).encode()) == message


@pytest.mark.spec("DM-044")
def test_the_body_is_encrypted_as_peers_expect_it(key: rsa.RSAPrivateKey) -> None:
    packet = sealed_packet(private_message(), key)
    assert packet.security is not None
    assert packet.security.encrypted
    blob = SessionKeyBlob.decode(packet.security.encryption_key)
    assert blob.algorithm == properties.AES256
    session_key = key.decrypt(blob.encrypted, PKCS1v15())
    assert len(session_key) == 32
    decryptor = Cipher(AES(session_key), modes.CBC(bytes(16))).decryptor()
    assert decryptor.update(packet.properties.body) == b"the secret body\1"


@pytest.mark.spec("DM-044")
def test_a_message_without_privacy_stays_in_clear(key: rsa.RSAPrivateKey) -> None:
    packet = construct(Message.of(body=b"open", sender=b"sid"))
    assert seal(packet, key.public_key(), Seeded(1)) is packet
    assert unseal(packet, key) is packet
    bare = construct(Message(body=b"open"))
    assert unseal(bare, key) is bare


@pytest.mark.spec("DM-044", "QB-149")
@pytest.mark.parametrize("privacy", [MessagePrivacy.BASE, MessagePrivacy.ENHANCED])
def test_weak_privacy_leaves_as_advanced(privacy: MessagePrivacy, key: rsa.RSAPrivateKey) -> None:
    message = private_message(privacy=privacy, encryption_algorithm=EncryptionAlgorithm.RC4)
    packet = sealed_packet(message, key)
    assert packet.properties.privacy == properties.PRIVATE_ADVANCED
    assert packet.properties.encryption_algorithm == properties.AES256
    assert opened(packet, key).properties.body == message.body


def test_a_seed_repeats_a_sealed_packet_and_another_seed_gives_another_key(key: rsa.RSAPrivateKey) -> None:
    packet = construct(private_message())
    again = [seal(packet, key.public_key(), Seeded(seed)) for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]


def test_what_a_connector_sealed_is_not_sealed_again(key: rsa.RSAPrivateKey) -> None:
    packet = construct(private_message(symmetric_key=b"a connector's"))
    assert seal(packet, key.public_key(), Seeded(1)) is packet


def test_the_privacy_is_still_shown_when_the_body_is_in_clear(key: rsa.RSAPrivateKey) -> None:
    clear = opened(sealed_packet(private_message(), key), key)
    assert clear.properties.privacy == properties.PRIVATE_ADVANCED
    assert clear.security is not None
    assert (clear.security.encrypted, clear.security.encryption_key) == (False, b"")


def test_a_security_header_that_held_only_the_key_goes_with_it(key: rsa.RSAPrivateKey) -> None:
    packet = UserMessage(properties=PropertiesHeader(privacy=properties.PRIVATE_ADVANCED, body=b"x"))
    sealed = seal(packet, key.public_key(), Seeded(1))
    assert isinstance(sealed, UserMessage)
    assert opened(decode_user_message(sealed.encode()), key).security is None


def test_a_body_whose_clear_size_is_given_is_read_from_all_its_room(key: rsa.RSAPrivateKey) -> None:
    packet = sealed_packet(private_message(), key)
    whole = packet.properties.body
    other = msgspec.structs.replace(packet.properties, body=whole[:15], slack=whole[15:])
    clear = opened(msgspec.structs.replace(packet, properties=other), key)
    assert clear.properties.body == b"the secret body"
    assert clear.properties.slack == b""


# -- old peers


def rc4(session_key: bytes, body: bytes) -> bytes:
    return Cipher(ARC4(session_key), None).encryptor().update(body)


def rc2(session_key: bytes, body: bytes) -> bytes:
    padding = 8 - len(body) % 8
    encryptor = Cipher(RC2(session_key), modes.CBC(bytes(8))).encryptor()
    return encryptor.update(body + bytes([padding]) * padding)


OLD = [
    pytest.param(properties.PRIVATE_ENHANCED, properties.RC2, 16, rc2, id="128 bits, RC2"),
    pytest.param(properties.PRIVATE_ENHANCED, properties.RC4, 16, rc4, id="128 bits, RC4"),
    pytest.param(properties.PRIVATE_BASE, properties.RC4, 5, rc4, id="40 bits, RC4"),
]


@pytest.mark.spec("DM-044")
@pytest.mark.parametrize(("level", "algorithm", "size", "encrypt"), OLD)
def test_old_privacy_is_read_only_where_it_is_allowed(
    level: int,
    algorithm: int,
    size: int,
    encrypt: Callable[[bytes, bytes], bytes],
    key: rsa.RSAPrivateKey,
) -> None:
    session_key = bytes(range(1, size + 1))
    packet = old_packet(level, algorithm, session_key, encrypt(session_key, b"from an old peer"), key)
    assert unseal(packet, key) is MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER
    assert opened(packet, key, weak=True).properties.body == b"from an old peer"


def test_rc2_is_that_of_rfc_2268() -> None:
    session_key = bytes.fromhex("88bca90e90875a7f0f79c384627bafb2")
    assert rc2(session_key, bytes(8))[:8].hex() == "2269552ab0f85ca6"


@pytest.mark.spec("QB-150", "QB-254")
def test_rc2_with_forty_bits_is_not_supported(key: rsa.RSAPrivateKey) -> None:
    packet = old_packet(properties.PRIVATE_BASE, properties.RC2, b"12345", bytes(8), key)
    assert unseal(packet, key, weak=True) is MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER


# -- refusals


def test_a_key_too_small_to_hold_another_cannot_encrypt() -> None:
    modulus = (1 << 255) + 95  # 32 bytes: a key of 32 bytes does not fit with its padding
    tiny = rsa.RSAPublicNumbers(65537, modulus)

    class Tiny:
        def public_numbers(self) -> rsa.RSAPublicNumbers:
            return tiny

    found = seal(construct(private_message()), Tiny(), Seeded(1))  # type: ignore[arg-type]
    assert found is MessageClass.NACK_COULD_NOT_ENCRYPT


@pytest.mark.parametrize("level", [properties.NOT_PRIVATE, 2, 7])
def test_a_level_that_encrypts_nothing_is_bad(level: int, key: rsa.RSAPrivateKey) -> None:
    packet = old_packet(level, properties.AES256, bytes(32), bytes(16), key)
    assert unseal(packet, key, weak=True) is MessageClass.NACK_BAD_ENCRYPTION


@pytest.mark.parametrize("level", KEY_SIZES)
def test_an_algorithm_that_the_level_does_not_allow_is_bad(level: int, key: rsa.RSAPrivateKey) -> None:
    for algorithm in {*ENCRYPTION.values(), 0x6601} - set(KEY_SIZES[level]):
        packet = old_packet(level, algorithm, bytes(16), bytes(16), key)
        assert unseal(packet, key, weak=True) is MessageClass.NACK_BAD_ENCRYPTION


SHORT_KEY = SessionKeyBlob(properties.AES256, bytes(255)).encode()


def broken(packet: UserMessage, **changes: Any) -> UserMessage:
    assert packet.security is not None
    security = {name: value for name, value in changes.items() if name == "encryption_key"}
    header = {name: value for name, value in changes.items() if name not in security}
    return msgspec.structs.replace(
        packet,
        security=msgspec.structs.replace(packet.security, **security),
        properties=msgspec.structs.replace(packet.properties, **header),
    )


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"encryption_key": b""}, id="no key"),
        pytest.param({"encryption_key": b"no blob"}, id="no blob"),
        pytest.param(
            {"encryption_key": SessionKeyBlob(properties.AES256, bytes(255)).encode()}, id="short key"
        ),
        pytest.param({"body": b""}, id="no body"),
        pytest.param({"body": b"fifteen bytes.."}, id="not whole blocks"),
        pytest.param({"encryption_algorithm": properties.AES128}, id="another algorithm than the key's"),
    ],
)
def test_what_cannot_be_opened_is_bad(changes: dict[str, Any], key: rsa.RSAPrivateKey) -> None:
    packet = broken(sealed_packet(private_message(), key), **changes)
    assert unseal(packet, key) is MessageClass.NACK_BAD_ENCRYPTION


def test_a_session_key_of_another_size_is_bad(key: rsa.RSAPrivateKey) -> None:
    packet = old_packet(properties.PRIVATE_ADVANCED, properties.AES256, bytes(16), bytes(16), key)
    assert unseal(packet, key) is MessageClass.NACK_BAD_ENCRYPTION


def test_another_destination_cannot_decrypt_the_body(key: rsa.RSAPrivateKey) -> None:
    packet = sealed_packet(private_message(), key)
    assert unseal(packet, rsa.generate_private_key(65537, 2048)) is MessageClass.NACK_BAD_ENCRYPTION

"""Encrypt and decrypt message bodies for their destination (DM-044): [MS-MQQB] 3.1.7.1.5 and 3.1.5.8.3.

    seal     body --AES with a random key-------------->  MessageBody
             key  --RSA with the destination's key----->  SymmetricKey
    unseal   the two steps in reverse

Peers read cipher block chaining with an initialization vector of zeros and PKCS5 padding.  With one key,
equal beginnings of two bodies would show; so every message gets its own key.  The encryption does not detect
changes of a body: signatures do, and they are made before a body is sealed (`signing`).

A failure is a return value: the class of the negative acknowledgement.  An attacker who collects many of
these answers can decrypt bodies with them (a padding oracle).  So [MS-MQQB] sends these classes only if
SendInsecureNacks is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from cryptography.hazmat.decrepit.ciphers import algorithms as old
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.ciphers import BlockCipherAlgorithm, Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from reliquary.base.chance import Chance
from reliquary.queueing.model.message import MessageClass
from reliquary.wire.keyblobs import SessionKeyBlob
from reliquary.wire.packet import properties
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.security import SecurityHeader
from reliquary.wire.packet.user_message import UserMessage

KEY_SIZES: Final[Mapping[int, Mapping[int, int]]] = {
    properties.PRIVATE_ADVANCED: {properties.AES128: 16, properties.AES192: 24, properties.AES256: 32},
    properties.PRIVATE_ENHANCED: {properties.RC2: 16, properties.RC4: 16},
    properties.PRIVATE_BASE: {properties.RC2: 5, properties.RC4: 5},
}
"""For each PrivacyLevel: the allowed algorithms and the sizes of their keys in bytes, [MS-MQMQ] 2.2.19.3."""

_ADVANCED: Final = KEY_SIZES[properties.PRIVATE_ADVANCED]
_RSA_PADDING: Final = 11
"""The number of bytes that RSAES-PKCS1-v1_5 adds to the key."""


def seal(packet: UserMessage, destination: RSAPublicKey, chance: Chance) -> UserMessage | MessageClass:
    """Return the packet with its body encrypted if its privacy level asks for it, or a failure's class.

    A packet that already has a key was sealed by a connector, and is returned unchanged.
    """
    security = packet.security or SecurityHeader()
    header = packet.properties
    if header.privacy == properties.NOT_PRIVATE or security.encryption_key:
        return packet
    # DEPARTS from 3.1.1.12 (DM-044): Base and Enhanced leave as Advanced, because keys of 40 bits
    # and the ciphers of both keep nothing secret today; they are only read.
    algorithm = header.encryption_algorithm
    if algorithm not in _ADVANCED:
        algorithm = properties.AES256  # QB-149
    key = _random_bytes(_ADVANCED[algorithm], chance)
    encrypted_key = _encrypt_key(key, destination, chance)
    if encrypted_key is None:
        return MessageClass.NACK_COULD_NOT_ENCRYPT
    body = _encrypt_blocks(algorithms.AES(key), header.body)
    return msgspec.structs.replace(
        packet,
        properties=msgspec.structs.replace(
            header,
            privacy=properties.PRIVATE_ADVANCED,
            encryption_algorithm=algorithm,
            body=body,
            slack=b"",
        ),
        security=msgspec.structs.replace(
            security, encrypted=True, encryption_key=SessionKeyBlob(algorithm, encrypted_key).encode()
        ),
    )


def unseal(packet: UserMessage, key: RSAPrivateKey, *, weak: bool = False) -> UserMessage | MessageClass:
    """Return the packet with its body decrypted and without the key, or a failure's class.

    `weak` allows the levels Base and Enhanced, which old peers use.  The privacy level stays in the packet,
    so that a reader sees how the message was protected on its way.
    """
    security, header = packet.security, packet.properties
    if security is None or not security.encrypted:
        return packet
    level, algorithm = header.privacy, header.encryption_algorithm
    size = KEY_SIZES.get(level, {}).get(algorithm)
    if size is None:
        return MessageClass.NACK_BAD_ENCRYPTION  # QB-252
    if level != properties.PRIVATE_ADVANCED and (not weak or (algorithm == properties.RC2 and size != 16)):
        return MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER  # no RC2 with 40 bits (QB-150, QB-254)
    try:
        blob = SessionKeyBlob.decode(security.encryption_key)
        session_key = key.decrypt(blob.encrypted, PKCS1v15())
        if blob.algorithm != algorithm or len(session_key) != size:
            return MessageClass.NACK_BAD_ENCRYPTION
        body = _decrypt(algorithm, session_key, header)
    except (PacketFault, ValueError):
        return MessageClass.NACK_BAD_ENCRYPTION
    return msgspec.structs.replace(
        packet,
        properties=msgspec.structs.replace(header, body=body, slack=b""),
        security=_without_key(security),
    )


def _decrypt(algorithm: int, key: bytes, header: properties.PropertiesHeader) -> bytes:
    if algorithm == properties.RC4:
        return Cipher(old.ARC4(key), None).decryptor().update(header.body)
    # MessageSize may be the size of the decrypted body; then the encrypted body includes the slack.
    encrypted = header.body + header.slack
    cipher = old.RC2(key) if algorithm == properties.RC2 else algorithms.AES(key)
    return _decrypt_blocks(cipher, encrypted)


def _encrypt_blocks(cipher: BlockCipherAlgorithm, clear: bytes) -> bytes:
    padder = PKCS7(cipher.block_size).padder()
    encryptor = Cipher(cipher, modes.CBC(bytes(cipher.block_size // 8))).encryptor()
    return encryptor.update(padder.update(clear) + padder.finalize()) + encryptor.finalize()


def _decrypt_blocks(cipher: BlockCipherAlgorithm, encrypted: bytes) -> bytes:
    decryptor = Cipher(cipher, modes.CBC(bytes(cipher.block_size // 8))).decryptor()
    unpadder = PKCS7(cipher.block_size).unpadder()
    return unpadder.update(decryptor.update(encrypted) + decryptor.finalize()) + unpadder.finalize()


def _encrypt_key(key: bytes, destination: RSAPublicKey, chance: Chance) -> bytes | None:
    """Encrypt a key by RSAES-PKCS1-v1_5, RFC 8017 7.2.1; None if the RSA key is too short.

    The random bytes come from `chance`, so that a run with an equal seed repeats them.
    """
    numbers = destination.public_numbers()
    size = (numbers.n.bit_length() + 7) // 8
    if len(key) > size - _RSA_PADDING:
        return None
    padding = b""
    while len(padding) < size - 3 - len(key):
        padding += _random_bytes(size, chance).replace(b"\0", b"")
    block = b"\0\2" + padding[: size - 3 - len(key)] + b"\0" + key
    return pow(int.from_bytes(block, "big"), numbers.e, numbers.n).to_bytes(size, "big")


def _random_bytes(count: int, chance: Chance) -> bytes:
    return chance.bits(8 * count).to_bytes(count, "big")


def _without_key(security: SecurityHeader) -> SecurityHeader | None:
    """Return the security header without the key; None if the header has no other data."""
    header = msgspec.structs.replace(security, encrypted=False, encryption_key=b"")
    has_data = header.sender or header.signature or header.certificate or header.provider is not None
    return header if has_data else None

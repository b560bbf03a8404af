"""Sign packets and verify signatures (DM-045, DM-053): [MS-MQMQ] 2.5, [MS-MQQB] 3.1.7.1.4 and 3.1.5.8.3.

    level   attributes that the signature covers
    Sig10   correlation, tag, body, label, response queue, administration queue
    Sig20   those of Sig10, and source, delivery, priority, journaling, acknowledgements, class, body type,
            connector type, destination queue
    Sig30   those of Sig10, extension, the lists of queues, and those of Sig20 without the destination

The attributes are joined in this order and signed with RSA (RSASSA-PKCS1-v1_5, RFC 8017) by the key of the
sender's certificate.  The specification does not define the form of every attribute.  Here:

- a number is little-endian, and the label has the bytes that it has in the packet;
- an absent connector type is the GUID of zeros;
- a queue is its complete format name, as a wide string that ends with zero.  A short form of the packet is
  not signed: an attacker could turn a private queue of the destination into one of the source.

The body is signed before it is encrypted: a packet is signed, then sealed; unsealed, then verified.
XML signatures are part of [MC-MQSRM] and not of this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Final

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

from reliquary.base.faults import UsageError
from reliquary.queueing.model.message import AuthenticationLevel, MessageClass
from reliquary.queueing.packets.names import Hosts, host_of, name_of, names_of
from reliquary.wire.packet import properties
from reliquary.wire.packet.addresses import Address, AddressKind
from reliquary.wire.packet.fields import NO_GUID, wide
from reliquary.wire.packet.multi import ListedQueue
from reliquary.wire.packet.security import SecurityHeader
from reliquary.wire.packet.user_message import UserMessage

STRONG: Final[Mapping[int, hashes.HashAlgorithm]] = {
    properties.SHA_256: hashes.SHA256(),
    properties.SHA_512: hashes.SHA512(),
}
WEAK: Final[Mapping[int, hashes.HashAlgorithm]] = {
    properties.MD5: hashes.MD5(),
    properties.SHA1: hashes.SHA1(),
}
"""Algorithms that are only verified, and only if the caller allows it; MD2 and MD4 are always refused."""

_TAG: Final = Struct("<I")
_DELIVERY: Final = Struct("<BBBBHI")


def signed_content(packet: UserMessage, level: AuthenticationLevel) -> bytes:
    """Return the bytes that a signature of this level signs."""
    header, user = packet.properties, packet.user
    hosts = Hosts(user.source, user.address)
    hosts.admin = host_of(user.admin, hosts)
    admin = _name(user.admin, hosts)
    shares_admin_queue = user.response.kind is AddressKind.SAME_AS_ADMIN
    common = (
        header.correlation,
        _TAG.pack(header.application_tag),
        header.body,
        header.label_bytes,
        admin if shares_admin_queue else _name(user.response, hosts),
        admin,
    )
    delivery = (
        user.source.bytes_le,
        _DELIVERY.pack(
            user.recoverable,
            packet.base.priority,
            user.journal << 1 | user.dead_letter,
            header.acknowledgements,
            header.message_class,
            header.body_type,
        ),
        (user.connector_type or NO_GUID).bytes_le,
    )
    match level:
        case AuthenticationLevel.SIG10:
            parts: tuple[bytes, ...] = common
        case AuthenticationLevel.SIG20:
            parts = (*common, *delivery, _name(user.destination, hosts))
        case AuthenticationLevel.SIG30:
            parts = (*common, header.extension, _lists(packet), *delivery)
        case _:
            raise UsageError(f"a packet has no signature of the level {level.value}")
    return b"".join(parts)


def sign(
    packet: UserMessage, level: AuthenticationLevel, key: RSAPrivateKey, certificate: bytes
) -> UserMessage:
    """Return the packet with a signature and with the certificate, in DER, of the signing key (QB-286).

    A weak hash algorithm is replaced by SHA-512, as [MS-MQMQ] 2.2.19.3 requires.
    """
    security = packet.security or SecurityHeader()
    if security.encryption_key:
        raise UsageError("a packet must be signed before it is sealed")
    header = packet.properties
    if header.hash_algorithm not in STRONG:
        header = msgspec.structs.replace(header, hash_algorithm=properties.SHA_512)
    signature = key.sign(signed_content(packet, level), PKCS1v15(), STRONG[header.hash_algorithm])
    multi = packet.multi
    if multi is not None and level is AuthenticationLevel.SIG30:  # DM-053
        multi = msgspec.structs.replace(multi, signature=signature)
        signature = b""
    return msgspec.structs.replace(
        packet,
        properties=header,
        multi=multi,
        security=msgspec.structs.replace(
            security, signature=signature, certificate=certificate, default_provider=True
        ),
    )


def verify(packet: UserMessage, *, weak: bool = False) -> AuthenticationLevel | MessageClass:
    """Return the level of a packet's valid signature, or the class of the negative acknowledgement.

    `weak` allows MD5 and SHA-1, which old peers use.  Whether the certificate belongs to the sender is not
    checked here: the directory knows it.
    """
    security, multi = packet.security, packet.multi
    multiple = multi.signature if multi is not None else b""
    single = security.signature if security is not None else b""
    if not (single or multiple):
        return AuthenticationLevel.NONE
    if security is None:
        return MessageClass.NACK_BAD_SIGNATURE
    if security.encryption_key:
        raise UsageError("a packet must be unsealed before it is verified")
    number = packet.properties.hash_algorithm
    algorithm = STRONG.get(number) or (WEAK.get(number) if weak else None)
    key = _public_key(security.certificate)
    if algorithm is None or key is None:
        return MessageClass.NACK_BAD_SIGNATURE
    for level in _SINGLE if single else _MULTIPLE:
        if _is_signed(key, single or multiple, signed_content(packet, level), algorithm):
            return level
    return MessageClass.NACK_BAD_SIGNATURE


_SINGLE: Final = (AuthenticationLevel.SIG30, AuthenticationLevel.SIG20, AuthenticationLevel.SIG10)
"""A packet does not state the level: the level that covers most attributes is tried first."""
_MULTIPLE: Final = (AuthenticationLevel.SIG30,)


def _is_signed(key: RSAPublicKey, signature: bytes, content: bytes, algorithm: hashes.HashAlgorithm) -> bool:
    try:
        key.verify(signature, content, PKCS1v15(), algorithm)
    except (InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _public_key(certificate: bytes) -> RSAPublicKey | None:
    try:
        key = x509.load_der_x509_certificate(certificate).public_key()
    except (ValueError, UnsupportedAlgorithm, x509.InvalidVersion):
        return None
    return key if isinstance(key, RSAPublicKey) else None


def _name(address: Address, hosts: Hosts) -> bytes:
    return wide(name_of(address, hosts), "a queue's name")


def _lists(packet: UserMessage) -> bytes:
    if packet.multi is None:
        return b""
    return b"".join(map(_names, (packet.multi.destinations, packet.multi.admins, packet.multi.responses)))


def _names(queues: tuple[ListedQueue, ...]) -> bytes:
    """Return the names of a list with an empty name at the end, so that no name can move to another list."""
    return b"".join([wide(name, "a queue's name") for name in (*names_of(queues), "")])

"""Maps the enumerated values of a Message to the numbers in a packet, and back.

See [MS-MQDMPR] 3.1.7.1.31 and 3.1.7.1.32 (DM-277).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, TypeVar

from reliquary.queueing.model.message import (
    Acknowledgement,
    AdministrationKind,
    AuthenticationLevel,
    DestinationKind,
    EncryptionAlgorithm,
    HashAlgorithm,
    MessagePrivacy,
    ResponseKind,
    SenderKind,
)
from reliquary.wire.packet import properties, security
from reliquary.wire.packet.addresses import AddressKind

Value = TypeVar("Value", bound=Enum)


def _inverse(codes: Mapping[Value, int]) -> Mapping[int, Value]:
    """Return the mapping from numbers to values; of two values with one number, the first counts."""
    return MappingProxyType({number: value for value, number in reversed(list(codes.items()))})


PRIVACY: Final[Mapping[MessagePrivacy, int]] = {  # DM-277
    MessagePrivacy.NONE: properties.NOT_PRIVATE,
    MessagePrivacy.BASE: properties.PRIVATE_BASE,
    MessagePrivacy.ENHANCED: properties.PRIVATE_ENHANCED,
    MessagePrivacy.ADVANCED: properties.PRIVATE_ADVANCED,
}
PRIVACY_OF: Final = _inverse(PRIVACY)

# DEPARTS from 3.1.7.1.31 (AN-35): 0x8003 is read as MD5, as it is written, because a signature that
# was made with MD5 would never be found good as one of MD4.
HASH: Final[Mapping[HashAlgorithm, int]] = {
    HashAlgorithm.MD2: properties.MD2,
    HashAlgorithm.MD4: properties.MD4,
    HashAlgorithm.MD5: properties.MD5,
    HashAlgorithm.SHA1: properties.SHA1,
    HashAlgorithm.SHA: properties.SHA1,
    HashAlgorithm.SHA_256: properties.SHA_256,
    HashAlgorithm.SHA_512: properties.SHA_512,
}
HASH_OF: Final = _inverse(HASH)

ENCRYPTION: Final[Mapping[EncryptionAlgorithm, int]] = {
    EncryptionAlgorithm.RC2: properties.RC2,
    EncryptionAlgorithm.RC4: properties.RC4,
    EncryptionAlgorithm.AES128: properties.AES128,
    EncryptionAlgorithm.AES192: properties.AES192,
    EncryptionAlgorithm.AES256: properties.AES256,
}
"""The other encryption algorithms have no number in a packet."""
ENCRYPTION_OF: Final = _inverse(ENCRYPTION)

SIGNATURE: Final[Mapping[AuthenticationLevel, int]] = {
    AuthenticationLevel.NONE: 0,
    AuthenticationLevel.SIG10: 1,
    AuthenticationLevel.SIG20: 3,
    AuthenticationLevel.SIG30: 5,
    AuthenticationLevel.XML_SIG: 9,
}
SIGNATURE_OF: Final = _inverse(SIGNATURE)

SENDER: Final[Mapping[SenderKind, int]] = {
    SenderKind.NONE: security.NO_SENDER,
    SenderKind.SID: security.SID,
    SenderKind.QUEUE_MANAGER: security.QUEUE_MANAGER,
}
SENDER_OF: Final = _inverse(SENDER)

DESTINATION: Final[Mapping[DestinationKind, AddressKind]] = {
    DestinationKind.PRIVATE: AddressKind.PRIVATE_ON_DESTINATION,
    DestinationKind.PUBLIC: AddressKind.PUBLIC,
    DestinationKind.DIRECT: AddressKind.DIRECT,
}
DESTINATION_OF: Final = _inverse(DESTINATION)

ADMINISTRATION: Final[Mapping[AdministrationKind, AddressKind]] = {
    AdministrationKind.NONE: AddressKind.NONE,
    AdministrationKind.PRIVATE_ON_SOURCE: AddressKind.PRIVATE_ON_SOURCE,
    AdministrationKind.PRIVATE_ON_DESTINATION: AddressKind.PRIVATE_ON_DESTINATION,
    AdministrationKind.PUBLIC: AddressKind.PUBLIC,
    AdministrationKind.PRIVATE_ON_OTHER: AddressKind.PRIVATE,
    AdministrationKind.DIRECT: AddressKind.DIRECT,
}
ADMINISTRATION_OF: Final = _inverse(ADMINISTRATION)

RESPONSE: Final[Mapping[ResponseKind, AddressKind]] = {
    ResponseKind.NONE: AddressKind.NONE,
    ResponseKind.SAME_AS_ADMINISTRATION: AddressKind.SAME_AS_ADMIN,
    ResponseKind.PRIVATE_ON_SOURCE: AddressKind.PRIVATE_ON_SOURCE,
    ResponseKind.PRIVATE_ON_DESTINATION: AddressKind.PRIVATE_ON_DESTINATION,
    ResponseKind.PRIVATE_ON_ADMINISTRATION: AddressKind.PRIVATE_ON_ADMIN,
    ResponseKind.PUBLIC: AddressKind.PUBLIC,
    ResponseKind.PRIVATE_ON_OTHER: AddressKind.PRIVATE,
    ResponseKind.DIRECT: AddressKind.DIRECT,
}
RESPONSE_OF: Final = _inverse(RESPONSE)

_BITS: Final[Mapping[Acknowledgement, int]] = {
    Acknowledgement.POS_ARRIVAL: properties.ACK_POS_ARRIVAL,
    Acknowledgement.POS_RECEIVE: properties.ACK_POS_RECEIVE,
    Acknowledgement.NEG_ARRIVAL: properties.ACK_NEG_ARRIVAL,
    Acknowledgement.NEG_RECEIVE: properties.ACK_NEG_RECEIVE,
}
ACKNOWLEDGEMENT: Final[Mapping[Acknowledgement, int]] = {
    **_BITS,
    Acknowledgement.NACK_REACH_QUEUE: properties.ACK_NEG_ARRIVAL,
    Acknowledgement.FULL_REACH_QUEUE: properties.ACK_POS_ARRIVAL | properties.ACK_NEG_ARRIVAL,
    Acknowledgement.NACK_RECEIVE: properties.ACK_NEG_ARRIVAL | properties.ACK_NEG_RECEIVE,
    Acknowledgement.FULL_RECEIVE: (
        properties.ACK_NEG_ARRIVAL | properties.ACK_POS_RECEIVE | properties.ACK_NEG_RECEIVE
    ),
}
"""The last four values are combinations of the first four."""


def acknowledgement_bits(wanted: tuple[Acknowledgement, ...]) -> int:
    """Return MessagePropertiesHeader.Flags for these acknowledgements."""
    bits = 0
    for each in wanted:
        bits |= ACKNOWLEDGEMENT[each]
    return bits


ACKNOWLEDGEMENTS_OF: Final[tuple[tuple[Acknowledgement, ...], ...]] = tuple(
    tuple(value for value, bit in _BITS.items() if bits & bit) for bits in range(16)
)
"""The acknowledgements that each value of the four bits requests."""

"""The attributes of a message that most messages do not have, [MS-MQDMPR] 3.1.1.12, and their values.

A message without any of them has no `Attributes` at all (`Message.more` is None): no rule about them is
asked, and nothing of them is stored.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final
from uuid import UUID

import msgspec

from reliquary.wire.stored_names import STORED_NAMES

NO_GUID: Final = UUID(int=0)


class MessageClass(IntEnum):
    """Message.Class, with the values of the packet, 3.1.7.1.31."""

    NORMAL = 0x0000
    REPORT = 0x0001
    ACK_REACH_QUEUE = 0x0002
    ORDER_ACK = 0x00FF
    ACK_RECEIVE = 0x4000
    NACK_BAD_DEST_QUEUE = 0x8000
    NACK_PURGED = 0x8001
    NACK_REACH_QUEUE_TIMEOUT = 0x8002
    NACK_QUEUE_EXCEED_QUOTA = 0x8003
    NACK_ACCESS_DENIED = 0x8004
    NACK_HOP_COUNT_EXCEEDED = 0x8005
    NACK_BAD_SIGNATURE = 0x8006
    NACK_BAD_ENCRYPTION = 0x8007
    NACK_COULD_NOT_ENCRYPT = 0x8008
    NACK_NOT_TRANSACTIONAL_QUEUE = 0x8009
    NACK_NOT_TRANSACTIONAL_MESSAGE = 0x800A
    NACK_UNSUPPORTED_CRYPTO_PROVIDER = 0x800B
    NACK_SOURCE_COMPUTER_GUID_CHANGED = 0x800C
    NACK_QUEUE_DELETED = 0xC000
    NACK_QUEUE_PURGED = 0xC001
    NACK_RECEIVE_TIMEOUT = 0xC002
    NACK_RECEIVE_TIMEOUT_AT_SENDER = 0xC003
    NACK_RECEIVE_REJECTED = 0xC004

    @property
    def is_failure(self) -> bool:
        """Return whether the class says that the message did not reach a reader."""
        return self >= MessageClass.NACK_BAD_DEST_QUEUE


class Delivery(Enum):
    """Message.DeliveryGuarantee: whether a message is kept in memory or on disk."""

    EXPRESS = 0
    RECOVERABLE = 1

    @property
    def word(self) -> str:
        """The name of this guarantee, as people and headers write it."""
        return self.name.lower()


EXPRESS: Final = Delivery.EXPRESS
RECOVERABLE: Final = Delivery.RECOVERABLE
"""Names for code that runs for every message, because Python 3.11 finds a member of an enum slowly."""


class MessagePrivacy(Enum):
    """Message.PrivacyLevel: how the body is encrypted while it is sent (DM-044)."""

    NONE = "none"
    BASE = "base"
    ENHANCED = "enhanced"
    ADVANCED = "advanced"


class AuthenticationLevel(Enum):
    """Message.AuthenticationLevel: how the message is signed while it is sent (DM-045)."""

    NONE = "none"
    SIG10 = "sig10"
    SIG20 = "sig20"
    SIG30 = "sig30"
    XML_SIG = "xmlsig"


class Acknowledgement(Enum):
    """Message.AcknowledgementsRequested: which acknowledgements the sender wants (DM-056)."""

    POS_ARRIVAL = "pos-arrival"
    POS_RECEIVE = "pos-receive"
    NEG_ARRIVAL = "neg-arrival"
    NEG_RECEIVE = "neg-receive"
    NACK_REACH_QUEUE = "nack-reach-queue"
    FULL_REACH_QUEUE = "full-reach-queue"
    NACK_RECEIVE = "nack-receive"
    FULL_RECEIVE = "full-receive"


class HashAlgorithm(Enum):
    """Message.HashAlgorithm: the hash of a signature (DM-059)."""

    MD2 = "md2"
    MD4 = "md4"
    MD5 = "md5"
    SHA1 = "sha1"
    SHA = "sha"
    SHA_256 = "sha256"
    SHA_512 = "sha512"


class EncryptionAlgorithm(Enum):
    """Message.EncryptionAlgorithm: the cipher of an encrypted body (DM-060)."""

    RSA = "rsa"
    DSS = "dss"
    RSA_KEYS = "rsa-keys"
    DES = "des"
    RC2 = "rc2"
    AES256 = "aes256"
    AES128 = "aes128"
    AES192 = "aes192"
    RC4 = "rc4"
    SEAL = "seal"


class DestinationKind(Enum):
    """Message.DestinationQueueType: the form of the destination's name (DM-061)."""

    PRIVATE = "private"
    PUBLIC = "public"
    DIRECT = "direct"


class AdministrationKind(Enum):
    """Message.AdministrationQueueType: the form of the administration queue's name (DM-061)."""

    NONE = "none"
    PRIVATE_ON_SOURCE = "private-on-source"
    PRIVATE_ON_DESTINATION = "private-on-destination"
    PUBLIC = "public"
    PRIVATE_ON_OTHER = "private-on-other"
    DIRECT = "direct"


class ResponseKind(Enum):
    """Message.ResponseQueueType: the form of the response queue's name (DM-061)."""

    NONE = "none"
    SAME_AS_ADMINISTRATION = "same-as-administration"
    PRIVATE_ON_DESTINATION = "private-on-destination"
    PRIVATE_ON_SOURCE = "private-on-source"
    PRIVATE_ON_ADMINISTRATION = "private-on-administration"
    PUBLIC = "public"
    PRIVATE_ON_OTHER = "private-on-other"
    DIRECT = "direct"


class SenderKind(Enum):
    """Message.SenderIdentifierType: what `sender` identifies (DM-061)."""

    NONE = "none"
    SID = "sid"
    QUEUE_MANAGER = "queue-manager"


class ObjectId(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """OBJECTID: the lineage of the manager that made a message, and a number that is unique there."""

    lineage: UUID = NO_GUID
    uniquifier: int = 0

    def __str__(self) -> str:
        return f"{self.lineage}\\{self.uniquifier}"


class SequenceId(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """TxSequenceId: the name of one stream of transactional messages; both parts only grow."""

    ordinal: int
    timestamp: int


NO_OBJECT: Final = ObjectId()


class StoredBody(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A reference to a body that is too large for one row and is stored in pieces in a table for bodies."""

    spool: int
    """The number of the body, with which the keys of its pieces begin."""
    size: int
    pieces: int


class Attributes(
    msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename=STORED_NAMES
):
    """The rare attributes of a message; on disk they are a map without those that have their default."""

    message_class: int = MessageClass.NORMAL
    """A MessageClass, or a value that an application defines (DM-043)."""
    time_to_reach_queue: int = 0x54600
    """TimeToReachQueue in seconds after SentTime; the default is four days (DM-057)."""
    delay: int = 0
    """Microseconds after SentTime in which readers do not see the message; the specification has no delay."""
    correlation: ObjectId = NO_OBJECT
    application_tag: int = 0
    extension: bytes = b""
    acknowledgements: tuple[Acknowledgement, ...] = ()
    positive_journaling: bool = False
    negative_journaling: bool = False
    discard_refused: bool = False
    """The sender wants no dead letter, not even when a peer refuses the message."""
    application_deadletter_queue: str = ""
    allow_peek_when_locked: bool = False
    tracing_requested: bool = False
    tracing_queue: UUID = NO_GUID
    response_queue: str = ""
    response_queues: tuple[str, ...] = ()
    destination_queue: str = ""
    destination_queues: tuple[str, ...] = ()
    administration_queue: str = ""
    administration_queues: tuple[str, ...] = ()
    multiple_destination_signature: bytes = b""
    privacy: MessagePrivacy = MessagePrivacy.NONE
    authentication: AuthenticationLevel = AuthenticationLevel.NONE
    hash_algorithm: HashAlgorithm = HashAlgorithm.SHA1
    encryption_algorithm: EncryptionAlgorithm = EncryptionAlgorithm.RC4
    source_machine: UUID | None = None
    """SourceMachineIdentifier; None for the usual message, whose source is the lineage of its identifier."""
    destination_manager: UUID = NO_GUID
    destination_kind: DestinationKind = DestinationKind.PRIVATE
    administration_kind: AdministrationKind = AdministrationKind.NONE
    response_kind: ResponseKind = ResponseKind.NONE
    sender: bytes = b""
    sender_kind: SenderKind = SenderKind.SID
    sender_certificate: bytes = b""
    connector_type: UUID = NO_GUID  # DM-062
    connector_manager: UUID = NO_GUID
    transaction_status_queue: str = ""
    symmetric_key: bytes = b""
    signature: bytes = b""
    authentication_provider_type: int = 1
    authentication_provider_name: str = ""
    sequence: SequenceId | None = None
    """TransactionalMessageSequenceIdentifier; None for a message that is in no stream."""
    sequence_number: int = 0
    previous_sequence_number: int = 0
    transaction: UUID | None = None
    """TransactionIdentifier: the transaction in which it was sent."""
    final_ack_required: bool = False
    first_in_transaction: bool = False
    last_in_transaction: bool = False
    soap_envelope: str = ""
    soap_compound_message: str = ""
    soap_header: str = ""
    soap_body: str = ""
    carrier_header: str = ""
    """Header fields of a message, as its carrier wrote them, for readers and for the next hop.

    In a message that an application sends here, they are the fields that the sender chose; the carrier
    distinguishes the two cases.
    """
    stored_body: StoredBody | None = None
    """The place of a large body; `body` is empty then."""
    hops: int = 0
    """The number of managers that have passed on the message, to find one that goes in a circle."""
    trace_context: str = ""
    """The trace that its sender began or continued, as `wire.trace_context` writes it; never changed."""


USUAL: Final = Attributes()
"""The attributes of a message that has no rare ones: each has its default."""

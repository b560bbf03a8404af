"""Defines the stored records of queues and of the manager, [MS-MQDMPR] 3.1.1.1 and 3.1.1.2."""

from __future__ import annotations

from enum import Enum
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.queueing.model.message import FOREVER, NO_GUID
from reliquary.queueing.model.names.multicast import read_address
from reliquary.wire.stored_names import STORED_NAMES

KILOBYTE: Final = 1024
BASE_PRIORITY_LIMIT: Final = 32767
QUEUE_LABEL_LIMIT: Final = 124


class QueueType(Enum):
    """Queue.QueueType (DM-027): the kinds of queues."""

    PRIVATE = "private"
    PUBLIC = "public"
    SYSTEM = "system"
    CONNECTOR = "connector"


class QueuePrivacy(Enum):
    """Queue.PrivacyLevel: whether a queue takes plain or encrypted messages (DM-023)."""

    NONE = "none"
    OPTIONAL = "optional"
    BODY = "body"


class Scope(Enum):
    """Queue.Scope (DM-025), which is always Enterprise."""

    SITE = "site"
    ENTERPRISE = "enterprise"


class OperatingSystemType(Enum):
    """QueueManager.OperatingSystemType: the system that the manager runs on (DM-008)."""

    FOREIGN = "foreign"
    WIN95 = "win95"
    WIN_CLIENT = "win-client"
    WIN_SERVER = "win-server"
    WIN_ENT = "win-ent"
    OTHER = "other"


class DirectoryServerType(Enum):
    """QueueManager.DirectoryServerType: the role of a manager that is a directory server (DM-012)."""

    STANDALONE = "standalone"
    BACKUP_SITE_CONTROLLER = "backup-site-controller"
    PRIMARY_SITE_CONTROLLER = "primary-site-controller"
    PRIMARY_ENTERPRISE_CONTROLLER = "primary-enterprise-controller"


class ManagerState(Enum):
    """QueueManagerState (DM-015): whether the manager runs."""

    STOPPED = "stopped"
    INITIALIZING = "initializing"
    READY = "ready"
    STOPPING = "stopping"


class QueueSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The attributes of a queue that a caller may choose, with the defaults of 3.1.7.1.33 (DM-283)."""

    label: str = ""
    """A description of the queue for people."""
    type: UUID = NO_GUID
    """A GUID that an application chooses; it is never interpreted (DM-021)."""
    journaling: bool = False
    """The journal of the queue gets a copy of each message that is received."""
    journal_required: bool = False
    """A message is not received when the journal has no room for its copy; otherwise the copy is left out."""
    quota: int = FOREVER
    """The largest size of all its messages, in kilobytes."""
    journal_quota: int = FOREVER
    """The largest size of all messages in its journal, in kilobytes."""
    authentication: bool = False
    """The queue takes only signed messages."""
    privacy: QueuePrivacy = QueuePrivacy.OPTIONAL
    """Whether the queue takes only plain messages, only encrypted ones, or both."""
    transactional: bool = False
    """The queue takes only messages that are sent in a transaction."""
    multicast_address: str | None = None
    """An address `ip:port`; messages that are sent to it also come into this queue."""
    security: bytes = b""
    """The security descriptor in self-relative form; empty stands for the default list."""
    base_priority: int = 0
    """The priority of the queue among other queues, from -32767 to 32767."""
    poison_limit: int = 0
    """The number of reads and returns after which a message moves to the subqueue `poison`; 0: no limit."""
    retry_delay: int = 0
    """Seconds before a returned message can be read again; each return doubles them."""
    longest_retry_delay: int = 3600
    """The largest delay of a returned message, in seconds."""
    keep_refused: bool = True
    """A message that its peer refuses becomes a dead letter, even if its sender asked for none."""


class Outgoing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The stored attributes that only an OutgoingQueue has, 3.1.1.3; `travel.link.Link` has its State."""

    destination: str
    """DestinationFormatName, as the sender wrote it."""
    multicast: bool = False
    on_hold: bool = False
    """State OnHold of the specification: an administrator paused the queue until it is resumed, also after a
    restart (AN-49)."""
    locked: bool = False
    """State Locked: hardened security forbids to send (AN-49, DM-095)."""
    broken: tuple[tuple[UUID, int], ...] = ()
    """Transactions with a refused message, and the reason; no more messages of them are sent."""
    carrier: str = ""
    """The carrier that the queue had at the last start, if that carrier holds a backlog; else empty."""


class Queue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The stored row of a queue.  The volatile parts (descriptors, waiting reads) are in `state`."""

    number: int
    """The number in the keys of all rows of this queue, and PrivateQueueNumber of a private queue."""
    identifier: UUID
    pathname: str
    qualified_pathname: str
    kind: QueueType
    settings: QueueSettings = QueueSettings()
    create_time: int
    modify_time: int
    full_path: str = ""
    directory_path: str = ""
    scope: Scope = Scope.ENTERPRISE
    journal: int | None = None
    """The number of its journal queue (JournalQueueReference); None for a subqueue and for a journal."""
    parent: int | None = None
    """The number of the queue whose subqueue or journal this is."""
    is_journal: bool = False
    deleting: bool = False
    """The queue is being deleted: its name can be used again, and its messages are removed in later turns."""
    outgoing: Outgoing | None = None
    """The attributes of an outgoing queue, whose path name is its destination; None for a local queue."""


class Era(msgspec.Struct, frozen=True):
    """The time of a manager since its store was last restored from a backup (`rules.era`)."""

    number: int
    restoration: UUID
    """The identifier of the restoration that began this era."""
    lineage: UUID
    """The GUID in the identifiers of messages that the manager makes in this era."""
    began: int
    """The beginning of the era, microseconds since 1970."""
    alive_until: int
    """The last moment at which the manager of the earlier era may have run."""
    floor: int
    """The highest SequentialID that may have been used when the backup was made."""


class QueueManagerRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename=STORED_NAMES):
    """The stored row of the LocalQueueManager, 3.1.1.1: every attribute that survives a restart."""

    identifier: UUID
    computer_name: str
    qualified_computer_name: str
    create_time: int
    modify_time: int
    queue_manager_version: str = ""  # DM-009
    operating_system_version: str = ""
    operating_system_type: OperatingSystemType = OperatingSystemType.OTHER
    quota: int = 0x00100000  # DM-010
    """QueueManagerQuota: the largest size of all messages, in kilobytes."""
    # DEPARTS from 3.1.1.1 (AN-40): the printed unit is bytes, which would be one megabyte for a whole
    # manager; kilobytes fit the default value.
    journal_quota: int = FOREVER  # DM-011
    foreign_system: bool = False
    full_path: str = ""
    site_identifiers: tuple[UUID, ...] = ()
    connected_network_identifiers: tuple[UUID, ...] = ()
    out_routing_servers: tuple[UUID, ...] = ()
    in_routing_servers: tuple[UUID, ...] = ()
    directory_server: bool = False
    remote_access_server: bool = False
    routing_server: bool = False
    supporting_server: bool = False
    directory_server_type: DirectoryServerType = DirectoryServerType.STANDALONE
    public_encryption_keys: tuple[bytes, ...] = ()
    public_signing_keys: tuple[bytes, ...] = ()
    security: bytes = b""
    clustered: bool = False
    last_domain: UUID | None = None
    directory_servers: tuple[str, ...] = ()
    directory_integrated: bool = False
    directory_detached: bool = False
    """An administrator detached the manager from the directory."""
    http_support: bool = False
    """The manager sends and receives messages over HTTP, [MC-MQSRM]."""
    pgm_support: bool = False
    """The manager sends and receives messages by multicast, [MC-MQSRM] 2.1.3."""
    hardened_security: bool = False
    initialization_retry_seconds: int = 120  # DM-017
    era: Era | None = None
    """The present era; None for a store that was never restored from a backup."""

    @property
    def lineage(self) -> UUID:
        """The GUID in the identifiers of messages that the manager makes now."""
        return self.identifier if self.era is None else self.era.lineage


def check_settings(settings: QueueSettings) -> None:
    """Raise UsageError, with the limit and the value, for settings outside their ranges."""
    if settings.multicast_address is not None:
        read_address(settings.multicast_address)
    if len(settings.label) > QUEUE_LABEL_LIMIT:
        raise UsageError(
            f"a queue's label has at most {QUEUE_LABEL_LIMIT} characters, this one has {len(settings.label)}"
        )
    for name, value in (("quota", settings.quota), ("journal quota", settings.journal_quota)):
        if not 0 <= value <= FOREVER:
            raise UsageError(f"a {name} is 0 to {FOREVER} kilobytes, not {value}")
    for name, value in (
        ("poison limit", settings.poison_limit),
        ("retry delay", settings.retry_delay),
        ("longest retry delay", settings.longest_retry_delay),
    ):
        if not 0 <= value <= FOREVER:
            raise UsageError(f"a {name} is 0 to {FOREVER}, not {value}")
    if settings.retry_delay > settings.longest_retry_delay:
        raise UsageError(
            f"a retry delay of {settings.retry_delay} seconds is longer than the longest,"
            f" {settings.longest_retry_delay} seconds"
        )
    if abs(settings.base_priority) > BASE_PRIORITY_LIMIT:
        raise UsageError(
            f"a base priority is -{BASE_PRIORITY_LIMIT} to {BASE_PRIORITY_LIMIT},"
            f" not {settings.base_priority}"
        )


def exceeds(quota: int, size: int) -> bool:
    """Return whether `size` in bytes is more than a quota in kilobytes allows."""
    return quota != FOREVER and size > quota * KILOBYTE

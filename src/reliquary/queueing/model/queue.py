"""Queue and QueueManager as they are kept on disk, [MS-MQDMPR] 3.1.1.1 and 3.1.1.2."""

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
    """DM-027."""

    PRIVATE = "private"
    PUBLIC = "public"
    SYSTEM = "system"
    CONNECTOR = "connector"


class QueuePrivacy(Enum):
    """Queue.PrivacyLevel: which messages it takes (DM-023)."""

    NONE = "none"
    OPTIONAL = "optional"
    BODY = "body"


class Scope(Enum):
    """DM-025: the constant Enterprise."""

    SITE = "site"
    ENTERPRISE = "enterprise"


class OperatingSystemType(Enum):
    """DM-008."""

    FOREIGN = "foreign"
    WIN95 = "win95"
    WIN_CLIENT = "win-client"
    WIN_SERVER = "win-server"
    WIN_ENT = "win-ent"
    OTHER = "other"


class DirectoryServerType(Enum):
    """DM-012."""

    STANDALONE = "standalone"
    BACKUP_SITE_CONTROLLER = "backup-site-controller"
    PRIMARY_SITE_CONTROLLER = "primary-site-controller"
    PRIMARY_ENTERPRISE_CONTROLLER = "primary-enterprise-controller"


class ManagerState(Enum):
    """QueueManagerState (DM-015)."""

    STOPPED = "stopped"
    INITIALIZING = "initializing"
    READY = "ready"
    STOPPING = "stopping"


class QueueSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a caller may choose, with the values of Set Queue Defaults, 3.1.7.1.33 (DM-283)."""

    label: str = ""
    type: UUID = NO_GUID
    """Application-defined; never interpreted (DM-021)."""
    journaling: bool = False
    journal_required: bool = False
    """Nothing is received whose copy the journal has no room for; else the copy is left out."""
    quota: int = FOREVER
    """Kilobytes."""
    journal_quota: int = FOREVER
    """Kilobytes."""
    authentication: bool = False
    privacy: QueuePrivacy = QueuePrivacy.OPTIONAL
    transactional: bool = False
    multicast_address: str | None = None
    """`ip:port`; what is sent there comes into this queue too."""
    security: bytes = b""
    """Security descriptor in self-relative form; empty stands for the default list."""
    base_priority: int = 0
    poison_limit: int = 0
    """How often a message is handed out without being consumed before it is put aside; 0 is no limit."""
    retry_delay: int = 0
    """Seconds before a message that came back is handed out again, doubled each time it does."""
    longest_retry_delay: int = 3600
    """Seconds; the delay does not grow beyond this."""
    keep_refused: bool = True
    """A message that its peer refuses for good becomes a dead letter, also if its sender asked for none."""


class Outgoing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an OutgoingQueue has beside a queue, 3.1.1.3; its State is `state.QueueState`'s."""

    destination: str
    """DestinationFormatName, as it was given."""
    multicast: bool = False
    on_hold: bool = False
    """State OnHold; an administrator's word holds until he takes it back (AN-49)."""
    locked: bool = False
    """State Locked (AN-49, DM-095)."""
    broken: tuple[tuple[UUID, int], ...] = ()
    """Transactions of which a message was refused, with the reason: nothing more of them is sent."""


class Queue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A queue's row.  What only lives while we run (descriptors, readers) is `state.QueueState`."""

    number: int
    """The key of everything this queue holds, and PrivateQueueNumber of a private queue."""
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
    """The number of its journal queue (JournalQueueReference); None for a subqueue or a journal."""
    parent: int | None = None
    """The queue whose subqueue or journal this is."""
    is_journal: bool = False
    deleting: bool = False
    """Its name is free again, its messages are on their way out."""
    outgoing: Outgoing | None = None
    """Not None for a queue whose messages go elsewhere; its path name is the destination then."""


class Era(msgspec.Struct, frozen=True):
    """The life of a manager since its store was restored from a backup (`era`)."""

    number: int
    restoration: UUID
    """Which restoration began it."""
    lineage: UUID
    """The GUID in the identifiers of the messages that the manager makes in this era."""
    began: int
    """When, microseconds since 1970."""
    alive_until: int
    """The manager of the era before may have worked until then."""
    floor: int
    """The last SequentialID that the backup may have given out."""


class QueueManagerRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename=STORED_NAMES):
    """LocalQueueManager, 3.1.1.1: every attribute that outlives the process."""

    identifier: UUID
    computer_name: str
    qualified_computer_name: str
    create_time: int
    modify_time: int
    queue_manager_version: str = ""
    operating_system_version: str = ""
    operating_system_type: OperatingSystemType = OperatingSystemType.OTHER
    quota: int = 0x00100000
    """QueueManagerQuota, in kilobytes."""
    # DEPARTS from 3.1.1.1 (AN-40): the printed unit is bytes, which would be one megabyte for a
    # whole manager; kilobytes are what the number was made for.
    journal_quota: int = FOREVER
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
    """An administrator put the directory out of reach."""
    http_support: bool = False
    """Messages come and go over HTTP, [MC-MQSRM]."""
    pgm_support: bool = False
    """They come and go by multicast, [MC-MQSRM] 2.1.3."""
    hardened_security: bool = False
    initialization_retry_seconds: int = 120
    era: Era | None = None
    """None until the store is restored from a backup for the first time."""

    @property
    def lineage(self) -> UUID:
        """The GUID in the identifiers of new messages."""
        return self.identifier if self.era is None else self.era.lineage


def check_settings(settings: QueueSettings) -> None:
    """Refuse settings outside their ranges, with the limit and the value."""
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
    """Whether so many bytes are more than a quota in kilobytes allows."""
    return quota != FOREVER and size > quota * KILOBYTE

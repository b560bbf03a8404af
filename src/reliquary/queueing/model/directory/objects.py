"""The objects of the directory with all directory attributes, [MS-MQDMPR] 3.1.1.1, .2, .6 to .9 and .15.

Attributes have the names of the specification in Python spelling: ActualCost is `actual_cost`.  A struct is
also the row on disk and the table in an exported file.
"""

from __future__ import annotations

import unicodedata
from enum import Enum
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.queueing.model.message import FOREVER, NO_GUID
from reliquary.queueing.model.names.formats import parse_single
from reliquary.queueing.model.names.pathnames import COMPUTER_NAME_LIMIT, QUEUE_NAME_LIMIT, check_name
from reliquary.queueing.model.queue import (
    DirectoryServerType,
    OperatingSystemType,
    QueuePrivacy,
    QueueSettings,
    check_settings,
)
from reliquary.queueing.model.security.rights import (
    EnterpriseRight,
    ManagerRight,
    NetworkRight,
    QueueRight,
    Right,
    SiteRight,
    check_descriptor,
)
from reliquary.wire.certificates import digest_of
from reliquary.wire.security import parse_sid

TEXT_LIMIT: Final = 1024
LIST_LIMIT: Final = 1000
COST_LIMIT: Final = 999_999
DIGEST_BYTES: Final = 16
FOUR_DAYS: Final = 0x54600
"""DefaultTimeToLive in seconds: the TimeToReachQueue of a message that sets none (DM-057)."""


class ObjectKind(Enum):
    """The types of directory objects, with the words that people and files use for them."""

    ENTERPRISE = "enterprise"
    SITE = "site"
    ROUTING_LINK = "routing-link"
    CONNECTED_NETWORK = "connected-network"
    QUEUE_MANAGER = "queue-manager"
    QUEUE = "queue"
    USER = "user"
    DISTRIBUTION_LIST = "distribution-list"


class _Base(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="kind",
):
    """DirectoryObject: for NO_GUID the directory chooses an Identifier, which then never changes (DM-005)."""

    identifier: UUID = NO_GUID


class Enterprise(_Base, frozen=True, tag=ObjectKind.ENTERPRISE.value):
    """The Enterprise, 3.1.1.6: all sites together."""

    name: str = ""
    weakened_security: bool = False
    non_ldap_notification: bool | None = None
    """NonLDAPCapableQueueManagerNotification; None when the directory has no value."""
    default_time_to_live: int = FOUR_DAYS
    old_directory: bool = False
    security: bytes = b""


class Site(_Base, frozen=True, tag=ObjectKind.SITE.value):
    """A Site, 3.1.1.7: managers with fast connections between them."""

    name: str = ""
    primary_site_controller: str = ""
    intra_site_replication_seconds: int = 0
    inter_site_replication_seconds: int = 0
    full_path: str = ""
    foreign_site: bool = False
    public_signing_keys: tuple[bytes, ...] = ()
    migrated_from_msmq10: bool = False
    security: bytes = b""


class RoutingLink(_Base, frozen=True, tag=ObjectKind.ROUTING_LINK.value):
    """A RoutingLink, 3.1.1.8: the cost of the way between two sites."""

    description: str = ""
    full_path: str = ""
    actual_cost: int = 1
    site1: UUID = NO_GUID
    site2: UUID = NO_GUID
    site_gates: tuple[UUID, ...] = ()
    """SiteGateIdentifierList: the managers through which messages leave or enter a site."""


class ConnectedNetwork(_Base, frozen=True, tag=ObjectKind.CONNECTED_NETWORK.value):
    """A ConnectedNetwork, 3.1.1.9: a network that reaches foreign systems."""

    name: str = ""
    security: bytes = b""


class ManagerObject(_Base, frozen=True, tag=ObjectKind.QUEUE_MANAGER.value):
    """A queue manager, 3.1.1.1, with its directory attributes only (DM-003)."""

    computer_name: str = ""
    qualified_computer_name: str = ""
    create_time: int = 0
    modify_time: int = 0
    queue_manager_version: str = ""
    operating_system_version: str = ""
    operating_system_type: OperatingSystemType = OperatingSystemType.OTHER
    quota: int = 0x00100000
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


class QueueObject(_Base, frozen=True, tag=ObjectKind.QUEUE.value):
    """A public queue, 3.1.1.2, with its directory attributes only (DM-020)."""

    queue_manager: UUID = NO_GUID
    """The manager of the queue; in a directory of MSMQ, the place of the object says it."""
    pathname: str = ""
    qualified_pathname: str = ""
    create_time: int = 0
    modify_time: int = 0
    label: str = ""
    type: UUID = NO_GUID
    journaling: bool = False
    quota: int = FOREVER
    journal_quota: int = FOREVER
    authentication: bool = False
    privacy: QueuePrivacy = QueuePrivacy.OPTIONAL
    transactional: bool = False
    multicast_address: str | None = None
    security: bytes = b""
    base_priority: int = 0
    full_path: str = ""
    directory_path: str = ""

    @property
    def settings(self) -> QueueSettings:
        """The settings of the queue that the directory knows; only its manager knows the others."""
        return QueueSettings(**{name: getattr(self, name) for name in SHARED_SETTINGS})


SHARED_SETTINGS: Final = tuple(
    name for name in QueueSettings.__struct_fields__ if name in QueueObject.__struct_fields__
)
"""The names of the queue settings that the directory knows."""


class User(_Base, frozen=True, tag=ObjectKind.USER.value):
    """A User, 3.1.1.15, with the certificates for signatures."""

    security_identifier: str = ""
    """The SID in its text form: S-1-5-21-..."""
    certificate_digests: tuple[bytes, ...] = ()
    """The MD5 digest of each encoded certificate (DM-037)."""
    certificates: tuple[bytes, ...] = ()
    """X.509 certificates in DER; `wire.certificates` encodes the list."""


class DistributionList(_Base, frozen=True, tag=ObjectKind.DISTRIBUTION_LIST.value):
    """A distribution list, which DL=identifier names: format names, also of other lists."""

    name: str = ""
    format_names: tuple[str, ...] = ()


DirectoryObject = (
    Enterprise | Site | RoutingLink | ConnectedNetwork | ManagerObject | QueueObject | User | DistributionList
)

TYPES: Final[dict[ObjectKind, type[DirectoryObject]]] = {
    ObjectKind.ENTERPRISE: Enterprise,
    ObjectKind.SITE: Site,
    ObjectKind.ROUTING_LINK: RoutingLink,
    ObjectKind.CONNECTED_NETWORK: ConnectedNetwork,
    ObjectKind.QUEUE_MANAGER: ManagerObject,
    ObjectKind.QUEUE: QueueObject,
    ObjectKind.USER: User,
    ObjectKind.DISTRIBUTION_LIST: DistributionList,
}
KINDS: Final[dict[type, ObjectKind]] = {type_: kind for kind, type_ in TYPES.items()}


def kind_of(subject: DirectoryObject) -> ObjectKind:
    """Return the type of a directory object."""
    return KINDS[type(subject)]


def name_of(subject: DirectoryObject) -> str:
    """Return the name by which people know a directory object."""
    match subject:
        case ManagerObject():
            return subject.computer_name
        case QueueObject():
            return subject.pathname
        case RoutingLink():
            return subject.description
        case User():
            return subject.security_identifier
        case _:
            return subject.name


class InternalCertificate(msgspec.Struct, frozen=True):
    """InternalCertificate, 3.1.1.19: a certificate that the server made, with its user (DM-072)."""

    certificate: bytes
    user: User


# -- the ranges of attributes

RIGHTS: Final[dict[type, type[Right]]] = {
    ManagerObject: ManagerRight,
    QueueObject: QueueRight,
    Site: SiteRight,
    Enterprise: EnterpriseRight,
    ConnectedNetwork: NetworkRight,
}
"""The rights that an access list can grant on each type (DM-013, DM-024, DM-036)."""


def check_object(subject: DirectoryObject) -> None:
    """Raise UsageError, which names the attribute, for an object with an attribute outside its range."""
    for attribute in subject.__struct_fields__:
        _check_value(attribute, getattr(subject, attribute))
    security = getattr(subject, "security", b"")
    if security:
        try:
            check_descriptor(security, RIGHTS[type(subject)])
        except UsageError as why:
            raise UsageError(f"security: {why}") from why
    _RULES[type(subject)](subject)  # type: ignore[operator]


def _check_value(attribute: str, value: object) -> None:
    match value:
        case str() if len(value) > TEXT_LIMIT:
            raise UsageError(f"{attribute} has at most {TEXT_LIMIT} characters, this one has {len(value)}")
        case str() if any(unicodedata.category(character) == "Cc" for character in value):
            raise UsageError(f"{attribute} cannot contain control characters")
        case bool():
            return
        case int() if attribute != "base_priority" and not 0 <= value <= FOREVER:
            raise UsageError(f"{attribute} is 0 to {FOREVER}, not {value}")
        case tuple() if len(value) > LIST_LIMIT:
            raise UsageError(f"{attribute} has at most {LIST_LIMIT} entries, this one has {len(value)}")
        case tuple() if len(set(value)) < len(value):
            raise UsageError(f"{attribute} names an entry twice")


def _check_named(subject: Enterprise | Site | ConnectedNetwork | DistributionList) -> None:
    if not subject.name:
        raise UsageError(f"name is empty: {_article(kind_of(subject))} has a name")


def _check_link(link: RoutingLink) -> None:
    if not 1 <= link.actual_cost <= COST_LIMIT:  # DM-034
        raise UsageError(f"actual_cost is 1 to {COST_LIMIT}, not {link.actual_cost}")
    for attribute in ("site1", "site2"):
        if getattr(link, attribute) == NO_GUID:
            raise UsageError(f"{attribute} is missing: a routing link joins two sites")
    if link.site1 == link.site2:
        raise UsageError(f"site1 and site2 are both {link.site1}: a routing link joins two sites")


def _check_manager(manager: ManagerObject) -> None:
    check_name("computer_name", manager.computer_name, COMPUTER_NAME_LIMIT)
    if not manager.directory_server and manager.directory_server_type is not DirectoryServerType.STANDALONE:
        raise UsageError("directory_server_type means nothing unless directory_server is true")  # DM-012


def _check_queue(queue: QueueObject) -> None:
    computer, found, name = queue.pathname.partition("\\")
    if not found or "\\" in name:
        raise UsageError(f"pathname is COMPUTER\\NAME for a public queue, not {queue.pathname!r}")
    check_name("the computer of pathname", computer, COMPUTER_NAME_LIMIT)
    check_name("the queue of pathname", name, QUEUE_NAME_LIMIT)
    check_settings(queue.settings)


def _check_user(user: User) -> None:
    try:
        parse_sid(user.security_identifier)
    except UsageError as why:
        raise UsageError(f"security_identifier: {why}") from why
    digests = set(map(digest_of, user.certificates))
    for digest in user.certificate_digests:
        if len(digest) != DIGEST_BYTES:
            raise UsageError(f"certificate_digests are {DIGEST_BYTES} bytes each, not {len(digest)}")
        if user.certificates and digest not in digests:
            raise UsageError(f"certificate_digests has {digest.hex()}, the MD5 of none of the certificates")


def _check_list(each: DistributionList) -> None:
    _check_named(each)
    for name in each.format_names:
        parse_single(name)


def _article(kind: ObjectKind) -> str:
    word = kind.value.replace("-", " ")
    return f"an {word}" if word[0] in "aeio" else f"a {word}"


_RULES: Final = {
    Enterprise: _check_named,
    Site: _check_named,
    RoutingLink: _check_link,
    ConnectedNetwork: _check_named,
    ManagerObject: _check_manager,
    QueueObject: _check_queue,
    User: _check_user,
    DistributionList: _check_list,
}

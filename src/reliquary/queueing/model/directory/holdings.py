"""What the manager has of the directory in memory: the objects, who asks about them, what it made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.queueing.model.directory.connection import Connection
from reliquary.queueing.model.directory.objects import (
    KINDS,
    ConnectedNetwork,
    DirectoryObject,
    Enterprise,
    InternalCertificate,
    Kind,
    ManagerObject,
    RoutingLink,
    Site,
    User,
    kind_of,
    name_of,
)
from reliquary.wire.security import Sid

Wanted = TypeVar("Wanted", bound=DirectoryObject)


@dataclass(slots=True)
class Surroundings:
    """What LocalQueueManager refers to, 3.1.1.1; volatile, read from the directory at each start."""

    machine_domain: UUID | None = None
    """MachineDomainId."""
    machine_sid: Sid | None = None
    """MachineSid, whom new queues show themselves to (DM-146)."""
    sites: dict[UUID, Site] = field(default_factory=dict)
    """SiteCollection (DM-016)."""
    site_gates: dict[UUID, dict[UUID, ManagerObject]] = field(default_factory=dict)
    """SiteGateCollection of each of these sites."""
    out_routing_servers: dict[UUID, ManagerObject] = field(default_factory=dict)
    """OutRoutingServerCollection (DM-016)."""
    in_routing_servers: dict[UUID, ManagerObject] = field(default_factory=dict)
    """InRoutingServerCollection (DM-016)."""
    connected_networks: dict[UUID, ConnectedNetwork] = field(default_factory=dict)
    """ConnectedNetworkCollection (DM-016)."""
    enterprise: Enterprise | None = None
    """EnterpriseReference."""
    certificates: dict[UUID, InternalCertificate] = field(default_factory=dict)
    """InternalCertificateCollection, by user."""

    def keep_certificate(self, certificate: bytes, user: User) -> None:
        """A user has one internal certificate: a new one takes the place of the old (DM-019)."""
        if not certificate:
            raise UsageError("an internal certificate is empty")
        self.certificates[user.identifier] = InternalCertificate(certificate, user)


@dataclass(slots=True)
class Query:
    """A result set that is handed out one by one; it shows the directory as it was at Begin."""

    found: list[DirectoryObject]
    attributes: tuple[str, ...] | None
    place: int = 0


@dataclass(slots=True)
class Directory:
    """The registry, and how the manager stands to it; `objects` change only through `apply`."""

    objects: dict[Kind, dict[UUID, DirectoryObject]] = field(
        default_factory=lambda: {kind: {} for kind in Kind}
    )
    names: dict[tuple[Kind, str], UUID] = field(default_factory=dict)
    """Names that no two objects of a type may share."""
    connection: Connection = Connection.APART
    watching: bool = False
    """The Directory Online Timer is set."""
    queries: dict[int, Query] = field(default_factory=dict)
    around: Surroundings = field(default_factory=Surroundings)

    @property
    def offline(self) -> bool:
        """DirectoryOffline; False where the manager is not integrated (DM-014)."""
        return self.connection is Connection.OFFLINE

    def put(self, subject: DirectoryObject) -> None:
        """Have this object, in place of an earlier one with its Identifier."""
        kind = kind_of(subject)
        before = self.objects[kind].get(subject.identifier)
        if before is not None:
            self._forget_name(before)
        self.objects[kind][subject.identifier] = subject
        if (name := own_name(subject)) is not None:
            self.names[kind, name] = subject.identifier

    def remove(self, kind: Kind, identifier: UUID) -> None:
        """Have it no longer."""
        self._forget_name(self.objects[kind].pop(identifier))

    def _forget_name(self, subject: DirectoryObject) -> None:
        if (name := own_name(subject)) is not None:
            self.names.pop((kind_of(subject), name), None)

    def get(self, wanted: type[Wanted], identifier: UUID) -> Wanted | None:
        """The object of this type with this Identifier."""
        found = self.objects[KINDS[wanted]].get(identifier)
        return found if isinstance(found, wanted) else None

    def every(self, wanted: type[Wanted]) -> list[Wanted]:
        """All objects of a type, by Identifier."""
        found = self.objects[KINDS[wanted]]
        return [each for _, each in sorted(found.items()) if isinstance(each, wanted)]

    def copy(self) -> Directory:
        """The same objects, to try a change on."""
        return Directory({kind: dict(found) for kind, found in self.objects.items()}, dict(self.names))


def own_name(subject: DirectoryObject) -> str | None:
    """The name that no other object of its type has (DM-033); None where names may repeat."""
    match subject:
        case RoutingLink():
            return None
        case Enterprise():
            return ""  # there is one
        case _:
            return name_of(subject).casefold()

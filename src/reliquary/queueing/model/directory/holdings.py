"""The directory in memory: its objects, open queries, and the objects that LocalQueueManager refers to.

[MS-MQDMPR] 3.1.1.1 lists the references.
"""

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
    ManagerObject,
    ObjectKind,
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
    """The objects that LocalQueueManager refers to, 3.1.1.1; each start reads them from the directory."""

    machine_domain: UUID | None = None
    """MachineDomainId: the domain of the computer."""
    machine_sid: Sid | None = None
    """MachineSid: the computer account, which gets read rights on new queues (DM-146)."""
    sites: dict[UUID, Site] = field(default_factory=dict)
    """SiteCollection: the sites of this manager (DM-016)."""
    site_gates: dict[UUID, dict[UUID, ManagerObject]] = field(default_factory=dict)
    """SiteGateCollection of each site: the managers through which its messages go."""
    out_routing_servers: dict[UUID, ManagerObject] = field(default_factory=dict)
    """OutRoutingServerCollection: the managers through which its messages leave (DM-016)."""
    in_routing_servers: dict[UUID, ManagerObject] = field(default_factory=dict)
    """InRoutingServerCollection: the managers through which its messages come (DM-016)."""
    connected_networks: dict[UUID, ConnectedNetwork] = field(default_factory=dict)
    """ConnectedNetworkCollection: the connected networks of this manager (DM-016)."""
    enterprise: Enterprise | None = None
    """EnterpriseReference: the one Enterprise object."""
    certificates: dict[UUID, InternalCertificate] = field(default_factory=dict)
    """InternalCertificateCollection, by the identifier of the user."""

    def keep_certificate(self, certificate: bytes, user: User) -> None:
        """Store the internal certificate of a user, in place of an earlier one (DM-019)."""
        if not certificate:
            raise UsageError("an internal certificate is empty")
        self.certificates[user.identifier] = InternalCertificate(certificate, user)


@dataclass(slots=True)
class Query:
    """The results of a directory query, as they were when it began, and the index of the next one."""

    found: list[DirectoryObject]
    attributes: tuple[str, ...] | None
    place: int = 0


@dataclass(slots=True)
class Directory:
    """The objects of the directory and the state of the connection; only `apply` changes `objects`."""

    objects: dict[ObjectKind, dict[UUID, DirectoryObject]] = field(
        default_factory=lambda: {kind: {} for kind in ObjectKind}
    )
    names: dict[tuple[ObjectKind, str], UUID] = field(default_factory=dict)
    """The identifier for each name that must be unique among the objects of a type."""
    connection: Connection = Connection.APART
    watching: bool = False
    """Whether the Directory Online Timer is set."""
    queries: dict[int, Query] = field(default_factory=dict)
    around: Surroundings = field(default_factory=Surroundings)

    @property
    def offline(self) -> bool:
        """DirectoryOffline; False when the manager is not integrated with a directory (DM-014)."""
        return self.connection is Connection.OFFLINE

    def put(self, subject: DirectoryObject) -> None:
        """Store an object, in place of an earlier one with its Identifier."""
        kind = kind_of(subject)
        before = self.objects[kind].get(subject.identifier)
        if before is not None:
            self._forget_name(before)
        self.objects[kind][subject.identifier] = subject
        if (name := own_name(subject)) is not None:
            self.names[kind, name] = subject.identifier

    def remove(self, kind: ObjectKind, identifier: UUID) -> None:
        """Remove an object, which must exist."""
        self._forget_name(self.objects[kind].pop(identifier))

    def _forget_name(self, subject: DirectoryObject) -> None:
        if (name := own_name(subject)) is not None:
            self.names.pop((kind_of(subject), name), None)

    def get(self, wanted: type[Wanted], identifier: UUID) -> Wanted | None:
        """Return the object of this type with this Identifier, or None."""
        found = self.objects[KINDS[wanted]].get(identifier)
        return found if isinstance(found, wanted) else None

    def every(self, wanted: type[Wanted]) -> list[Wanted]:
        """Return all objects of a type, sorted by Identifier."""
        found = self.objects[KINDS[wanted]]
        return [each for _, each in sorted(found.items()) if isinstance(each, wanted)]

    def copy(self) -> Directory:
        """Return a copy of objects and names, on which a change can be tried."""
        return Directory({kind: dict(found) for kind, found in self.objects.items()}, dict(self.names))


def own_name(subject: DirectoryObject) -> str | None:
    """Return the name that is unique among the objects of its type (DM-033); None when names may repeat."""
    match subject:
        case RoutingLink():
            return None
        case Enterprise():
            return ""  # there is only one enterprise
        case _:
            return name_of(subject).casefold()

r"""Convert format names to the addresses of a packet and back, [MS-MQMQ] 2.2.19.2 and 2.2.18.1.4.

    format name         form in a packet
    PUBLIC=guid         the GUID
    PRIVATE=guid\1f     the number alone if the packet already names the manager: as its source, its
                        destination, or the host of the administration queue; else GUID and number
    DIRECT=OS:a\b       OS:a\b
    orders              a path name without a computer becomes a direct name of this computer

The form follows from the name.  Where two forms are possible, the kind that the Message states
(DestinationQueueType, AdministrationQueueType, ResponseQueueType; DM-061) selects one.  A kind that does not
fit the name is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.queueing.model.message import NO_GUID
from reliquary.queueing.model.names.formats import (
    DirectName,
    DistributionListName,
    PrivateName,
    PublicName,
    SingleName,
    Suffix,
    is_format_name,
    parse_format,
    parse_single,
)
from reliquary.queueing.model.names.pathnames import parse
from reliquary.wire.packet.addresses import NOWHERE, Address, AddressKind
from reliquary.wire.packet.multi import ListedKind, ListedQueue

_DIRECT: Final = "DIRECT="
_PRIVATES: Final = (
    AddressKind.PRIVATE_ON_SOURCE,
    AddressKind.PRIVATE_ON_DESTINATION,
    AddressKind.PRIVATE_ON_ADMIN,
    AddressKind.PRIVATE,
)


class Hosts:
    """The managers that a packet names once; a private queue on one of them is written as its number."""

    __slots__ = ("admin", "computer", "destination", "source")

    def __init__(self, source: UUID, destination: UUID, computer: str = "") -> None:
        self.source = source
        self.destination = destination
        self.admin = NO_GUID
        """The host of the administration queue; it is set when that queue's address is read or written."""
        self.computer = computer
        """The name of this computer, which completes path names."""

    def host(self, kind: AddressKind) -> UUID:
        """Return the manager of a private queue whose address has this kind, which is only a number."""
        match kind:
            case AddressKind.PRIVATE_ON_SOURCE:
                return self.source
            case AddressKind.PRIVATE_ON_ADMIN:
                return self.admin
            case _:
                return self.destination


# -- from names to addresses


def destination_address(text: str, hosts: Hosts) -> Address:
    """Return UserHeader.DestinationQueue, and set `hosts.destination` to the manager of a private queue."""
    if not text:
        return NOWHERE
    name = _parsed(text, hosts)
    if isinstance(name, PrivateName):
        hosts.destination = name.computer
        return Address(AddressKind.PRIVATE_ON_DESTINATION, name.number)
    if isinstance(name, DirectName):
        hosts.destination = NO_GUID  # QueueManagerAddress is zero then, [MS-MQMQ] 2.2.19.2
    return _plain(name)


def administration_address(text: str, hosts: Hosts, preferred: AddressKind) -> Address:
    """Return UserHeader.AdminQueue; set `hosts.admin` to the manager of a private queue."""
    if not text:
        return NOWHERE
    name = _parsed(text, hosts)
    if not isinstance(name, PrivateName):
        return _plain(name)
    hosts.admin = name.computer
    allowed = (AddressKind.PRIVATE_ON_SOURCE, AddressKind.PRIVATE_ON_DESTINATION, AddressKind.PRIVATE)
    return _private(name, hosts, preferred, allowed)


def response_address(text: str, hosts: Hosts, preferred: AddressKind, administration: str) -> Address:
    """Return UserHeader.ResponseQueue, which may refer to the administration queue's address."""
    if preferred is AddressKind.SAME_AS_ADMIN and administration and text in ("", administration):
        return Address(AddressKind.SAME_AS_ADMIN)
    if not text:
        return NOWHERE
    name = _parsed(text, hosts)
    return _private(name, hosts, preferred, _PRIVATES) if isinstance(name, PrivateName) else _plain(name)


def _private(
    name: PrivateName, hosts: Hosts, preferred: AddressKind, allowed: tuple[AddressKind, ...]
) -> Address:
    """Return the address of a private queue, of the preferred kind if that fits, else of the shortest."""
    fitting = [
        kind
        for kind in allowed
        if kind is AddressKind.PRIVATE or (name.computer == hosts.host(kind) != NO_GUID)
    ]
    kind = preferred if preferred in fitting else fitting[0]
    return Address(kind, name.number, name.computer if kind is AddressKind.PRIVATE else NO_GUID)


def _plain(name: SingleName) -> Address:
    if isinstance(name, PublicName):
        return Address(AddressKind.PUBLIC, guid=name.queue)
    if isinstance(name, DirectName):
        return Address(AddressKind.DIRECT, direct=str(name).removeprefix(_DIRECT))
    raise UsageError(f"{name} has no form in a packet; PUBLIC, PRIVATE and DIRECT names have")


def _parsed(text: str, hosts: Hosts) -> SingleName:
    if is_format_name(text):
        name = parse_single(text)
    elif hosts.computer:
        name = parse_single(f"{_DIRECT}OS:{hosts.computer}\\{parse(text, hosts.computer)}")
    else:
        raise UsageError(f"{text!r} is no format name, and in a packet only those mean something")
    if isinstance(name, PublicName | PrivateName) and name.suffix is not Suffix.NONE:
        raise UsageError(f"{name} can only be read from, and has no form in a packet")
    return name


# -- from addresses to names


def name_of(address: Address, hosts: Hosts) -> str:
    """Return the format name of the queue at this address; empty where there is no address."""
    match address.kind:
        case AddressKind.NONE | AddressKind.SAME_AS_ADMIN:
            return ""
        case AddressKind.PUBLIC:
            return str(PublicName(address.guid))
        case AddressKind.PRIVATE:
            return str(PrivateName(address.guid, address.number))
        case AddressKind.DIRECT:
            return _DIRECT + address.direct
        case kind:
            return str(PrivateName(hosts.host(kind), address.number))


def host_of(address: Address, hosts: Hosts) -> UUID:
    """Return the manager of a private queue; NO_GUID for an address of another kind."""
    if address.kind is AddressKind.PRIVATE:
        return address.guid
    return hosts.host(address.kind) if address.kind in _PRIVATES else NO_GUID


# -- lists of names


def listed(names: tuple[str, ...]) -> tuple[ListedQueue, ...]:
    """Return the elements of MQFAddressHeader for these names; kinds of names without a form are left out."""
    return tuple(queue for text in names for queue in _listed(text))


def _listed(text: str) -> Iterable[ListedQueue]:
    name = parse_format(text)
    if isinstance(name, PublicName):
        yield ListedQueue(ListedKind.PUBLIC, name.queue)
    elif isinstance(name, PrivateName):
        yield ListedQueue(ListedKind.PRIVATE, name.computer, name.number)
    elif isinstance(name, DirectName):
        yield ListedQueue(ListedKind.DIRECT, direct=str(name).removeprefix(_DIRECT))
    elif isinstance(name, DistributionListName):
        yield ListedQueue(ListedKind.DISTRIBUTION_LIST, name.identifier)


def names_of(queues: tuple[ListedQueue, ...]) -> tuple[str, ...]:
    """Return the format names of the elements of MQFAddressHeader."""
    return tuple([_name_of(queue) for queue in queues])


def _name_of(queue: ListedQueue) -> str:
    match queue.kind:
        case ListedKind.PUBLIC:
            return str(PublicName(queue.guid))
        case ListedKind.PRIVATE:
            return str(PrivateName(queue.guid, queue.number))
        case ListedKind.DIRECT:
            return _DIRECT + queue.direct
        case ListedKind.DISTRIBUTION_LIST:
            return str(DistributionListName(queue.guid))

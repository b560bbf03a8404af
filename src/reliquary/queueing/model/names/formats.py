r"""Parses format names, [MS-MQMQ] 2.1, which name a queue of any manager.

    PUBLIC=guid[;JOURNAL]                           a queue of the directory
    PRIVATE=guid\1f[;JOURNAL]                       a private queue, by its manager and its number
    DIRECT=OS:host\private$\orders[;retry]          a queue by address; TCP has an IP address as the host
    DIRECT=HTTP://host[:port]/msmq/private$/orders  a queue by URL; HTTPS too
    DIRECT=WORD://host[:port]/anything              a URL of a protocol that has registered WORD
    DIRECT=OS:host\SYSTEM$;DEADXACT                 a system queue of a manager
    MACHINE=guid;DEADLETTER                         a system queue, by the manager's identifier
    CONNECTOR=guid[;XACTONLY]                       the queue to a foreign system
    DL=guid[@domain]                                a distribution list
    MULTICAST=224.1.1.1:8001                        all queues that listen to this address
    A,B                                             several of the above

Keywords and names are compared without regard to case; `key_of` returns what is compared.  In a URL, `\`
counts as `/`; to find its queue, percent signs are decoded and a query is left out.  Names of an opaque
scheme are compared as they are written, because only their protocol knows what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import lru_cache
from ipaddress import IPv4Address, ip_address
from typing import Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.queueing.model.names.multicast import PORT_LIMIT, read_address
from reliquary.queueing.model.names.pathnames import (
    COMPUTER_NAME_LIMIT,
    JOURNAL,
    QUEUE_NAME_LIMIT,
    SUBQUEUE_NAME_LIMIT,
)
from reliquary.queueing.model.names.pathnames import check_name as _check_name
from reliquary.queueing.model.names.schemes import SCHEMES, TCP, Scheme

DOMAIN_LIMIT: Final = 255
ELEMENTS_LIMIT: Final = 1000
"""The largest number of elements in a name; a longer list is refused before its elements are read."""
COMMA: Final = "%2C"
"""The escaped comma in a URL, because a comma separates several names."""


class IllegalFormatName(UsageError):
    """The text is not a format name: MQ_ERROR_ILLEGAL_FORMATNAME."""


class FormatType(IntEnum):
    """The kinds of format names: QUEUE_FORMAT_TYPE, [MS-MQMQ] 2.2.6."""

    UNKNOWN = 0
    PUBLIC = 1
    PRIVATE = 2
    DIRECT = 3
    MACHINE = 4
    CONNECTOR = 5
    DISTRIBUTION_LIST = 6
    MULTICAST = 7
    SUBQUEUE = 8


class Suffix(Enum):
    """The words after the semicolon of a name that does not name a subqueue."""

    NONE = ""
    JOURNAL = "JOURNAL"
    DEADLETTER = "DEADLETTER"
    DEADXACT = "DEADXACT"
    XACTONLY = "XACTONLY"


@dataclass(frozen=True, slots=True)
class PublicName:
    """The name of a queue of the directory."""

    queue: UUID
    suffix: Suffix = Suffix.NONE
    kind = FormatType.PUBLIC

    def __str__(self) -> str:
        return f"PUBLIC={_guid_text(self.queue)}{_tail(self.suffix)}"


@dataclass(frozen=True, slots=True)
class PrivateName:
    """The name of a private queue, by its manager and its PrivateQueueNumber."""

    computer: UUID
    number: int
    suffix: Suffix = Suffix.NONE
    kind = FormatType.PRIVATE

    def __str__(self) -> str:
        return f"PRIVATE={_guid_text(self.computer)}\\{self.number:X}{_tail(self.suffix)}"


@dataclass(frozen=True, slots=True)
class DirectName:
    """The name of a queue by the address of its manager."""

    scheme: Scheme
    address: str
    """ProtocolAddressSpecification; in a URL, the host with its port."""
    path: str
    r"""`private$\orders`, `orders;retry` or `SYSTEM$;DEADXACT`; in a URL, all that follows the host."""

    @property
    def kind(self) -> FormatType:
        """Return SUBQUEUE for the name of a subqueue, DIRECT for all others."""
        return FormatType.SUBQUEUE if self.subqueue else FormatType.DIRECT

    @property
    def host(self) -> str:
        """Return the address without a port and without brackets."""
        return self._host_and_port[0].strip("[]") if self.scheme.is_url else self.address

    @property
    def port(self) -> str:
        """Return the port of a URL; empty for the default port of its scheme."""
        port = self._host_and_port[1]
        return "" if port == self.scheme.default_port else port

    @property
    def authority(self) -> str:
        """Return `host` or `host:port` of a URL, in lower case."""
        host, port = self._host_and_port[0].casefold(), self.port
        return f"{host}:{port}" if port else host

    @property
    def _host_and_port(self) -> tuple[str, str]:
        found = _AUTHORITY.fullmatch(self.address)
        return (found[1], found[2] or "") if found else (self.address, "")

    @property
    def queue_path(self) -> str:
        r"""The path name at its manager, such as `private$\orders;retry`; empty when a URL has none."""
        return self.scheme.queue_path(self.path)

    @property
    def suffix(self) -> Suffix:
        """Return the suffix of a journal or of a system queue."""
        return _SUFFIXES.get(self.queue_path.partition(";")[2].upper(), Suffix.NONE)

    @property
    def subqueue(self) -> str:
        """Return the name of the subqueue; empty for none."""
        return self.queue_path.partition(";")[2] if self.suffix is Suffix.NONE else ""

    def __str__(self) -> str:
        if self.scheme.is_url:
            return f"DIRECT={self.scheme.word}://{self.address}{self.path}"
        return f"DIRECT={self.scheme.word}:{self.address}\\{self.path}"


@dataclass(frozen=True, slots=True)
class MachineName:
    """The name of a system queue of a manager."""

    computer: UUID
    suffix: Suffix
    kind = FormatType.MACHINE

    def __str__(self) -> str:
        return f"MACHINE={_guid_text(self.computer)}{_tail(self.suffix)}"


@dataclass(frozen=True, slots=True)
class ConnectorName:
    """The name of the queue of a connector application."""

    network: UUID
    suffix: Suffix = Suffix.NONE
    kind = FormatType.CONNECTOR

    def __str__(self) -> str:
        return f"CONNECTOR={_guid_text(self.network)}{_tail(self.suffix)}"


@dataclass(frozen=True, slots=True)
class DistributionListName:
    """The name of a distribution list of the directory."""

    identifier: UUID
    domain: str = ""
    kind = FormatType.DISTRIBUTION_LIST

    def __str__(self) -> str:
        return f"DL={_guid_text(self.identifier)}{'@' if self.domain else ''}{self.domain}"


@dataclass(frozen=True, slots=True)
class MulticastName:
    """The name of an IP multicast address."""

    address: IPv4Address
    port: int
    kind = FormatType.MULTICAST

    def __str__(self) -> str:
        return f"MULTICAST={self.address}:{self.port}"


SingleName = (
    PublicName | PrivateName | DirectName | MachineName | ConnectorName | DistributionListName | MulticastName
)


@dataclass(frozen=True, slots=True)
class MultipleName:
    """A name of several destinations."""

    elements: tuple[SingleName, ...]

    def __str__(self) -> str:
        return ",".join(map(str, self.elements))


FormatName = SingleName | MultipleName


def key_of(name: FormatName) -> str:
    """Return a text that is equal for all spellings of one name."""
    if isinstance(name, MultipleName):
        return ",".join(key_of(each) for each in name.elements)
    if isinstance(name, DirectName) and name.scheme.opaque:
        return str(name)
    return str(name).casefold()


def name_of_url(url: str) -> str:
    """Return the format name for a URL of an opaque scheme, without a check that it is correct."""
    return "DIRECT=" + url.replace(",", COMMA)


def is_format_name(text: str) -> bool:
    """Return whether a text begins like a format name, and not like a path name."""
    return text.partition("=")[0].strip().upper() in _PARSERS


@lru_cache(maxsize=1024)
def parse_format(text: str) -> FormatName:
    """Parse a format name of any kind; IllegalFormatName says what is wrong with it."""
    parts = text.split(",", ELEMENTS_LIMIT)
    if len(parts) > ELEMENTS_LIMIT:
        raise IllegalFormatName(
            f"a format name has at most {ELEMENTS_LIMIT} elements, this one has more: {text[:80]!r}"
        )
    elements = tuple(_parse_single(part.strip()) for part in parts)
    if len(elements) == 1:
        return elements[0]
    for element in elements:
        suffix = getattr(element, "suffix", Suffix.NONE)
        if element.kind is FormatType.MACHINE or suffix not in (Suffix.NONE, Suffix.XACTONLY):
            raise IllegalFormatName(f"{element} can only be read from, and is no destination among others")
    return MultipleName(elements)


def parse_single(text: str) -> SingleName:
    """Parse a format name of one destination (DM-052); several names raise IllegalFormatName."""
    name = parse_format(text)
    if isinstance(name, MultipleName):
        raise IllegalFormatName(f"{text!r} names {len(name.elements)} queues where one is wanted")
    return name


def _parse_single(text: str) -> SingleName:
    keyword, found, rest = text.partition("=")
    parser = _PARSERS.get(keyword.strip().upper())
    if parser is None or not found:
        raise IllegalFormatName(
            f"{text!r} is not a format name; these begin with {', '.join(_PARSERS)} and '='"
        )
    return parser(rest)


# -- one parser for each kind


def _parse_public(rest: str) -> PublicName:
    guid, suffix = _split_suffix(rest, Suffix.JOURNAL)
    return PublicName(_guid(guid), suffix)


def _parse_private(rest: str) -> PrivateName:
    stem, suffix = _split_suffix(rest, Suffix.JOURNAL)
    guid, _, number = stem.partition("\\")
    if not re.fullmatch("[0-9A-Fa-f]{1,8}", number):
        raise IllegalFormatName(f"{number!r} is not the number of a private queue: 1 to 8 hexadecimal digits")
    return PrivateName(_guid(guid), int(number, 16), suffix)


def _parse_direct(rest: str) -> DirectName:
    keyword, _, address = rest.partition(":")
    scheme = SCHEMES.get(keyword.strip().upper())
    if scheme is None:
        known = ", ".join(SCHEMES)
        raise IllegalFormatName(f"{keyword!r} is not a way to reach a queue; these are {known}")
    if scheme.is_url:
        return _parse_url(scheme, address)
    host, found, path = address.partition("\\")
    if not 1 <= len(host) <= COMPUTER_NAME_LIMIT or not _PRINTABLE.fullmatch(host):
        raise IllegalFormatName(f"{host!r} is not the address of a computer")
    if scheme is TCP:
        _check_ip(host)
    if not found:
        raise IllegalFormatName(f"DIRECT={rest} names a computer and no queue")
    _check_path(path)
    return DirectName(scheme, host, path)


def _parse_url(scheme: Scheme, rest: str) -> DirectName:
    if not rest.startswith("//"):
        raise IllegalFormatName(f"DIRECT={scheme.word}: goes on with //, not with {rest[:2]!r}")
    path, query, tail = _before_tail(scheme, rest[2:])
    host, found, path = path.replace("\\", "/").partition("/")
    path += query + tail
    if not _PRINTABLE.fullmatch(host) or not _AUTHORITY.fullmatch(host):
        raise IllegalFormatName(f"{host!r} is not the address of a computer")
    if not found or not _PRINTABLE.fullmatch(path or "/"):
        raise IllegalFormatName(f"DIRECT={scheme.word}:{rest} has no path of printable characters")
    name = DirectName(scheme, host, f"/{path}")
    if not 1 <= int(name.port or 1) <= PORT_LIMIT:
        raise IllegalFormatName(f"a port is 1 to {PORT_LIMIT}, not {name.port}")
    if scheme.opaque:
        return name
    try:
        queue_path = name.queue_path
    except UnicodeDecodeError as why:
        raise IllegalFormatName(f"what is escaped in {path!r} is not UTF-8") from why
    if queue_path:
        _check_path(queue_path)
    return name


def _before_tail(scheme: Scheme, text: str) -> tuple[str, str, str]:
    """Split a URL into its path, the mark `?` (or `#` in an opaque scheme), and the text after the mark."""
    found = re.search("[?#]" if scheme.opaque else "[?]", text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")


def _parse_machine(rest: str) -> MachineName:
    guid, suffix = _split_suffix(rest, Suffix.JOURNAL, Suffix.DEADLETTER, Suffix.DEADXACT)
    if suffix is Suffix.NONE:
        raise IllegalFormatName(f"MACHINE={rest} needs ;JOURNAL, ;DEADLETTER or ;DEADXACT")
    return MachineName(_guid(guid), suffix)


def _parse_connector(rest: str) -> ConnectorName:
    guid, suffix = _split_suffix(rest, Suffix.XACTONLY)
    return ConnectorName(_guid(guid), suffix)


def _parse_list(rest: str) -> DistributionListName:
    guid, found, domain = rest.partition("@")
    if found and not (1 <= len(domain) <= DOMAIN_LIMIT and _PRINTABLE.fullmatch(domain)):
        raise IllegalFormatName(f"a domain has 1 to {DOMAIN_LIMIT} printable characters, not {domain!r}")
    return DistributionListName(_guid(guid), domain)


def _parse_multicast(rest: str) -> MulticastName:
    try:
        return MulticastName(*read_address(rest))
    except UsageError as why:
        raise IllegalFormatName(str(why)) from why


_PARSERS: Final[dict[str, Callable[[str], SingleName]]] = {
    "PUBLIC": _parse_public,
    "PRIVATE": _parse_private,
    "DIRECT": _parse_direct,
    "MACHINE": _parse_machine,
    "CONNECTOR": _parse_connector,
    "DL": _parse_list,
    "MULTICAST": _parse_multicast,
}

# -- the parts of names

_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+")
_AUTHORITY: Final = re.compile(r"(\[[^]]+\]|[^:@\[\]]+)(?::([0-9]{1,5}))?")
_GUID: Final = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_SUFFIXES: Final = {suffix.value: suffix for suffix in Suffix if suffix is not Suffix.NONE}
_SYSTEM_SUFFIXES: Final = (Suffix.JOURNAL, Suffix.DEADLETTER, Suffix.DEADXACT)


def _guid(text: str) -> UUID:
    if not _GUID.fullmatch(text):
        raise IllegalFormatName(f"{text!r} is not a GUID: 8-4-4-4-12 hexadecimal digits")
    return UUID(text)


def _guid_text(guid: UUID) -> str:
    return str(guid).upper()


def _tail(suffix: Suffix) -> str:
    return f";{suffix.value}" if suffix is not Suffix.NONE else ""


def _split_suffix(text: str, *allowed: Suffix) -> tuple[str, Suffix]:
    stem, found, tail = text.partition(";")
    suffix = _SUFFIXES.get(tail.upper())
    if not found:
        return stem, Suffix.NONE
    if suffix not in allowed:
        raise IllegalFormatName(f"{tail!r} is not one of {', '.join(each.value for each in allowed)}")
    return stem, suffix


def _check_ip(text: str) -> None:
    try:
        ip_address(text.strip("[]"))
    except ValueError as why:
        raise IllegalFormatName(f"{text!r} is not an IP address; DIRECT=OS: takes a name") from why


def _check_path(path: str) -> None:
    r"""Raise IllegalFormatName unless the path is `[private$\]queue[;subqueue]` or a system queue."""
    head, found, tail = path.partition(";")
    parts = head.split("\\")
    if head.casefold() == "system$":
        if _SUFFIXES.get(tail.upper()) not in _SYSTEM_SUFFIXES:
            raise IllegalFormatName(f"{tail!r} is not a manager's own queue: JOURNAL, DEADLETTER or DEADXACT")
        return
    if len(parts) == 2 and parts[0].casefold() == "private$":
        parts = parts[1:]
    if len(parts) != 1:
        raise IllegalFormatName(f"{path!r} is not a queue's path: write private$\\NAME or NAME")
    _check_name("a queue name", parts[0], QUEUE_NAME_LIMIT)
    if found and tail.casefold() != JOURNAL:
        _check_name("a subqueue name", tail, SUBQUEUE_NAME_LIMIT)

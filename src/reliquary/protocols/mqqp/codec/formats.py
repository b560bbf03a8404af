r"""Converts QUEUE_FORMAT, [MS-MQMQ] 2.2.7, the name of a queue as a structure, to and from a format name.

                 NDR 2.0   NDR64
    m_qft            0        0    FormatType, one byte
    m_SuffixAndFlags 1        1    a suffix in the low four bits, 0x80 for a queue of the system
    m_reserved       2        2
    union tag        4        8    m_qft again, one byte
    arm              8       16    a GUID, an OBJECTID, a string behind a pointer, ...

    m_qft  arm                       format name
    0      nothing                   "" (no queue has this name, so that the server refuses it)
    1      GUID                      PUBLIC=guid, PUBLIC=guid;JOURNAL
    2      GUID, number              PRIVATE=guid\1F, PRIVATE=guid\1F;JOURNAL
    3      string                    DIRECT=OS:host\private$\orders;JOURNAL, DIRECT=OS:host\SYSTEM$;DEADXACT
    4      GUID                      MACHINE=guid;DEADLETTER
    5      GUID                      CONNECTOR=guid, CONNECTOR=guid;XACTONLY
    6      GUID, string              DL=guid@domain
    7      address, port             MULTICAST=224.1.1.1:8001
    8      string                    DIRECT=OS:host\private$\orders;subqueue

Names of queues that cannot be read remotely are decoded like the others; the server refuses to open them.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address
from typing import Final

from reliquary.queueing.model.names.formats import (
    ConnectorName,
    DirectName,
    DistributionListName,
    FormatType,
    MachineName,
    MulticastName,
    PrivateName,
    PublicName,
    SingleName,
    Suffix,
    parse_single,
)
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter

UNKNOWN: Final = ""
"""The name for a QUEUE_FORMAT that names nothing, or has contradictory parts."""
STRING_REFERENT: Final = 0x00020004
"""The pointer to the string: any number except that of the pointer to the QUEUE_FORMAT."""

_SUFFIXES: Final = {
    0: Suffix.NONE,
    1: Suffix.JOURNAL,
    2: Suffix.DEADLETTER,
    3: Suffix.DEADXACT,
    4: Suffix.XACTONLY,
}
_SUFFIX_NUMBERS: Final = {suffix: number for number, suffix in _SUFFIXES.items()}
_SUBQUEUE: Final = 5
_SYSTEM: Final = 0x80
_SYSTEM_SUFFIXES: Final = (Suffix.JOURNAL, Suffix.DEADLETTER, Suffix.DEADXACT)

# -- reading


def read_format(reader: NdrReader) -> str:
    """Read a QUEUE_FORMAT with all that it points to, and return the format name."""
    _align(reader)
    kind, suffix = reader.u8(), reader.u8() & 0x0F
    reader.u16()  # m_reserved: the server does not use it
    _align(reader)  # NDR64: a union is aligned to its largest arm, and so is the arm
    tag = reader.u8()
    if tag != kind:
        raise NdrFault(reader.at, f"m_qft is {kind}, and the tag of the union {tag}")
    arm = _ARMS.get(kind)
    if arm is None:
        raise NdrFault(reader.at, f"{kind} is not a QUEUE_FORMAT_TYPE")
    _align(reader)
    return arm(reader, suffix)


def _align(reader: NdrReader) -> None:
    if reader.encoding.wide:
        reader.align(8)


def _read_unknown(reader: NdrReader, suffix: int) -> str:
    return UNKNOWN


def _read_public(reader: NdrReader, suffix: int) -> str:
    queue = reader.guid()
    return str(PublicName(queue, _SUFFIXES[suffix])) if suffix in (0, 1) else UNKNOWN


def _read_private(reader: NdrReader, suffix: int) -> str:
    computer, number = reader.guid(), reader.u32()
    _align(reader)  # NDR64: the size of a structure is a multiple of its alignment
    return str(PrivateName(computer, number, _SUFFIXES[suffix])) if suffix in (0, 1) else UNKNOWN


def _read_direct(reader: NdrReader, suffix: int) -> str:
    text = _read_string(reader) if reader.pointer() else ""
    if suffix == 0:
        return f"DIRECT={text}"
    said = text.partition(";")[2].upper()
    known = _SUFFIXES.get(suffix)
    if known not in _SYSTEM_SUFFIXES or said not in ("", known.value):
        return UNKNOWN
    return f"DIRECT={text}" if said else f"DIRECT={text};{known.value}"


def _read_subqueue(reader: NdrReader, suffix: int) -> str:
    text = _read_string(reader) if reader.pointer() else ""
    return f"DIRECT={text}" if suffix in (0, _SUBQUEUE) else UNKNOWN


def _read_machine(reader: NdrReader, suffix: int) -> str:
    computer = reader.guid()
    return str(MachineName(computer, _SUFFIXES[suffix])) if suffix in (1, 2, 3) else UNKNOWN


def _read_connector(reader: NdrReader, suffix: int) -> str:
    network = reader.guid()
    return str(ConnectorName(network, _SUFFIXES[suffix])) if suffix in (0, 4) else UNKNOWN


def _read_list(reader: NdrReader, suffix: int) -> str:
    identifier = reader.guid()
    domain = _read_string(reader) if reader.pointer() else ""
    return str(DistributionListName(identifier, domain)) if suffix == 0 else UNKNOWN


def _read_multicast(reader: NdrReader, suffix: int) -> str:
    # 2.2.10 does not say in which order the bytes of the address come: they are read as in an in_addr
    # of Windows
    address = IPv4Address(reader.u32().to_bytes(4, "little"))
    port = reader.u32()
    return str(MulticastName(address, port)) if suffix == 0 else UNKNOWN


_ARMS: Final[dict[int, Callable[[NdrReader, int], str]]] = {
    FormatType.UNKNOWN: _read_unknown,
    FormatType.PUBLIC: _read_public,
    FormatType.PRIVATE: _read_private,
    FormatType.DIRECT: _read_direct,
    FormatType.MACHINE: _read_machine,
    FormatType.CONNECTOR: _read_connector,
    FormatType.DISTRIBUTION_LIST: _read_list,
    FormatType.MULTICAST: _read_multicast,
    FormatType.SUBQUEUE: _read_subqueue,
}


def _read_string(reader: NdrReader) -> str:
    """Read a conformant varying string of wide characters, which ends with a zero."""
    most, offset, units = reader.size(), reader.size(), reader.size()
    if offset:
        raise NdrFault(reader.at, f"a string begins at {offset}, not at 0")
    if not 1 <= units <= most:
        raise NdrFault(reader.at, f"a string has {units} characters, and room for {most}")
    raw = reader.raw(2 * units)
    try:
        text = raw.decode("utf-16-be" if reader.encoding.big_endian else "utf-16-le")
    except UnicodeDecodeError as why:
        raise NdrFault(reader.at, "a string is not UTF-16") from why
    if text.find("\0") != len(text) - 1:
        raise NdrFault(reader.at, "a string has a zero before its end, or none there")
    return text[:-1]


# -- writing


def write_format(writer: NdrWriter, name: str) -> None:
    """Write the QUEUE_FORMAT of a format name that names one queue, with all that it points to."""
    parsed = parse_single(name) if name else None
    kind = parsed.kind if parsed else FormatType.UNKNOWN
    _gap(writer)
    writer.u8(kind)
    writer.u8(_suffix_and_flags(parsed))
    writer.u16(0)
    _gap(writer)
    writer.u8(kind)
    _gap(writer)
    if parsed:
        _write_arm(writer, parsed)


def _gap(writer: NdrWriter) -> None:
    if writer.encoding.wide:
        writer.align(8)


def _suffix_and_flags(name: SingleName | None) -> int:
    if name is None:
        return 0
    if name.kind is FormatType.SUBQUEUE:
        return _SUBQUEUE
    suffix = getattr(name, "suffix", Suffix.NONE)
    number = _SUFFIX_NUMBERS[suffix]
    return number | _SYSTEM if suffix in _SYSTEM_SUFFIXES else number


def _write_arm(writer: NdrWriter, name: SingleName) -> None:
    match name:
        case PublicName(guid) | MachineName(guid) | ConnectorName(guid):
            writer.guid(guid)
        case PrivateName(computer, number):
            writer.guid(computer)
            writer.u32(number)
            _gap(writer)
        case DirectName():
            writer.pointer(STRING_REFERENT)
            _write_string(writer, str(name).partition("=")[2])
        case DistributionListName(identifier, domain):
            writer.guid(identifier)
            writer.pointer(STRING_REFERENT if domain else 0)
            if domain:
                _write_string(writer, domain)
        case MulticastName(address, port):
            writer.u32(int.from_bytes(address.packed, "little"))
            writer.u32(port)


def _write_string(writer: NdrWriter, text: str) -> None:
    raw = f"{text}\0".encode("utf-16-le")
    units = len(raw) // 2
    for number in (units, 0, units):
        writer.size(number)
    writer.raw(raw)

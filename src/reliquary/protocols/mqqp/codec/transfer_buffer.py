"""Skips CACTransferBufferV1, [MS-MQMP] 2.2.3.2, which R_QMCreateRemoteCursor carries in front of hQueue.

The server ignores its content (3.1.4.4).  It is read to find its end, with the checks that
[MS-RPCE] 3.1.1.5.3 demands.  Members come first; then, in their order, the values that the pointers point to:

    uTransferType   tag   Send | Receive | CreateCursor   pClass ... pulVersion   *pClass ... *pulVersion

Windows sends only zeros, and so does this client: the type is Send, and all pointers are NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from reliquary.protocols.mqqp.codec.formats import read_format
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter

SIZES: Final = {False: 228, True: 448}
"""Bytes of a structure whose pointers are all NULL; by `Encoding.wide`."""
NAME_LIMIT: Final = 1024
"""The range of the lengths of names in Receive."""

_Numbers = dict[str, int]
"""The members that are numbers, by their names; arrays take their sizes from here."""
_Behind = Callable[[NdrReader, _Numbers], None]
"""A function that reads the value of a pointer."""


def skip_transfer_buffer(reader: NdrReader) -> None:
    """Read a CACTransferBufferV1 with all that it points to; NdrFault when it is not well formed."""
    numbers: _Numbers = {}
    _align(reader)
    kind = reader.u32()
    _align(reader)  # NDR64: a union is aligned to its largest arm, and so is the arm
    tag = reader.u32()
    _align(reader)
    if tag != kind or kind not in _ARMS:
        raise NdrFault(reader.at, f"uTransferType is {kind}, and the tag of the union {tag}")
    pointers = _read_members(reader, _ARMS[kind], numbers)
    pointers += _read_members(reader, _MEMBERS, numbers)
    for name in _NAMES:
        if numbers.get(f"ul{name}FormatNameLen", 0) > NAME_LIMIT:
            raise NdrFault(reader.at, f"the name of {name} is longer than {NAME_LIMIT}")
    for behind in pointers:
        behind(reader, numbers)


def write_transfer_buffer(writer: NdrWriter) -> None:
    """Write the structure without content."""
    writer.raw(bytes(SIZES[writer.encoding.wide]))


def _align(reader: NdrReader) -> None:
    if reader.encoding.wide:
        reader.align(8)


def _read_members(
    reader: NdrReader, members: tuple[tuple[str, str | _Behind], ...], numbers: _Numbers
) -> list[_Behind]:
    """Put the numbers among the members into `numbers`, and return readers for the values of pointers."""
    pointers = []
    for name, kind in members:
        if isinstance(kind, str):
            numbers[name] = _READ[kind](reader)
        elif reader.pointer():
            pointers.append(kind)
    return pointers


# -- what pointers point to


def _number(width: str, reader: NdrReader, numbers: _Numbers) -> None:
    _READ[width](reader)


def _guid(reader: NdrReader, numbers: _Numbers) -> None:
    reader.guid()


def _object(reader: NdrReader, numbers: _Numbers) -> None:
    """Read an OBJECTID (a GUID and a number) and ignore its value."""
    reader.guid()
    reader.u32()


def _unit_of_work(reader: NdrReader, numbers: _Numbers) -> None:
    """Read an XACTUOW, which is sixteen bytes."""
    reader.raw(16)


def _format(reader: NdrReader, numbers: _Numbers) -> None:
    read_format(reader)


def _pointer_to(behind: _Behind, reader: NdrReader, numbers: _Numbers) -> None:
    if reader.pointer():
        behind(reader, numbers)


def _array(size: str, reader: NdrReader, numbers: _Numbers, *, unit: int = 1) -> None:
    """Read a pointer to a conformant array, whose length is a member of the structure."""
    wanted = numbers[size]
    if not reader.pointer():
        _refuse_null(reader, size, wanted)
        return
    found = reader.size()
    if found != wanted:
        raise NdrFault(reader.at, f"an array has {found} elements, and {size} is {wanted}")
    reader.raw(found * unit)


def _part_of_array(size: str, length: str, reader: NdrReader, numbers: _Numbers, *, unit: int = 1) -> None:
    """Read a pointer to a conformant varying array; two members are its size and its length."""
    if reader.pointer():
        _read_part(reader, numbers[size], numbers[length], unit)
    else:
        _refuse_null(reader, size, numbers[size])


def _correlation(reader: NdrReader, numbers: _Numbers) -> None:
    """Read a pointer to an array of 20 bytes; the number is a constant, so that NULL is allowed."""
    if reader.pointer():
        _read_part(reader, 20, 20, 1)


def _read_part(reader: NdrReader, size: int, length: int, unit: int) -> None:
    found = reader.size(), reader.size(), reader.size()
    if found != (size, 0, length) or length > size:
        raise NdrFault(reader.at, f"an array is {found}, and its members say {(size, 0, length)}")
    reader.raw(length * unit)


def _refuse_null(reader: NdrReader, size: str, wanted: int) -> None:
    if wanted:  # [MS-RPCE] 3.1.1.5.3.3.1.2
        raise NdrFault(reader.at, f"a pointer is NULL, and {size} is {wanted}")


# -- the members

_READ: Final[dict[str, Callable[[NdrReader], int]]] = {
    "u8": NdrReader.u8,
    "u16": NdrReader.u16,
    "u32": NdrReader.u32,
}
_U8: Final[_Behind] = partial(_number, "u8")
_U16: Final[_Behind] = partial(_number, "u16")
_U32: Final[_Behind] = partial(_number, "u32")

_NAMES: Final = ("Response", "Admin", "Dest", "Ordering")
_SEND: Final[tuple[tuple[str, str | _Behind], ...]] = (
    ("pAdminQueueFormat", _format),
    ("pResponseQueueFormat", _format),
)
_RECEIVE: Final[tuple[tuple[str, str | _Behind], ...]] = (
    ("RequestTimeout", "u32"),
    ("Action", "u32"),
    ("Asynchronous", "u32"),
    ("Cursor", "u32"),
    *(
        member
        for name in _NAMES
        for member in (
            (f"ul{name}FormatNameLen", "u32"),
            (f"pp{name}FormatName", partial(_array, f"ul{name}FormatNameLen", unit=2)),
            (f"pul{name}FormatNameLenProp", _U32),
        )
    ),
)
_CREATE_CURSOR: Final[tuple[tuple[str, str | _Behind], ...]] = (
    ("hCursor", "u32"),
    ("srv_hACQueue", "u32"),
    ("cli_pQMQueue", "u32"),
)
_ARMS: Final = {0: _SEND, 1: _RECEIVE, 2: _CREATE_CURSOR}

_MEMBERS: Final[tuple[tuple[str, str | _Behind], ...]] = (
    ("pClass", _U16),
    ("ppMessageID", partial(_pointer_to, _object)),
    ("ppCorrelationID", _correlation),
    ("pSentTime", _U32),
    ("pArrivedTime", _U32),
    ("pPriority", _U8),
    ("pDelivery", _U8),
    ("pAcknowledge", _U8),
    ("pAuditing", _U8),
    ("pApplicationTag", _U32),
    ("ppBody", partial(_part_of_array, "ulAllocBodyBufferInBytes", "ulBodyBufferSizeInBytes")),
    ("ulBodyBufferSizeInBytes", "u32"),
    ("ulAllocBodyBufferInBytes", "u32"),
    ("pBodySize", _U32),
    (
        "ppTitle",
        partial(_part_of_array, "ulTitleBufferSizeInWCHARs", "ulTitleBufferSizeInWCHARs", unit=2),
    ),
    ("ulTitleBufferSizeInWCHARs", "u32"),
    ("pulTitleBufferSizeInWCHARs", _U32),
    ("ulAbsoluteTimeToQueue", "u32"),
    ("pulRelativeTimeToQueue", _U32),
    ("ulRelativeTimeToLive", "u32"),
    ("pulRelativeTimeToLive", _U32),
    ("pTrace", _U8),
    ("pulSenderIDType", _U32),
    ("ppSenderID", partial(_array, "uSenderIDLen")),
    ("pulSenderIDLenProp", _U32),
    ("pulPrivLevel", _U32),
    ("ulAuthLevel", "u32"),
    ("pAuthenticated", _U8),
    ("pulHashAlg", _U32),
    ("pulEncryptAlg", _U32),
    ("ppSenderCert", partial(_array, "ulSenderCertLen")),
    ("ulSenderCertLen", "u32"),
    ("pulSenderCertLenProp", _U32),
    ("ppwcsProvName", partial(_array, "ulProvNameLen", unit=2)),
    ("ulProvNameLen", "u32"),
    ("pulAuthProvNameLenProp", _U32),
    ("pulProvType", _U32),
    ("fDefaultProvider", "u32"),
    ("ppSymmKeys", partial(_array, "ulSymmKeysSize")),
    ("ulSymmKeysSize", "u32"),
    ("pulSymmKeysSizeProp", _U32),
    ("bEncrypted", "u8"),
    ("bAuthenticated", "u8"),
    ("uSenderIDLen", "u16"),
    ("ppSignature", partial(_array, "ulSignatureSize")),
    ("ulSignatureSize", "u32"),
    ("pulSignatureSizeProp", _U32),
    ("ppSrcQMID", partial(_pointer_to, _guid)),
    ("pUow", _unit_of_work),
    (
        "ppMsgExtension",
        partial(_part_of_array, "ulMsgExtensionBufferInBytes", "ulMsgExtensionBufferInBytes"),
    ),
    ("ulMsgExtensionBufferInBytes", "u32"),
    ("pMsgExtensionSize", _U32),
    ("ppConnectorType", partial(_pointer_to, _guid)),
    ("pulBodyType", _U32),
    ("pulVersion", _U32),
)

"""impacket as a client of MQQP: it has no module for MSMQ, so the structures are written here from the IDL.

impacket fills gaps with bytes that are not zero, and draws referent identifiers: a good test of a reader.
"""

from __future__ import annotations

import uuid
from enum import Enum
from typing import Any, Final

from tests.peers.foreign import foreign
from tests.peers.mqqp_peer import Read, Refused
from tests.peers.mqqp_site import PASSWORD, USER, MqqpSite

ndr, dtypes = foreign("impacket.dcerpc.v5.ndr"), foreign("impacket.dcerpc.v5.dtypes")
rpcrt, transport = foreign("impacket.dcerpc.v5.rpcrt"), foreign("impacket.dcerpc.v5.transport")
uuidtup_to_bin = foreign("impacket.uuid").uuidtup_to_bin

DWORD, GUID, LPWSTR, NULL = dtypes.DWORD, dtypes.GUID, dtypes.LPWSTR, dtypes.NULL
UCHAR, ULONGLONG, USHORT = dtypes.UCHAR, dtypes.ULONGLONG, dtypes.USHORT

QM2QM: Final = uuidtup_to_bin(("1088a980-eae5-11d0-8d9b-00a02453c337", "1.0"))
QMCOMM: Final = uuidtup_to_bin(("fdb3a030-065f-11d1-bb9b-00a024ea5525", "1.0"))
NDR20: Final = ("8a885d04-1ceb-11c9-9fe8-08002b104860", "2.0")
NDR64: Final = ("71710533-beba-4937-8319-b5dbef9ccc36", "1.0")
_STATUSES: Final = {text: status for status, text in rpcrt.rpc_status_codes.items()}
CLIENT: Final = uuid.UUID("0b162747-99cf-479c-972f-95b776e141c3").bytes_le


# -- how its classes are made


def struct(**members: Any) -> Any:
    return type("Struct", (ndr.NDRSTRUCT,), {"structure": tuple(members.items())})


def pointer(to: Any) -> Any:
    return type("Pointer", (ndr.NDRPOINTER,), {"referent": (("Data", to),)})


def union(tag: Any, arms: dict[int, tuple[str, Any]]) -> Any:
    header = (("tag", tag),)
    return type("Union", (ndr.NDRUNION,), {"commonHdr": header, "commonHdr64": header, "union": arms})


def call(opnum: int = 0, **members: Any) -> Any:
    """Return a request, or what a method returns."""
    return type("Call", (ndr.NDRCALL,), {"opnum": opnum, "structure": tuple(members.items())})


# -- the structures

ContextHandle = struct(Data='20s=b""')
ContextHandle.getAlignment = lambda self: 4
ReadAck = type(
    "ReadAck", (ndr.NDRENUM,), {"enumItems": Enum("enumItems", "RR_UNKNOWN RR_NACK RR_ACK", start=0)}
)
Bytes = type("Bytes", (ndr.NDRUniConformantVaryingArray,), {"item": "c"})
ReadDesc = struct(
    hRemoteQueue=DWORD,
    hCursor=DWORD,
    ulAction=DWORD,
    ulTimeout=DWORD,
    dwSize=DWORD,
    dwQueue=DWORD,
    dwRequestID=DWORD,
    Reserved=DWORD,
    dwArriveTime=DWORD,
    eAckNack=ReadAck,
    lpBuffer=pointer(Bytes),
)
ReadDesc2 = struct(pRemoteReadDesc=pointer(ReadDesc), SequentialId=ULONGLONG)
ObjectId = struct(Lineage=GUID, Uniquifier=DWORD)
DlId = struct(m_DlGuid=GUID, m_pwzDomain=LPWSTR)
MulticastId = struct(m_address=DWORD, m_port=DWORD)
FORMATS: Final = {
    1: ("m_gPublicID", GUID),
    2: ("m_oPrivateID", ObjectId),
    3: ("m_pDirectID", LPWSTR),
    4: ("m_gMachineID", GUID),
    5: ("m_GConnectorID", GUID),
    6: ("m_DlID", DlId),
    7: ("m_MulticastID", MulticastId),
    8: ("m_pDirectSubqueueID", LPWSTR),
}
QueueFormat = struct(m_qft=UCHAR, m_SuffixAndFlags=UCHAR, m_reserved=USHORT, u=union(UCHAR, FORMATS))
Send = struct(pAdminQueueFormat=pointer(QueueFormat), pResponseQueueFormat=pointer(QueueFormat))

_KINDS: Final = {"P": pointer(DWORD), "I": DWORD, "B": UCHAR, "H": USHORT}
_MEMBERS: Final = "PPPPPPPPPPPIIPPIPIPIPPPPPPIPPPPIPPIPPIPIPBBHPIPPPPIPPPP"
TransferBuffer = struct(  # CACTransferBufferV1; only pointers to numbers can be set
    uTransferType=DWORD,
    u=union(DWORD, {0: ("Send", Send)}),
    **{f"member{place}": _KINDS[letter] for place, letter in enumerate(_MEMBERS)},
)

# -- the methods, each with what it returns

OpenRemote = call(
    2,
    pQueueFormat=pointer(QueueFormat),
    dwCallingProcessID=DWORD,
    dwDesiredAccess=DWORD,
    dwShareMode=DWORD,
    pLicGuid=GUID,
    dwMQS=DWORD,
)
RemoteOpened = call(
    pphContext=ContextHandle, pdwContext=DWORD, dwpQueue=DWORD, phQueue=DWORD, ErrorCode=DWORD
)
CloseHandle = call(3, pphContext=ContextHandle)
CreateCursor = call(4, ptb1=TransferBuffer, hQueue=DWORD)
CursorCreated = call(phCursor=DWORD, ErrorCode=DWORD)
OpenQueue = call(2, pLicGuid=GUID, dwMQS=DWORD, hQueue=DWORD, pQueue=DWORD, dwpContext=DWORD)
HandleReturned = call(pphContext=ContextHandle, ErrorCode=DWORD)
StartReceive = call(0, lpRemoteReadDesc=ReadDesc)
ReadStarted = call(pphContext=ContextHandle, lpRemoteReadDesc=ReadDesc, ErrorCode=DWORD)
StartReceive2 = call(9, lpRemoteReadDesc2=ReadDesc2)
LookUp = call(10, LookupId=ULONGLONG, lpRemoteReadDesc2=ReadDesc2)
ReadStarted2 = call(pphContext=ContextHandle, lpRemoteReadDesc2=ReadDesc2, ErrorCode=DWORD)
EndReceive = call(1, pphContext=ContextHandle, dwAck=DWORD)
CloseCursor = call(4, hQueue=DWORD, hCursor=DWORD)
CancelReceive = call(5, hQueue=DWORD, pQueue=DWORD, dwRequestID=DWORD)
PurgeQueue = call(6, hQueue=DWORD)
GetReadPort = call(7, dwPortType=DWORD)
GetHandshakePort = call(31, fIP=DWORD)
NumberReturned = call(number=DWORD)
GetVersion = call(8)
Version = call(pMajor=UCHAR, pMinor=UCHAR, pBuildNumber=USHORT)


def fill_desc(desc: Any, queue: int, action: int, timeout: int, request: int, cursor: int) -> None:
    """Set what a client sets of a REMOTEREADDESC."""
    desc["hRemoteQueue"] = desc["dwQueue"] = queue
    desc["ulAction"] = action
    desc["ulTimeout"] = timeout
    desc["dwRequestID"] = request
    desc["hCursor"] = cursor
    desc["eAckNack"] = 0
    desc["lpBuffer"] = NULL


def fill_format(request: Any, kind: int, member: str, value: Any, suffix: int = 0) -> None:
    """Set the QUEUE_FORMAT of an `OpenRemote`."""
    queue_format = request["pQueueFormat"]
    queue_format["m_qft"] = queue_format["u"]["tag"] = kind
    queue_format["m_SuffixAndFlags"] = suffix
    if isinstance(value, dict):
        for name, each in value.items():
            queue_format["u"][member][name] = each
    else:
        queue_format["u"][member] = value


# -- the client


class ImpacketPeer:
    """A client with a connection for each interface, at the port that is meant for it."""

    def __init__(
        self, ours: MqqpSite, *, ndr64: bool = False, level: int = 0, password: str = PASSWORD
    ) -> None:
        self._ndr64 = ndr64
        self._level, self._password = level, password
        self._qmcomm = self._bound(ours.handshake_port, QMCOMM)
        self._qm2qm = self._bound(ours.read_port, QM2QM)

    def _bound(self, port: int, interface: bytes) -> Any:
        link = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:127.0.0.1[{port}]")
        dce = link.get_dce_rpc()
        if self._level:
            link.set_credentials(USER, self._password)
            dce.set_auth_type(rpcrt.RPC_C_AUTHN_WINNT)  # with SPNEGO it supports Kerberos only
            dce.set_auth_level(self._level)
        dce.connect()
        dce.bind(interface, transfer_syntax=NDR64 if self._ndr64 else NDR20)
        return dce

    def hang_up(self) -> None:
        self._qmcomm.disconnect()
        self._qm2qm.disconnect()

    def _call(self, dce: Any, request: Any, answer: Any) -> Any:
        dce.call(request.opnum, stub_of(request, ndr64=self._ndr64))
        return answer(self._receive(dce), isNDR64=self._ndr64)

    @staticmethod
    def _receive(dce: Any) -> bytes:
        try:
            return bytes(dce.recv())
        except rpcrt.DCERPCException as why:  # it keeps the status as a text alone
            text = str(why.error_string)
            raise Refused(_STATUSES.get(text) or int(text.rsplit(maxsplit=1)[-1], 16)) from why

    def raw(self, opnum: int, stub: bytes) -> bytes:
        self._qm2qm.call(opnum, stub)
        return self._receive(self._qm2qm)

    # -- qmcomm

    def open_remote(self, name: str, access: int = 1, share: int = 0) -> tuple[int, bytes, int]:
        request = OpenRemote()
        fill_format(request, 3, "m_pDirectID", f"{name}\0")
        request["dwDesiredAccess"], request["dwShareMode"] = access, share
        request["pLicGuid"] = CLIENT
        found = self._call(self._qmcomm, request, RemoteOpened)
        assert len({found[name] for name in ("pdwContext", "dwpQueue", "phQueue")}) == 1
        return found["ErrorCode"], _handle(found), found["phQueue"]

    def close_remote(self, handle: bytes) -> bytes:
        request = CloseHandle()
        request["pphContext"] = handle
        return _handle(self._call(self._qmcomm, request, CloseHandle))

    def create_cursor(self, queue: int) -> tuple[int, int]:
        request = CreateCursor()
        request["ptb1"] = transfer_buffer()
        request["hQueue"] = queue
        found = self._call(self._qmcomm, request, CursorCreated)
        return found["ErrorCode"], found["phCursor"]

    def handshake_port(self, kind: int) -> int:
        return self._number(self._qmcomm, GetHandshakePort(), fIP=kind)

    # -- qm2qm

    def open(self, queue: int) -> tuple[int, bytes]:
        request = OpenQueue()
        request["pLicGuid"] = CLIENT
        request["hQueue"] = request["pQueue"] = request["dwpContext"] = queue
        found = self._call(self._qm2qm, request, HandleReturned)
        return found["ErrorCode"], _handle(found)

    def close(self, handle: bytes) -> tuple[int, bytes]:
        request = CloseHandle()
        request["pphContext"] = handle
        found = self._call(self._qm2qm, request, HandleReturned)
        return found["ErrorCode"], _handle(found)

    def start(self, queue: int, action: int, timeout: int = 0, request: int = 7, cursor: int = 0) -> Read:
        call = StartReceive()
        fill_desc(call["lpRemoteReadDesc"], queue, action, timeout, request, cursor)
        found = self._call(self._qm2qm, call, ReadStarted)
        return _read(found, found["lpRemoteReadDesc"])

    def start2(self, queue: int, action: int, timeout: int = 0, request: int = 7, cursor: int = 0) -> Read:
        call = StartReceive2()
        fill_desc(call["lpRemoteReadDesc2"]["pRemoteReadDesc"], queue, action, timeout, request, cursor)
        return self._read2(call)

    def look_up(self, queue: int, action: int, lookup_id: int, request: int = 7) -> Read:
        call = LookUp()
        call["LookupId"] = lookup_id
        fill_desc(call["lpRemoteReadDesc2"]["pRemoteReadDesc"], queue, action, 0, request, 0)
        return self._read2(call)

    def _read2(self, call: Any) -> Read:
        found = self._call(self._qm2qm, call, ReadStarted2)
        desc2 = found["lpRemoteReadDesc2"]
        return _read(found, desc2["pRemoteReadDesc"])._replace(sequential=desc2["SequentialId"])

    def end(self, handle: bytes, acknowledge: int) -> tuple[int, bytes]:
        request = EndReceive()
        request["pphContext"] = handle
        request["dwAck"] = acknowledge
        found = self._call(self._qm2qm, request, HandleReturned)
        return found["ErrorCode"], _handle(found)

    def cancel(self, queue: int, request: int) -> int:
        return self._number(self._qm2qm, CancelReceive(), hQueue=queue, pQueue=queue, dwRequestID=request)

    def close_cursor(self, queue: int, cursor: int) -> int:
        return self._number(self._qm2qm, CloseCursor(), hQueue=queue, hCursor=cursor)

    def purge(self, queue: int) -> int:
        return self._number(self._qm2qm, PurgeQueue(), hQueue=queue)

    def port(self, kind: int) -> int:
        return self._number(self._qm2qm, GetReadPort(), dwPortType=kind)

    def version(self) -> tuple[int, int, int]:
        found = self._call(self._qm2qm, GetVersion(), Version)
        return found["pMajor"], found["pMinor"], found["pBuildNumber"]

    def _number(self, dce: Any, request: Any, **members: int) -> int:
        for name, number in members.items():
            request[name] = number
        return int(self._call(dce, request, NumberReturned)["number"])


def stub_of(request: Any, *, ndr64: bool) -> bytes:
    """Return the stub of a request."""
    if ndr64:
        request.changeTransferSyntax(uuidtup_to_bin(NDR64))
    return bytes(request.getData())


def transfer_buffer(pointed: dict[int, int] | None = None) -> Any:
    """Return a CACTransferBufferV1 whose pointers are NULL, but for some members that point to numbers."""
    buffer = TransferBuffer()
    buffer["u"]["tag"] = 0
    buffer["u"]["Send"]["pAdminQueueFormat"] = buffer["u"]["Send"]["pResponseQueueFormat"] = NULL
    for place, letter in enumerate(_MEMBERS):
        if letter == "P":
            buffer[f"member{place}"] = (pointed or {}).get(place, NULL)
    return buffer


def _handle(found: Any) -> bytes:
    return bytes(found["pphContext"])


def _read(found: Any, desc: Any) -> Read:
    packet = b"".join(desc["lpBuffer"]) if desc["dwSize"] else None
    return Read(found["ErrorCode"], _handle(found), packet, desc["dwArriveTime"])

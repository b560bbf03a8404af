"""scapy-rpc as a client of MQQP; its modules ms_mqmp and ms_mqqp are generated from the specifications.

What it does differently, and what is done about it here:

- it expects a status from RemoteQmGetVersion and R_QMCloseRemoteQueueContext, which have none: other classes;
- its alter_context offers bind-time features again, which only a bind may: they are left out;
- in NDR64 it aligns the arm of a union to the arm, not to the largest arm: only direct names are opened,
  whose arm is a pointer and comes out right.
"""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any, Final

from tests.peers.foreign import foreign
from tests.peers.mqqp_peer import Read, Refused
from tests.peers.mqqp_site import PASSWORD, USER, MqqpSite

ms_mqmp, ms_mqqp = foreign("msrpcs.ms_mqmp"), foreign("msrpcs.ms_mqqp")
dcerpc, rpcclient = foreign("scapy.layers.dcerpc"), foreign("scapy.layers.msrpce.rpcclient")
ntlm, spnego = foreign("scapy.layers.ntlm"), foreign("scapy.layers.spnego")
raw_layer = foreign("scapy.config").conf.raw_layer

FEATURES: Final = uuid.UUID("6cb71c2c-9812-4540-0300-000000000000")
CLIENT: Final = (0x0B162747, 0x99CF, 0x479C, bytes.fromhex("972f95b776e141c3"))


def _packet(*fields: Any) -> Any:
    """Return a class for what a method returns."""
    return type("Returned", (dcerpc.NDRPacket,), {"fields_desc": list(fields)})


VersionReturned = _packet(
    dcerpc.NDRByteField("pMajor", 0),
    dcerpc.NDRByteField("pMinor", 0),
    dcerpc.NDRShortField("pBuildNumber", 0),
)
ContextClosed = _packet(
    dcerpc.NDRPacketField("pphContext", dcerpc.NDRContextHandle(), dcerpc.NDRContextHandle)
)


_DcerpcClient: Any = rpcclient.DCERPC_Client


def _correct(name: str, identifier: str, opnums: Any, opnum: int, answer: Any) -> None:
    """Register an interface again, with another class for what a method returns."""
    opnums[opnum] = dcerpc.DceRpcOp(opnums[opnum].request, answer)
    dcerpc.register_dcerpc_interface(name=name, uuid=uuid.UUID(identifier), version="1.0", opnums=opnums)


_correct("qm2qm", "1088a980-eae5-11d0-8d9b-00a02453c337", ms_mqqp.QM2QM_OPNUMS, 8, VersionReturned)
_correct("qmcomm", "fdb3a030-065f-11d1-bb9b-00a024ea5525", ms_mqmp.QMCOMM_OPNUMS, 3, ContextClosed)


class _Client(_DcerpcClient):  # type: ignore[misc]
    """A client that offers bind-time features in its bind alone."""

    def _get_bind_context(self, interface: Any) -> Any:
        offered = super()._get_bind_context(interface)
        if len(self.contexts) > 1:
            offered = [each for each in offered if each.transfer_syntaxes[0].if_uuid != FEATURES]
            self.contexts[interface] = offered
        return offered


class ScapyPeer:
    """A client that has both interfaces on one connection."""

    def __init__(
        self,
        ours: MqqpSite,
        *,
        ndr64: bool = False,
        level: int = 0,
        auth: str = "ntlm",
        password: str = PASSWORD,
    ) -> None:
        options: dict[str, Any] = {}
        if level:
            provider = ntlm.NTLMSSP(UPN=USER, PASSWORD=password)
            options = {
                "ssp": provider if auth == "ntlm" else spnego.SPNEGOSSP([provider]),
                "auth_level": dcerpc.DCE_C_AUTHN_LEVEL(level),
            }
        self._ndr64 = ndr64
        self._client = _Client(dcerpc.DCERPC_Transport.NCACN_IP_TCP, ndr64=ndr64, verb=False, **options)
        self._client.connect("127.0.0.1", endpoint=ours.handshake_port, timeout=None)
        assert self._client.bind(dcerpc.find_dcerpc_interface("qmcomm"))
        assert self._client.alter_context(dcerpc.find_dcerpc_interface("qm2qm"))

    def hang_up(self) -> None:
        self._client.close()

    def _call(self, interface: str, request: Any, **options: Any) -> Any:
        if self._client.session.rpc_bind_interface.name != interface:
            self._client.alter_context(dcerpc.find_dcerpc_interface(interface))
        found = self._client.sr1_req(request, **options)
        if dcerpc.DceRpc5Fault in found:
            raise Refused(found[dcerpc.DceRpc5Fault].status)
        return found

    def _qmcomm(self, name: str, **fields: Any) -> Any:
        return self._call("qmcomm", getattr(ms_mqmp, f"{name}_Request")(ndr64=self._ndr64, **fields))

    def _qm2qm(self, name: str, **fields: Any) -> Any:
        return self._call("qm2qm", getattr(ms_mqqp, f"{name}_Request")(ndr64=self._ndr64, **fields))

    def raw(self, opnum: int, stub: bytes) -> bytes:
        return bytes(self._call("qm2qm", raw_layer(load=stub), opnum=opnum))

    def fault_of(
        self, stub: bytes, *, opnum: int, context: int | None = None, flags: str | None = None
    ) -> int:
        """Send a request PDU of our own making; the status of the fault that answers it."""
        used = self._client.session.cont_id if context is None else context
        request = dcerpc.DceRpc5Request(cont_id=used, opnum=opnum) / raw_layer(load=stub)
        found = self._client.sr1(request, **({} if flags is None else {"pfc_flags": flags}))
        return int(found[dcerpc.DceRpc5Fault].status)

    # -- qmcomm

    def open_remote(self, name: str, access: int = 1, share: int = 0) -> tuple[int, bytes, int]:
        found = self._qmcomm(
            "R_QMOpenRemoteQueue",
            pQueueFormat=queue_format(3, name.encode()),
            dwDesiredAccess=access,
            dwShareMode=share,
            pLicGuid=_guid(ms_mqmp),
        )
        assert len({found.pdwContext, found.dwpQueue, found.phQueue}) == 1
        return found.status, _bytes(found.pphContext), found.phQueue

    def close_remote(self, handle: bytes) -> bytes:
        return _bytes(self._qmcomm("R_QMCloseRemoteQueueContext", pphContext=_handle(handle)).pphContext)

    def create_cursor(self, queue: int) -> tuple[int, int]:
        found = self._qmcomm("R_QMCreateRemoteCursor", ptb1=zeroed_buffer(), hQueue=queue)
        return found.status, found.phCursor

    def handshake_port(self, kind: int) -> int:
        return int(self._qmcomm("R_QMGetRTQMServerPort", fIP=kind).status)

    # -- qm2qm

    def open(self, queue: int) -> tuple[int, bytes]:
        numbers = dict.fromkeys(("hQueue", "pQueue", "dwpContext"), queue)
        found = self._qm2qm("RemoteQMOpenQueue", pLicGuid=_guid(ms_mqqp), **numbers)
        return found.status, _bytes(found.phContext)

    def close(self, handle: bytes) -> tuple[int, bytes]:
        found = self._qm2qm("RemoteQMCloseQueue", pphContext=_handle(handle))
        return found.status, _bytes(found.pphContext)

    def start(self, queue: int, action: int, timeout: int = 0, request: int = 7, cursor: int = 0) -> Read:
        desc = descriptor(queue, action, timeout, request, cursor)
        found = self._qm2qm("RemoteQMStartReceive", lpRemoteReadDesc=desc)
        return _read(found, found.lpRemoteReadDesc)

    def start2(self, queue: int, action: int, timeout: int = 0, request: int = 7, cursor: int = 0) -> Read:
        desc = ms_mqqp.REMOTEREADDESC2(pRemoteReadDesc=descriptor(queue, action, timeout, request, cursor))
        return _read2(self._qm2qm("RemoteQMStartReceive2", lpRemoteReadDesc2=desc))

    def look_up(self, queue: int, action: int, lookup_id: int, request: int = 7) -> Read:
        desc = ms_mqqp.REMOTEREADDESC2(pRemoteReadDesc=descriptor(queue, action, 0, request, 0))
        return _read2(
            self._qm2qm("RemoteQMStartReceiveByLookupId", LookupId=lookup_id, lpRemoteReadDesc2=desc)
        )

    def end(self, handle: bytes, acknowledge: int) -> tuple[int, bytes]:
        found = self._qm2qm("RemoteQMEndReceive", pphContext=_handle(handle), dwAck=acknowledge)
        return found.status, _bytes(found.pphContext)

    def cancel(self, queue: int, request: int) -> int:
        return int(
            self._qm2qm("RemoteQMCancelReceive", hQueue=queue, pQueue=queue, dwRequestID=request).status
        )

    def close_cursor(self, queue: int, cursor: int) -> int:
        return int(self._qm2qm("RemoteQMCloseCursor", hQueue=queue, hCursor=cursor).status)

    def purge(self, queue: int) -> int:
        return int(self._qm2qm("RemoteQMPurgeQueue", hQueue=queue).status)

    def port(self, kind: int) -> int:
        return int(self._qm2qm("RemoteQMGetQMQMServerPort", dwPortType=kind).status)

    def version(self) -> tuple[int, int, int]:
        found = self._qm2qm("RemoteQmGetVersion")
        return found.pMajor, found.pMinor, found.pBuildNumber


# -- its structures


def queue_format(kind: int, value: Any, suffix: int = 0) -> Any:
    """Return a QUEUE_FORMAT of this kind."""
    arm = dcerpc.NDRUnion(tag=kind, value=value)
    return ms_mqmp.QUEUE_FORMAT(m_qft=kind, m_SuffixAndFlags=suffix, value=arm)


def zeroed_buffer() -> Any:
    """Return a CACTransferBufferV1 whose pointers are NULL."""
    return ms_mqmp.CACTransferBufferV1(value=dcerpc.NDRUnion(tag=0, value=ms_mqmp.Send_sub0()))


def descriptor(queue: int, action: int, timeout: int, request: int, cursor: int) -> Any:
    """Return a REMOTEREADDESC as a client sends it."""
    return ms_mqqp.REMOTEREADDESC(
        hRemoteQueue=queue,
        dwQueue=queue,
        ulAction=action,
        ulTimeout=timeout,
        dwRequestID=request,
        hCursor=cursor,
        lpBuffer=None,
    )


def stubs(*, ndr64: bool) -> dict[str, bytes]:
    """Return some requests as stubs, by name."""
    desc = partial(descriptor, 9, 0x80000001, 5, 7, 3)
    requests = {
        "start": ms_mqqp.RemoteQMStartReceive_Request(lpRemoteReadDesc=desc()),
        "start2": ms_mqqp.RemoteQMStartReceive2_Request(
            lpRemoteReadDesc2=ms_mqqp.REMOTEREADDESC2(pRemoteReadDesc=desc())
        ),
        "cursor": ms_mqmp.R_QMCreateRemoteCursor_Request(ptb1=zeroed_buffer(), hQueue=9),
    }
    for request in requests.values():
        request.ndr64 = ndr64
    return {name: bytes(request) for name, request in requests.items()}


def _guid(module: Any) -> Any:
    return module.GUID(**dict(zip(("Data1", "Data2", "Data3", "Data4"), CLIENT, strict=True)))


def _handle(raw: bytes) -> Any:
    return dcerpc.NDRContextHandle(attributes=int.from_bytes(raw[:4], "little"), uuid=raw[4:])


def _bytes(handle: Any) -> bytes:
    return int(handle.attributes).to_bytes(4, "little") + bytes(handle.uuid)


def _read(found: Any, desc: Any) -> Read:
    packet = bytes(desc.valueof("lpBuffer")) if desc.dwSize else None
    return Read(found.status, _bytes(found.pphContext), packet, desc.dwArriveTime)


def _read2(found: Any) -> Read:
    desc2 = found.lpRemoteReadDesc2
    return _read(found, desc2.valueof("pRemoteReadDesc"))._replace(sequential=desc2.SequentialId)

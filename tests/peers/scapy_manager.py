"""scapy-rpc as a server of MQQP with one queue in memory, for our client to read from.

As a server scapy is right only for answers of up to 4,176 bytes: in longer ones it sends zeros.  What else it
does differently is put right in `recv`: it draws a number for the association group of each connection; it
signs headers when the client offers it, without saying so in its bind_ack; it does not look at the signature
of a request without parameters, and loses count of signatures.
"""

from __future__ import annotations

import socket
import threading
import uuid
import warnings
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from tests.peers.foreign import foreign
from tests.peers.mqqp_site import PASSWORD, USER
from tests.peers.scapy_peer import ContextClosed, VersionReturned, dcerpc, ms_mqmp, ms_mqqp

gssapi, ntlm = foreign("scapy.layers.gssapi"), foreign("scapy.layers.ntlm")
rpcserver = foreign("scapy.layers.msrpce.rpcserver")

NUMBER = 9
"""The number of the queue, wherever a DWORD stands for it."""
CURSOR = 3
GROUP = 0x1234
HEADER_SIGN = 0x04
IO_TIMEOUT = 0xC00E001B
NOT_FOUND = 0xC00E0088
ILLEGAL_CURSOR_ACTION = 0xC00E001C
OP_RANGE = 0x1C010002


@dataclass(slots=True)
class FarQueue:
    """The messages of a queue, as packets, and what is asked about them."""

    packets: dict[int, bytes]
    """The packets of the queue by LookupIdentifier."""
    version: tuple[int, int, int] | None = (6, 1, 7601)
    """What RemoteQmGetVersion says; None for a manager that does not have it."""
    locked: dict[bytes, int] = field(default_factory=dict)
    """The LookupIdentifier of a message that was handed out, by its context handle."""
    cursor: int = 0
    """The LookupIdentifier where the cursor stands."""
    calls: list[str] = field(default_factory=list)
    """The methods that were called, in their order."""
    opened: list[str] = field(default_factory=list)
    """The direct names that were opened."""
    handles: int = 0

    def free(self) -> list[int]:
        """Return the messages that no reader holds, in their order."""
        return [each for each in sorted(self.packets) if each not in self.locked.values()]

    def new_handle(self) -> bytes:
        self.handles += 1
        return uuid.UUID(int=self.handles).bytes_le


_DcerpcServer: Any = rpcserver.DCERPC_Server

METHODS = {
    "R_QMOpenRemoteQueue": "open_remote",
    "R_QMCloseRemoteQueueContext": "close_remote",
    "R_QMCreateRemoteCursor": "create_cursor",
    "R_QMGetRTQMServerPort": "handshake_port",
    "RemoteQMGetQMQMServerPort": "read_port",
    "RemoteQmGetVersion": "version",
    "RemoteQMOpenQueue": "open",
    "RemoteQMCloseQueue": "close",
    "RemoteQMStartReceive": "start",
    "RemoteQMStartReceive2": "start2",
    "RemoteQMStartReceiveByLookupId": "look_up",
    "RemoteQMEndReceive": "end",
    "RemoteQMCloseCursor": "close_cursor",
    "RemoteQMCancelReceive": "cancel",
    "RemoteQMPurgeQueue": "purge",
}


class ScapyManager:
    """Listens on a port of 127.0.0.1; each connection has a thread."""

    def __init__(self, queue: FarQueue, *, ndr64: bool = False, secured: bool = False) -> None:
        self.queue = queue
        self._options: dict[str, Any] = {"ndr64": ndr64, "verb": False}
        if secured:
            self._options["ssp"] = ntlm.NTLMSSP(IDENTITIES={USER: ntlm.MD4le(PASSWORD)})
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            self._threads.append(threading.Thread(target=self._serve, args=(connection,)))
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        transport = dcerpc.DCERPC_Transport.NCACN_IP_TCP
        server = _Server(transport, local_ip="127.0.0.1", port=self.port, **self._options)
        server.queue_of_test = self.queue
        server.port_of_test = self.port
        with connection, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                server.loop(connection)
            except OSError:
                return

    def hang_up(self) -> None:
        """Shut down the connections of all clients."""
        for connection in self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def __enter__(self) -> ScapyManager:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        self.hang_up()
        for thread in self._threads:
            thread.join()


class _Server(_DcerpcServer):  # type: ignore[misc]
    """A server of both interfaces over one queue."""

    queue_of_test: FarQueue
    port_of_test: int

    def recv(self, data: Any) -> None:
        """Take a PDU; verify what would not be verified, and mend the bind_ack."""
        if isinstance(data, bytes) and _is_signed_version_request(data):
            self._verify(data)
        super().recv(data)
        for answer in self.queue:
            if dcerpc.DceRpc5BindAck in answer:
                answer[dcerpc.DceRpc5BindAck].assoc_group_id = GROUP
                answer.pfc_flags |= HEADER_SIGN if self.session.header_sign else 0

    def _verify(self, pdu: bytes) -> None:
        at = len(pdu) - 16 - 8
        parts = [gssapi.SSP.MIC_MSG(sign=True, data=part) for part in (pdu[:24], pdu[24:at], pdu[at:-16])]
        signature = ntlm.NTLMSSP_MESSAGE_SIGNATURE(pdu[-16:])
        self.session.ssp.GSS_VerifyMICEx(self.session.sspcontext, parts, signature)

    def make_reply(self, req: Any) -> Any:
        """Note which method is called, and call it."""
        name = type(req.payload.payload).__name__.removesuffix("_Request")
        self.queue_of_test.calls.append(name)
        return getattr(self, METHODS[name])(req)

    # -- qmcomm

    def open_remote(self, req: Any) -> Any:
        asked = req[ms_mqmp.R_QMOpenRemoteQueue_Request]
        self.queue_of_test.opened.append(asked.valueof("pQueueFormat.value").decode())
        return ms_mqmp.R_QMOpenRemoteQueue_Response(
            pphContext=self._new_handle(),
            pdwContext=NUMBER,
            dwpQueue=NUMBER,
            phQueue=NUMBER,
            ndr64=self.ndr64,
        )

    def close_remote(self, req: Any) -> Any:
        del req
        return ContextClosed(pphContext=_no_handle(), ndr64=self.ndr64)

    def create_cursor(self, req: Any) -> Any:
        assert req[ms_mqmp.R_QMCreateRemoteCursor_Request].hQueue == NUMBER
        self.queue_of_test.cursor = 0
        return ms_mqmp.R_QMCreateRemoteCursor_Response(phCursor=CURSOR, ndr64=self.ndr64)

    def handshake_port(self, req: Any) -> Any:
        del req
        return ms_mqmp.R_QMGetRTQMServerPort_Response(status=self.port_of_test, ndr64=self.ndr64)

    # -- qm2qm

    def read_port(self, req: Any) -> Any:
        del req
        return ms_mqqp.RemoteQMGetQMQMServerPort_Response(status=self.port_of_test, ndr64=self.ndr64)

    def version(self, req: Any) -> Any:
        del req
        if self.queue_of_test.version is None:
            raise rpcserver.DCERPC_Fault(OP_RANGE)
        major, minor, build = self.queue_of_test.version
        return VersionReturned(pMajor=major, pMinor=minor, pBuildNumber=build, ndr64=self.ndr64)

    def open(self, req: Any) -> Any:
        asked = req[ms_mqqp.RemoteQMOpenQueue_Request]
        assert (asked.pQueue, asked.dwpContext) == (NUMBER, NUMBER)
        return ms_mqqp.RemoteQMOpenQueue_Response(phContext=self._new_handle(), ndr64=self.ndr64)

    def close(self, req: Any) -> Any:
        del req
        return ms_mqqp.RemoteQMCloseQueue_Response(pphContext=_no_handle(), ndr64=self.ndr64)

    def start(self, req: Any) -> Any:
        desc = req[ms_mqqp.RemoteQMStartReceive_Request].lpRemoteReadDesc
        status, handle, found = self._read(desc)
        self._fill(desc, found)
        return ms_mqqp.RemoteQMStartReceive_Response(
            pphContext=handle, lpRemoteReadDesc=desc, status=status, ndr64=self.ndr64
        )

    def start2(self, req: Any) -> Any:
        desc2 = req[ms_mqqp.RemoteQMStartReceive2_Request].lpRemoteReadDesc2
        desc = desc2.valueof("pRemoteReadDesc")
        return self._answer2(ms_mqqp.RemoteQMStartReceive2_Response, desc, *self._read(desc))

    def look_up(self, req: Any) -> Any:
        asked = req[ms_mqqp.RemoteQMStartReceiveByLookupId_Request]
        desc = asked.lpRemoteReadDesc2.valueof("pRemoteReadDesc")
        found = self._sought(desc.ulAction & 0x0F, asked.LookupId)
        handle = self._lock(found) if found and desc.ulAction & 0x20 else _no_handle()
        status = 0 if found else NOT_FOUND
        return self._answer2(ms_mqqp.RemoteQMStartReceiveByLookupId_Response, desc, status, handle, found)

    def _sought(self, seek: int, lookup_id: int) -> int:
        """Return the message itself, the next or the one before, for 0, 1 or 2; 0 where there is none."""
        free = self.queue_of_test.free()
        wanted = {
            0: [each for each in free if each == lookup_id],
            1: [each for each in free if each > lookup_id],
            2: [each for each in reversed(free) if each < lookup_id],
        }[seek]
        return wanted[0] if wanted else 0

    def _read(self, desc: Any) -> tuple[int, Any, int]:
        """Perform an action; return status, context handle and LookupIdentifier."""
        queue = self.queue_of_test
        free = queue.free()
        if desc.hCursor:
            assert desc.hCursor == CURSOR
            beyond = desc.ulAction == 0x80000001
            free = [each for each in free if each > queue.cursor or (each == queue.cursor and not beyond)]
        if not free:
            return IO_TIMEOUT, _no_handle(), 0
        if desc.hCursor:
            queue.cursor = free[0]
        return 0, self._lock(free[0]) if desc.ulAction == 0 else _no_handle(), free[0]

    def _lock(self, found: int) -> Any:
        handle = self._new_handle()
        self.queue_of_test.locked[handle.uuid] = found
        return handle

    def _fill(self, desc: Any, found: int) -> None:
        desc.Reserved = 1
        if found:
            packet = self.queue_of_test.packets[found]
            desc.dwSize = len(packet)
            desc.lpBuffer = packet
            desc.dwArriveTime = 1624612864

    def _answer2(self, answer: Any, desc: Any, status: int, handle: Any, found: int) -> Any:
        self._fill(desc, found)
        desc2 = ms_mqqp.REMOTEREADDESC2(pRemoteReadDesc=desc, SequentialId=found & 0x00FFFFFFFFFFFFFF)
        return answer(pphContext=handle, lpRemoteReadDesc2=desc2, status=status, ndr64=self.ndr64)

    def end(self, req: Any) -> Any:
        asked = req[ms_mqqp.RemoteQMEndReceive_Request]
        found = self.queue_of_test.locked.pop(asked.pphContext.uuid)
        if asked.dwAck == 2:
            del self.queue_of_test.packets[found]
        return ms_mqqp.RemoteQMEndReceive_Response(pphContext=_no_handle(), ndr64=self.ndr64)

    def close_cursor(self, req: Any) -> Any:
        del req
        return ms_mqqp.RemoteQMCloseCursor_Response(ndr64=self.ndr64)

    def cancel(self, req: Any) -> Any:
        del req
        return ms_mqqp.RemoteQMCancelReceive_Response(status=0xC00E0007, ndr64=self.ndr64)

    def purge(self, req: Any) -> Any:
        del req
        self.queue_of_test.packets.clear()
        return ms_mqqp.RemoteQMPurgeQueue_Response(ndr64=self.ndr64)

    def _new_handle(self) -> Any:
        return dcerpc.NDRContextHandle(uuid=self.queue_of_test.new_handle())


def _is_signed_version_request(data: bytes) -> bool:
    """Return whether these bytes are a request PDU for RemoteQmGetVersion with a signature of NTLM."""
    return (data[2], data[10:12], data[22:24]) == (0, b"\x10\0", b"\x08\0")


def _no_handle() -> Any:
    return dcerpc.NDRContextHandle(uuid=bytes(16))

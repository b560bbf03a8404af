"""OpenPGM as a peer: the program of tests/peers/openpgm, built with Debian's library, on a host of a test."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal
from uuid import UUID

from reliquary.base.time import SECOND
from reliquary.net.clock import RealClock
from reliquary.protocols.srmp.codec.compound import apdu, compound
from reliquary.protocols.srmp.codec.decode import decode_apdu
from reliquary.protocols.srmp.codec.encode import encode
from reliquary.queueing.model.message import Message, ObjectId
from tests.e2e.namespaces import Host
from tests.peers.gsoap_build import run_tool
from tools.system_packages import OPENPGM_HEADERS

SOURCE: Final = Path(__file__).with_name("openpgm") / "peer.c"
MANAGER: Final = UUID("5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10")
"""The manager that the peer's messages say they are from."""
LARGEST: Final = 64 * 1024
_LENGTH: Final = struct.Struct(">I")

Role = Literal["send", "receive"]


def build(folder: Path) -> Path:
    """Compile the program and return it."""
    program = folder / "peer"
    run_tool(folder, "cc", "-O1", "-w", f"-I{OPENPGM_HEADERS}", "-o", program, SOURCE, "-lpgm")
    return program


def apdus(address: str, bodies: Iterable[tuple[int, str]]) -> Iterator[bytes]:
    """Yield messages for a multicast address as they go; each has its number as the identifier."""
    for number, text in bodies:
        message = Message.of(
            identifier=ObjectId(MANAGER, number + 1),
            sent_time=RealClock().now() // SECOND,
            destination_queue=f"MULTICAST={address}",
            source_machine=MANAGER,
        )
        yield apdu(address, compound(encode(message), text.encode(), b"", MANAGER, 1))


class Peer:
    """The program as it runs on a host."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._in, self._out, self._err = process.stdin, process.stdout, process.stderr

    def wait_until_ready(self) -> None:
        """Return when the peer has joined the group."""
        line = self._err.readline()
        assert line == b"ready\n", line + self._err.read()

    def send(self, messages: Iterable[bytes]) -> None:
        """Send these to the group; the peer paces them itself."""
        for message in messages:
            self._in.write(_LENGTH.pack(len(message)) + message)
        self._in.flush()

    def bodies(self) -> Iterator[str]:
        """Yield the bodies of the messages that come, as text; this waits for the next."""
        while head := self._out.read(_LENGTH.size):
            message = self._out.read(_LENGTH.unpack(head)[0])
            yield decode_apdu(message, largest=LARGEST).body.decode()

    def end(self) -> bytes:
        """End it as its user would: it says FIN.  The answer is what it complained about."""
        self._in.close()
        self._process.wait()
        return self._err.read()

    def kill(self) -> None:
        """Kill the process, if it still runs."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._in, self._out, self._err):
            with suppress(BrokenPipeError):  # what it did not read any more
                pipe.close()


@contextmanager
def peer(
    program: Path, host: Host, role: Role, address: str, *, udp_port: int, mtu: int = 1500, name: str = "peer"
) -> Iterator[Peer]:
    """Run the program on a host; a `udp_port` of 0 means raw packets."""
    group, _, port = address.partition(":")
    process = subprocess.Popen(
        [*host.inside, program, role, f"{host.address};{group}", port, str(udp_port), str(mtu), name],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    running = Peer(process)
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.kill()

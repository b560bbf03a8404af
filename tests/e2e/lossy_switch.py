"""A switch that loses frames: what comes in at one port goes out at all others, each time by chance.

    python -m tests.e2e.lossy_switch LOSS SEED PORT...
    python -m tests.e2e.lossy_switch checksums net0        on a host: frames leave with their checksums

It says "ready" when it forwards.  At the end of its input it says how many frames it passed on and lost.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import random
import selectors
import socket
import struct
import sys
from typing import BinaryIO

EVERYTHING = 3
"""Linux calls this protocol number ETH_P_ALL."""
SIOCETHTOOL = 0x8946
SET_TX_CHECKSUM = 0x17


def plug(name: str) -> socket.socket:
    """Connect a port that takes and gives whole frames."""
    line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERYTHING))
    line.bind((name, 0))
    line.setblocking(False)
    return line


def write_checksums(name: str) -> None:
    """Let the computer write checksums itself: the card that would do it later is not there."""
    request = ctypes.create_string_buffer(struct.pack("II", SET_TX_CHECKSUM, 0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        fcntl.ioctl(line, SIOCETHTOOL, struct.pack("16sQ16x", name.encode(), ctypes.addressof(request)))


def forward(loss: float, seed: int, names: list[str], until: BinaryIO) -> tuple[int, int]:
    """Forward until the input ends; how many frames were passed on, and how many lost."""
    chance, ready = random.Random(seed), selectors.DefaultSelector()
    ports = [plug(name) for name in names]
    for port in ports:
        ready.register(port, selectors.EVENT_READ)
    ready.register(until, selectors.EVENT_READ)
    print("ready", flush=True)  # noqa: T201 - the test waits for it
    passed = lost = 0
    while True:
        for key, _ in ready.select():
            if key.fileobj is until:
                return passed, lost
            assert isinstance(key.fileobj, socket.socket)
            frame, (_, _, direction, *_) = key.fileobj.recvfrom(65_535)
            if direction == socket.PACKET_OUTGOING:
                continue
            for port in ports:
                if port is key.fileobj:
                    continue
                if chance.random() >= loss and _passes(port, frame):
                    passed += 1
                else:
                    lost += 1


def _passes(port: socket.socket, frame: bytes) -> bool:
    """Send a frame; a computer that is too busy to take it loses it, as any switch would."""
    try:
        port.send(frame)
    except OSError as why:
        if why.errno not in (errno.ENOBUFS, errno.EAGAIN):
            raise
        return False
    return True


if __name__ == "__main__":
    if sys.argv[1] == "checksums":
        write_checksums(sys.argv[2])
        sys.exit()
    print(*forward(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:], sys.stdin.buffer))  # noqa: T201

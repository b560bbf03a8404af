"""Sends packets to groups and receives them: sockets for raw IP, protocol 113, and for UDP.

A link reports each packet with its sender and the address that it was sent to.  A packet that the
system does not accept is lost, as any packet may be.
"""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from ipaddress import IPv4Address
from typing import Final

from reliquary.net.multicast.options import Encapsulation, MulticastOptions

PGM: Final = 113
"""The number of the protocol PGM in an IP header."""
ROUTER_ALERT: Final = bytes((0x94, 4, 0, 0))
"""The IP option of RFC 2113, which makes routers read SPMs, NCFs and repairs (RFC 3208 4)."""
PACKETS_AT_ONCE: Final = 64
RECEIVE_BUFFER: Final = 4 * 1024 * 1024
LARGEST: Final = 65_535
_SIOCGIFADDR: Final = 0x8915
_IP_MULTICAST_ALL: Final = 49

Heard = Callable[[bytes, str, str], None]
"""Takes a packet, its sender, and the address that it was sent to."""


class Link(ABC):
    """Sends packets, and receives those of the groups that it has joined."""

    def __init__(self, options: MulticastOptions, heard: Heard) -> None:
        self.unsent = 0
        """The number of packets that the system did not take."""
        self._options = options
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._index, self._address = _interface(options.interface)
        self._reading: dict[socket.socket, Callable[[], None]] = {}
        self._senders: list[socket.socket] = []
        self._paused = False
        try:
            self._open()
        except OSError:
            self.close()
            raise

    # -- for both kinds

    def address_towards(self, group: str) -> str:
        """Return the own address, as the members of a group see it."""
        if self._address:
            return self._address
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((group, self._options.group_port))
            return str(probe.getsockname()[0])

    def pause(self, pressed: bool) -> None:
        """Stop reading, or read again; packets that the system drops in between are requested again later."""
        self._paused = pressed
        for line, read in self._reading.items():
            if pressed:
                self._loop.remove_reader(line)
            else:
                self._loop.add_reader(line, read)

    def close(self) -> None:
        """Leave all groups and close all sockets."""
        for line in list(self._reading):
            self._stop_reading(line)
        for line in self._senders:
            line.close()

    def _read_from(self, line: socket.socket, read: Callable[[], None]) -> None:
        line.setblocking(False)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        self._reading[line] = read
        if not self._paused:
            self._loop.add_reader(line, read)

    def _stop_reading(self, line: socket.socket) -> None:
        del self._reading[line]
        self._loop.remove_reader(line)
        line.close()

    def _sender(self, line: socket.socket, ttl: int) -> socket.socket:
        """Return a socket for sending to groups; its packets are received here too."""
        self._senders.append(line)
        line.setblocking(False)
        line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, ttl)
        line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
        if self._index or self._address:
            line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, self._membership("0.0.0.0"))
        return line

    def _membership(self, group: str) -> bytes:
        """Return the `struct ip_mreqn` of a group and our interface."""
        address = socket.inet_aton(self._address or "0.0.0.0")
        return socket.inet_aton(group) + address + struct.pack("@i", self._index)

    def _put(self, line: socket.socket, packet: bytes, to: tuple[str, int]) -> None:
        try:
            line.sendto(packet, to)
        except OSError:
            self.unsent += 1

    # -- different for each kind

    @abstractmethod
    def _open(self) -> None:
        """Open the sockets; OSError if this fails."""

    @abstractmethod
    def join(self, group: str) -> None:
        """Receive packets that are sent to a group; OSError if this fails."""

    @abstractmethod
    def leave(self, group: str) -> None:
        """Stop receiving packets of a group."""

    @abstractmethod
    def multicast(self, packet: bytes, group: str, *, near: bool = False, alert: bool = False) -> None:
        """Send to a group; `near` only up to the next router, `alert` so that routers read the packet."""

    @abstractmethod
    def unicast(self, packet: bytes, to: str) -> None:
        """Send a packet to the address of a source."""


class RawLink(Link):
    """A link over IP protocol 113."""

    def _open(self) -> None:
        """Open the sockets; PermissionError if the process may not."""
        self._line = socket.socket(socket.AF_INET, socket.SOCK_RAW, PGM)
        self._line.setsockopt(socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0)
        self._read_from(self._line, self._read)
        self._far, self._near, self._alert = (
            self._sender(socket.socket(socket.AF_INET, socket.SOCK_RAW, PGM), ttl)
            for ttl in (self._options.ttl, 1, self._options.ttl)
        )
        for line in (self._far, self._near, self._alert):  # packets that they receive are never read
            line.setsockopt(socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0)
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 0)
        self._alert.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, ROUTER_ALERT)

    def join(self, group: str) -> None:
        """Become a member of a group."""
        self._line.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, self._membership(group))

    def leave(self, group: str) -> None:
        """End the membership of a group."""
        self._line.setsockopt(socket.IPPROTO_IP, socket.IP_DROP_MEMBERSHIP, self._membership(group))

    def multicast(self, packet: bytes, group: str, *, near: bool = False, alert: bool = False) -> None:
        """Send a packet to a group; see `Link`."""
        self._put(self._near if near else self._alert if alert else self._far, packet, (group, 0))

    def unicast(self, packet: bytes, to: str) -> None:
        """Send a packet to the address of a source."""
        self._put(self._far, packet, (to, 0))

    def _read(self) -> None:
        for _ in range(PACKETS_AT_ONCE):
            try:
                raw, sender = self._line.recvfrom(LARGEST)
            except (BlockingIOError, InterruptedError):
                return
            head = (raw[0] & 15) * 4  # the IP header stands before the packet
            self._heard(raw[head:], sender[0], socket.inet_ntoa(raw[16:20]))


class UdpLink(Link):
    """A link that sends each packet in a UDP datagram."""

    def _open(self) -> None:
        """Open the sockets, and receive NAKs."""
        self._groups: dict[str, socket.socket] = {}
        self._far, self._near = (
            self._sender(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ttl)
            for ttl in (self._options.ttl, 1)
        )
        self._listen("", self._options.source_port)

    def join(self, group: str) -> None:
        """Become a member of a group."""
        line = self._listen(group, self._options.group_port)
        try:
            line.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, self._membership(group))
        except OSError:
            self._stop_reading(line)
            raise
        self._groups[group] = line

    def leave(self, group: str) -> None:
        """End the membership of a group."""
        self._stop_reading(self._groups.pop(group))

    def multicast(self, packet: bytes, group: str, *, near: bool = False, alert: bool = False) -> None:
        """Send to a group; routers see no PGM here, so there is nothing to alert."""
        del alert
        self._put(self._near if near else self._far, packet, (group, self._options.group_port))

    def unicast(self, packet: bytes, to: str) -> None:
        """Send a packet to the address of a source."""
        self._put(self._far, packet, (to, self._options.source_port))

    def _listen(self, address: str, port: int) -> socket.socket:
        """Return a socket that receives only packets to this address; other processes may bind it too.

        Without IP_MULTICAST_ALL it receives only groups that it joined itself: otherwise, with equal
        ports, the socket for NAKs would receive each packet to a group a second time.
        """
        line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            line.setsockopt(socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0)
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            line.bind((address, port))
        except OSError:
            line.close()
            raise
        self._read_from(line, lambda: self._read(line, address))
        return line

    def _read(self, line: socket.socket, address: str) -> None:
        for _ in range(PACKETS_AT_ONCE):
            try:
                packet, sender = line.recvfrom(LARGEST)
            except (BlockingIOError, InterruptedError):
                return
            self._heard(packet, sender[0], address)
            if line not in self._reading:  # handling the packet closed this socket
                return


def open_link(options: MulticastOptions, heard: Heard) -> Link:
    """Return a link of the configured kind; OSError if it cannot be opened."""
    if options.encapsulation is Encapsulation.UDP:
        return UdpLink(options, heard)
    try:
        return RawLink(options, heard)
    except PermissionError:
        if options.encapsulation is Encapsulation.RAW:
            raise
    return UdpLink(options, heard)


def _interface(name: str) -> tuple[int, str]:
    """Return the index and the address of an interface; 0 and an empty text for the choice of the system.

    >>> _interface("127.0.0.1")
    (0, '127.0.0.1')
    """
    if not name:
        return 0, ""
    try:
        return 0, str(IPv4Address(name))
    except ValueError:
        pass
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
    return socket.if_nametoindex(name), socket.inet_ntoa(answer[20:24])

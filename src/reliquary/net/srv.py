"""Finds the servers of a domain by one query for SRV records, RFC 2782, over UDP.

The wait is short: a resolver that does not answer leaves the list unchanged.
"""

from __future__ import annotations

import secrets
import socket
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final

PORT: Final = 53
PATIENCE_SECONDS: Final = 2.0
LARGEST: Final = 4096
RESOLVERS: Final = Path("/etc/resolv.conf")
LABELS: Final = 128
"""The limit of parts and jumps of a name: one with more has a loop."""

_HEAD: Final = struct.Struct(">HHHHHH")
_QUESTION: Final = struct.Struct(">HH")
_RECORD: Final = struct.Struct(">HHIH")
_SRV: Final = struct.Struct(">HHH")
_IN: Final = 1
_SRV_TYPE: Final = 33
_RECURSION: Final = 0x0100
_ANSWER: Final = 0x8000
_FAILED: Final = 0x000F


class BadAnswer(Exception):
    """The datagram does not answer the question."""


def find_servers(service: str, resolvers: Iterable[tuple[str, int]] | None = None) -> tuple[str, ...]:
    """Return the hosts of a service, the preferred ones first; empty if no resolver knows them."""
    for address in resolvers if resolvers is not None else _resolvers():
        try:
            return _ask(service, address)
        except (OSError, BadAnswer):
            continue
    return ()


def _ask(service: str, address: tuple[str, int]) -> tuple[str, ...]:
    number = secrets.randbits(16)
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as line:
        line.settimeout(PATIENCE_SECONDS)
        line.connect(address)
        line.send(question(number, service))
        return hosts_in(line.recv(LARGEST), number)


def _resolvers() -> list[tuple[str, int]]:
    try:
        lines = RESOLVERS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    words = [line.split() for line in lines]
    return [(each[1], PORT) for each in words if len(each) > 1 and each[0] == "nameserver"]


def question(number: int, service: str) -> bytes:
    """Return a query for the SRV records of a name."""
    labels = [label.encode("ascii") for label in service.split(".") if label]
    name = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    return _HEAD.pack(number, _RECURSION, 1, 0, 0, 0) + name + _QUESTION.pack(_SRV_TYPE, _IN)


def hosts_in(data: bytes, number: int) -> tuple[str, ...]:
    """Return the hosts of an answer: by priority, then the heavier weight first."""
    try:
        answered, flags, questions, answers, _, _ = _HEAD.unpack_from(data)
        if answered != number or not flags & _ANSWER or flags & _FAILED:
            raise BadAnswer("the datagram is not the answer, or it reports an error")
        place = _HEAD.size
        for _ in range(questions):
            place = _name(data, place)[1] + _QUESTION.size
        found: list[tuple[int, int, str]] = []
        for _ in range(answers):
            place = _name(data, place)[1]
            kind, _, _, size = _RECORD.unpack_from(data, place)
            place += _RECORD.size
            if kind == _SRV_TYPE:
                priority, weight, _ = _SRV.unpack_from(data, place)
                found.append((priority, -weight, _name(data, place + _SRV.size)[0]))
            place += size
    except (ValueError, IndexError, struct.error) as why:
        raise BadAnswer(f"the answer is cut off or garbled: {why}") from why
    return tuple(dict.fromkeys(host for _, _, host in sorted(found) if host))


def _name(data: bytes, place: int) -> tuple[str, int]:
    """Return a name, and the position where it ends; a part of it may be stored elsewhere."""
    labels: list[str] = []
    end = 0
    for _ in range(LABELS):
        size = data[place]
        if size >= 0xC0:
            end = end or place + 2
            place = (size & 0x3F) << 8 | data[place + 1]
        elif size == 0:
            return ".".join(labels), end or place + 1
        else:
            labels.append(data[place + 1 : place + 1 + size].decode("ascii"))
            place += 1 + size
    raise BadAnswer("the pointers of a name form a loop")

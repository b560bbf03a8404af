"""A second reader of packets, written from the tables of [MS-MQQB] 2.2 and [MS-MQMQ] 2.2.19 and 2.2.20.

It imports nothing of the project: where it and the codec agree, two hands read the text alike.  It works with
`int.from_bytes` on slices and returns dictionaries with the printed names of the fields.
"""

from __future__ import annotations

from typing import Any


class Bad(Exception):
    """The bytes are no packet."""


def number(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise Bad(f"{size} bytes at {at}")
    return int.from_bytes(data[at : at + size], "little")


def guid(data: bytes, at: int) -> str:
    if at + 16 > len(data):
        raise Bad(f"a GUID at {at}")
    one, two, three = data[at : at + 4], data[at + 4 : at + 6], data[at + 6 : at + 8]
    rest = data[at + 8 : at + 16].hex()
    return f"{one[::-1].hex()}-{two[::-1].hex()}-{three[::-1].hex()}-{rest[:4]}-{rest[4:]}"


def split(stream: bytes) -> tuple[list[bytes], bytes]:
    """Return all packets of a stream, and the bytes that are left; Bad where a packet cannot begin."""
    packets = []
    while len(stream) >= 16:
        if stream[0] != 0x10 or stream[4:8] != b"LIOR":
            raise Bad("version or signature")
        flags, size = number(stream, 2, 2), number(stream, 8, 4)
        if flags & 0x08:
            if size not in ((20, 32, 36, 572) if flags & 0x10 else (32, 572)):
                raise Bad(f"an internal packet of {size}")
            whole = max(size, 36) if flags & 0x10 else size
        else:
            if not 120 <= size <= 0x400000:
                raise Bad(f"a message of {size}")
            whole = size + (16 if flags & 0x10 else 0)
        if len(stream) < whole:
            break
        packets.append(stream[:whole])
        stream = stream[whole:]
    return packets, stream


def session_header(data: bytes, at: int) -> dict[str, int]:
    found = {
        "AckSequenceNumber": number(data, at, 2),
        "RecoverableMsgAckSeqNumber": number(data, at + 2, 2),
        "RecoverableMsgAckFlags": number(data, at + 4, 4),
        "UserMsgSequenceNumber": number(data, at + 8, 2),
        "RecoverableMsgSeqNumber": number(data, at + 10, 2),
        "WindowSize": number(data, at + 12, 2),
    }
    if len(data) < at + 16 or not found["WindowSize"]:
        raise Bad("session header")
    return found


def packet(data: bytes) -> dict[str, Any]:
    """Return one packet as its fields."""
    if len(data) < 20 or data[0] != 0x10 or data[4:8] != b"LIOR":
        raise Bad("no packet")
    flags = number(data, 2, 2)
    return internal(data, flags) if flags & 8 else message(data, flags)


def internal(data: bytes, flags: int) -> dict[str, Any]:
    size, word = number(data, 8, 4), number(data, 18, 2)
    kind, refused = word & 15, bool(word & 16)
    if flags & 0x100 and not flags & 0x20:
        raise Bad("TR without DH")
    if kind == 1:
        if not flags & 0x10 or len(data) != 36 or size not in (20, 36) or refused:
            raise Bad("SessionAck")
        return {"kind": "SessionAck", **session_header(data, 20)}
    if flags & 0x10 or size != len(data):
        raise Bad("size or SH")
    if kind == 2 and size == 572:
        return {
            "kind": "EstablishConnection",
            "CS": refused,
            "ClientGuid": guid(data, 20),
            "ServerGuid": guid(data, 36),
            "TimeStamp": number(data, 52, 4),
            "OperatingSystem": number(data, 56, 2),
        }
    if kind == 3 and size == 32:
        times = number(data, 20, 4), number(data, 24, 4)
        if not (500 <= times[0] <= 120_000 and 20_000 <= times[1] <= 120_000):
            raise Bad("time-outs")
        return {
            "kind": "ConnectionParameters",
            "CS": refused,
            "RecoverableAckTimeout": times[0],
            "AckTimeout": times[1],
            "WindowSize": number(data, 30, 2),
        }
    raise Bad(f"PT {kind} of {size} bytes")


def message(data: bytes, flags: int) -> dict[str, Any]:
    """Return the parts of a user message that a session needs; the headers behind are left to the codec."""
    size = number(data, 8, 4)
    word = number(data, 60, 4)
    if word & 0x02000000:
        raise Bad("AH")
    found: dict[str, Any] = {
        "kind": "UserMessage",
        "PR": flags & 7,
        "TimeToReachQueue": number(data, 12, 4),
        "SourceQueueManager": guid(data, 16),
        "QueueManagerAddress": guid(data, 32),
        "TimeToBeReceived": number(data, 48, 4),
        "SentTime": number(data, 52, 4),
        "MessageID": number(data, 56, 4),
        "RC": word & 0x1F,
        "DM": word >> 5 & 3,
        "JN": bool(word & 0x100),
        "JP": bool(word & 0x200),
        "DQ": word >> 10 & 7,
    }
    at = 64
    for shift in (10, 13, 16):
        at, name = queue(data, at, word >> shift & 7)
        if shift == 10:
            found["DestinationQueue"] = name
    at += 16 if word & 0x00400000 else 0
    if word & 0x00100000:
        found["TxSequenceID"] = number(data, at + 4, 4), number(data, at + 8, 4)
        found["TxSequenceNumber"] = number(data, at + 12, 4)
        found["PreviousTxSequenceNumber"] = number(data, at + 16, 4)
        at += 36 if number(data, at, 4) & 1 else 20
    if word & 0x00080000:
        sizes = ((2, 2), (4, 2), (6, 2), (8, 4), (12, 4))
        parts = [number(data, at + offset, width) for offset, width in sizes]
        at += 16 + sum((part + 3) // 4 * 4 for part in parts)
    found["MessageClass"] = number(data, at + 2, 2)
    units, body = number(data, at + 1, 1), number(data, at + 32, 4)
    extension = number(data, at + 52, 4)
    at += 56
    found["Label"] = data[at : at + 2 * units].decode("utf-16-le").removesuffix("\0")
    at += 2 * units + extension
    found["Body"] = data[at : at + body]
    if flags & 0x10:
        if len(data) != size + 16:
            raise Bad("session header")
        found["SessionHeader"] = session_header(data, size)
    return found


def queue(data: bytes, at: int, kind: int) -> tuple[int, object]:
    """Return where the field of a queue ends, and its content."""
    if kind in (2, 3, 4):
        return at + 4, number(data, at, 4)
    if kind == 5:
        return at + 16, guid(data, at)
    if kind == 6:
        return at + 20, (guid(data, at), number(data, at + 16, 4))
    if kind == 7:
        size = number(data, at, 2)
        name = data[at + 2 : at + 2 + size].decode("utf-16-le").removesuffix("\0")
        return at + (2 + size + 3) // 4 * 4, name
    return at, None

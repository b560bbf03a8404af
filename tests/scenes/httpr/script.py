r"""Requests and responses as the tables of chapter 4 print them, and the bytes that they stand for.

    request:PUSH HTTPR/1.0                      request:PUSH HTTPR/1.0\r\n
    sessionid:1                                 sessionid:1\r\n
    transactionid:0000000000000001              transactionid:0000000000000001\r\n\r\n
    <a> <b|priority:9>                          message-size:1\r\n\r\na\r\n
                                                message-size:1\r\npriority:9\r\n\r\nb\r\n
    payload-disposition:last                    payload-disposition:last\r\n

What a scene is not about is left out when bytes are shown as text: capabilities, agent-type, and the fields
of messages.  The sessions of a conversation are called 1, 2, 3 in it, whatever they are called on the wire.
"""

from __future__ import annotations

import re

from reliquary.protocols.httpr.codec.reader import BatchEnded, RequestReader, ResponseReader
from reliquary.protocols.httpr.codec.values import BatchLimits, Carried

ANY = BatchLimits(100_000_000, 100_000)
LEFT_OUT = ("capabilities:", "agent-type:")
_MESSAGE = re.compile(r"<([^>]*)>")


def to_bytes(*lines: str) -> bytes:
    """Return the bytes of a request or a response."""
    header, batch = [], b""
    for line in lines:
        if line.startswith("<"):
            batch += b"".join([_message(*found.split("|")) for found in _MESSAGE.findall(line)])
        elif line.startswith("payload-disposition:"):
            batch += f"{line}\r\n".encode()
        else:
            header.append(f"{line}\r\n")
    return f"{''.join(header)}\r\n".encode() + batch


def _message(body: str, *fields: str) -> bytes:
    lines = "".join([f"{field}\r\n" for field in (f"message-size:{len(body)}", *fields)])
    return f"{lines}\r\n{body}\r\n".encode()


def to_lines(data: bytes) -> list[str]:
    """Return the header fields and bodies in these bytes as lines of text."""
    block = data[: data.index(b"\r\n\r\n")].decode().split("\r\n")
    reader = RequestReader(lambda _: ANY) if block[0].startswith("request:") else ResponseReader(ANY)
    lines = [line for line in block if not line.startswith(LEFT_OUT)]
    bodies = []
    for part in reader.feed(data):
        if isinstance(part, Carried):
            bodies.append(f"<{part.body.decode()}>")
        elif isinstance(part, BatchEnded):
            lines += [" ".join(bodies), f"payload-disposition:{part.disposition.value}"]
    reader.end()
    return lines


class Sessions:
    """What the sessions of a conversation are called on the wire, in their order."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def to_wire(self, line: str) -> str:
        """`sessionid:1` is the first that was given."""
        name, _, value = line.partition(":")
        known = name == "sessionid" and value.isdecimal() and 0 < int(value) <= len(self.names)
        return f"{name}:{self.names[int(value) - 1]}" if known else line

    def from_wire(self, line: str) -> str:
        """Return the words of the script for bytes; a name that is new gets the next number."""
        name, _, value = line.partition(":")
        if name != "sessionid":
            return line
        if value not in self.names:
            self.names.append(value)
        return f"{name}:{self.names.index(value) + 1}"

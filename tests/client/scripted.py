"""A server that answers what the test says, and remembers what it was asked."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Asked:
    """One request that the scripted server received."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    """What is sent; then the connection is cut, or reset, or goes on."""

    data: bytes = b""
    cut: bool = False
    early: bool = False
    """Answer before the body has come."""


def answer(status: int, body: object = None) -> Answer:
    """Return a whole answer with JSON."""
    data = b"" if body is None else json.dumps(body).encode()
    return Answer(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%b" % (status, len(data), data))


def streamed(*chunks: bytes, whole: bool = True) -> Answer:
    """Return an answer in chunks, without its end where it is not whole."""
    parts = [b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks]
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    return Answer(head + b"".join(parts) + (b"0\r\n\r\n" if whole else b""), cut=not whole)


HANG_UP = Answer(cut=True)


@dataclass
class Scripted:
    """A server that gives these answers one after the other, to any client."""

    answers: list[Answer]
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0

    def __enter__(self) -> Scripted:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reader:
            while self._exchange(connection, reader):
                pass

    def _exchange(self, connection: socket.socket, reader: Any) -> bool:
        """Answer one request; return whether the connection goes on."""
        try:
            line = reader.readline().decode()
            if not line:
                return False
            method, target, _ = line.split()
            headers = dict(each.decode().rstrip().split(": ", 1) for each in iter(reader.readline, b"\r\n"))
            said = self.answers.pop(0)
            body = b"" if said.early else _body(headers, reader)
            self.asked.append(Asked(method, target, headers, body))
            connection.sendall(said.data)
        except OSError:
            return False
        return not said.cut


def _body(headers: dict[str, str], reader: Any) -> bytes:
    if headers.get("Transfer-Encoding") != "chunked":
        return bytes(reader.read(int(headers.get("Content-Length", 0))))
    body = b""
    while size := int(reader.readline() or b"0", 16):
        body += reader.read(size)
        reader.readline()
    reader.readline()
    return body

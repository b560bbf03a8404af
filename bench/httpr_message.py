"""The requests of the HTTPR benchmark as bytes: durable messages of 1 KB, encoded once, sent many times."""

from __future__ import annotations

from typing import Final

BODY: Final = bytes(range(1, 65)) * 16
ID_DIGITS: Final = 16
_PLACE: Final = b"@" * ID_DIGITS
SENDER: Final = b"5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10"
FIRST: Final = 1_000_000
REQUESTER: Final = "httpr://bench.example/httpr/load"


def post(service: str, body: bytes) -> bytes:
    """Return a POST with its head and this body."""
    head = f"POST /httpr/{service} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Template:
    """A whole POST in which only one id changes."""

    def __init__(self, service: str, body: bytes) -> None:
        self._data = bytearray(post(service, body))
        self._at = self._data.index(_PLACE)

    def with_id(self, number: int) -> bytearray:
        """Return the request with this id; every call returns one object, changed in place."""
        self._data[self._at : self._at + ID_DIGITS] = b"%016X" % number
        return self._data


def begin(service: str, channel: str, batch: int, depth: int) -> bytes:
    """Return a GET-RESPONDER-INFO that begins a session with batches of this size."""
    body = (
        f"request:GET-RESPONDER-INFO HTTPR/1.0\r\nrequester:{REQUESTER}\r\nchannel:{channel}\r\n"
        f"session:begin\r\ncapabilities:idle_session_interval=600,empty_batch_delay=100,max_wait_batch=100,"
        f"maximum_batch_size={batch},maximum_pipeline_depth={depth},session_support=SESSION\r\n"
        "agent-type:Reliquary.Bench\r\n\r\n"
    )
    return post(service, body.encode())


def push(service: str, session: str, target: str, batch: int) -> Template:
    """PUSH: as many messages as the batch has, with headers as a manager writes them."""
    messages = b"".join(
        b"message-size:%d\r\ntarget-uri:%b\r\nclass-of-service:reliable\r\npriority:3\r\n"
        b"message-id:%b.%d\r\nput-time:01 Aug 2026 12:00:00\r\ncontent-type:application/octet-stream\r\n\r\n"
        b"%b\r\n" % (len(BODY), target.encode(), SENDER, FIRST + number, BODY)
        for number in range(batch)
    )
    head = f"request:PUSH HTTPR/1.0\r\nsessionid:{session}\r\ntransactionid:".encode()
    return Template(service, head + _PLACE + b"\r\n\r\n" + messages + b"payload-disposition:last\r\n")


def pull(service: str, session: str) -> Template:
    """PULL: acknowledges the batch of this id, and all before it."""
    head = f"request:PULL HTTPR/1.0\r\nsessionid:{session}\r\noutcome:COMMIT\r\ncompleted:".encode()
    return Template(service, head + _PLACE + b"\r\n\r\n")


def report(service: str, session: str, pushed: int) -> Template:
    """Return a REPORT, which acknowledges and ends the session."""
    head = (
        f"request:REPORT HTTPR/1.0\r\nsessionid:{session}\r\nsession:end\r\n"
        f"last-pushed-id:{pushed:016X}\r\noutcome:COMMIT\r\ncompleted:"
    )
    return Template(service, head.encode() + _PLACE + b"\r\n\r\n")

"""Our manager in a process that uses MQQP, for tests with clients of others."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from itertools import count
from pathlib import Path

from reliquary import Manager, connect
from reliquary.net.identity.nt_hash import nt_hash
from reliquary.queueing.packets.messages import read
from reliquary.wire.packet.user_message import decode_user_message
from tests.e2e.sites import Site
from tests.ports import free_ports

USER = "alice"
PASSWORD = "correct horse"
LARGE = 300_000
"""Bytes of a body that takes many fragments."""
LARGEST = 4_193_280
"""Bytes of a body that is nearly as large as a message may be."""
_TOKEN = "administrators-token"


class MqqpSite:
    """A server with MQQP on two free ports, a user that NTLM knows, and a connection to its API."""

    def __init__(self, folder: Path) -> None:
        self.handshake_port, self.read_port = free_ports(2)
        self.site = Site(folder)
        self.site.file = "\n".join(
            [
                "[mqqp]",
                "enabled = true",
                f"handshake_port = {self.handshake_port}",
                f"read_port = {self.read_port}",
                "[[users]]",
                f'name = "{USER}"',
                f'nt_hash = "{nt_hash(PASSWORD)}"',
                "[[users]]",
                'name = "admin"',
                f'token_sha256 = "{sha256(_TOKEN.encode()).hexdigest()}"',
                'groups = ["administrators"]',
            ]
        )
        self._numbers = count(1)
        self.manager: Manager

    def __enter__(self) -> MqqpSite:
        try:
            self.site.start()
            self.manager = connect(
                f"http://127.0.0.1:{self.site.data_port}",
                control=f"http://127.0.0.1:{self.site.control_port}",
                token=_TOKEN,
            )
        except BaseException:
            self.site.end()
            raise
        return self

    def __exit__(self, *unused: object) -> None:
        self.manager.close()
        self.site.end()

    def new_queue(self, *bodies: bytes, reader: str = "everyone") -> str:
        """Create a queue with messages of these bodies that a user or a group may read; its name."""
        name = f"q{next(self._numbers)}"
        queue = self.manager.create_queue(name)
        self.manager.grant(reader, "receive-message", "delete-message", queue=name)
        for body in bodies:
            queue.send(body)
        return name

    def bodies(self, queue: str) -> list[bytes]:
        """Return the bodies of the messages that a client of the API sees in a queue."""
        return [message.body for message in self.manager.queue(queue).browse()]


def direct(queue: str) -> str:
    """Return what follows DIRECT= in the name of a private queue here."""
    return f"OS:localhost\\private$\\{queue}"


def body_of(packet: bytes | None) -> bytes:
    """Return the body of the message in a UserMessage packet."""
    assert packet is not None, "there is no packet"
    return bytes(read(decode_user_message(packet)).body)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Call `is_so` again and again until it is true."""
    while not is_so():
        pass

"""A proxy between two managers that cuts each connection after a random number of bytes."""

from __future__ import annotations

import socket
import threading
from random import Random

PIECE = 4096


class CuttingProxy:
    """Listens at an IPv4 address, and passes connections on to a port of the IPv6 loopback."""

    def __init__(self, host: str, target: int, seed: int, longest: int) -> None:
        """Cut each connection after `longest` bytes, which both directions count together."""
        self._target = target
        self._random = Random(seed)
        self._longest = longest
        self.cuts = 0
        """The number of connections that were cut."""
        self.is_cutting = True
        self._listener = socket.create_server((host, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # the test has ended
                return
            try:
                server = socket.create_connection(("::1", self._target))
            except OSError:
                client.close()
                continue
            left = [self._random.randint(1, self._longest)]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._carry, args=(source, target, left), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, left: list[int]) -> None:
        """Carry bytes in one direction until an end closes, or no bytes of the connection are `left`."""
        try:
            while data := source.recv(PIECE):
                if self.is_cutting:
                    data = data[: max(left[0], 0)]
                    left[0] -= len(data)
                target.sendall(data)
                if left[0] <= 0 and self.is_cutting:
                    self.cuts += 1
                    break
        except OSError:
            pass
        finally:
            for each in (source, target):
                each.close()

    def close(self) -> None:
        """Take no further connections."""
        self._listener.close()

"""Defines the parts of a request that identify its client, and the refusal of a client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

Fields = tuple[tuple[bytes, bytes], ...]


class Shown(Protocol):
    """The part of an HTTP request that identifies its sender.

    The listener and the control plane implement it.
    """

    @property
    def method(self) -> str:
        """The method of the request, in capital letters."""

    @property
    def fields(self) -> Sequence[tuple[bytes, bytes]]:
        """All header fields in the order in which they came, names in any case."""

    @property
    def peer(self) -> str:
        """The client's address; empty if it is unknown."""

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of a header; `name` is in lower case."""


class Denied(Exception):
    """A client is refused, with a sentence; a protocol may answer in its own words."""

    status: ClassVar[int] = 403
    code: ClassVar[str] = "ACCESS_DENIED"
    headers: Fields = ()
    """Header fields of the response besides the usual ones."""
    wait: float = 0
    """The seconds until the client is answered."""

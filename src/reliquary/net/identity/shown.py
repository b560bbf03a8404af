"""What a client shows of itself, and why it is sent away."""

from __future__ import annotations

from typing import Protocol


class Shown(Protocol):
    """The part of an HTTP request that says who sent it; listener and control plane have one each."""

    @property
    def method(self) -> str:
        """The method of the request, in capital letters."""

    def header(self, name: bytes) -> bytes | None:
        """The first value of a header; `name` is in lower case."""


class Denied(Exception):
    """A client may not come in; the sentence says why."""

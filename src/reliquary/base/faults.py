"""Defines the classes of errors by the side that caused them; the class decides what happens next.

    PeerFault        the other side broke its protocol      answer with its code, go on
    UsageError       our own caller broke the contract      raise to the caller, change nothing
    StoreDamage      the disk has data that we never wrote  stop; an administrator decides on the repair
    AssertionError   our own code is wrong                  stop; recovery starts from the disk

A refusal that a specification foresees is none of these: it is a value (`hresult.HResult`).
"""

from __future__ import annotations


class PeerFault(Exception):
    """A peer sent what its protocol does not allow; `status` is the code to answer with."""

    def __init__(self, status: int, why: str, *, spec: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.spec = spec


class UsageError(Exception):
    """A caller made a request that the contract does not allow; the text names the limit and the value."""


class StartFailed(Exception):
    """The queue manager cannot start before an administrator or another service has done its part."""


class StoreDamage(Exception):
    """The disk returned something that was never written."""


class StoreFailure(Exception):
    """The disk cannot work: no space, no permission, an I/O error, or a second process uses the folder.

    `kind` is a short word for exit codes: "full", "permission", "io", "locked", "newer", "older",
    "missing".
    """

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind

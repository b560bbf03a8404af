"""Finds the mount of a request: the handler of the requests under a path, and its limits.

    /api/v1/stages/   feeds: bodies are streamed
    /api/v1/          the JSON API: bodies are whole
    /httpr/           HTTPR: bodies are streamed
    /msmq/            SRMP: in any case, with a limit and refusals of its own
    /wsrm/            WS-RM: with a limit of its own
    (empty)           all other paths: not found

A path belongs to the mount with the longest prefix that it begins with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from reliquary.net.http.request import Request, split_target
from reliquary.net.http.responder import Handler
from reliquary.net.http.streams import Begin

TARGETS_KEPT: Final = 1024
"""The number of cached request targets with their mounts."""

Admit = Callable[[Request], Any]
"""The type of a function that returns the identity of a client, or raises the reason of its refusal."""


def anyone(_: Request) -> None:
    """Admit every client, without a check of its identity."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """The rules by which the listener refuses a request under a mount before the handler gets it."""

    statuses: Mapping[int, int]
    """The listener's statuses that clients of this mount do not know, and their replacements."""
    refused: Callable[[int, str, str], None]
    """Called for every refusal with the status, the client's address and the sentence; the response has
    no body."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mount:
    """One row of the table: either `handler` or `begin` takes the requests."""

    prefix: str
    """The prefix of the path; empty for all other paths; in lower case if `any_case` is set."""
    handler: Handler | None = None
    """Takes requests with their whole bodies."""
    begin: Begin | None = None
    """Takes requests whose bodies are passed on while they arrive, of any size."""
    ended: Callable[[int], None] | None = None
    """Called with the number of a connection on which `begin` took a request, when it is lost."""
    any_case: bool = False
    """Whether the case of the prefix is ignored."""
    body_bytes: int | None = None
    """The limit of a whole body; None for the limit of the listener."""
    refusals: Refusals | None = None
    """The form of refusals; None for that of the listener: one sentence as JSON."""
    admit: Admit = anyone
    """Authenticates the client. The handler calls it, because each protocol has its own refusals."""

    def __post_init__(self) -> None:
        assert (self.handler is None) is not (self.begin is None), "bodies are whole or streamed"


class Target(NamedTuple):
    """A request target in its parts, with the mount that takes it."""

    path: str
    """The percent-decoded path, without the query."""
    query: bytes
    mount: Mount


class Mounts:
    """Finds the mount of a request target; results are cached."""

    def __init__(self, mounts: Sequence[Mount]) -> None:
        longest_first = sorted(mounts, key=lambda mount: -len(mount.prefix))
        prefixes = [mount.prefix for mount in longest_first]
        assert prefixes.count("") == 1, "one mount takes the paths that no other has"
        assert len(set(prefixes)) == len(prefixes), f"two mounts have one prefix: {prefixes}"
        self._mounts = tuple(longest_first)
        self._pattern = re.compile("|".join(map(_alternative, longest_first)))
        self.resolve: Callable[[bytes], Target] = lru_cache(maxsize=TARGETS_KEPT)(self._resolve)
        """The function for the path, query and mount of a request target; PeerFault for an unreadable one."""

    def _resolve(self, target: bytes) -> Target:
        path, query = split_target(target)
        found = self._pattern.match(path)
        assert found is not None, "the empty prefix matches every path"
        assert found.lastindex is not None, "every alternative is a group"
        return Target(path, query, self._mounts[found.lastindex - 1])


def _alternative(mount: Mount) -> str:
    prefix = re.escape(mount.prefix)
    return f"((?ai:{prefix}))" if mount.any_case else f"({prefix})"

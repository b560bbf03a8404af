"""Asks other managers over their control planes for the events of a message.

    GET /api/v1/history/trace?message=...&here=true    all peers at once, few seconds, few bytes
         |-- the events, as their user may see them there
         '-- no answer, a refusal, a wrong answer: one sentence, beside the name of the peer

`here=true` keeps a peer from asking its own peers, so two managers that name each other do not ask in
circles.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

import msgspec

from reliquary.base.time import seconds
from reliquary.client.records import Trace, TracedManager, TraceLine
from reliquary.net.http import HttpClient
from reliquary.net.http.client import ClientLimits
from reliquary.net.http.failures import RequestFailed

PATH: Final = "/api/v1/history/trace"
PATIENCE: Final = seconds(5)
"""The time that a peer has for its whole answer."""
LIMITS: Final = ClientLimits(connections=1, body_bytes=1024 * 1024, connect_time=seconds(3))
SENTENCE_MOST: Final = 300
"""The most characters of a peer's own sentence that are shown."""

_trace = msgspec.json.Decoder(Trace)


class _Refusal(msgspec.Struct):
    error: str = ""


_refusal = msgspec.json.Decoder(_Refusal)


@dataclass(frozen=True, slots=True)
class Peer:
    """Another manager, by the address of its control plane."""

    name: str
    control: str
    token: str = field(default="", repr=False)
    trust: Callable[[], ssl.SSLContext] = ssl.create_default_context
    """Returns the authorities that its certificate is checked with, and our own certificate."""


@dataclass(slots=True)
class Peers:
    """The peers in the current settings."""

    all: Sequence[Peer] = ()

    async def trace(self, message: str) -> list[tuple[TracedManager, list[TraceLine]]]:
        """Ask every peer for the events of a message; each answers, or is shown with the reason."""
        return await asyncio.gather(*(_ask(peer, message) for peer in self.all))


async def _ask(peer: Peer, message: str) -> tuple[TracedManager, list[TraceLine]]:
    try:
        found = await _exchange(peer, message)
    except RequestFailed as why:
        return _without(peer, f"it does not answer: {why}"), []
    except _Refused as why:
        return _without(peer, str(why)), []
    [there] = found.managers
    seen = TracedManager(
        name=peer.name,
        control=peer.control,
        lines=len(found.lines),
        why=there.why,
        is_partial=there.is_partial,
        hidden=there.hidden,
    )
    return seen, found.lines


class _Refused(Exception):
    """A peer answered without events."""


async def _exchange(peer: Peer, message: str) -> Trace:
    proof = ((b"authorization", b"Bearer " + peer.token.encode()),) if peer.token else ()
    query = urlencode({"message": message, "here": "true"})
    tls = peer.trust() if peer.control.startswith("https:") else None
    async with HttpClient(peer.control, tls=tls, limits=LIMITS) as client:
        answer = await client.request("GET", f"{PATH}?{query}", b"", proof, PATIENCE, idempotent=True)
    if answer.status == 404:
        raise _Refused("it is of a release that cannot be asked for events")
    if answer.status != 200:
        raise _Refused(f"it refuses: {_sentence(answer.body, answer.status)}")
    try:
        found = _trace.decode(answer.body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise _Refused("its answer is not understood") from None
    if len(found.managers) != 1:
        raise _Refused("its answer is not understood")
    return found


def _sentence(body: bytes | bytearray | memoryview, status: int) -> str:
    try:
        text = _refusal.decode(body).error
    except (msgspec.MsgspecError, UnicodeDecodeError):
        text = ""
    return text[:SENTENCE_MOST] or f"status {status}"


def _without(peer: Peer, why: str) -> TracedManager:
    return TracedManager(name=peer.name, control=peer.control, why=why)

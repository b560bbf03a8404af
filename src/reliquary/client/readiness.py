"""Waits until a server is ready, until a queue exists, or until a queue has messages.

A client is not notified of a start, so the server is polled until the time is over.
A refusal (an unknown token, a missing right) ends the wait at once: another request would not change it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Final

import msgspec

from reliquary.client.address import control_of, is_mqqp
from reliquary.client.authorization import authorization_of
from reliquary.client.connect import connect_async
from reliquary.client.errors import (
    BadRequest,
    MessageNotFound,
    QueueNotFound,
    ReliquaryError,
    ServerUnreachable,
)
from reliquary.client.wire import Wire

PAUSES: Final = (0.05, 0.1, 0.2, 0.5)
"""The seconds between two requests; the last value is repeated."""
ONE_TRY: Final = 2.0
"""The seconds that a try may take after the end of the time, so that a time of 0 has one complete try."""


class _Health(msgspec.Struct):
    status: str = ""


_health = msgspec.json.Decoder(_Health)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The server, and the conditions to wait for."""

    server: str
    control: str | None = None
    token: str | None = field(default=None, repr=False)
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: SSLContext | None = None
    queue: str | None = None
    messages: int = 0
    """How many receivable messages the queue must have."""


async def wait_until(wanted: Wanted, patience: float) -> None:
    """Return when all conditions hold.

    After `patience` seconds the error names what is missing: ServerUnreachable, QueueNotFound or
    MessageNotFound.
    """
    if is_mqqp(wanted.server):
        raise BadRequest("INVALID_PARAMETER", "a server is waited for at its address of HTTP, not of MQQP")
    clock = asyncio.get_running_loop().time
    end, pauses = clock() + patience, iter(PAUSES)
    pause, missing = PAUSES[-1], _silent(wanted.server)
    while True:
        try:
            async with asyncio.timeout_at(max(end, clock() + ONE_TRY)):
                await _look(wanted)
            return
        except (ServerUnreachable, QueueNotFound, MessageNotFound) as why:
            missing = why
        except TimeoutError:
            pass
        pause = next(pauses, pause)
        if clock() + pause > end:
            raise missing
        await asyncio.sleep(pause)  # noqa: TID251 - there is no notice when a server has started


async def _look(wanted: Wanted) -> None:
    authorization = authorization_of(wanted.token, wanted.user, wanted.password)
    for plane in (wanted.server, wanted.control or control_of(wanted.server)):
        await _check_health(Wire(plane, wanted.tls, authorization), plane)
    if wanted.queue is None:
        return
    async with connect_async(
        wanted.server,
        control=wanted.control,
        tls=wanted.tls,
        token=wanted.token,
        user=wanted.user,
        password=wanted.password,
    ) as manager:
        try:
            found = (await manager.queue(wanted.queue).info()).messages
        except QueueNotFound as why:
            raise QueueNotFound(why.code, f"there is no queue {wanted.queue!r}") from why
    if found < wanted.messages:
        sentence = f"{wanted.queue!r} has {found} of {wanted.messages} messages"
        raise MessageNotFound("MESSAGE_NOT_FOUND", sentence)


async def _check_health(wire: Wire, plane: str) -> None:
    try:
        status = (await wire.read("GET", "/health", _health)).status
    finally:
        await wire.close()
    if status != "ready":
        raise ServerUnreachable(
            sentence=f"{plane} answers and is not ready: it is {status or 'no server of ours'}"
        )


def _silent(server: str) -> ReliquaryError:
    return ServerUnreachable(sentence=f"{server} takes connections and does not answer")

"""Sends a message and waits for its answer.

orders.request --> "orders" --> a receiver: qm.reply(message, ...)
      ^                               |
      '------- the queue "answers" <--'      found by its correlation, at any position
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import TYPE_CHECKING, Final, Unpack

from reliquary.client.errors import BadRequest
from reliquary.client.message import Body, Message, OutgoingMessage, SendOptions

if TYPE_CHECKING:
    from reliquary.client.queue import AsyncQueue

GLANCE: Final = 1.0
"""The seconds after which all answers are examined again.

A cursor does not see an answer before its position, with a higher priority, or one that another
consumer had locked.
"""


async def request(
    queue: AsyncQueue,
    body: Body | OutgoingMessage,
    answers: str,
    timeout: float | None,  # noqa: ASYNC109
    **options: Unpack[SendOptions],
) -> Message | None:
    """Send a message, and receive its answer from the queue `answers`; other answers stay there."""
    if queue.inside() is not None:
        raise BadRequest(
            "INVALID_PARAMETER",
            "a request cannot be part of a transaction, because its answer comes only after the commit",
        )
    clock, inbox = asyncio.get_running_loop().time, queue.manager.queue(answers)
    async with inbox.cursor("peek") as cursor:  # first of all: without this queue nothing is sent
        options["response_queue"] = answers
        sent = await queue.send(body, **options)
        end = inf if timeout is None else clock() + timeout
        while True:
            left = max(end - clock(), 0)
            shown = await cursor.next(min(left, GLANCE))
            found = None if shown is None else await _taken(inbox, shown, sent.id)
            if found is None and (shown is None or not left):
                found = await _look_through(inbox, sent.id)
            if found is not None or not left:
                return found


async def _look_through(inbox: AsyncQueue, identifier: str) -> Message | None:
    async for message in inbox.browse():
        if (found := await _taken(inbox, message, identifier)) is not None:
            return found
    return None


async def _taken(inbox: AsyncQueue, message: Message, identifier: str) -> Message | None:
    """Return the message if it is the answer and no other consumer was faster; an acknowledgement
    is no answer.
    """
    if message.correlation != identifier or message.message_class:
        return None
    return await inbox.lookup(message.lookup_id, receive=True)

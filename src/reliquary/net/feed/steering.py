"""Handles requests that limit, pause and reset consumers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.forms import Bodies, read_body
from reliquary.net.api.limits import ConsumerName, PlainNumber, either, limited
from reliquary.net.api.operations import operation
from reliquary.net.feed.asking import Conversations
from reliquary.net.feed.feeds import EARLIEST, LATEST
from reliquary.net.feed.places import PlaceSearch
from reliquary.net.feed.values import number_of
from reliquary.net.http import Request, Responder
from reliquary.queueing.feed.events import ConsumerReset, ResetConsumer, SetConsumer
from reliquary.queueing.model.keep import AGES, NONE, SIZES, parse_keep
from reliquary.queueing.model.security.principals import Principal

INHERIT: Final = "inherit"
_COUNT: Final = "[1-9][0-9]{0,5}"
_AGE: Final = f"{_COUNT}({'|'.join(AGES)})"
_SIZE: Final = f"{_COUNT}({'|'.join(SIZES)})"
_KEEP: Final = f"^({NONE}|{INHERIT}|{_AGE}(,{_SIZE})?(,{_COUNT})?|{_SIZE}(,{_COUNT})?|{_COUNT})$"
_TIME: Final = "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3])(:[0-5][0-9]){2}Z"
_PLACE: Final = f"^({EARLIEST}|{LATEST}|[0-9]{{1,15}}|{_TIME})$"


class SetIn(msgspec.Struct, forbid_unknown_fields=True):
    """The new settings.

    Without a name, the limit is for all consumers of the queue without a limit of their own.
    """

    name: str = ""
    keep: Annotated[str, limited(pattern=_KEEP)] | None = None
    paused: bool | None = None


class ResetIn(msgspec.Struct, forbid_unknown_fields=True):
    """The place at which a consumer continues."""

    name: ConsumerName
    to: Annotated[str, limited(pattern=_PLACE)] | PlainNumber
    dry_run: bool = False


class ResetOut(msgspec.Struct):
    """The effect of a reset, or the effect that it would have."""

    before: str
    cursor: str
    messages: int
    bytes: int
    more: bool


_set = Bodies(SetIn)
_reset = Bodies(ResetIn)
_encode = msgspec.json.Encoder().encode


@operation(
    "Limit what is kept for a consumer, pause or resume it",
    body=Annotated[SetIn, either({"paused": None}, {"name": ...})],
    status=204,
)
def set_consumer(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer PUT /queues/{queue}/consumers: set the limit of a consumer, pause or resume it."""
    parameters(request)
    given = read_body(_set, request)
    inherit = given.keep == INHERIT
    keep = None if given.keep is None or inherit else parse_keep(given.keep)
    context.on_act(context.engine.by, request.peer, "set-consumer", f"{given.name} of {queue}")
    context.submit(responder, lambda to: SetConsumer(to, queue, given.name, keep, inherit, given.paused))


class Resets:
    """Moves cursors to named positions, also by a time."""

    def __init__(self, conversations: Conversations, places: PlaceSearch) -> None:
        self._conversations = conversations
        self._places = places

    @operation(
        "Move the cursor of a consumer anywhere, or say what that would do",
        body=ResetIn,
        body_required=True,
        answer=ResetOut,
    )
    def reset(self, context: Context, request: Request, responder: Responder, queue: str) -> None:
        """Answer POST /queues/{queue}/reset: move the cursor of a consumer to any position."""
        parameters(request)
        given = read_body(_reset, request)
        place, moment = _place(str(given.to))
        by = context.engine.by
        if not given.dry_run:
            about = f"{given.name} of {queue} to {given.to}"
            context.on_act(by, request.peer, "reset-consumer", about)
        self._conversations.start(
            responder,
            f"a reset of a consumer of {queue}",
            lambda: self._answer(responder, queue, given, place, moment, by),
        )

    async def _answer(
        self,
        responder: Responder,
        queue: str,
        given: ResetIn,
        place: int | None,
        moment: int | None,
        by: Principal,
    ) -> None:
        if moment is not None:
            place = await self._places.find(queue, moment, by)
        answer = await self._conversations.ask(
            by, ConsumerReset, lambda to: ResetConsumer(to, queue, given.name, place, given.dry_run)
        )
        shown = ResetOut(str(answer.before), str(answer.cursor), answer.messages, answer.bytes, answer.more)
        responder.respond(200, _encode(shown))


def _place(to: str) -> tuple[int | None, int | None]:
    """Return the number that a position means, None for the mark, and the timestamp if it is one."""
    if to == EARLIEST:
        return 0, None
    if to == LATEST:
        return None, None
    if to.isascii() and to.isdigit():
        return number_of("to", to), None
    try:
        moment = datetime.fromisoformat(to)
    except ValueError:
        raise UsageError(
            f"to is {EARLIEST}, {LATEST}, a number or a time such as 2026-11-18T05:00:00Z, not {to[:40]!r}"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return None, max(int(moment.timestamp() * 1_000_000), 0)

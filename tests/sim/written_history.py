"""Turns and facts made by hand, for the tests of those who judge them."""

from __future__ import annotations

from uuid import UUID

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Fact
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import Delivered, Received
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.queue import Outgoing, Queue, QueueType
from reliquary.sim.history import History, SenderKnowledge, Sending, Turned

NOW = Instant(1_700_000_000_000_000)
ORDERS, OTHER = 1, 2


class Nothing(Event, frozen=True):
    """An event that means nothing."""


def queue(number: int, *, deleting: bool = False) -> Queue:
    return Queue(
        number=number,
        identifier=UUID(int=number),
        pathname=f"SIM\\private$\\q{number}",
        qualified_pathname="",
        kind=QueueType.PRIVATE,
        create_time=0,
        modify_time=0,
        deleting=deleting,
    )


def outgoing(number: int) -> Queue:
    return msgspec.structs.replace(queue(number), outgoing=Outgoing(destination=f"DIRECT=OS:a\\q{number}"))


def position(number: int, **attributes: object) -> Position:
    return Position(lookup_id=number, message=number, size=10, arrived=NOW, **attributes)  # type: ignore[arg-type]


def message(body: bytes) -> Message:
    return Message(body=body, label=body.decode())


def stored(*numbers: int, queue: int = ORDERS, **attributes: object) -> facts.MessagesStored:
    positions = tuple(position(number, **attributes) for number in numbers)
    return facts.MessagesStored(queue, positions, tuple(message(b"m%d" % number) for number in numbers))


def removed(
    *numbers: int, reason: MessageClass = MessageClass.ACK_RECEIVE, **attributes: object
) -> facts.PositionsRemoved:
    return facts.PositionsRemoved(ORDERS, tuple(position(number, **attributes) for number in numbers), reason)


def moved(number: int, *, reason: MessageClass = MessageClass.NORMAL) -> facts.PositionMoved:
    return facts.PositionMoved(ORDERS, OTHER, position(number, reason=reason), reason)


def created(*numbers: int) -> tuple[facts.QueueCreated, ...]:
    return tuple(facts.QueueCreated(queue(number)) for number in numbers)


def delivered(*numbers: int, receipt: int = 0, **attributes: object) -> Received:
    messages = tuple(Delivered(position(n, **attributes), message(b"m%d" % n)) for n in numbers)
    return Received(HResult.OK, messages=messages, receipt=receipt)


class Story:
    """A history that is written turn by turn; its first turn creates two queues."""

    def __init__(self) -> None:
        self.history = History()
        self.turn(*created(ORDERS, OTHER))

    def turn(
        self,
        *stated: Fact,
        event: Event | None = None,
        answers: dict[int, object] | None = None,
        batch: int = 1,
        process_number: int = 1,
        now: Instant = NOW,
        lost: bool = False,
    ) -> Turned:
        event = event or Nothing()
        turned = Turned(
            len(self.history.turns),
            process_number,
            batch,
            event,
            stated,
            tuple((answers or {}).items()),
            now,
            lost,
        )
        self.history.turns.append(turned)
        if getattr(event, "to", 0):
            self.history.requests[process_number, event.to] = event  # type: ignore[attr-defined]
        return turned

    def sent(
        self, *numbers: int, standing: SenderKnowledge = SenderKnowledge.CONFIRMED, request: int = 0
    ) -> None:
        """Record messages that an application sent, with what it knows of them."""
        for number in numbers:
            body = b"m%d" % number
            self.history.sending(
                Sending(body, body.decode(), "p", number, "q1", 3, False, request or number, standing)
            )

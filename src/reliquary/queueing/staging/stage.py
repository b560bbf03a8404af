"""A task writes its part of a batch: message rows at once, chunks that say where they will go, no positions.

    BeginStage --> StageMessages ... --> CompleteStage --> it may be published
         '-- the same attempt again: what it wrote before is dropped

Each message is looked at as in a send, so that what is complete can be published.  Its number is its own
from now on, and its identifier comes from it; its place in a queue, and with it the order, comes with the
publish.  So does the time of all that runs: SentTime of a message that expires, is delayed or goes
elsewhere is the moment of the publish, and nothing expires because its batch had to wait.  SentTime of the
others is the moment of staging, because their rows would have to be written a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model.message import (
    FOREVER,
    NO_OBJECT,
    PRIORITY_LIMIT,
    AuthenticationLevel,
    Delivery,
    Message,
    ObjectId,
    check,
    size_of,
)
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.staging import batch_identifier
from reliquary.queueing.model.state import Elsewhere, QueueState, State, Way
from reliquary.queueing.model.tables import Stage, StagedChunk
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.acknowledge import asked_in
from reliquary.queueing.rules.enqueue import STATUS, Enqueued, judge, manager_is_full, too_late, why_full
from reliquary.queueing.rules.sending import check_carriers, check_destinations, check_signing, why_not
from reliquary.queueing.staging.events import BeginStage, CompleteStage, StageAnswer, StageMessages
from reliquary.queueing.staging.facts import MessagesStaged, StageChanged
from reliquary.queueing.staging.sweep import drop, watch

COUNT_LIMIT: Final = 10_000
"""Messages in one request."""
NAME_LIMIT: Final = 200
LARGEST: Final = 2**63 - 1

PEEKABLE: Final = 0x01
"""A bit of `StagedChunk.marks`: AllowPeekWhenLocked."""
DEAD_LETTER: Final = 0x02
"""Such a bit: NegativeJournalingRequested."""
ASKS: Final = 0x04
"""Such a bit: its time runs or it asks for something, so it is looked at when it is published."""


def begin(state: State, request: BeginStage, now: Instant) -> None:
    """A task begins to write."""
    check_name("a query", request.query)
    check_name("an attempt", request.attempt)
    check_number("a batch", request.batch)
    check_number("a part", request.part)
    staging = state.staging
    if len(staging.stages) >= state.sizes.stages:
        why = f"{state.sizes.stages} parts of batches wait to be published, and there can be no more"
        state.reply(request.to, StageAnswer(HResult.INSUFFICIENT_RESOURCES, why))
        return
    earlier = staging.places.get((request.query, request.batch, request.part, request.attempt))
    if earlier is not None:
        drop(state, (earlier,))
    number = state.next_sequence()
    user = "" if state.by is MANAGER else str(state.by.user)
    stage = Stage(request.query, request.batch, request.part, request.attempt, now, now, user)
    apply(state, StageChanged(number, stage))
    watch(state)
    state.reply(request.to, StageAnswer(HResult.OK, stage=number))


def complete(state: State, request: CompleteStage, now: Instant) -> None:
    """Nothing more comes; asked again, it is still so."""
    stage = state.staging.find(request.stage)
    if stage is None:
        state.reply(request.to, gone(request.stage))
        return
    if not stage.complete:
        stage = msgspec.structs.replace(stage, complete=True, written=now)
        apply(state, StageChanged(request.stage, stage))
    state.reply(request.to, _answer(request.stage, stage))


def stage_messages(state: State, request: StageMessages, now: Instant) -> None:
    """Take all messages of a request, or none."""
    if not 1 <= len(request.messages) <= COUNT_LIMIT:
        raise UsageError(f"one request stages 1 to {COUNT_LIMIT} messages, not {len(request.messages)}")
    stage = state.staging.find(request.stage)
    if stage is None:
        state.reply(request.to, gone(request.stage))
        return
    if stage.complete:
        raise UsageError(f"stage {request.stage} is complete and takes nothing more")
    sizes = tuple(map(size_of, request.messages))
    found = _judge(state, request, sum(sizes), now)
    if isinstance(found, StageAnswer):
        state.reply(request.to, found)
        return
    queue = destinations.take(state, found.to, now)
    stage = _write(state, request, sizes, stage, queue, now)
    state.reply(request.to, _answer(request.stage, stage))


def _answer(number: int, stage: Stage) -> StageAnswer:
    return StageAnswer(HResult.OK, "", number, stage.messages, stage.size)


# -- what is refused


def check_name(what: str, text: str) -> None:
    """Refuse a name that is empty, too long, or not to be read by anybody."""
    if not 1 <= len(text) <= NAME_LIMIT or not text.isprintable():
        raise UsageError(f"{what} has a name of 1 to {NAME_LIMIT} printable characters")


def check_number(what: str, number: int) -> None:
    """Refuse a number that no row has room for."""
    if not 0 <= number <= LARGEST:
        raise UsageError(f"{what} has a number from 0 to {LARGEST}, not {number}")


def gone(number: int) -> StageAnswer:
    """A part that nobody can write to or publish."""
    why = f"stage {number} is gone: it was published, dropped, or begun before a restart; write it again"
    return StageAnswer(HResult.STAGE_GONE, why, number)


def too_many(state: State, number: int, messages: int) -> StageAnswer:
    """A batch that would take a turn too long."""
    why = f"a batch has at most {state.sizes.batch} messages, this one would have {messages}: make it smaller"
    return StageAnswer(HResult.BATCH_TOO_LARGE, why, number)


def _judge(state: State, request: StageMessages, size: int, now: Instant) -> Way | StageAnswer:
    """Where the messages go, or why they are not taken.  Changes nothing."""
    many = state.staging.messages_with(request.stage, len(request.messages))
    if many > state.sizes.batch:
        return too_many(state, request.stage, many)
    way = _way(state, request)
    if isinstance(way, StageAnswer):
        return way
    return _first_bad(state, request, way, now) or _full(state, request, size, way) or way


def _way(state: State, request: StageMessages) -> Way | StageAnswer:
    """The one queue that a name means, here or elsewhere."""
    found = destinations.ways(state, request.queue)
    if found is HResult.ILLEGAL_FORMATNAME:
        return StageAnswer(found, f"{request.queue} is no name that is known here", request.stage)
    if isinstance(found, HResult):
        return StageAnswer(found, f"{request.queue}: {found.sentence}", request.stage)
    if len(found) != 1:
        raise UsageError(f"a part of a batch goes to one queue, and {request.queue} names several")
    return found[0]


def _first_bad(state: State, request: StageMessages, way: Way, now: Instant) -> StageAnswer | None:
    """The first message that a send would refuse, and why."""
    place = 0
    try:
        for place, message in enumerate(request.messages):  # noqa: B007 - it is told below
            check(message)
            if message.sent_time or message.stored_body is not None or message.destination_queues:
                _check_rare(message, now)
            if message.destination_queue:
                check_destinations(message)
            if message.authentication is AuthenticationLevel.XML_SIG:
                check_signing(state, message)
                _check_signed_way(request.queue, way)
        place = -1
        if way.carrier is not None:
            for place, message in enumerate(request.messages):  # noqa: B007 - it is told below
                check_carriers(state, (way,), (message,), in_transaction=True)
    except UsageError as wrong:
        return StageAnswer(HResult.INVALID_PARAMETER, str(wrong), request.stage, bad=place)
    return None


def _check_rare(message: Message, now: Instant) -> None:
    if message.stored_body is not None:
        raise UsageError("a message whose body lies in pieces is not part of a batch")
    if message.destination_queues:
        check_destinations(message)
    if message.sent_time and too_late(message, now):
        raise UsageError(
            f"its time to reach the queue, {message.time_to_reach_queue} seconds from its SentTime, ran out:"
            " give it no SentTime, or more time"
        )


def _check_signed_way(queue: str, way: Way) -> None:
    if way.carrier is None or not way.carrier.carries_signatures:
        raise UsageError(f"only what leaves by HTTP or multicast is signed, and {queue} is reached otherwise")


def _full(state: State, request: StageMessages, size: int, way: Way) -> StageAnswer | None:
    """Whether there is room by now; the publish will ask again, and exactly."""
    if manager_is_full(state, state.staging.bytes + size):
        return StageAnswer(HResult.INSUFFICIENT_RESOURCES, why_full(state), request.stage)
    if isinstance(way.to, Elsewhere):
        return None
    verdict = judge(state, way.to, size)
    if verdict is Enqueued.DONE:
        return None
    return StageAnswer(STATUS[verdict], why_not(state, way.to, verdict), request.stage)


# -- what is written


def _write(
    state: State,
    request: StageMessages,
    sizes: tuple[int, ...],
    stage: Stage,
    queue: QueueState,
    now: Instant,
) -> Stage:
    """Rows with at most as many messages as one turn may drop."""
    messages, at_once = request.messages, state.sizes.at_once
    numbers = state.next_sequences(len(messages))
    stamped, marks = _stamped(state, messages, numbers, stage, queue, now)
    if queue.record.outgoing is not None:  # they have got the name of where they go
        sizes = tuple(map(size_of, stamped))
    # all of them are in a transaction, so in an outgoing queue their order is kept too
    in_order = queue.record.settings.transactional or queue.link is not None
    lanes = b"" if in_order else bytes([PRIORITY_LIMIT - message.priority for message in stamped])
    for start in range(0, len(stamped), at_once):
        here = slice(start, start + at_once)
        chunk = StagedChunk(
            queue.number, numbers[start], sizes[here], _shortest(lanes[here]), marks[here].rstrip(b"\0")
        )
        stage = msgspec.structs.replace(
            stage,
            written=now,
            messages=stage.messages + len(chunk.sizes),
            size=stage.size + sum(chunk.sizes),
            chunks=stage.chunks + 1,
            queues=stage.queues | {queue.number: request.queue},
        )
        apply(state, MessagesStaged(request.stage, stage, chunk, tuple(stamped[here])))
    return stage


def _shortest(lanes: bytes) -> bytes:
    """One byte where all are the same."""
    first = lanes[:1] or b"\0"
    return first if lanes.count(first) == len(lanes) else lanes


def _stamped(
    state: State,
    messages: Sequence[Message],
    numbers: Sequence[int],
    stage: Stage,
    queue: QueueState,
    now: Instant,
) -> tuple[list[Message], bytes]:
    """The messages with their identities, and what else is known of each."""
    lineage, transaction = state.lineage, batch_identifier(stage.query, stage.batch)
    moment, outgoing = in_whole_seconds(now), queue.record.outgoing
    stamped, marks = list[Message](), bytearray(len(messages))
    replace, recoverable = msgspec.structs.replace, Delivery.RECOVERABLE
    for place, message in enumerate(messages):
        if outgoing is not None:
            message = replace(message, destination_queue=outgoing.destination)  # noqa: PLW2901
        mark = marks[place] = _marks(queue, message)
        if message.identifier is not NO_OBJECT and message.identifier != NO_OBJECT:
            stamped.append(replace(message, transaction=transaction, delivery=recoverable))
            continue
        stamped.append(
            replace(
                message,
                identifier=ObjectId(lineage, numbers[place] & 0xFFFFFFFF),
                source_machine=lineage,
                sent_time=message.sent_time or (0 if mark & ASKS else moment),
                transaction=transaction,
                delivery=recoverable,
            )
        )
    return stamped, bytes(marks)


def _marks(queue: QueueState, message: Message) -> int:
    """What is to be known of a message when it is published; mostly nothing."""
    mark = 0
    if message.allow_peek_when_locked:
        mark |= PEEKABLE
    if message.negative_journaling and message.sequence is None:  # as in `enqueue.position_in`
        mark |= DEAD_LETTER
    if (
        message.time_to_be_received != FOREVER
        or message.delay
        or message.positive_journaling
        or (queue.link is not None and message.time_to_reach_queue != FOREVER)
        or asked_in(queue.record, message)
    ):
        mark |= ASKS
    return mark

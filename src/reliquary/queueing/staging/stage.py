"""Stage the messages of a batch: a task writes its part here before the batch is published.

    BeginStage --> StageMessages ... --> CompleteStage --> the part may be published
         '-- an attempt that begins again: the messages that it wrote before are dropped

Staging writes the rows of the messages and chunks, which name the queue of each message.  It writes no
positions, so no reader sees the messages.

Each message is checked as in a send, so that a complete part can be published.  It gets its number, and its
identifier is made from the number.  Its place in the queue is assigned when the batch is published.

SentTime of a message that expires, is delayed or leaves this manager is the moment of the publish, so that no
message expires while its batch waits.  SentTime of the other messages is the moment of staging: a later
moment would need a second write of their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model.message import (
    FOREVER,
    NO_OBJECT,
    PRIORITY_LIMIT,
    USUAL,
    AuthenticationLevel,
    Delivery,
    Message,
    ObjectId,
    check,
    size_of,
)
from reliquary.queueing.model.names.formats import IllegalFormatName
from reliquary.queueing.model.parts.name_index import RemoteTarget, SendTarget
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.staging import ASKS, DEAD_LETTER, EXPIRES, PEEKABLE, batch_identifier
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Stage, StagedChunk
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.acknowledge import asked_in
from reliquary.queueing.rules.enqueue import STATUS, Enqueued, judge, manager_is_full, too_late, why_full
from reliquary.queueing.rules.sending import check_carriers, check_destinations, check_signing, why_not
from reliquary.queueing.staging.events import BeginStage, CompleteStage, StageAnswer, StageMessages
from reliquary.queueing.staging.facts import MessagesStaged, StageChanged
from reliquary.queueing.staging.sweep import drop, watch

COUNT_LIMIT: Final = 10_000
"""The largest number of messages in one request."""
NAME_LIMIT: Final = 200
LARGEST: Final = 2**63 - 1


def begin(state: State, request: BeginStage, now: Instant) -> None:
    """Begin a part of a batch, and drop what an earlier start of this attempt wrote."""
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
    number = state.numbers.next_sequence()
    user = "" if state.turn.by is MANAGER else str(state.turn.by.user)
    stage = Stage(request.query, request.batch, request.part, request.attempt, now, now, user)
    apply(state, StageChanged(number, stage))
    watch(state)
    state.reply(request.to, StageAnswer(HResult.OK, stage=number))


def complete(state: State, request: CompleteStage, now: Instant) -> None:
    """Mark a part as complete; a second request changes nothing and gets the first one's answer."""
    stage = state.staging.find(request.stage)
    if stage is None:
        state.reply(request.to, gone(request.stage))
        return
    if not stage.complete:
        stage = replace(stage, complete=True, written=now)
        apply(state, StageChanged(request.stage, stage))
    state.reply(request.to, _answer(request.stage, stage))


def stage_messages(state: State, request: StageMessages, now: Instant) -> None:
    """Write all messages of a request into a part, or refuse the request as a whole."""
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


# -- checks and refusals


def check_name(what: str, text: str) -> None:
    """Refuse a name that is empty, too long, or has characters that cannot be printed."""
    if not 1 <= len(text) <= NAME_LIMIT or not text.isprintable():
        raise UsageError(f"{what} has a name of 1 to {NAME_LIMIT} printable characters")


def check_number(what: str, number: int) -> None:
    """Refuse a number that is negative or too large for a row of the store."""
    if not 0 <= number <= LARGEST:
        raise UsageError(f"{what} has a number from 0 to {LARGEST}, not {number}")


def gone(number: int) -> StageAnswer:
    """Return the refusal for a part that no longer exists."""
    why = f"stage {number} is gone: it was published, dropped, or begun before a restart; write it again"
    return StageAnswer(HResult.STAGE_GONE, why, number)


def too_many(state: State, number: int, messages: int) -> StageAnswer:
    """Return the refusal for a batch with more messages than one turn can publish."""
    why = f"a batch has at most {state.sizes.batch} messages, this one would have {messages}: make it smaller"
    return StageAnswer(HResult.BATCH_TOO_LARGE, why, number)


def _judge(state: State, request: StageMessages, size: int, now: Instant) -> SendTarget | StageAnswer:
    """Return the destination of the messages, or the answer that refuses them.  Changes nothing."""
    total = state.staging.messages_with(request.stage, len(request.messages))
    if total > state.sizes.batch:
        return too_many(state, request.stage, total)
    way = _way(state, request)
    if isinstance(way, StageAnswer):
        return way
    return _first_bad(state, request, way, now) or _full(state, request, size, way) or way


def _way(state: State, request: StageMessages) -> SendTarget | StageAnswer:
    """Return the one queue, here or on another manager, that the name stands for, or a refusal."""
    try:
        found = destinations.ways(state, request.queue)
    except IllegalFormatName as wrong:
        return _no_way(request, HResult.ILLEGAL_FORMATNAME, str(wrong))
    except UsageError as wrong:
        return _no_way(request, HResult.INVALID_PARAMETER, str(wrong))
    if found is HResult.ILLEGAL_FORMATNAME:
        return _no_way(request, found, f"{request.queue} is no name that is known here")
    if isinstance(found, HResult):
        return _no_way(request, found, destinations.why_refused(found, request.queue))
    if len(found) != 1:
        why = f"a part of a batch goes to one queue, and {request.queue} names several"
        return _no_way(request, HResult.INVALID_PARAMETER, why)
    return found[0]


def _no_way(request: StageMessages, status: HResult, why: str) -> StageAnswer:
    return StageAnswer(status, why, request.stage, bad_queue=True)


def _first_bad(state: State, request: StageMessages, way: SendTarget, now: Instant) -> StageAnswer | None:
    """Return the refusal of the first message that a send would refuse, or None."""
    place = 0
    try:
        for place, message in enumerate(request.messages):  # noqa: B007 - the answer below names it
            check(message)
            if message.sent_time and too_late(message, now):
                raise UsageError(
                    f"its time to reach the queue, {message.time_to_reach_queue} seconds from its SentTime,"
                    " ran out: give it no SentTime, or more time"
                )
            if message.more is not None:
                _check_rare(state, request.queue, way, message)
        place = -1
        if way.carrier is not None:
            for place, message in enumerate(request.messages):  # noqa: B007 - the answer below names it
                check_carriers(state, (way,), (message,), in_transaction=True)
    except UsageError as wrong:
        return StageAnswer(HResult.INVALID_PARAMETER, str(wrong), request.stage, bad=place)
    return None


def _check_rare(state: State, queue: str, way: SendTarget, message: Message) -> None:
    """Refuse a message with an attribute that few messages have, where a send would refuse it."""
    if message.stored_body is not None:
        raise UsageError("a message whose body is stored in pieces is not part of a batch")
    check_destinations(message)
    if message.authentication is AuthenticationLevel.XML_SIG:
        check_signing(state, message)
        if way.carrier is None or not way.carrier.carries_signatures:  # it has no form for a signature
            raise UsageError(
                f"only what leaves by HTTP or multicast is signed, and {queue} is reached otherwise"
            )


def _full(state: State, request: StageMessages, size: int, way: SendTarget) -> StageAnswer | None:
    """Return a refusal if a quota has no room now; the publish checks the quotas again, exactly."""
    if manager_is_full(state, state.staging.bytes + size):
        return StageAnswer(HResult.INSUFFICIENT_RESOURCES, why_full(state), request.stage)
    if isinstance(way.to, RemoteTarget):
        return None
    verdict = judge(state, way.to, size)
    if verdict is Enqueued.DONE:
        return None
    return StageAnswer(STATUS[verdict], why_not(state, way.to, verdict), request.stage)


# -- rows of messages and chunks


def _write(
    state: State,
    request: StageMessages,
    sizes: tuple[int, ...],
    stage: Stage,
    queue: QueueState,
    now: Instant,
) -> Stage:
    """Write the messages in chunks that one turn can drop, and return the stage with its new totals."""
    messages, at_once = request.messages, state.sizes.at_once
    numbers = state.numbers.next_sequences(len(messages))
    stamped, marks = _stamped(state, messages, numbers, stage, queue, now)
    if queue.record.outgoing is not None:  # the destination's name was added to them
        sizes = tuple(map(size_of, stamped))
    # All messages of a batch are in one transaction, so an outgoing queue keeps their order too.
    in_order = queue.record.settings.transactional or queue.link is not None
    lanes = b"" if in_order else bytes([PRIORITY_LIMIT - message.priority for message in stamped])
    for start in range(0, len(stamped), at_once):
        span = slice(start, start + at_once)
        chunk = StagedChunk(
            queue.number, numbers[start], sizes[span], _shortest(lanes[span]), marks[span].rstrip(b"\0")
        )
        stage = replace(
            stage,
            written=now,
            messages=stage.messages + len(chunk.sizes),
            size=stage.size + sum(chunk.sizes),
            chunks=stage.chunks + 1,
            queues=stage.queues | {queue.number: request.queue},
        )
        apply(state, MessagesStaged(request.stage, stage, chunk, tuple(stamped[span])))
    return stage


def _shortest(lanes: bytes) -> bytes:
    """Return one byte if all lanes are equal, else all of them."""
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
    """Return the messages with identifier, source and transaction set, and one byte of marks for each."""
    lineage, transaction = state.manager.lineage, batch_identifier(stage.query, stage.batch)
    moment, outgoing = in_whole_seconds(now), queue.record.outgoing
    stamped, marks = list[Message](), bytearray(len(messages))
    in_transaction = replace(USUAL, transaction=transaction)
    for place, message in enumerate(messages):
        if outgoing is not None:
            message = message.changed(destination_queue=outgoing.destination)  # noqa: PLW2901
        mark = marks[place] = _marks(queue, message)
        if message.identifier is not NO_OBJECT and message.identifier != NO_OBJECT:
            stamped.append(message.changed(transaction=transaction, delivery=Delivery.RECOVERABLE))
            continue
        more = message.more
        stamped.append(
            Message(
                ObjectId(lineage, numbers[place] & 0xFFFFFFFF),
                message.body,
                message.label,
                message.priority,
                Delivery.RECOVERABLE,
                message.sent_time or (0 if mark & (ASKS | EXPIRES) else moment),
                message.time_to_be_received,
                message.body_type,
                in_transaction
                if more is None
                else replace(more, transaction=transaction, source_machine=None),
            )
        )
    return stamped, bytes(marks)


def _marks(queue: QueueState, message: Message) -> int:
    """Return the bits that the publish needs to know about a message; most messages have none."""
    more = message.more or USUAL
    mark = PEEKABLE if more.allow_peek_when_locked else 0
    if more.negative_journaling and more.sequence is None:  # as in `enqueue.position_in`
        mark |= DEAD_LETTER
    if more.delay or more.positive_journaling or asked_in(queue.record, message):
        mark |= ASKS
    elif message.time_to_be_received != FOREVER or (
        queue.link is not None and more.time_to_reach_queue != FOREVER
    ):
        mark |= EXPIRES
    return mark

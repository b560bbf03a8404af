"""Stores a part of a batch while it arrives: PUT /stages/{query}/{batch}/{part}/{attempt}.

    bytes --> record batches --> messages, in a thread --> StageMessages ... --> CompleteStage --> 201
                 '-- at most two wait: then nothing more is read from the connection

An incomplete part is dropped for any reason; no reader ever saw its messages.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.engine.loop import EngineStopped
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.errors import Refused
from reliquary.net.api.limits import limited
from reliquary.net.api.operations import Query, names_of, operation
from reliquary.net.feed.asking import Conversations, NotOk
from reliquary.net.feed.columns_in import BadRow, Group, Intake
from reliquary.net.feed.ipc import IpcStream, batches_of
from reliquary.net.feed.reading import ARROW
from reliquary.net.feed.values import number_of
from reliquary.net.http import BodySink, Request, Responder
from reliquary.queueing.model import events
from reliquary.queueing.model.security.principals import Principal
from reliquary.queueing.staging.events import (
    BeginStage,
    CompleteStage,
    DropStages,
    StageAnswer,
    StageMessages,
)

STAGES: Final = "/api/v1/stages/"
FAIL: Final = "fail"
DEAD: Final = "dead:"
WAITING: Final = 2
"""The most record batches that may wait to be stored."""
UNDER_WAY: Final = 4
"""The most requests to the manager that may wait for their answers."""
LARGEST: Final = 2**63 - 1


Bad = Annotated[str, limited(pattern=f"^({FAIL}|{DEAD}[a-z]+)$")]


class StagedOut(msgspec.Struct):
    """The answer for a part that is stored and may be published."""

    stage: str
    rows: int
    bytes: int
    bad: int


_QUERY: Final = (
    Query(name="queue", help="The queue of rows without a column `queue`."),
    Query(name="bad", kind=Bad, help="fail, or dead:QUEUE for rows that break a rule."),
)
_encode = msgspec.json.Encoder().encode
Make = Callable[[int], events.Request]


class Arrivals:
    """Takes the parts of batches that writers upload."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    @operation(
        "Write a part of a batch; readers see it after it is published",
        query=_QUERY,
        bodies=(ARROW.decode(),),
        body_required=True,
        answer=StagedOut,
        status=201,
    )
    def begin(self, context: Context, request: Request, responder: Responder) -> BodySink:
        """Start to take a part whose request head has come, and return the sink of its body."""
        given = parameters(request, *names_of(_QUERY))
        place = request.path.removeprefix(STAGES).split("/")
        if len(place) != 4:
            raise UsageError(
                f"{request.path[:200]} is not the path of a part: {STAGES}QUERY/BATCH/PART/ATTEMPT"
            )
        query, batch, part, attempt = place
        bad = given.get("bad", FAIL)
        if bad != FAIL and not (bad.startswith(DEAD) and bad != DEAD):
            raise UsageError(f"bad is fail, or dead:QUEUE for bad rows to go there, not {bad[:80]!r}")
        arrival = Arrival(
            self._conversations,
            responder,
            context.engine.by,
            (query, number_of("a batch", batch, LARGEST), number_of("a part", part, LARGEST), attempt),
            given.get("queue", ""),
            "" if bad == FAIL else bad.removeprefix(DEAD),
        )
        self._conversations.start(responder, f"part {part} of batch {batch} of {query}", arrival.take)
        return arrival


class Arrival:
    """One part of a batch while it is uploaded."""

    def __init__(
        self,
        conversations: Conversations,
        responder: Responder,
        by: Principal,
        place: tuple[str, int, int, str],
        queue: str,
        dead_letters: str,
    ) -> None:
        self._conversations = conversations
        self._responder = responder
        self._by = by
        self._place = place
        self._queue = queue
        self._dead_letters = dead_letters
        self._stream = IpcStream()
        self._came: deque[bytes] = deque()
        self._ended = False
        self._wrong: Exception | None = None
        self._news = asyncio.Event()
        self._paused = False
        self._stage = 0
        self._rows = 0
        self._bad = 0

    # -- called by the connection

    def feed(self, data: bytes) -> None:
        """Take bytes of the body, and pause the client when enough record batches wait."""
        if self._wrong is not None:
            return
        try:
            self._came.extend(self._stream.feed(data))
        except (UsageError, Refused) as wrong:
            self._wrong = wrong
        if len(self._came) >= WAITING and not self._paused:
            self._paused = True
            self._responder.pause_body()
        self._news.set()

    def end(self) -> None:
        """Record that the whole body has come; it must be a complete Arrow stream."""
        if self._wrong is None:
            try:
                self._stream.end()
            except UsageError as wrong:
                self._wrong = wrong
        self._ended = True
        self._news.set()

    def lost(self) -> None:
        """Record that the client disconnected before the end of the body."""
        self._wrong = ConnectionError("the client hung up")
        self._news.set()

    # -- storing the part

    async def take(self) -> None:
        """Store all rows of the part and answer the request; drop the part after an error."""
        await self._begin()
        try:
            intake: Intake | None = None
            while (data := await self._next()) is not None:
                intake = intake or self._intake()
                await self._store(intake, data)
            if intake is None:
                self._intake()  # a part without rows has columns too
            done = await self._ask(lambda to: CompleteStage(to, self._stage))
        except BaseException:
            self._drop()
            raise
        answer = StagedOut(str(self._stage), done.messages, done.size, self._bad)
        self._responder.respond(201, _encode(answer))

    async def _begin(self) -> None:
        """Begin a stage; if the request was cancelled in between, the new stage is dropped."""
        query, batch, part, attempt = self._place
        begun = asyncio.ensure_future(self._ask(lambda to: BeginStage(to, query, batch, part, attempt)))
        try:
            self._stage = (await asyncio.shield(begun)).stage
        except asyncio.CancelledError:
            begun.add_done_callback(self._begun_without_client)
            raise

    def _begun_without_client(self, begun: asyncio.Future[StageAnswer]) -> None:
        if not begun.cancelled() and begun.exception() is None:
            self._stage = begun.result().stage
            self._drop()

    async def _next(self) -> bytes | None:
        """Return the next record batch; None at the end."""
        while True:
            if self._wrong is not None:
                raise self._wrong
            if self._came:
                data = self._came.popleft()
                if self._paused and len(self._came) < WAITING:
                    self._paused = False
                    self._responder.resume_body()
                return data
            if self._ended:
                return None
            self._news.clear()
            await self._news.wait()

    def _intake(self) -> Intake:
        schema = self._stream.schema
        assert schema is not None, "a stream that has ended, or has a batch, has a schema"
        return Intake(schema, self._queue, self._dead_letters)

    async def _store(self, intake: Intake, data: bytes) -> None:
        """Stage the rows of one record batch in order; bad rows keep their positions."""

        def converted() -> list[tuple[pa.RecordBatch, list[Group]]]:
            return [(batch, list(intake.groups(batch))) for batch in batches_of(data)]

        try:
            batches = await self._conversations.beside(converted)
        except BadRow as bad:
            raise UsageError(self._named(bad.row, str(bad))) from bad
        most = 1 if self._dead_letters else UNDER_WAY
        under_way: deque[asyncio.Task[None]] = deque()
        try:
            for batch, groups in batches:
                for group in groups:
                    if len(under_way) >= most:
                        await under_way.popleft()
                    under_way.append(asyncio.ensure_future(self._put(intake, batch, group)))
                while under_way:
                    await under_way.popleft()
                self._rows += batch.num_rows
        finally:
            for task in under_way:
                task.cancel()

    async def _put(self, intake: Intake, batch: pa.RecordBatch, group: Group) -> None:
        """Stage some messages; a bad one is replaced by its dead letter, between its neighbours.

        When the queue that rows name cannot take messages, all of these rows are bad.
        """
        if not group.messages:
            return
        messages = tuple(group.messages)
        try:
            await self._ask(lambda to: StageMessages(to, self._stage, group.queue, messages))
        except NotOk as refusal:
            answer = refusal.answer
            bad = _bad_of(answer, group, intake) if isinstance(answer, StageAnswer) else range(0)
            if not bad:
                raise
            rows = group.rows[bad.start : bad.stop]
            if group.dead or not self._dead_letters:
                raise UsageError(self._named(rows[0], answer.why)) from refusal
            before = Group(group.queue, group.messages[: bad.start], group.rows[: bad.start])
            behind = Group(group.queue, group.messages[bad.stop :], group.rows[bad.stop :])
            for each in (before, intake.dead(batch, rows, answer.why), behind):
                await self._put(intake, batch, each)
        else:
            self._bad += len(group.rows) if group.dead else 0

    def _named(self, row: int, why: str) -> str:
        return f"row {self._rows + row + 1} (of part {self._place[2]}): {why}"

    async def _ask(self, make: Make) -> StageAnswer:
        return await self._conversations.ask(self._by, StageAnswer, make)

    def _drop(self) -> None:
        """Drop the stage, whose messages will not be published."""
        engine = self._conversations.engine
        with suppress(EngineStopped):
            engine.submit(DropStages(engine.caller(lambda _: None), (self._stage,), by=self._by))


def _bad_of(answer: StageAnswer, group: Group, intake: Intake) -> range:
    """Return the positions in a group of the messages that are bad by this refusal.

    None for another reason.
    """
    if answer.bad >= 0:
        return range(answer.bad, answer.bad + 1)
    if answer.bad_queue and not group.dead and intake.names_its_queue(group):
        return range(len(group.rows))
    return range(0)

"""Simulates writers of batches, as Spark's sink is one: a driver with tasks that fail and are retried.

    part by part      begin, stage, complete; a part without a good answer is written again, as a new attempt
    publish           repeated until it is answered; its answer says which attempt counts
    afterwards        repeated, written again, dropped, all too late: these must change nothing

Each attempt has messages of its own.  Messages of published attempts must be delivered once and in the
order of their parts; messages of the other attempts, which the driver has given up, must never be
visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reliquary.base.hresult import HResult
from reliquary.queueing.model.message import Message
from reliquary.queueing.staging.events import (
    BeginStage,
    CompleteStage,
    DropStages,
    PublishBatch,
    StageMessages,
)
from reliquary.sim.applications import ApplicationContext, Call, Part, Script, answer_of, succeeded
from reliquary.sim.history import SenderKnowledge, Sending, Violation
from reliquary.sim.network import Outcome
from reliquary.sim.senders import Sender
from reliquary.sim.transactors import AROUND

TRIES = 4
"""The number of times that a part is written before its batch is given up, and that a batch is published."""


@dataclass(slots=True)
class Attempt:
    """One attempt at one part."""

    stage: int
    sent: list[Sending] = field(default_factory=list)


class Writer(Sender):
    """One query, whose batches are numbered in their order."""

    def __init__(self, name: str, context: ApplicationContext) -> None:
        super().__init__(name, context)
        self._batch = 0
        self._attempts = 0
        self._known: list[int] = []
        """The stages of this writer; most of them are gone."""
        self._published: dict[int, int] = {}
        """The turns in which its batches were published."""

    def script(self) -> Script:
        """Repeat until the run finishes; at the end no part is left."""
        yield from super().script()
        known = tuple(self._known)
        yield from self.ask_until_answered(lambda to: DropStages(to, known))

    def act(self) -> Script:
        """Write one batch, or an old one again."""
        if self._batch and self.chance.happens(0.2):
            yield from self._too_late()
            return
        won = yield from self._write_parts(self._batch)
        if won is None:
            return
        if self.chance.happens(0.1):
            yield from self._give_up(won)
        else:
            yield from self._publish(won)

    # -- parts

    def _write_parts(self, batch: int) -> Part[list[Attempt] | None]:
        """Write each part; return the attempts, or None if one did not end."""
        won: dict[int, Attempt] = {}
        parts = list(range(self.chance.between(0, 3)))
        for part in parts if self.chance.happens(0.5) else parts[::-1]:
            if self.chance.happens(0.2):  # one attempt is slow, or ended without a sign
                yield from self._write(batch, part)
            for _ in range(TRIES):
                attempt = yield from self._write(batch, part)
                if attempt is not None:
                    won[part] = attempt
                    break
                yield from self.rest()
            else:
                yield from self._give_up(list(won.values()))
                return None
        return [won[part] for part in parts]

    def _write(self, batch: int, part: int) -> Part[Attempt | None]:
        """Write one part; its messages count as refused until they are published."""
        chance = self.chance
        self._attempts += not chance.happens(0.2)  # otherwise the earlier attempt again
        name = f"attempt {self._attempts}"
        outcome = yield Call(lambda to: BeginStage(to, self.name, batch, part, name))
        self.note(outcome)
        if not succeeded(outcome):
            return None
        attempt = Attempt(answer_of(outcome).stage)
        self._known.append(attempt.stage)
        for _ in range(chance.between(0, 2)):
            queue = AROUND if chance.happens(0.15) else self.a_queue()
            made = self._some(queue, batch)
            attempt.sent += [sending for _, sending in made]
            messages = tuple(message for message, _ in made)
            outcome = yield Call(lambda to: StageMessages(to, attempt.stage, queue, messages))  # noqa: B023
            self.note(outcome)
            if not succeeded(outcome):
                return None
        if chance.happens(0.1):  # the task ends here, before it is complete
            return None
        outcome = yield from self.ask_until_answered(lambda to: CompleteStage(to, attempt.stage))
        return attempt if succeeded(outcome) else None

    def _some(self, queue: str, batch: int) -> list[tuple[Message, Sending]]:
        self._last_request += 1
        made = [
            self._make(queue, self.chance.pick((3, 3, 7)), express=False, transaction=None)
            for _ in range(self.chance.between(1, 4))
        ]
        for _, sending in made:
            sending.standing = SenderKnowledge.REFUSED
            self.history.sending(sending)
        self.history.note(self.context.around.scheduler.now, f"{self.name} writes {len(made)} of {batch}")
        return made

    # -- batches

    def _publish(self, won: Sequence[Attempt]) -> Script:
        """Publish all of the batch or nothing, also if requests are lost."""
        stages = tuple(attempt.stage for attempt in won)
        sent = [sending for attempt in won for sending in attempt.sent]
        self._last_request += 1
        for sending in sent:  # from now on all or none are published, and their order is checked
            self._sent += 1
            sending.number, sending.request, sending.standing = (
                self._sent,
                self._last_request,
                SenderKnowledge.UNKNOWN,
            )
        for _ in range(TRIES):
            outcome = yield from self._ask(self._batch, stages)
            if succeeded(outcome):
                self.history.settle(sent, SenderKnowledge.CONFIRMED)
                self._published[self._batch] = outcome.turn
                self._batch += 1
                yield from self._afterwards(stages)
                return
            if outcome.answer.status is not HResult.INSUFFICIENT_RESOURCES:
                break
            yield from self.rest()
        self.history.settle(sent, SenderKnowledge.REFUSED)
        yield from self._give_up(won)

    def _afterwards(self, stages: tuple[int, ...]) -> Script:
        """Send requests that come too late; they must change nothing."""
        if self.chance.happens(0.3):
            yield from self._expect_already(self._batch - 1, stages)
        if self.chance.happens(0.3):
            self.note((yield Call(lambda to: DropStages(to, stages))))
            yield from self.rest()

    def _too_late(self) -> Script:
        """Write the batch again, completely or in part, as a driver does that got no answer to its
        publish."""
        known = [each for each, turn in self._published.items() if not self.history.is_forgotten(turn)]
        if not known:  # the store was restored, and batches that it has forgotten may be published once more
            return
        old = self.chance.pick(known)
        won = yield from self._write_parts(old)
        if won is not None and not self.history.is_forgotten(self._published[old]):
            yield from self._expect_already(old, tuple(attempt.stage for attempt in won))

    def _expect_already(self, batch: int, stages: tuple[int, ...]) -> Script:
        outcome = yield from self._ask(batch, stages)
        if self.history.is_forgotten(self._published.get(batch, -1)):
            return
        if not (succeeded(outcome) and answer_of(outcome).already):
            raise Violation(f"batch: {self.name} published {batch}, and the answer is {outcome.answer}")

    def _ask(self, batch: int, stages: tuple[int, ...]) -> Part[Outcome]:
        return (
            yield from self.ask_until_answered(
                lambda to: PublishBatch(to, self.name, batch, stages, f"writer {self.name}")
            )
        )

    def _give_up(self, won: Sequence[Attempt]) -> Script:
        stages = tuple(attempt.stage for attempt in won)
        self.note((yield Call(lambda to: DropStages(to, stages))))

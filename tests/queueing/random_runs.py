"""Random runs of a manager: from a seed, checked at every step, and shortened when one goes wrong.

At each restart the new process must know what the old one knew; after a crash, what was flushed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from random import Random
from typing import Any
from uuid import UUID

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.directory.events import (
    CreateDirectoryObject,
    DeleteDirectoryObject,
    SwitchDirectory,
    WriteDirectory,
)
from reliquary.queueing.feed import events as feed
from reliquary.queueing.model import events
from reliquary.queueing.model.counting import counter_faults
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.directory.objects import ObjectKind, Site
from reliquary.queueing.model.keep import EVERYTHING, Keep
from reliquary.queueing.model.message import FOREVER, Acknowledgement, Delivery, MessageClass
from reliquary.queueing.model.names.pathnames import short_path
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import EXPIRY, Consumer, expiry_of
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import (
    DestinationReached,
    Outcome,
    ResendWanted,
    TransferAccepted,
    TransferEnded,
)
from reliquary.queueing.staging.events import (
    BeginStage,
    CompleteStage,
    DropStages,
    ForgetWriter,
    PublishBatch,
    StageMessages,
)
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.feed.readers import Readers
from tests.queueing.history.chronicle import events_of, folded
from tests.queueing.manager_harness import Bench, message
from tests.queueing.state_checks import Snapshot, check, durable, every, walk

TINY = Sizes(window=2, at_once=2, sequence_block=4, cache_bytes=5, batch=9, queries=1, stage_age=seconds(120))
"""Small limits, so that small examples reach every edge."""

PATHS = ("a", "b", "a;sub", ".\\public")
POISON = ("a;poison", "b;poison")
READABLE = (*PATHS, *POISON, "a;journal", "system$;deadletter", "system$;deadxact", "system$;journal")


class RandomRun:
    """Each public method is one thing that can happen to a manager; what it needs is drawn by name."""

    def __init__(self) -> None:
        self.bench = Exchange(None, "a", "b", "a;sub", sizes=TINY, directory=Integration(), history=True)
        self.bench.manual_carrier.at_once = 3
        self.receipts: list[int] = []
        self.transactions: list[UUID] = []
        self.readers = Readers(self.bench)
        self.flush(stop=False)

    def _inside(self, wanted: bool) -> UUID | None:
        """Return a transaction that can be used, if one is wanted."""
        if not wanted:
            return None
        known = self.bench.state.transactions.open
        usable = [each for each in self.transactions if not (known[each].prepared or known[each].undone)]
        if not usable:
            usable = [self.bench.begin()]
            self.transactions += usable
        return usable[-1]

    def _one(self, path: str, which: int) -> int:
        """Return the LookupIdentifier of an available message, or one that no message has."""
        queue = self.bench.state.find(self.bench.state.parse(path))
        here = walk(queue) if queue else []
        return here[which % len(here)].lookup_id if here else 1

    def _keep(self, answer: events.Answer) -> None:
        if isinstance(answer, events.Received) and answer.receipt:
            self.receipts.append(answer.receipt)

    # -- messages

    def send(self, path: str, count: int, attributes: dict[str, Any], inside: bool) -> None:
        if self.bench.state.find(self.bench.state.parse(path)) is None:
            self.bench.create(path)
        self.bench.send(path, *[b"body"] * count, transaction=self._inside(inside), **attributes)

    def store_piece(self, which: int, new: bool) -> None:
        self.bench.ask(events.StorePiece(0, 0 if new else self._loose(which), b"piece"))

    def drop_spool(self, which: int) -> None:
        self.bench.handle(events.DropSpool(self._loose(which)))

    def send_large(self, path: str, which: int, attributes: dict[str, Any], elsewhere: bool) -> None:
        body = self.bench.state.messages.bodies.loose.get(self._loose(which))
        sent = message(stored_body=body, **attributes)
        self.bench.ask(events.SendMessages(0, ELSEWHERE if elsewhere else path, (sent,)))

    def _loose(self, which: int) -> int:
        """Return a large body that no message has, or 0."""
        loose = list(self.bench.state.messages.bodies.loose)
        return loose[which % len(loose)] if loose else 0

    def receive(self, readable: str, count: int, way: str) -> None:
        hold, inside = 20 if way == "held" else 0, self._inside(way == "inside")
        self._keep(self.bench.receive(readable, count=count, hold=hold, transaction=inside))

    def receive_from_the_middle(self, readable: str, which: int, way: str) -> None:
        hold, inside = seconds(20 if way == "held" else 0), self._inside(way == "inside")
        lookup_id = self._one(readable, which)
        request = events.LookUpMessage(0, readable, lookup_id, peek=False, transaction=inside, hold=hold)
        self._keep(self.bench.ask(request))

    def end_read(self, which: int, delete: bool, only_first: bool, reject: bool, unseen: bool) -> None:
        if self.receipts:
            receipt = self.receipts[which % len(self.receipts)]
            descriptor = self.bench.state.open.handles.get(receipt)
            held = tuple(sorted(descriptor.locked)) if descriptor and only_first else ()
            self.bench.ask(events.EndRead(0, receipt, delete, held[:1], delete and reject, unseen))

    def move(self, readable: str, which: int, path: str, inside: bool) -> None:
        lookup_id = self._one(readable, which)
        self.bench.ask(events.MoveMessage(0, readable, lookup_id, path, self._inside(inside)))

    # -- messages for another manager

    def send_elsewhere(self, count: int, attributes: dict[str, Any], inside: bool) -> None:
        self.bench.send(ELSEWHERE, *[b"body"] * count, transaction=self._inside(inside), **attributes)

    def end_transfer(self, outcome: Outcome) -> None:
        if self.bench.manual_carrier.sending:
            self.bench.end(outcome, MessageClass.NACK_ACCESS_DENIED)

    def accept_transfer(self, which: int, reached: bool) -> None:
        if self.bench.manual_carrier.sending:
            one = self.bench.manual_carrier.sending[-1 - which % len(self.bench.manual_carrier.sending)]
            self.bench.say(TransferAccepted(one.queue, (one.lookup_id,)))
            if reached:
                self.bench.say(DestinationReached(one.queue, (one.lookup_id,)))

    def end_some_transfers(self, count: int, outcome: Outcome) -> None:
        some = self.bench.manual_carrier.sending[-count:]
        if some:
            ended = tuple(each.lookup_id for each in some)
            reason = MessageClass.NACK_RECEIVE_TIMEOUT
            self.bench.say(TransferEnded(some[0].queue, ended, outcome, reason))

    def resend(self) -> None:
        for queue in list(self.bench.state.names.outgoing.values()):
            self.bench.say(ResendWanted(queue.number))

    def pause_or_resume(self, paused: bool) -> None:
        self.bench.ask((events.PauseQueue if paused else events.ResumeQueue)(0, ELSEWHERE))

    def purge_or_delete_elsewhere(self, deleted: bool) -> None:
        self.bench.ask((events.DeleteQueue if deleted else events.PurgeQueue)(0, ELSEWHERE))

    def break_connection(self) -> None:
        if self.bench.state.names.outgoing:
            self.bench.happen(OutgoingEvent.FAILED, ConnectionStatus.SOCKET_SEND_FAILURE)

    # -- batches from outside

    def begin_stage(self, query: str, batch: int, task: int, attempt: str) -> None:
        self.bench.ask(BeginStage(0, query, batch, task, attempt))

    def stage_messages(
        self, which: int, path: str, count: int, attributes: dict[str, Any], away: bool
    ) -> None:
        messages = (message(b"body", **attributes),) * count
        self.bench.ask(StageMessages(0, self._stage(which), ELSEWHERE if away else path, messages))

    def complete_stage(self, which: int) -> None:
        self.bench.ask(CompleteStage(0, self._stage(which)))

    def publish(self, query: str, batch: int, writer: str, take_over: bool, late: bool) -> None:
        """Publish the parts of a batch that are complete, one attempt at each; or those of an older batch."""
        stages = self.bench.state.staging.stages.items()
        wanted = {
            stage.part: number
            for number, stage in stages
            if stage.complete and (stage.query, stage.batch) == (query, batch + late)
        }
        self.bench.ask(PublishBatch(0, query, batch, tuple(wanted.values()), writer, take_over))

    def drop_stages(self, which: int) -> None:
        self.bench.ask(DropStages(0, (self._stage(which), self._stage(which + 1), 1)))

    def forget(self, query: str, writer: str, name_only: bool) -> None:
        self.bench.ask(ForgetWriter(0, "", writer) if name_only else ForgetWriter(0, query))

    def _stage(self, which: int) -> int:
        stages = list(self.bench.state.staging.stages)
        return stages[which % len(stages)] if stages else 1

    # -- transactions

    def begin(self, timeout: int | None) -> None:
        self.transactions.append(self.bench.begin(timeout))

    def prepare(self, which: int, single_phase: bool) -> None:
        if self.transactions:
            transaction = self.transactions[which % len(self.transactions)]
            self.bench.ask(events.PrepareTransaction(0, transaction, single_phase))

    def decide(self, which: int, committed: bool) -> None:
        if self.transactions:
            request = events.CommitTransaction if committed else events.AbortTransaction
            self.bench.ask(request(0, self.transactions.pop(which % len(self.transactions))))

    # -- queues

    def purge(self, readable: str) -> None:
        self.bench.ask(events.PurgeQueue(0, readable))

    def delete(self, path: str) -> None:
        self.bench.ask(events.DeleteQueue(0, path))

    def create_or_change(self, path: str, journaling: bool, transactional: bool, quota: int) -> None:
        made = self.bench.create(path, journaling=journaling, transactional=transactional)
        if made.status is HResult.QUEUE_EXISTS:
            self.bench.ask(events.ChangeQueue(0, path, {"journaling": journaling, "quota": quota}))

    def watch_for_poison(self, path: str, limit: int, pause: int) -> None:
        changes: dict[str, object] = {
            "poison_limit": limit,
            "retry_delay": pause,
            "longest_retry_delay": 2 * pause,
        }
        self.bench.ask(events.ChangeQueue(0, path, changes))

    def limit_poison(self, quota: int) -> None:
        self.bench.ask(events.ChangeQueue(0, "a;poison", {"quota": quota}))

    # -- readers of feeds

    def open_consumer(self, readable: str, name: str, early: bool) -> None:
        known = name in (self._consumers(readable) or ())
        opened = self.bench.ask(feed.OpenConsumer(0, readable, name, 0 if early else None))
        if early and opened.status is HResult.OK and not known:
            self.flush(stop=False)
            self.readers.begin_early(readable, name)

    def read_feed(self, readable: str) -> None:
        for name in list(self._consumers(readable) or ()):
            mark = self._mark(readable, name)
            self.flush(stop=False)
            self.readers.read(readable, name, mark)

    def _mark(self, readable: str, name: str) -> int:
        """Return a mark with all arrivals up to it.

        The turn of a look also dispatches messages that waited.  Those that it moves into the queue arrive
        after the mark of its answer, so the look is repeated until its turns have no facts.
        """
        while True:
            first = len(self.bench.turns)
            [view] = self.bench.ask(feed.LookAtFeeds(0, (readable,), name)).feeds
            if not any(turn.facts for turn in self.bench.turns[first:]):
                return int(view.mark)

    def move_consumer(self, readable: str, name: str, part: int) -> None:
        self.read_feed(readable)
        consumers = self._consumers(readable) or {}
        if name in consumers:
            cursor, mark = consumers[name].cursor, self.bench.queue(readable).feed.mark
            place = cursor + (mark - cursor) * part // 2
            self.bench.ask(feed.MoveConsumer(0, readable, name, place))

    def limit_consumer(self, readable: str, name: str, keep: Keep | None, whole: bool) -> None:
        asked = feed.SetConsumer(0, readable, "" if whole else name, keep, inherit=keep is None)
        self.bench.ask(asked)
        self.readers.follow()

    def drop_consumer(self, readable: str, name: str) -> None:
        self.bench.ask(feed.DropConsumer(0, readable, name))

    def _consumers(self, path: str) -> dict[str, Consumer] | None:
        queue = self.bench.state.find(self.bench.state.parse(path))
        return None if queue is None else queue.feed.consumers

    # -- the directory

    def write_directory(self, which: int, foreign: bool) -> None:
        site = Site(identifier=UUID(int=which + 1), name=f"site {which}", foreign_site=foreign)
        if not self.bench.ask(CreateDirectoryObject(0, site)).succeeded:
            self.bench.ask(WriteDirectory(0, site))

    def remove_from_directory(self, which: int) -> None:
        self.bench.ask(DeleteDirectoryObject(0, ObjectKind.SITE, UUID(int=which + 1)))

    def switch_directory(self, attached: bool) -> None:
        self.bench.ask(SwitchDirectory(0, attached))

    # -- time and the process

    def wait(self, span: int) -> None:
        self.bench.advance(span)
        self._forget_what_ended()

    def put_off_or_go_on(self, patient: bool) -> None:
        """Let what takes many turns stand, or go on with it."""
        self.bench.patient = patient
        self.bench.go_on(1 if patient else None)

    def flush(self, stop: bool) -> None:
        if stop:
            self.bench.stop()
            self.bench.start()
            self._forget_what_ended()
        self.bench.flush()
        self.readers.flushed()
        assert list(counter_faults(self.bench.state.rows)) == []
        self.safe = durable(self.bench.state)

    def restart(self) -> None:
        live, sequence = durable(self.bench.state), self.bench.state.numbers.sequence
        self.readers.flushed()
        self.bench.restart(start=False)
        assert self.bench.state.numbers.sequence >= sequence, "a number would be given out twice"
        self._look_again(live)

    def crash(self) -> None:
        self.bench.restart(crash=True, start=False)
        self.readers.crashed()
        self._look_again(self.safe)

    def _look_again(self, expected: Snapshot) -> None:
        assert durable(self.bench.state) == expected
        check(self.bench.state)
        self.bench.start()
        self.receipts.clear()
        self._forget_what_ended()
        self.flush(stop=False)
        for path in READABLE:
            self.read_feed(path)

    def _forget_what_ended(self) -> None:
        self.transactions = [each for each in self.transactions if each in self.bench.state.transactions.open]


def check_clock(bench: Bench) -> None:
    """Check that the next expiry has a timer, or that its work is pending."""
    state = bench.state
    ahead = [
        key
        for key in every(state, EXPIRY)
        if key >= state.deadlines.scan and expiry_of(key)[1:] not in state.deadlines.overdue
    ]
    if ahead and not bench.pending:
        assert ("expiry", 0) in bench.timers
        assert 0 < state.deadlines.timer <= expiry_of(min(ahead))[0]


def check_history(bench: Bench) -> None:
    """Check that the events since the first start say exactly what is in the queues."""
    bench.flush()
    seen = durable(bench.state)
    there = {
        (short_path(seen.queues[number].pathname), position.message, position.lookup_id)
        for where in (seen.positions, seen.delayed)
        for number, positions in where.items()
        for position in positions
    }
    assert folded(events_of(bench.disk)) == there


# -- chance

Action = tuple[str, dict[str, Any]]

ATTRIBUTES: dict[str, tuple[float, Sequence[Any]]] = {
    "priority": (0.5, (0, 3, 7)),
    "delivery": (0.3, (Delivery.EXPRESS,)),
    "time_to_be_received": (0.4, (0, 1, 5, 90)),
    "positive_journaling": (0.3, (True,)),
    "negative_journaling": (0.3, (True,)),
    "delay": (0.2, (1, seconds(1), seconds(5), seconds(90))),
    "allow_peek_when_locked": (0.3, (True,)),
    "application_deadletter_queue": (0.2, PATHS),
    "acknowledgements": (0.4, [(each,) for each in Acknowledgement]),
    "administration_queue": (0.4, (*PATHS, "nowhere")),
}
"""How often a message has the attribute, and with which values."""


def attributes(chance: Random) -> dict[str, Any]:
    drawn = {name: chance.choice(values) for name, (_, values) in ATTRIBUTES.items()}
    return {name: value for name, value in drawn.items() if chance.random() < ATTRIBUTES[name][0]}


def one_of(*values: Any) -> Callable[[Random], Any]:
    return lambda chance: chance.choice(values)


Draw = Mapping[str, Callable[[Random], Any]]
DRAW: Draw = {
    "path": one_of(*PATHS),
    "readable": one_of(*PATHS, *READABLE),
    "count": one_of(1, 2, 3, 4),
    "which": one_of(*range(6)),
    "way": one_of("for good", "held", "inside"),
    "timeout": one_of(None, 50),
    "span": one_of(1, 5, 60, 100),
    "quota": one_of(1, FOREVER),
    "outcome": one_of(*Outcome),
    "limit": one_of(0, 1, 2),
    "pause": one_of(0, 1, 30),
    "name": one_of("lake", "audit"),
    "part": one_of(0, 1, 2),
    "keep": one_of(None, EVERYTHING, Keep(count=1), Keep(count=3), Keep(bytes=300), Keep(age=seconds(20))),
    "attributes": attributes,
    "query": one_of("p", "q"),
    "batch": one_of(0, 1, 2),
    "task": one_of(0, 1, 2),
    "attempt": one_of("first", "second"),
    "writer": one_of("", "w", "v"),
}
"""How values are drawn, by the name of the parameter; all others are yes or no."""

Weights = Mapping[Callable[..., None], int]
WEIGHTS: Weights = {
    RandomRun.send: 10,
    RandomRun.store_piece: 4,
    RandomRun.drop_spool: 1,
    RandomRun.send_large: 4,
    RandomRun.receive: 6,
    RandomRun.receive_from_the_middle: 3,
    RandomRun.end_read: 3,
    RandomRun.move: 4,
    RandomRun.send_elsewhere: 3,
    RandomRun.end_transfer: 3,
    RandomRun.accept_transfer: 3,
    RandomRun.end_some_transfers: 2,
    RandomRun.resend: 1,
    RandomRun.pause_or_resume: 1,
    RandomRun.purge_or_delete_elsewhere: 1,
    RandomRun.break_connection: 1,
    RandomRun.begin_stage: 5,
    RandomRun.stage_messages: 8,
    RandomRun.complete_stage: 5,
    RandomRun.publish: 5,
    RandomRun.drop_stages: 1,
    RandomRun.forget: 1,
    RandomRun.begin: 1,
    RandomRun.prepare: 4,
    RandomRun.decide: 4,
    RandomRun.purge: 2,
    RandomRun.delete: 1,
    RandomRun.create_or_change: 2,
    RandomRun.watch_for_poison: 2,
    RandomRun.limit_poison: 1,
    RandomRun.open_consumer: 3,
    RandomRun.read_feed: 2,
    RandomRun.move_consumer: 2,
    RandomRun.drop_consumer: 1,
    RandomRun.limit_consumer: 1,
    RandomRun.write_directory: 1,
    RandomRun.remove_from_directory: 1,
    RandomRun.switch_directory: 1,
    RandomRun.wait: 2,
    RandomRun.put_off_or_go_on: 1,
    RandomRun.flush: 1,
    RandomRun.restart: 1,
    RandomRun.crash: 1,
}


def story(seed: int, length: int = 40, weights: Weights = WEIGHTS, draw: Draw = DRAW) -> list[Action]:
    chance = Random(seed)
    steps: list[Action] = []
    for event in chance.choices(list(weights), list(weights.values()), k=length):
        parameters = [name for name in signature(event).parameters if name != "self"]
        drawn = {name: draw.get(name, one_of(True, False))(chance) for name in parameters}
        steps.append((event.__name__, drawn))
    return steps


def play(steps: list[Action]) -> None:
    run = RandomRun()
    for name, arguments in [*steps, ("restart", {}), ("crash", {}), ("put_off_or_go_on", {"patient": False})]:
        getattr(run, name)(**arguments)
        check(run.bench.state)
        check_clock(run.bench)
    check_history(run.bench)


def goes_wrong(steps: list[Action]) -> bool:
    try:
        play(steps)
    except Exception:  # noqa: BLE001 - whatever it is, it must not be
        return True
    return False


def shortest(steps: list[Action]) -> list[Action]:
    """Return a shorter list of steps that still fails."""
    place = 0
    while place < len(steps):
        fewer = steps[:place] + steps[place + 1 :]
        if goes_wrong(fewer):
            steps, place = fewer, 0
        else:
            place += 1
    return steps


def try_seeds(seeds: range, weights: Weights = WEIGHTS, draw: Draw = DRAW) -> None:
    for seed in seeds:
        steps = story(seed, weights=weights, draw=draw)
        if goes_wrong(steps):
            steps = shortest(steps)
            reported = "\n".join(f"    run.{name}(**{arguments})" for name, arguments in steps)
            try:
                play(steps)
            except Exception as why:
                raise AssertionError(f"seed {seed} goes wrong:\n    run = RandomRun()\n{reported}") from why

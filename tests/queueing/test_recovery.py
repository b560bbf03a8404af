"""Whatever a manager went through, a new process over the same disk knows the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.time import seconds
from reliquary.queueing import events
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.message import FOREVER, Delivery, Message
from reliquary.queueing.state import Sizes
from tests.queueing.manager_harness import Bench, Snapshot, check, durable, walk

PATHS = ("a", "b", "a;sub", "c")
READABLE = (*PATHS, "a;journal", "system$;deadletter", "system$;deadxact", "system$;journal")


@pytest.fixture(autouse=True, scope="module")
def small_steps() -> Iterator[None]:
    """Windows of two positions and turns of two messages, so that small examples reach every edge."""
    with pytest.MonkeyPatch.context() as patch:
        defaults = QueueManager.__init__.__kwdefaults__
        assert defaults is not None
        patch.setitem(defaults, "sizes", Sizes(window=2, at_once=2))
        yield


# -- what can happen


@dataclass(frozen=True)
class Create:
    path: str
    journaling: bool
    transactional: bool


@dataclass(frozen=True)
class Change:
    path: str
    journaling: bool
    quota: int


@dataclass(frozen=True)
class Delete:
    path: str


@dataclass(frozen=True)
class Purge:
    path: str


@dataclass(frozen=True)
class Send:
    path: str
    count: int
    attributes: dict[str, Any]
    inside: bool


@dataclass(frozen=True)
class Receive:
    path: str
    count: int
    how: str
    """for good, held, or in a transaction"""


@dataclass(frozen=True)
class Fetch:
    """Receive one from the middle."""

    path: str
    which: int
    how: str


@dataclass(frozen=True)
class End:
    """The second half of a read."""

    which: int
    delete: bool
    only_first: bool


@dataclass(frozen=True)
class Move:
    path: str
    which: int
    target: str
    inside: bool


@dataclass(frozen=True)
class Decide:
    """A step of the life of a transaction."""

    step: str
    which: int


@dataclass(frozen=True)
class Pass:
    """Time."""

    seconds: int


@dataclass(frozen=True)
class Simply:
    what: str
    """flush, restart, crash, stop, go on"""


Happening = (
    Create | Change | Delete | Purge | Send | Receive | Fetch | End | Move | Decide | Pass | Simply
)

paths = st.sampled_from(PATHS)
readable = st.sampled_from(READABLE)
some = st.integers(0, 5)
attributes = st.fixed_dictionaries(
    {},
    optional={
        "priority": st.integers(0, 7),
        "delivery": st.sampled_from(Delivery),
        "time_to_be_received": st.sampled_from((0, 1, 5, 90, FOREVER)),
        "positive_journaling": st.booleans(),
        "negative_journaling": st.booleans(),
        "allow_peek_when_locked": st.booleans(),
        "application_deadletter_queue": paths,
    },
)
how = st.sampled_from(("for good", "held", "inside"))
happenings = st.one_of(
    st.builds(Send, paths, st.integers(1, 4), attributes, st.booleans()),
    st.builds(Receive, readable, st.integers(1, 3), how),
    st.builds(Decide, st.sampled_from(("begin", "prepare", "prepare two phases", "commit", "abort")), some),
    st.builds(End, some, st.booleans(), st.booleans()),
    st.builds(Fetch, readable, some, how),
    st.builds(Move, readable, some, readable, st.booleans()),
    st.builds(Purge, readable),
    st.builds(Delete, paths),
    st.builds(Create, paths, st.booleans(), st.booleans()),
    st.builds(Change, readable, st.booleans(), st.sampled_from((1, FOREVER))),
    st.builds(Pass, st.sampled_from((1, 5, 60, 100))),
    st.builds(Simply, st.sampled_from(("flush", "restart", "crash", "stop", "go on", "put off"))),
)


class Stage:
    """Lets things happen, and compares at every restart."""

    def __init__(self) -> None:
        self.bench = Bench("a", "b", "a;sub")
        self.receipts: list[int] = []
        self.transactions: list[UUID] = []
        self.safe: Snapshot
        self.flush()

    def play(self, happening: Happening) -> None:
        match happening:
            case Create(path, journaling, transactional):
                self.bench.create(path, journaling=journaling, transactional=transactional)
            case Change(path, journaling, quota):
                self.bench.ask(events.ChangeQueue(0, path, {"journaling": journaling, "quota": quota}))
            case Delete(path):
                self.bench.ask(events.DeleteQueue(0, path))
            case Purge(path):
                self.bench.ask(events.PurgeQueue(0, path))
            case Send(path, count, attributes, inside):
                self.bench.send(path, *[b"x"] * count, transaction=self.inside(inside), **attributes)
            case Receive(path, count, how):
                answer = self.bench.receive(
                    path,
                    count=count,
                    hold=20 if how == "held" else 0,
                    transaction=self.inside(how == "inside"),
                )
                self.keep(answer)
            case Fetch(path, which, how):
                self.fetch(path, which, how)
            case End(which, delete, only_first):
                self.end(which, delete=delete, only_first=only_first)
            case Move(path, which, target, inside):
                lookup_id = self.pick(path, which)
                if lookup_id:
                    self.bench.ask(events.MoveMessage(0, path, lookup_id, target, self.inside(inside)))
            case Decide(step, which):
                self.decide(step, which)
            case Pass(span):
                self.bench.advance(span)
            case Simply(what):
                self.simply(what)
        check(self.bench.state)

    def simply(self, what: str) -> None:
        match what:
            case "flush":
                self.flush()
            case "stop":
                self.bench.stop()
            case "put off":
                self.bench.patient = True
            case "go on":
                self.bench.patient = False
                self.bench.go_on()
            case "restart":
                self.restart()
            case "crash":
                self.crash()

    def inside(self, wanted: bool) -> UUID | None:
        return self.transactions[-1] if wanted and self.transactions else None

    def keep(self, answer: Any) -> None:
        if isinstance(answer, events.Received) and answer.receipt:
            self.receipts.append(answer.receipt)

    def pick(self, path: str, which: int) -> int:
        queue = self.bench.state.find(self.bench.state.parse(path))
        here = walk(queue) if queue else []
        return here[which % len(here)].lookup_id if here else 0

    def fetch(self, path: str, which: int, how: str) -> None:
        hold, inside = seconds(20 if how == "held" else 0), self.inside(how == "inside")
        self.keep(
            self.bench.ask(
                events.LookUpMessage(
                    0, path, self.pick(path, which), peek=False, transaction=inside, hold=hold
                )
            )
        )

    def end(self, which: int, *, delete: bool, only_first: bool) -> None:
        if not self.receipts:
            return
        receipt = self.receipts[which % len(self.receipts)]
        descriptor = self.bench.state.handles.get(receipt)
        held = tuple(sorted(descriptor.held)) if descriptor and only_first else ()
        self.bench.ask(events.EndRead(0, receipt, delete, held[:1]))

    def decide(self, step: str, which: int) -> None:
        if step == "begin":
            self.transactions.append(self.bench.begin(timeout=50))
            return
        if not self.transactions:
            return
        transaction = self.transactions[which % len(self.transactions)]
        match step:
            case "prepare":
                self.bench.ask(events.PrepareTransaction(0, transaction))
            case "prepare two phases":
                self.bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
            case "commit":
                self.bench.ask(events.CommitTransaction(0, transaction))
            case "abort":
                self.bench.ask(events.AbortTransaction(0, transaction))

    def flush(self) -> None:
        self.bench.flush()
        self.safe = durable(self.bench.state)

    def restart(self) -> None:
        live = durable(self.bench.state)
        sequence = self.bench.state.sequence
        self.bench.restart(start=False)
        assert self.bench.state.sequence >= sequence, "a number would be given out twice"
        self.look_again(live)

    def crash(self) -> None:
        self.bench.restart(crash=True, start=False)
        self.look_again(self.safe)

    def look_again(self, expected: Snapshot) -> None:
        assert durable(self.bench.state) == expected
        check(self.bench.state)
        self.receipts.clear()
        self.bench.start()
        check(self.bench.state)
        self.flush()


@pytest.mark.spec("DM-002", "DM-004", "DM-005", "DM-018", "DM-040", "DM-047", "DM-064", "DM-065")
@settings(max_examples=400, stateful_step_count=40)
@given(st.lists(happenings, max_size=40))
def test_a_new_process_knows_what_the_old_one_knew(story: list[Happening]) -> None:
    stage = Stage()
    for happening in story:
        stage.play(happening)
    stage.restart()
    stage.simply("go on")
    stage.crash()

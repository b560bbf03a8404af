"""Hypothesis drives a manager and the plain model with one list of random events: they never differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from reliquary.queueing.model.events import Access, Seek, Share
from reliquary.queueing.model.message import FOREVER, Delivery
from reliquary.queueing.model.state import Sizes
from tests.queueing.plain_model.comparison import Comparison, CursorPair, Handle
from tests.queueing.plain_model.plain_queue import START, Key
from tests.queueing.state_checks import check

Method = TypeVar("Method", bound=Callable[..., None])

STEPS = 50
EXAMPLES = 220

SMALL = Sizes(window=2, sequence_block=4, cache_bytes=300)
"""Small limits: a few messages go beyond the window, the cache and the reserved numbers."""

PLAIN, BOOKS, SMALL_QUEUE, SUB = "plain", "books", "small", "plain;sub"
QUEUES = (PLAIN, BOOKS, SMALL_QUEUE, SUB)
SETTINGS: dict[str, dict[str, Any]] = {
    PLAIN: {},
    BOOKS: {"transactional": True, "journaling": True},
    SMALL_QUEUE: {"quota": 1, "journaling": True, "journal_quota": 1},
    SUB: {},
}
OFTEN = (PLAIN, PLAIN, PLAIN, BOOKS, BOOKS, SMALL_QUEUE, SUB)
SELDOM = ("books;journal", "small;journal", "system$;deadletter", "system$;deadxact", "system$;journal")
DEADLETTERS = (*QUEUES, "nowhere", "no+name")

queues = st.sampled_from(OFTEN)
readable = st.sampled_from((*OFTEN, *OFTEN, *SELDOM))
which = st.integers(0, 7)
"""Picks one of what there is, from the newest back."""
seeks = st.sampled_from(Seek)
timeouts = st.sampled_from((0, 0, 0, 3))
ways = st.sampled_from(("for good", "held", "inside"))
accesses = st.sampled_from((Access.RECEIVE, Access.RECEIVE, Access.MOVE, *Access))
shares = st.sampled_from((Share.DENY_NONE, Share.DENY_NONE, Share.DENY_RECEIVE))
attributes = st.fixed_dictionaries(
    {"delivery": st.sampled_from((Delivery.RECOVERABLE, Delivery.RECOVERABLE, Delivery.EXPRESS))},
    optional={
        "priority": st.sampled_from((0, 5, 7)),
        "time_to_be_received": st.sampled_from((0, 3, 10, 30)),
        "positive_journaling": st.booleans(),
        "negative_journaling": st.just(True),
        "allow_peek_when_locked": st.just(True),
        "application_deadletter_queue": st.sampled_from(DEADLETTERS),
    },
)
some_messages = st.lists(attributes, min_size=1, max_size=3)


Action = tuple[str, dict[str, Any]]
"""What happens, and its arguments."""

EVENTS: list[st.SearchStrategy[Action]] = []


def happens(weight: int, **arguments: st.SearchStrategy[Any]) -> Callable[[Method], Method]:
    """Let the rule `happen` draw a method with this weight, so that no example lacks any method."""

    def note(method: Method) -> Method:
        name = method.__name__  # a strategy for each: Hypothesis counts equal ones once
        EVENTS.extend(st.tuples(st.just(name), st.fixed_dictionaries(arguments)) for _ in range(weight))
        return method

    return note


class RandomRun(RuleBasedStateMachine):
    """One random run of the manager and the model."""

    steps: ClassVar[int] = 0
    """The number of steps in all runs so far."""
    sizes: ClassVar[Sizes] = SMALL

    def __init__(self) -> None:
        super().__init__()
        self.both = Comparison(self.sizes)
        for path, chosen in SETTINGS.items():
            self.both.create(path, **chosen)
        self.both.flush()

    @rule(step=st.deferred(lambda: st.one_of(EVENTS)))
    def happen(self, step: Action) -> None:
        name, arguments = step
        getattr(self, name)(**arguments)

    @invariant()
    def they_agree(self) -> None:
        type(self).steps += 1
        self.both.compare()

    def teardown(self) -> None:
        check(self.both.bench.state)

    # -- choosing

    def _inside(self, way: str, number: int) -> Any:
        """Return a transaction, when one is wanted: nearly always one that can be used."""
        if way != "inside":
            return None
        usable = [each for each in self.both.transactions if self.both.plain.usable(each)]
        if not usable and number:
            self.both.begin()
            usable = self.both.transactions[-1:]
        return usable[-1] if number else self._transaction(number)

    def _transaction(self, number: int) -> Any:
        """Return a transaction: one that has not ended, if there is one."""
        alive = list(self.both.plain.transactions) or self.both.transactions
        if not alive:
            self.both.begin()
            alive = self.both.transactions
        return alive[number % len(alive)]

    def _handle(self, number: int) -> Handle:
        if not self.both.handles:
            path = BOOKS if number % 2 else PLAIN
            self.both.create(path, **SETTINGS[path])  # in case it is deleted
            self.both.open(path, Access.RECEIVE, Share.DENY_NONE)
        handles = [each for each in self.both.handles[-4:] if number == 0 or not each.open.closed]
        return handles[number % len(handles)] if handles else self.both.handles[-1]

    def _cursor(self, number: int) -> CursorPair | None:
        usable = [each for each in self.both.cursors if self.both.is_usable(each)]
        if not usable:
            self.both.open_cursor(self._handle(number))
            usable = [each for each in self.both.cursors[-1:] if self.both.is_usable(each)]
        return usable[number % len(usable)] if usable else None

    def _key(self, number: int, path: str) -> Key:
        """Return the place of a message: one of this queue, or any there ever was."""
        queue = self.both.plain.find(path)
        here = [entry.key for entry in queue.entries if entry.key in self.both.lookup_ids] if queue else []
        keys = here if here and number else sorted(self.both.lookup_ids)
        return keys[number % len(keys)] if keys else START

    # -- queues

    @happens(3, path=queues, what=st.sampled_from(("purge", "purge", "change", "change", "create", "delete")),
          journaling=st.booleans(), quota=st.sampled_from((1, FOREVER)))  # fmt: skip
    def administer(self, path: str, what: str, journaling: bool, quota: int) -> None:
        if what == "purge":
            self.both.purge(path)
        elif what == "change":
            self.both.change(path, journaling=journaling, quota=quota)
        elif what == "create":
            self.both.create(path, **SETTINGS[path])
        else:
            self.both.delete(path)
            self.both.delete("nowhere")
            if journaling:
                self.both.create(path, **SETTINGS[path])

    @happens(1, path=st.sampled_from(SELDOM))
    def clear(self, path: str) -> None:
        self.both.purge(path)

    @happens(2, path=readable, access=accesses, share=shares)
    def open(self, path: str, access: Access, share: Share) -> None:
        self.both.open(path, access, share)

    @happens(1, path=queues)
    def open_with_cursor(self, path: str) -> None:
        before = len(self.both.handles)
        self.both.open(path, Access.RECEIVE, Share.DENY_NONE)
        if len(self.both.handles) > before:
            self.both.open_cursor(self.both.handles[-1])

    @happens(2, number=which, what=st.sampled_from(("close", "open cursor", "open cursor", "close cursor")))
    def handle(self, number: int, what: str) -> None:
        if what == "close":
            self.both.close(self._handle(number))
        elif what == "open cursor":
            self.both.open_cursor(self._handle(number))
        elif self.both.cursors:
            self.both.close_cursor(self.both.cursors[number % len(self.both.cursors)])

    # -- messages

    @happens(8, path=queues, messages=some_messages)
    def send(self, path: str, messages: list[dict[str, Any]]) -> None:
        self.both.send(path, messages)

    @happens(4, path=queues, messages=some_messages, way=ways, number=which)
    def send_somehow(self, path: str, messages: list[dict[str, Any]], way: str, number: int) -> None:
        self.both.send(path, messages, self._inside(way, number))

    @happens(2, handle=which, messages=some_messages, way=ways, number=which)
    def send_to_handle(self, handle: int, messages: list[dict[str, Any]], way: str, number: int) -> None:
        self.both.send(self._handle(handle), messages, self._inside(way, number))

    @happens(8, path=readable, count=st.integers(1, 4), timeout=timeouts, way=ways, number=which)
    def receive(self, path: str, count: int, timeout: int, way: str, number: int) -> None:
        inside, hold = self._inside(way, number), 5 if way == "held" else 0
        self.both.receive(path, count=count, timeout=timeout, hold=hold, transaction=inside)

    @happens(3, path=queues, number=which)
    def receive_inside(self, path: str, number: int) -> None:
        self.both.receive(path, count=2, transaction=self._inside("inside", number))

    @happens(4, handle=which, count=st.integers(1, 3), timeout=timeouts, way=ways, number=which)
    def receive_from_handle(self, handle: int, count: int, timeout: int, way: str, number: int) -> None:
        inside, hold = self._inside(way, number), 5 if way == "held" else 0
        chosen = self._handle(handle)
        self.both.receive(chosen, count=count, timeout=timeout, hold=hold, transaction=inside)

    @happens(4, cursor=which, timeout=timeouts, way=ways, number=which)
    def receive_at_cursor(self, cursor: int, timeout: int, way: str, number: int) -> None:
        chosen = self._cursor(cursor)
        if chosen is None:
            return
        inside, hold = self._inside(way, number), 5 if way == "held" else 0
        self.both.receive(chosen.handle, timeout=timeout, hold=hold, transaction=inside, cursor=chosen)

    @happens(2, path=readable, timeout=timeouts)
    def peek(self, path: str, timeout: int) -> None:
        self.both.peek(path, timeout=timeout)

    @happens(4, cursor=which, timeout=timeouts, following=st.booleans())
    def peek_at_cursor(self, cursor: int, timeout: int, following: bool) -> None:
        chosen = self._cursor(cursor)
        if chosen is None:
            return
        self.both.peek(chosen.handle, timeout=timeout, cursor=chosen, following=following)

    @happens(
        4, path=readable, key=which, seek=st.sampled_from(Seek), peek=st.booleans(), way=ways, number=which
    )
    def look_up(self, path: str, key: int, seek: Seek, peek: bool, way: str, number: int) -> None:
        inside, hold = self._inside(way, number), 5 if way == "held" else 0
        self.both.look_up(path, self._key(key, path), seek, peek=peek, hold=hold, transaction=inside)

    @happens(4, number=which, delete=st.booleans(), some=st.booleans())
    def end_read(self, number: int, delete: bool, some: bool) -> None:
        if not self.both.held():
            self.both.receive(PLAIN, count=3, hold=5)
        held = self.both.held() or [self._handle(number)]
        handle = held[number % len(held)]
        keys = [each.key for each in handle.open.held if each.key in self.both.lookup_ids]
        self.both.end_read(handle, delete=delete, keys=keys[:1] if some else [])

    @happens(1, handle=which, key=which, delete=st.booleans())
    def end_read_of_anything(self, handle: int, key: int, delete: bool) -> None:
        self.both.end_read(self._handle(handle), delete=delete, keys=[self._key(key, PLAIN)])

    @happens(4, path=readable, key=which, goal=queues, way=ways, number=which)
    def move(self, path: str, key: int, goal: str, way: str, number: int) -> None:
        self.both.move(path, self._key(key, path), goal, self._inside(way, number))

    @happens(1, path=readable, number=which)
    def cancel(self, path: str, number: int) -> None:
        for caller in sorted(self.both.waiting)[number % 3 :][:1]:
            self.both.cancel(path, caller)

    # -- transactions, time and the process

    @happens(5, number=which, how=st.sampled_from(("begin", "commit", "abort", "one phase", "two phases")))
    def transact(self, number: int, how: str) -> None:
        if how == "begin":
            self.both.begin()
        elif how == "commit":
            self.both.commit(self._transaction(number))
        elif how == "abort":
            self.both.abort(self._transaction(number))
        else:
            self.both.prepare(self._transaction(number), single_phase=how == "one phase")

    @happens(3, span=st.sampled_from((1, 2, 5, 20)))
    def wait(self, span: int) -> None:
        self.both.advance(span)

    @happens(3, how=st.sampled_from(("flush", "flush", "crash", "restart", "stop")))
    def end_the_process(self, how: str) -> None:
        if how == "flush":
            self.both.flush()
        else:
            self.both.restart(crash=how == "crash", stop=how == "stop")


def run(examples: int, *, phases: tuple[Phase, ...]) -> int:
    """Run this many examples and return the number of their steps."""
    RandomRun.steps = 0
    run_state_machine_as_test(
        RandomRun, settings=settings(max_examples=examples, stateful_step_count=STEPS, phases=phases)
    )
    return RandomRun.steps


@pytest.mark.spec(
    "DM-001", "DM-002", "DM-004", "DM-028", "DM-039", "DM-047", "DM-107", "DM-188", "DM-284", "DM-303"
)
@pytest.mark.timeout(600)
def test_the_manager_and_the_model_never_differ() -> None:
    assert run(EXAMPLES, phases=(Phase.generate,)) >= 10_000  # to shorten a failure takes minutes


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_manager_and_the_model_never_differ_in_many_more_steps() -> None:
    assert run(50 * EXAMPLES, phases=(Phase.generate, Phase.shrink)) >= 500_000

"""What clients know while a server is killed under them: every message is accounted for, exactly.

A client knows what was answered.  What was on its way when the server died is in doubt, and only that:

    sent, answered              there, until a reader takes it
    taken, answered             gone, and never seen again
    a change on its way         happened as a whole or not at all: a batch that is sent, messages
                                that are acknowledged, a transaction over two queues
    a receive on its way        took at most as many as it asked for, from the head of the queue
    held, or in a transaction   came back

After every restart the stock is taken: what is found in the queues decides what was in doubt,
and has to agree with all that was not.  So each life begins with nothing in doubt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

Bodies = Mapping[str, tuple[str, ...]]
"""The bodies of each queue."""


class Shown(NamedTuple):
    """A message as a client sees it."""

    body: str
    lane: str
    """Messages of one lane were sent one after another, so they are numbered upwards."""
    lookup_id: int

    @property
    def number(self) -> int:
        """The number of the message in its lane; a body is PRODUCER/NUMBER."""
        return int(self.body.rpartition("/")[2])


@dataclass(eq=False)
class Change:
    """A request that changes queues as a whole or not at all."""

    out: Bodies = field(default_factory=dict)
    """Locked by the requester, so no other reader can take them."""
    into: Bodies = field(default_factory=dict)
    transaction: str = ""
    two_phase: bool = False
    """It is prepared first: after a restart the server knows it, or it is decided."""
    prepared: bool = False
    """Whether the prepare was answered."""
    commits: bool = False
    """The commit was asked for."""
    must: bool | None = None
    """Whether it has to have happened, where that is known."""


@dataclass(eq=False)
class Taking:
    """A receive that removes what it answers with."""

    queue: str
    count: int


@dataclass
class Stock:
    """One queue, as its clients know it."""

    there: dict[str, int] = field(default_factory=dict)
    """The LookupIdentifiers of the messages, by body."""
    held: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    sent: int = 0
    received: int = 0
    unseen: int = 0
    """Taken by a receive whose answer was lost."""


class Order:
    """The numbers of each lane, which only grow for one who gives nothing back."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def see(self, messages: Iterable[Shown]) -> None:
        """Check that messages come in the order of their lanes."""
        for message in messages:
            last = self._last.get(message.lane, -1)
            assert message.number > last, f"out of order: {message} after number {last}"
            self._last[message.lane] = message.number


class Ledger:
    """All queues, and all that is on its way."""

    def __init__(self, *queues: str, overtaking: Iterable[str] = ()) -> None:
        """Prepare a ledger; in transactions, a message can be ready before one that was sent earlier."""
        self.stocks = {name: Stock() for name in queues}
        self._overtaking = frozenset(overtaking)
        self._places: set[int] = set()
        """Lookup ids that were given out; none is given twice."""
        self._changes: set[Change] = set()
        self._takings: set[Taking] = set()

    # -- requests leave

    def begin(self, change: Change) -> Change:
        """Note that a change is on its way, and return it."""
        self._changes.add(change)
        return change

    def ask(self, taking: Taking) -> Taking:
        """Note that a receive is on its way, and return it."""
        self._takings.add(taking)
        return taking

    def forget(self, request: Change | Taking | None) -> None:
        """Forget a request that did not leave, or that changed nothing."""
        self._changes.discard(request)
        self._takings.discard(request)

    # -- answers come

    def confirm(self, change: Change, lookup_ids: Iterable[int] = ()) -> None:
        """Note that a change was confirmed."""
        self._changes.remove(change)
        given = list(lookup_ids)
        assert self._places.isdisjoint(given), f"lookup ids given twice: {sorted(self._places & set(given))}"
        self._places.update(given)
        places = iter(given)
        for name, bodies in change.out.items():
            for body in bodies:
                self._received(self.stocks[name], body)
        for name, bodies in change.into.items():
            stock = self.stocks[name]
            stock.sent += len(bodies)
            for body in bodies:
                place = next(places, 0)
                if body not in stock.gone:  # a reader may be answered before the sender is
                    stock.there[body] = place

    def receive(self, taking: Taking, messages: list[Shown]) -> None:
        """Note the messages that a receive has returned."""
        self._takings.remove(taking)
        assert len(messages) <= taking.count, f"asked for {taking.count}, got {len(messages)}"
        for message in messages:
            self._must_be_free(taking.queue, message)
            self._received(self.stocks[taking.queue], message.body)

    def hold(self, queue: str, messages: list[Shown]) -> None:
        """Note that messages are locked for one reader."""
        for message in messages:
            self._must_be_free(queue, message)
            self.stocks[queue].held.add(message.body)

    def _received(self, stock: Stock, body: str) -> None:
        stock.received += 1
        stock.there.pop(body, None)
        stock.held.discard(body)
        stock.gone.add(body)

    def _must_be_free(self, queue: str, message: Shown) -> None:
        stock = self.stocks[queue]
        self._must_be_known(queue, message)
        assert message.body not in stock.held, f"{message} of {queue} is held and was delivered again"

    def _must_be_known(self, queue: str, message: Shown) -> None:
        stock = self.stocks[queue]
        assert message.body not in stock.gone, f"{message} of {queue} is gone and came back"
        coming = any(message.body in change.into.get(queue, ()) for change in self._changes)
        assert coming or message.body in stock.there, f"{message} of {queue} was never there"
        place = stock.there.get(message.body)
        assert place in (None, 0, message.lookup_id), f"{message} of {queue} had lookup id {place}"

    # -- after a crash

    def unfinished(self, listed: Iterable[str]) -> list[Change]:
        """Changes whose transactions the server lists as prepared; the others are decided."""
        known = {change.transaction: change for change in self._changes if change.two_phase}
        names = set(listed)
        assert names <= known.keys(), f"not prepared {names - known.keys()}"
        for name, change in known.items():
            if name not in names:
                assert change.commits or not change.prepared, f"the server forgot what it prepared: {change}"
                change.must = change.prepared
        return [known[name] for name in names]

    def abort(self, change: Change) -> None:
        """Note that a transaction was aborted."""
        change.must = False

    def take_stock(self, found: Mapping[str, list[Shown]]) -> None:
        """Compare what is in the queues with what must be there; nothing is in doubt afterwards."""
        for name, messages in found.items():
            self._look_at(name, messages)
        bodies = {name: {message.body for message in messages} for name, messages in found.items()}
        missing: dict[str, set[str]] = {
            name: stock.there.keys() - bodies[name] for name, stock in self.stocks.items()
        }
        for change in self._changes:
            if self._happened(change, bodies):
                self._settle(change, bodies, missing)
        for name, stock in self.stocks.items():
            self._account(name, missing[name], found[name])
            stock.unseen += len(missing[name])
            stock.gone |= missing[name]
            stock.held.clear()
            stock.there = {message.body: message.lookup_id for message in found[name]}
            self._places.update(stock.there.values())
        self._changes.clear()
        self._takings.clear()

    def _look_at(self, name: str, messages: list[Shown]) -> None:
        twice = [body for body, count in Counter(message.body for message in messages).items() if count > 1]
        assert not twice, f"more than once in {name}: {twice}"
        for message in messages:
            self._must_be_known(name, message)
        Order().see(messages)

    def _happened(self, change: Change, found: Mapping[str, set[str]]) -> bool:
        left = [body for name, bodies in change.out.items() for body in bodies if body in found[name]]
        taken = [body for name, bodies in change.out.items() for body in bodies if body not in found[name]]
        came = [
            body
            for name, bodies in change.into.items()
            for body in bodies
            if body in found[name] or body in self.stocks[name].gone
        ]
        happened = bool(taken or came)
        assert not (happened and left), f"half of a change: {taken} taken, {left} left, {came} came: {change}"
        assert change.must in (None, happened), f"it {'happened' if happened else 'is lost'}: {change}"
        return happened

    def _settle(self, change: Change, found: Mapping[str, set[str]], missing: Mapping[str, set[str]]) -> None:
        """Settle a change in doubt that has happened: what it took is gone, what it brought must be there."""
        for name, bodies in change.out.items():
            missing[name].difference_update(bodies)
            for body in bodies:
                self._received(self.stocks[name], body)
        for name, bodies in change.into.items():
            self.stocks[name].sent += len(bodies)
            missing[name].update(set(bodies) - found[name] - self.stocks[name].gone)

    def _account(self, name: str, missing: set[str], found: list[Shown]) -> None:
        """Check that only pending receives can have taken what is missing, from the head of the queue."""
        most = sum(taking.count for taking in self._takings if taking.queue == name)
        assert len(missing) <= most, (
            f"{name} lost {len(missing)} messages, of which receives on their way explain {most}:"
            f" {sorted(missing)}"
        )
        there = self.stocks[name].there
        first = min((message.lookup_id for message in found), default=0)
        behind = [body for body in missing if found and there.get(body, 0) > first]
        behind = [] if name in self._overtaking else behind
        assert not behind, f"{name} lost {behind} from behind its head {first}"

    # -- the end

    def close(self) -> None:
        """Check, after all queues were emptied, that what was sent was received, or its answer was lost."""
        assert not self._changes
        assert not self._takings
        for name, stock in self.stocks.items():
            assert not stock.there, f"{name} should still have {sorted(stock.there)}"
            assert stock.sent == stock.received + stock.unseen, f"{name} does not balance: {stock.sent} sent"

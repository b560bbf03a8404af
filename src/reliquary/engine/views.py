"""Read-only pictures of the queue manager, for people: consoles, metrics, command lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from reliquary.queueing.model.display import name_of
from reliquary.queueing.model.names.pathnames import spoken
from reliquary.queueing.model.queue import ManagerState, QueueManagerRecord, QueueSettings, QueueType
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.losses import by_word
from reliquary.queueing.rules.permission import Act, lacks


class QueueView(msgspec.Struct, frozen=True, kw_only=True):
    """A queue as a person wants to see it."""

    name: str
    pathname: str
    identifier: str
    kind: QueueType
    messages: int
    locked: int
    delayed: int
    bytes: int
    readers_waiting: int
    open_handles: int
    copies_lost: dict[str, int]
    """Journal copies, dead letters, acknowledgements that could not be kept, by kind."""
    created: int
    modified: int
    settings: QueueSettings
    messages_retained: int = 0
    """Messages that left, and that a reader of its feed has not passed; in no other number here."""
    bytes_retained: int = 0


class ManagerView(msgspec.Struct, frozen=True, kw_only=True):
    """The manager as a person wants to see it."""

    identifier: str
    computer_name: str
    queues: int
    messages: int
    bytes: int
    quota_kilobytes: int
    transactions_active: int
    transactions_prepared: int
    copies_lost: dict[str, int]
    """Of all its queues, those that are gone among them."""
    poison_overflows: int
    state: ManagerState
    online: bool
    """Messages come from and go to other managers."""
    throttled: bool
    messages_retained: int = 0
    """Of all its queues: messages that left, and that a reader of a feed has not passed."""
    bytes_retained: int = 0


class ConsumerView(msgspec.Struct, frozen=True, kw_only=True):
    """A reader of a queue's feed as a person wants to see him; moments are microseconds since 1970."""

    queue: str
    name: str
    cursor: int
    """He has passed all up to here."""
    mark: int
    """The highest number there is, of all queues of the manager together."""
    created: int
    moved: int
    """When he passed something last."""
    messages_retained: int
    """What left the queue and is kept for him and the others who read it."""
    bytes_retained: int

    @property
    def lag(self) -> int:
        """Numbers that he has yet to pass: at least as many as messages."""
        return self.mark - self.cursor


def queue(state: State, path: str) -> QueueView | None:
    """One queue by its name."""
    found = destinations.find(state, path)
    return None if found is None else _view(state, found)


def queues(state: State, by: Principal = MANAGER, after: str = "") -> Iterator[QueueView]:
    """All queues of this manager that are not on their way out and that somebody may look at, by name.

    Those behind the path name `after` come, one at a time, and others may be made meanwhile.  Journals are
    shown with their queues, and outgoing queues by `travel/views.py`.
    """
    for each in queue_states(state, after):
        if not lacks(state, by, each, Act.SHOW):
            yield _view(state, each)


def queue_states(state: State, after: str = "") -> Iterator[QueueState]:
    """The queues themselves, as `queues` shows them."""
    records = (each.record for each in state.queues.values())
    for number in state.queue_order.behind(after, records):
        each = state.queues.get(number)
        if each is not None and not each.record.deleting:
            yield each


def manager(state: State) -> ManagerView:
    """The manager itself."""
    record: QueueManagerRecord = state.identity()
    filled = [  # of 100,000 queues most may be empty, and a look at a field costs less than a call
        each for each in state.queues.values() if each.stored_size or each.express_size or each.order.locked
    ]
    retaining = [each for each in state.queues.values() if each.retained]
    prepared = sum(transaction.prepared for transaction in state.transactions.values())
    return ManagerView(
        identifier=str(record.identifier),
        computer_name=record.computer_name,
        queues=state.queue_order.count(each.record for each in state.queues.values()),
        messages=sum([len(each.order) + len(each.order.locked) + delayed(each) for each in filled]),
        bytes=state.total_bytes,
        quota_kilobytes=record.quota,
        transactions_active=len(state.transactions) - prepared,
        transactions_prepared=prepared,
        copies_lost=_copies_lost(state),
        poison_overflows=state.poison_overflows,
        state=state.manager_state,
        online=state.online,
        throttled=state.throttled,
        messages_retained=sum([each.retained for each in retaining]),
        bytes_retained=sum([each.retained_size for each in retaining]),
    )


def consumers(state: State, path: str = "", by: Principal = MANAGER) -> Iterator[ConsumerView]:
    """The readers of one queue's feed, or of all that somebody may look at, by queue and name."""
    named = destinations.find(state, path) if path else None
    found = [named] if named is not None else [] if path else list(state.queues.values())
    shown = [each for each in found if each.consumers and not lacks(state, by, each, Act.SHOW)]
    for each in sorted(shown, key=lambda each: each.record.pathname.casefold()):
        for name, record in sorted(each.consumers.items()):
            yield ConsumerView(
                queue=spoken(each.record.pathname),
                name=name,
                cursor=record.cursor,
                mark=state.sequence,
                created=record.created,
                moved=record.moved,
                messages_retained=each.retained,
                bytes_retained=each.retained_size,
            )


def _view(state: State, each: QueueState) -> QueueView:
    record = each.record
    return QueueView(
        name=name_of(state, each),
        pathname=record.pathname,
        identifier=str(record.identifier),
        kind=record.kind,
        messages=len(each.order),
        locked=len(each.order.locked),
        delayed=delayed(each),
        bytes=each.total_bytes,
        readers_waiting=len(each.waiting),
        open_handles=len(each.descriptors),
        copies_lost=by_word(each.lost),
        created=record.create_time,
        modified=record.modify_time,
        settings=record.settings,
        messages_retained=each.retained,
        bytes_retained=each.retained_size,
    )


def _copies_lost(state: State) -> dict[str, int]:
    every = [by_word(state.lost), *(by_word(queue.lost) for queue in state.queues.values() if queue.lost)]
    return dict(sum(map(Counter, every), Counter()))


def delayed(each: QueueState) -> int:
    """How many messages of a queue nobody sees yet."""
    return each.delayed + len(each.delayed_express)

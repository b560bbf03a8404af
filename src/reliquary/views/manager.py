"""Shows the manager: its name, its totals, and whether it takes and sends messages."""

from __future__ import annotations

from collections import Counter

import msgspec

from reliquary.queueing.model.queue import ManagerState, QueueManagerRecord
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.losses import by_word
from reliquary.views.queues import delayed


class ManagerView(msgspec.Struct, frozen=True, kw_only=True):
    """A manager with its totals and its state."""

    identifier: str
    computer_name: str
    queues: int
    messages: int
    bytes: int
    quota_kilobytes: int
    transactions_active: int
    transactions_prepared: int
    copies_lost: dict[str, int]
    """The copies that all its queues lost, deleted queues included, by kind."""
    poison_overflows: int
    state: ManagerState
    online: bool
    """Whether messages come from and go to other managers."""
    throttled: bool
    messages_retained: int = 0
    """The number of messages that left a queue and that a reader of its feed has not passed, in all
    queues."""
    bytes_retained: int = 0


def manager_view(state: State) -> ManagerView:
    """Return the totals and the state of the manager."""
    record: QueueManagerRecord = state.identity()
    filled = [  # of 100,000 queues most may be empty, and reading a field costs less than a call
        each
        for each in state.queues.values()
        if each.counts.stored_size or each.counts.express_size or each.order.locked
    ]
    retaining = [each for each in state.queues.values() if each.feed.retained]
    prepared = sum(transaction.prepared for transaction in state.transactions.open.values())
    return ManagerView(
        identifier=str(record.identifier),
        computer_name=record.computer_name,
        queues=state.names.in_order.count(each.record for each in state.queues.values()),
        messages=sum([len(each.order) + len(each.order.locked) + delayed(each) for each in filled]),
        bytes=state.totals.bytes,
        quota_kilobytes=record.quota,
        transactions_active=len(state.transactions.open) - prepared,
        transactions_prepared=prepared,
        copies_lost=_copies_lost(state),
        poison_overflows=state.totals.poison_overflows,
        state=state.manager.state,
        online=state.travel.online,
        throttled=state.manager.throttled,
        messages_retained=sum([each.feed.retained for each in retaining]),
        bytes_retained=sum([each.feed.retained_size for each in retaining]),
    )


def _copies_lost(state: State) -> dict[str, int]:
    every = [
        by_word(state.totals.lost),
        *(by_word(queue.counts.lost) for queue in state.queues.values() if queue.counts.lost),
    ]
    return dict(sum(map(Counter, every), Counter()))

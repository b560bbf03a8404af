"""Makes the noun "consumer" of administration: the named readers of a queue's feed.

`ConsumerInfo` is the record for clients, `ConsumerView` the record for metrics.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.time import as_text
from reliquary.queueing.model.administration import Listing, Noun, Plane, Refusal, View
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.names.pathnames import short_path

if TYPE_CHECKING:
    from reliquary.queueing.model.queue_state import QueueState
    from reliquary.queueing.model.state import State
    from reliquary.queueing.model.tables import Consumer, Loss


class LossInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The messages that a consumer lost, because the messages kept for it passed its limit."""

    after: str
    """The cursor before these messages; a string of digits, as `until` is."""
    until: str
    """The last number that the consumer lost."""
    messages: int
    bytes: int
    moment: str
    """When the consumer last lost a message (RFC 3339)."""


class ConsumerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A named reader of a queue's feed: messages that it has not read are kept for it."""

    name: str
    cursor: str
    """The number up to which everything was read; a string of digits."""
    created: str
    """A time (RFC 3339), as `moved` is."""
    moved: str
    """When the cursor moved last."""
    keep: str
    """The limit for this consumer, for example `7d,10g`; `none` for no limit."""
    keep_of: str
    """The owner of this limit: `consumer`, `queue` or `settings`."""
    paused: bool
    """Whether its reader is asked to begin no new batch."""
    lost: int
    """The number of all messages that it lost because its limit was passed."""
    lost_bytes: int
    loss: LossInfo | None
    """The last of these losses."""


class ConsumerView(msgspec.Struct, frozen=True, kw_only=True):
    """A reader of a queue's feed, with numbers of that queue; moments are microseconds since 1970."""

    queue: str
    name: str
    cursor: int
    """The number up to which the reader has read."""
    mark: int
    """The highest arrival number of all queues of the manager together."""
    created: int
    moved: int
    """When the cursor moved last."""
    messages_retained: int
    """Messages that left the queue and are kept for the readers of its feed."""
    bytes_retained: int
    lost: int
    """The number of messages that it lost because its limit was passed."""
    loss: LossInfo | None
    """The last of these losses, until the reader has read messages after it."""
    paused: bool

    @property
    def lag(self) -> int:
        """Return how many numbers the reader has not passed; it has at most this number of messages
        to read."""
        return self.mark - self.cursor


def consumers(view: View, queue: str) -> Iterator[ConsumerInfo]:
    """Yield the consumers of one queue, sorted by name.

    Raise Refusal if the queue does not exist or the user may not peek at its messages.
    """
    from reliquary.queueing.rules import destinations
    from reliquary.queueing.rules.permission import Act, lacks

    found = destinations.find(view.state, queue)
    if found is None:
        raise Refusal(Answer(HResult.QUEUE_NOT_FOUND, f"there is no queue {queue}"))
    if missing := lacks(view.state, view.by, found, Act.PEEK):
        raise Refusal(Answer(HResult.ACCESS_DENIED, missing))
    for name, each in sorted(found.feed.consumers.items()):
        yield _info(view.state, found, name, each)


def _info(state: State, queue: QueueState, name: str, record: Consumer) -> ConsumerInfo:
    from reliquary.queueing.feed.consumers import limit_of

    own = "consumer" if record.keep is not None else "settings" if queue.feed.keep is None else "queue"
    return ConsumerInfo(
        name=name,
        cursor=str(record.cursor),
        created=as_text(record.created),
        moved=as_text(record.moved),
        keep=str(limit_of(state, queue, record)),
        keep_of=own,
        paused=record.paused,
        lost=record.lost,
        lost_bytes=record.lost_bytes,
        loss=loss_info(record.loss),
    )


def loss_info(loss: Loss | None) -> LossInfo | None:
    """Return a loss as clients see it."""
    if loss is None:
        return None
    return LossInfo(
        after=str(loss.after),
        until=str(loss.until),
        messages=loss.messages,
        bytes=loss.bytes,
        moment=as_text(loss.moment),
    )


def all_consumers(state: State) -> Iterator[ConsumerView]:
    """Yield the readers of all feeds, sorted by queue and name."""
    found = [each for each in state.queues.values() if each.feed.consumers]
    for each in sorted(found, key=lambda each: each.record.pathname.casefold()):
        for name, record in sorted(each.feed.consumers.items()):
            yield ConsumerView(
                queue=short_path(each.record.pathname),
                name=name,
                cursor=record.cursor,
                mark=state.numbers.sequence,
                created=record.created,
                moved=record.moved,
                messages_retained=each.feed.retained,
                bytes_retained=each.feed.retained_size,
                lost=record.lost,
                loss=_unpassed(record),
                paused=record.paused,
            )


def _unpassed(record: Consumer) -> LossInfo | None:
    """Return the last loss of a consumer that has read nothing since."""
    loss = record.loss
    return loss_info(loss) if loss is not None and loss.until == record.cursor else None


CONSUMER: Final = Noun(
    name="consumer",
    plural="consumers",
    record=ConsumerInfo,
    summary="List, show, limit, pause, move and remove the consumers of feeds.",
    plane=Plane.DATA,
    of_a_queue=True,
    needs=None,
    listing=Listing(records=consumers),
)

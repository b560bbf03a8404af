"""Opens and moves the consumers of a stream at all managers.

A consumer is moved to a place when everything before it is done, so that its server may delete it:

    open     a consumer keeps what it has not read; one that exists is not changed
    settle   a batch begins here, so what came before is done
    move     Spark reports that a batch is done

A place that a consumer has is not sent again.
"""

from __future__ import annotations

import logging
from typing import Final

from reliquary.client.errors import ReliquaryError
from reliquary.client.feed import Feed, FeedClient
from reliquary.spark import errors
from reliquary.spark.managers import Managers
from reliquary.spark.offsets import Offset, QueueKey, QueueOffset
from reliquary.spark.positions import LATEST, Word

log = logging.getLogger(__name__)

_GONE: Final = frozenset({"QUEUE_NOT_FOUND", "OTHER_QUEUE", "DATA_LOST"})
"""The refusals of a move that the next batch finds too, and can say more about."""


class Cursors:
    """The consumers with one name, of all queues of a stream."""

    def __init__(self, managers: Managers, consumer: str) -> None:
        self._managers = managers
        self._consumer = consumer
        self._known: dict[QueueKey, QueueOffset] = {}

    def open(self, key: QueueKey, at: int | Word) -> Feed | None:
        """Open the consumer of a queue and return the feed; None if the manager is skipped."""
        return self._managers.ask(key.manager, lambda client: self._open(client, key, at), key.queue)

    def begin(self, key: QueueKey, at: int | Word, mark: int) -> QueueOffset:
        """Open the consumer of a queue for a new query, and return the place where the query begins."""
        feed = self._managers.insist(key.manager, lambda client: self._open(client, key, at), key.queue)
        cursor = feed.cursor or 0
        start = at if isinstance(at, int) else max(cursor, mark) if at == LATEST else cursor
        place = QueueOffset(feed.incarnation, start)
        if start == cursor:
            self._known[key] = place
        return place

    def _open(self, client: FeedClient, key: QueueKey, at: int | Word) -> Feed:
        return client.open_consumer(key.queue, self._consumer, at)

    def settle(self, sound: Offset, start: Offset) -> None:
        """Move consumers to a start whose batches are done, in the queues that have no trouble there."""
        self.move({key: place for key, place in start.items() if sound.get(key) == place})

    def move(self, places: Offset) -> None:
        """Move the consumers of the managers that the query names and that answer; others stay behind."""
        names = self._managers.names
        keys = [
            key for key, place in places.items() if key.manager in names and self._known.get(key) != place
        ]
        self._managers.by_queue(keys, lambda key: self._move(key, places[key]))

    def _move(self, key: QueueKey, place: QueueOffset) -> None:
        def move(client: FeedClient) -> bool:
            client.move_consumer(key.queue, self._consumer, place.id, place.incarnation)
            return True

        try:
            moved = self._managers.offer(key.manager, move, key.queue)
        except ReliquaryError as error:
            if error.code not in _GONE:
                raise errors.explained(error, "moving the consumer") from error
            called = self._managers.called(key.manager, key.queue)
            log.warning("the consumer of %r could not be moved: %s", called, error)
            moved = True
        if moved:
            self._known[key] = place

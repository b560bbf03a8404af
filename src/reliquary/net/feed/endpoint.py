"""Collects the parts of the data plane for feeds and batches, which a server adds to its plane."""

from __future__ import annotations

from collections.abc import Mapping

from reliquary.engine.loop import Engine
from reliquary.net.api import DataPlane
from reliquary.net.api.limits import PlainNumber
from reliquary.net.api.openapi import Described
from reliquary.net.api.operations import operation_of
from reliquary.net.api.routes import ApiHandler
from reliquary.net.feed import feeds, publishing, steering
from reliquary.net.feed.arriving import STAGES, Arrivals
from reliquary.net.feed.asking import Conversations
from reliquary.net.feed.places import PlaceSearch
from reliquary.net.feed.planning import Plans
from reliquary.net.feed.reading import Readings
from reliquary.net.feed.steering import Resets
from reliquary.net.feed.stored_messages import StoredMessages
from reliquary.net.http import Mount
from reliquary.queueing.model.state import State
from reliquary.store.disk import Disk


class FeedEndpoint:
    """The part of a server that serves readers of feeds and writers of batches."""

    def __init__(self, engine: Engine, state: State, disk: Disk) -> None:
        self._conversations = Conversations(engine)
        self._readings = Readings(self._conversations, state, StoredMessages(disk))
        self._plans = Plans(self._conversations)
        self._places = PlaceSearch(self._conversations)
        self._resets = Resets(self._conversations, self._places)
        self._arrivals = Arrivals(self._conversations)

    def routes(self) -> Mapping[str, Mapping[str, ApiHandler]]:
        """Return the paths of feeds and batches; the lists of consumers and writers are nouns of
        administration.
        """
        return {
            "feeds": {"GET": feeds.look},
            "queues/*/consumers": {
                "POST": feeds.open_consumer,
                "PUT": steering.set_consumer,
                "PATCH": feeds.move_consumer,
                "DELETE": feeds.drop_consumer,
            },
            "queues/*/reset": {"POST": self._resets.reset},
            "queues/*/place": {"GET": self._places.place},
            "queues/*/plan": {"POST": self._plans.plan},
            "queues/*/feed": {"GET": self._readings.read},
            "publish": {"POST": publishing.publish},
            "unstage": {"POST": publishing.unstage},
            "writers": {"DELETE": publishing.forget},
        }

    def streams(self) -> tuple[Described, ...]:
        """Return the description of the path of parts, whose bodies are taken while they come."""
        numbers = {"batch": PlainNumber, "part": PlainNumber}
        path = f"{STAGES}{{query}}/{{batch}}/{{part}}/{{attempt}}"
        return (Described("PUT", path, operation_of(self._arrivals.begin), numbers),)

    def mount(self, plane: DataPlane) -> Mount:
        """Return the mount for parts of batches, with the access checks of the other paths."""
        return plane.streamed(STAGES, {"PUT": self._arrivals.begin})

    @property
    def under_way(self) -> int:
        """The number of requests that take more than one turn, and have not ended."""
        return self._conversations.under_way

    async def stop(self) -> None:
        """Cut off the running requests before the disk closes; readers will ask again."""
        await self._conversations.stop()

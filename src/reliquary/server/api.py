"""Adds the JSON API and the feeds to a server: both are paths of the data plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reliquary.client import nouns
from reliquary.net.api import DataPlane
from reliquary.net.api.administration import routes_of
from reliquary.net.api.description import with_description
from reliquary.net.api.routes import ROUTES, merged
from reliquary.net.feed.endpoint import FeedEndpoint
from reliquary.net.http import Mount
from reliquary.net.identity.admission import READS
from reliquary.net.identity.hosts import Hosts
from reliquary.queueing.model.administration import Plane
from reliquary.server.config import Settings
from reliquary.server.endpoint import Endpoint, Parts, ServerProtocol
from reliquary.server.names import host_names


@dataclass(frozen=True, slots=True)
class ApiEndpoint(Endpoint):
    """The endpoint of the data plane's own paths."""

    plane: DataPlane
    feeds: FeedEndpoint

    def mounts(self) -> Sequence[Mount]:
        """Return the mounts of the API, which gets all paths that have no other mount, and of the feeds."""
        return *self.plane.mounts(), self.feeds.mount(self.plane)

    def stop_accepting(self) -> None:
        """Refuse requests from now on, because the server stops."""
        self.plane.stop()

    async def finish(self) -> None:
        """Cut off readers of feeds and writers of batches before the disk closes."""
        await self.feeds.stop()


class ApiSetup:
    """The API has no machine and no settings of its own."""

    protocol = None
    anonymous_senders = False

    def build(self, parts: Parts) -> ApiEndpoint:
        """Make one table of the routes of the API, of the feeds and of the nouns of administration."""
        opened = parts.opened
        feeds = FeedEndpoint(opened.engine, opened.state, opened.disk)
        of_nouns = [routes_of(noun, opened) for noun in nouns.NOUNS if noun.plane is Plane.DATA]
        own = merged(ROUTES, *of_nouns, feeds.routes())
        routes = with_description(parts.version, own, feeds.streams())
        hosts = Hosts(host_names(parts.settings, parts.settings.data_host))
        admission = parts.admission.at(hosts, READS)
        plane = DataPlane(
            opened.engine,
            opened.state,
            parts.chance,
            parts.version,
            admission,
            routes,
            parts.rates,
            parts.on_act,
        )
        return ApiEndpoint(plane, feeds)


def prepare(_: Settings) -> ApiSetup:
    """Return the setup; the API reads no files before the folder is opened."""
    return ApiSetup()


API: Final = ServerProtocol(prepare=prepare)

"""Adds a protocol with streams (`reliquary.streams`) to a world: the common part of SRMP and MQQB.

order     messages of one application to one site in transactions are stored there in order
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import ClassVar

from reliquary.sim.applications import Application, ApplicationContext
from reliquary.sim.history import Sending
from reliquary.sim.world.applications import senders_to
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.promises import Arrival
from reliquary.streams.state import StreamState


class StreamPlugin(Plugin):
    """A protocol whose transactional messages go in streams; every site sends and receives."""

    steps: ClassVar[int] = 350
    site_counts: ClassVar[tuple[int, ...]] = (2, 2, 3, 3, 4)

    def applications(
        self, site: str, context: ApplicationContext, others: tuple[str, ...]
    ) -> Iterable[Application]:
        """Return the applications of a site that use outgoing queues."""
        return senders_to(self.destinations(site, others), f"{site}/{self.name}", context, transactional=2)

    def durable_state(self, state: StreamState) -> Mapping[str, object]:
        """Return streams, numbers and the history of identifiers, without those of express messages."""
        return {
            "ordinals": state.ordinals,
            "sent": state.sent,
            "order of numbers": {queue: list(sent.numbers) for queue, sent in state.sent.items()},
            "incoming": {key: each.stream for key, each in state.incoming.items()},
            "history": list(state.history.durable.values()),
        }

    def may_come_again(self, body: bytes) -> bool:
        """Return True: the promises of the protocol check at the end whether a message may come again."""
        del body
        return True

    def ordered_stream(self, sending: Sending, arrival: Arrival) -> Hashable | None:
        """Return sender and site as one stream, for messages that are sent in transactions."""
        del arrival
        return None if sending.transaction is None else "transactional"

"""Simulates applications of HTTPR: senders to queues from which other sites fetch, administrators of
channels."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from reliquary.protocols.httpr.attributes import LABEL
from reliquary.protocols.httpr.events import ForgetChannel, ReportChannel
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.tables import Role
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.message import Message
from reliquary.sim.applications import Application, ApplicationContext, Call, Pause, Script
from reliquary.sim.history import Sending
from reliquary.sim.network import Outcome
from reliquary.sim.senders import Sender


class OutboxSender(Sender):
    """Puts messages into a queue from which another site fetches; with a target, for a third site."""

    asking = 0.0

    def __init__(self, name: str, context: ApplicationContext, queue: str, target: str = "") -> None:
        super().__init__(name, context)
        self._queue = queue
        self._target = target

    def act(self) -> Script:
        """Send one request with a few messages."""
        yield from self.send(self._queue, self.chance.pick((1, 1, 2, 4)))

    def draw_message(self, *, express: bool) -> Message:
        """Return a message without further attributes."""
        del express
        return Message()

    def _make(
        self, queue: str, priority: int, *, express: bool, transaction: UUID | None
    ) -> tuple[Message, Sending]:
        message, sending = super()._make(queue, priority, express=express, transaction=transaction)
        if self._target:
            service = "datagram" if express else "assured"
            header = (
                f"target-uri:{self._target}\r\nclass-of-service:{service}\r\npriority:{priority}\r\n"
                f"app-colour:blue\r\n{LABEL}:{message.label}\r\n"
            )
            message = message.changed(carrier_header=header)
        return message, sending


class ChannelAdministrator(Application):
    """Requests REPORT for channels of which its site is the client, or forgets them, at any time.

    It forgets no channel of another client: only the client can tell that no batch is in doubt.
    """

    def script(self) -> Script:
        """Request REPORT for random channels, or forget them, until the run finishes."""
        while not self.context.finishing:
            yield Pause(self.chance.between(1, 600_000))
            channels = self._channels()
            if channels:
                number = self.chance.pick(channels)
                kind = self.chance.pick((ReportChannel, ForgetChannel, ForgetChannel))
                self.note((yield Call(lambda to: kind(to, number))))  # noqa: B023

    def _channels(self) -> Sequence[int]:
        process = self.context.host.process
        channels = () if process is None else process.machine(Httpr).state.channels.values()
        return [each.number for each in channels if each.role is Role.CLIENT]

    def note(self, outcome: Outcome) -> None:
        """Record the answer, which has no HRESULT."""
        said = outcome.answer
        received = f"{said.done} {said.why}" if isinstance(said, Done) else "nothing"
        self.history.note(self.context.around.scheduler.now, f"{self.name} receives {received}")

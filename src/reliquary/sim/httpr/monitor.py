"""Checks the rules of HTTPR at one site: the write points of 3.12, and ids that only grow.

P1    bytes of a batch leave: it is in doubt on disk, and its messages are reserved on disk
P3    an outcome leaves: the outcome of the batch is on disk, with its messages
P8    a REPORT is answered: the last id that its client used is on disk
ids   no batch has one that was ever used before on its channel, whatever was forgotten, crashed or restored;
      a site that was restored may report an id that is too low, to ask its peer for the right one
"""

from __future__ import annotations

from collections.abc import Iterable

from reliquary.base.turn import Effect, Fact, Reply, Turn
from reliquary.protocols.httpr import facts as httpr
from reliquary.protocols.httpr.codec.values import NOTHING, Command, Outcome, RequestHeader, ResponseHeader
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import Answer, RequestArrived
from reliquary.protocols.httpr.tables import Channel
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import MessageClass
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import Turned, Violation
from reliquary.sim.httpr.channels import Channels, Side, Triple
from reliquary.sim.ledger import PlacedMessage
from reliquary.sim.world.applications import NOWHERE
from reliquary.sim.world.monitor import Monitor
from reliquary.sim.world.witness import SiteWitness

Key = tuple[int, int]
"""A channel's number, and the id of a batch."""


class HttprMonitor(Monitor):
    """Checks one of several sites that use HTTPR."""

    def __init__(self, witness: SiteWitness, known: Channels) -> None:
        super().__init__(witness)
        self._known = known
        """The ids of all channels, which all sites share."""
        self._sessions: dict[str, Triple] = {}
        """The channel of a session, from the answer to GET-RESPONDER-INFO."""
        self._reset()

    def _reset(self) -> None:
        self._channels: dict[Triple, Channel] = {}
        self._in_doubt: dict[Key, int] = {}
        """The batch of writes with which a sent batch was prepared ..."""
        self._held: dict[Key, int] = {}
        """... and with which its messages were reserved."""
        self._judged: dict[Key, tuple[int, Outcome]] = {}
        """The outcome of each batch of the peer, and the batch of writes that stored it."""
        self._reported: dict[int, list[Key]] = {}
        """The last ids of the peer in its REPORTs, each with its batch of writes."""

    # -- turns

    def turned(self, turned: Turned, turn: Turn) -> None:
        """Record the batches that were prepared, reserved, received and reported."""
        del turn
        self._note(turned.batch, turned.facts)
        for fact in turned.facts:
            if isinstance(fact, httpr.SideForgotten) and fact.side is httpr.Side.SINK:
                self._known.forgotten[self._triple(fact.channel)] = self.witness.host.calendar.counted
        for to, answer in turned.answers:
            if to and isinstance(answer, Answer):
                self._hear_session(self._asked(turned.process_number, to), answer.header)

    def _note(self, batch: int, stated: Iterable[Fact]) -> None:
        for fact in stated:
            match fact:
                case httpr.ChannelOpened():
                    channel = fact.channel
                    self._channels[channel.requester, channel.name, channel.responder] = channel
                case httpr.BatchPrepared():
                    self._in_doubt[fact.channel, fact.batch] = batch
                case facts.ReservationBegun():
                    self._held[fact.key] = 0 if fact.volatile else batch
                case httpr.BatchReceived():
                    self._judged[fact.channel, fact.batch] = batch, fact.outcome
                case httpr.PeerReported():
                    self._reported.setdefault(fact.channel, []).append((batch, fact.last_sent_id))
                case _:
                    pass

    def _triple(self, number: int) -> Triple:
        return next(triple for triple, channel in self._channels.items() if channel.number == number)

    def _asked(self, process_number: int, to: int) -> RequestArrived:
        request = self.witness.history.requests[process_number, to]
        assert isinstance(request, RequestArrived)
        return request

    def _hear_session(self, request: RequestArrived, header: ResponseHeader) -> None:
        if header.session_id and request.header is not None:
            self._sessions[header.session_id] = self._named(request.service, request.header)

    def _named(self, service: str, header: RequestHeader) -> Triple:
        return header.requester, header.channel, f"httpr://{self.site}/httpr/{service}"

    # -- what leaves

    def leaves(self, effect: Effect, disk: SimulatedDisk) -> None:
        """Check a request that leaves: P1, P3, and that REPORT has the highest id."""
        if not isinstance(effect, SendRequest):
            return
        header, number = effect.header, effect.channel
        side = Side(self._triple(number), by_client=True)
        if header.transaction_id is not None:
            self._check_batch(side, (number, header.transaction_id), disk)
        if header.outcome is not None and header.completed:
            self._check_pair((number, header.completed), header.outcome, disk)
        used = self._known.highest.get(side, NOTHING)
        low = (header.last_pushed_id or NOTHING) < used and not self.witness.replaced
        if header.command is Command.REPORT and low:
            raise Violation(
                f"ids: {self.site} reports {header.last_pushed_id} as its last id of {side.channel},"
                f" and has used {used}"
            )

    def answered(self, process_number: int, reply: Reply, disk: SimulatedDisk) -> None:
        """Check a response that leaves: P1, P3 and P8."""
        if isinstance(reply.answer, Answer):
            request, header = self._asked(process_number, reply.to), reply.answer.header
            channel = self._channel(request)
            if channel is not None:
                self._check_answer(channel, request, header, disk)

    def _channel(self, request: RequestArrived) -> Channel | None:
        header = request.header
        if header is None:
            return None
        triple = self._sessions.get(header.session_id) if header.session_id else None
        return self._channels.get(triple or self._named(request.service, header))

    def _check_answer(
        self, channel: Channel, request: RequestArrived, header: ResponseHeader, disk: SimulatedDisk
    ) -> None:
        number = channel.number
        if header.transaction_id is not None:
            side = Side((channel.requester, channel.name, channel.responder), by_client=False)
            self._check_batch(side, (number, header.transaction_id), disk)
        if header.outcome is not None and header.completed:
            self._check_pair((number, header.completed), header.outcome, disk)
        asked = request.header
        if asked is not None and asked.command is Command.REPORT and header.error is None:
            written = [last for batch, last in self._reported.get(number, []) if batch <= disk.durable]
            if (asked.last_pushed_id or NOTHING) > max(written, default=NOTHING):
                raise Violation(
                    f"visible too early: {self.site} answers a REPORT of {asked.last_pushed_id} over channel"
                    f" {number}, and has not written it down"
                )

    def _check_batch(self, side: Side, key: Key, disk: SimulatedDisk) -> None:
        """Check P1, and that no id is used twice."""
        written = self._in_doubt.get(key), self._held.get(key)
        if None in written or max(each or 0 for each in written) > disk.durable:
            raise Violation(
                f"visible too early: batch {key[1]} of channel {key[0]} leaves {self.site}, in doubt and held"
                f" with {written}, when {disk.durable} are safe"
            )
        if key[1] <= self._known.highest.get(side, NOTHING):
            raise Violation(
                f"ids: {self.site} sends batch {key[1]} over {side.channel},"
                f" after {self._known.highest[side]}"
            )
        self._known.highest[side] = key[1]

    def _check_pair(self, key: Key, outcome: Outcome, disk: SimulatedDisk) -> None:
        """Check P3: the outcome that is sent for a batch is true and on disk."""
        batch, judged = self._judged.get(key, (0, None))
        if outcome is Outcome.COMMIT and (judged is not outcome or batch > disk.durable):
            raise Violation(
                f"visible too early: {self.site} says COMMIT {key[1]} over channel {key[0]}, it is {judged}"
                f" with {batch}, when {disk.durable} are safe"
            )
        if outcome is Outcome.ROLLBACK and judged is Outcome.COMMIT:
            raise Violation(f"outcome: {self.site} says ROLLBACK {key[1]} over channel {key[0]}, and has it")

    # -- why messages leave

    def was_refused(self, place: PlacedMessage, reason: MessageClass) -> bool:
        """Return whether the message was sent to a queue that does not exist."""
        sending = self.register.sendings.get(place.body)
        nowhere = sending is not None and sending.queue.endswith(f"#{NOWHERE}")
        return nowhere and reason is MessageClass.NACK_BAD_DEST_QUEUE

    # -- crashes

    def crashed(self) -> None:
        """Read the facts of the turns again that were not lost."""
        self._reset()
        for turned in self.witness.history.turns:
            if turned.kept:
                self._note(turned.batch, turned.facts)

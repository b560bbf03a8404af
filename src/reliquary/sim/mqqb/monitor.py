"""Checks the rules of MQQB at one site: everything that is sent to other sites is on disk here, and true.

message    a recoverable message is on disk before its packet leaves
number     the number of a message in a stream is on disk before its packet leaves, and never changes;
           that a number is skipped is on disk too
bit        a SessionHeader reports a recoverable packet only when the turn that processed it is on disk
order ack  it names no number beyond what is on disk
counts     the numbers of packets in a session are those of the packets that left
sessions   there is one open session to an address

It also judges why a message left an outgoing queue, in addition to the rules for every protocol.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from uuid import UUID

from reliquary.base.time import SECOND
from reliquary.base.turn import Effect, Turn
from reliquary.protocols.mqqb.codec.acks import FinalAck, OrderAck, is_for_order_queue, read_ack
from reliquary.protocols.mqqb.codec.packets import decode_packet
from reliquary.protocols.mqqb.effects import SendPackets
from reliquary.protocols.mqqb.events import InboxDue, PacketsArrived
from reliquary.protocols.mqqb.machine import Mqqb
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import FOREVER, MessageClass, ObjectId, Position
from reliquary.queueing.packets.messages import read
from reliquary.queueing.rules.acknowledge import JOURNALED
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import Turned, Violation, named
from reliquary.sim.ledger import PlacedMessage
from reliquary.sim.world.monitor import Monitor
from reliquary.sim.world.register import local_name
from reliquary.sim.world.witness import SiteWitness
from reliquary.streams import facts as streams
from reliquary.wire.packet.internal import SessionAck
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.user_message import UserMessage

Number = tuple[int, int]
"""A stream, and the number of a message in it."""


@dataclass(slots=True)
class Carried:
    """The content of the packets of a run, shared by all sites."""

    numbered: dict[tuple[UUID, Number], bytes] = field(default_factory=dict)
    """The message of each number of each stream, by the source of the stream too."""
    refused: dict[bytes, set[int]] = field(default_factory=lambda: defaultdict(set))
    """The classes of negative final acknowledgements, by message."""
    too_late: set[bytes] = field(default_factory=set)
    """Messages that arrived after their time to reach the queue, by the clock of the site."""
    came: set[bytes] = field(default_factory=set)
    """Messages whose packets arrived at another site."""
    finals: set[tuple[UUID, int, int]] = field(default_factory=set)
    """Final acknowledgements that arrived: source, stream and number."""
    packets: dict[bytes, UserMessage] = field(default_factory=dict)
    """The packets that were decoded, by their bytes."""

    def read(self, data: bytes) -> UserMessage | SessionHeader | None:
        """Return the parts of a packet that the checks need."""
        known = self.packets.get(data)
        if known is not None:
            return known
        packet = decode_packet(data)
        if isinstance(packet, UserMessage):
            self.packets[data] = packet
            return packet
        return packet.session if isinstance(packet, SessionAck) else None


@dataclass(slots=True)
class Sent:
    """The packets that were written in one session."""

    serial: int = 0
    packets: int = 0
    recoverable: int = 0


def waits_for_final(position: Position) -> bool:
    """Return whether a message in a stream stays in its outgoing queue until its final acknowledgement."""
    return bool(position.dead_letter or position.asks & JOURNALED)


class MqqbMonitor(Monitor):
    """Checks one of several sites that use MQQB."""

    def __init__(self, witness: SiteWitness, carried: Carried) -> None:
        super().__init__(witness)
        self._carried = carried
        self._sent: dict[tuple[int, int], Sent] = defaultdict(Sent)
        """The packets that were written in a session, by process and session."""
        self._written: dict[tuple[int, int], dict[int, tuple[bytes, ...]]] = defaultdict(dict)
        """Packets that left before others with a lower serial."""
        self._received: dict[tuple[int, int], list[int]] = defaultdict(list)
        """The batch in which each recoverable packet of a session was processed, by process and session."""
        self._reset()

    def _reset(self) -> None:
        self._given: dict[tuple[int, int], tuple[Number, int]] = {}
        """The number of each message of an outgoing queue, and the batch in which it was assigned."""
        self._streams: dict[int, int] = {}
        """The stream of each outgoing queue."""
        self._batch_of: dict[Number, int] = {}
        """The batch in which each number was assigned."""
        self._freed: dict[Number, int] = {}
        """The batch in which the message of each number left its queue."""
        self._acks: dict[ObjectId, int] = {}
        """The batch in which each acknowledgement was written, by its identifier: several share one name."""
        self._advanced: dict[int, list[tuple[int, int]]] = defaultdict(list)
        """For each incoming stream: pairs of a batch and the last number taken with it."""

    # -- turns

    def turned(self, turned: Turned, turn: Turn) -> None:
        """Record the progress of streams, the assigned numbers, and the packets that arrived."""
        del turn
        self._note(turned)
        if isinstance(turned.event, PacketsArrived):
            self._note_packets(turned, turned.event)
        if isinstance(turned.event, PacketsArrived | InboxDue):
            self._note_processed(turned, turned.event.session)
            self._check_sessions(turned)

    def _note(self, turned: Turned) -> None:
        for fact in turned.facts:
            if isinstance(fact, facts.MessagesStored):
                for message in fact.messages:
                    if message.message_class != MessageClass.NORMAL:
                        self._acks[message.identifier] = turned.batch
        for fact in self.facts_of_streams(turned):
            if isinstance(fact, streams.StreamBegun):
                self._streams[fact.queue] = fact.stream.number
            elif isinstance(fact, streams.MessagesNumbered):
                self._number(turned, fact)
            elif isinstance(fact, streams.NumbersFreed):
                for lookup_id in fact.lookup_ids:
                    self._freed[self._given[fact.queue, lookup_id][0]] = turned.batch
            elif isinstance(fact, streams.StreamAdvanced) and not fact.stream.identifier:
                self._advanced[fact.stream.number].append((turned.batch, fact.stream.last))

    def _number(self, turned: Turned, fact: streams.MessagesNumbered) -> None:
        stream = self._streams[fact.queue]
        for number, lookup_id in enumerate(fact.lookup_ids, fact.first):
            before = self._given.get((fact.queue, lookup_id))
            if before is not None:
                raise Violation(
                    f"number: a message of {self.site} has {before[0]} and gets {stream}, {number} in turn"
                    f" {turned.number}"
                )
            self._given[fact.queue, lookup_id] = ((stream, number), turned.batch)
            self._batch_of[stream, number] = turned.batch

    def _note_packets(self, turned: Turned, event: PacketsArrived) -> None:
        for data in event.packets:
            packet = self._carried.read(data)
            if not isinstance(packet, UserMessage):
                continue
            if is_for_order_queue(packet):
                ack = read_ack(packet)
                if isinstance(ack, FinalAck):
                    self._carried.finals.add((ack.body.source, ack.body.sequence, ack.body.number))
                continue
            message = read(packet)
            name = named(message)
            self._carried.came.add(name)
            limited = message.time_to_reach_queue != FOREVER
            if limited and turned.now > (message.sent_time + message.time_to_reach_queue) * SECOND:
                self._carried.too_late.add(name)

    def _note_processed(self, turned: Turned, number: int) -> None:
        """Record the batch of the recoverable packets that a turn has processed; other packets wait in the
        inbox."""
        process = self.witness.host.process
        session = None if process is None else process.machine(Mqqb).state.sessions.get(number)
        if session is not None:
            batches = self._received[turned.process_number, number]
            stores = any(not fact.volatile for fact in turned.facts)
            new = session.recoverable_received - len(batches)
            batches += [turned.batch if stores else 0] * new

    def _check_sessions(self, turned: Turned) -> None:
        """Check that no address has two open sessions of this site, under any names."""
        process = self.witness.host.process
        sessions = () if process is None else process.machine(Mqqb).state.sessions.values()
        dialled = [each.address for each in sessions if each.is_open and not each.accepted]
        if len(set(dialled)) < len(dialled):
            raise Violation(f"sessions: {self.site} has {sorted(dialled)} open in turn {turned.number}")

    # -- what leaves

    def shown_by_effect(self, effect: Effect) -> int:
        """Return the batch that packets show: the batch of their messages, and of the numbers in them."""
        if not isinstance(effect, SendPackets):
            return 0
        needs = 0
        for data in effect.packets:
            packet = self._carried.read(data)
            if not isinstance(packet, UserMessage):
                continue
            message = read(packet)
            if message.is_express:
                pass  # a crash may lose it
            elif message.message_class != MessageClass.NORMAL:
                needs = max(needs, self._acks.get(message.identifier, 0))
            else:
                needs = max(needs, self.witness.ledger.changed.get(named(message), 0))
            if packet.transaction is not None:
                place = (packet.transaction.timestamp << 32 | packet.transaction.ordinal,
                         packet.transaction.number)  # fmt: skip
                needs = max(needs, self._batch_of.get(place, 0))
                for skipped in range(packet.transaction.previous + 1, packet.transaction.number):
                    needs = max(needs, self._freed.get((place[0], skipped), 0))
                self._carried.numbered[packet.user.source, place] = named(message)
        return needs

    def leaves(self, effect: Effect, disk: SimulatedDisk) -> None:
        """Check the acknowledgements and the counts in packets that leave."""
        if not isinstance(effect, SendPackets):
            return
        key = self.witness.history.processes, effect.session
        for data in effect.packets:
            packet = self._carried.read(data)
            header = packet.session if isinstance(packet, UserMessage) else packet
            if isinstance(packet, UserMessage) and is_for_order_queue(packet):
                self._check_ack(packet, disk)
            if header is not None:
                self._check_bits(key, header, disk)
        self._written[key][effect.serial] = effect.packets
        self._check_counts(key)

    def _check_counts(self, key: tuple[int, int]) -> None:
        """Check the counts in headers, in the order in which packets are written, which is that of their
        serials."""
        sent, written = self._sent[key], self._written[key]
        while (packets := written.pop(sent.serial + 1, None)) is not None:
            sent.serial += 1
            for data in packets:
                packet = self._carried.read(data)
                if isinstance(packet, UserMessage):
                    sent.packets += 1
                    sent.recoverable += packet.user.recoverable or packet.transaction is not None
                header = packet.session if isinstance(packet, UserMessage) else packet
                counts = (sent.packets & 0xFFFF, sent.recoverable & 0xFFFF)
                if header is not None and (header.sent, header.recoverable_sent) != counts:
                    raise Violation(f"counts: {self.site} says {header} in session {key[1]}, not {counts}")

    def _check_bits(self, key: tuple[int, int], header: SessionHeader, disk: SimulatedDisk) -> None:
        batches = self._received[key]
        for place in range(header.recoverable_set.bit_length()):
            if header.recoverable_set >> place & 1:
                number = header.recoverable_ack + place
                if number > len(batches) or batches[number - 1] > disk.durable:
                    raise Violation(
                        f"bit: {self.site} reports packet {number} of session {key[1]} as stored, and it is"
                        " not on disk"
                    )

    def _check_ack(self, packet: UserMessage, disk: SimulatedDisk) -> None:
        ack = read_ack(packet)
        if isinstance(ack, OrderAck):
            steps = self._advanced[ack.body.sequence]
            safe = max((last for batch, last in steps if batch <= disk.durable), default=0)
            if ack.body.number > safe:
                raise Violation(
                    f"order ack: {self.site} says that it has {ack.body.sequence} up to {ack.body.number},"
                    f" and has it up to {safe}"
                )
        elif isinstance(ack, FinalAck) and ack.message_class != MessageClass.ACK_RECEIVE:
            place = (ack.body.sequence, ack.body.number)
            name = self._carried.numbered.get((ack.body.source, place))
            if name is not None:
                self._carried.refused[name].add(ack.message_class)

    # -- why messages leave

    def has_arrived(self, place: PlacedMessage) -> bool:
        """Return whether it got to another site; of some, whether it was read there.

        One outside of transactions may have been refused there, because nothing reports that.
        """
        register, carried = self.register, self._carried
        sending = register.sendings.get(place.body)
        if sending is None:
            return True  # an acknowledgement; `leaves` and the scenes check those
        if not super().has_arrived(place):
            if sending.transaction is not None:
                return False  # a final acknowledgement reports its refusal
            may_be_refused = place.body in carried.too_late or self.may_be_refused(place.body)
            return may_be_refused and place.body in carried.came
        if sending.transaction is None:
            return True
        if (
            not waits_for_final(place.position)
            or register.sending_site(sending) != self.site
            or sending.queue in register.chains
        ):
            return True
        return MessageClass.ACK_RECEIVE in self._ends_of(place.body)

    def may_be_refused(self, name: bytes) -> bool:
        """Return whether the target may refuse a message: its queue is of the wrong kind, or has a quota."""
        sending = self.register.sendings[name]
        site, queue = self.register.target(sending)
        found = [
            each
            for each in self.register.sites[site].ledger.queues.values()
            if each.outgoing is None and not each.is_journal and local_name(each.pathname) == queue
        ]
        if not found or found[0].settings.quota != FOREVER:
            return True
        return found[0].settings.transactional is not (sending.transaction is not None)

    def was_refused(self, place: PlacedMessage, reason: MessageClass) -> bool:
        """Return whether a final acknowledgement named this reason, or the message was removed for it."""
        if int(reason) in self._carried.refused[place.body]:
            return True
        return place.body in self.register.sendings and reason in self._ends_of(place.body)

    def may_be_unknown(self, place: PlacedMessage) -> bool:
        """Return whether a message was sent in a transaction, and was here before a restore."""
        sending = self.register.sendings.get(place.body)
        return sending is not None and sending.transaction is not None and super().may_be_unknown(place)

    def _ends_of(self, name: bytes) -> set[MessageClass]:
        """Return the reasons why a message left its queue; after a restore it may have left twice."""
        authority, _ = self.register.target(self.register.sendings[name])
        return self.register.sites[authority].ends_of(name)

    # -- crashes

    def crashed(self) -> None:
        """Read the facts of the turns again that were not lost."""
        self._reset()
        for turned in self.witness.history.turns:
            if turned.kept:
                self._note(turned)

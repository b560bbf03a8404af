"""The checkers detect MQQB that follows the printed text where the text is wrong, within a few seeds.

A mutant is named by the reading (such as G-01, docs/requirements/mqqb.md) that it does not follow.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from reliquary.base.time import Instant
from reliquary.engine.core import Batch
from reliquary.protocols.mqqb import arrivals
from reliquary.protocols.mqqb.effects import Dial
from reliquary.protocols.mqqb.receiver import messages, ordering, runs
from reliquary.protocols.mqqb.sender import acks, packets, queues, settling, streams, transmitting
from reliquary.protocols.mqqb.sessions import acknowledging, links, opening
from reliquary.protocols.mqqb.state import (
    Arriving,
    Entry,
    ReceiverState,
    Session,
    SessionQueue,
    State,
    Weight,
)
from reliquary.protocols.mqqb.tables import MQQB_ACCEPTANCE
from reliquary.queueing.model.message import MessageClass, ObjectId
from reliquary.queueing.model.travel.transfer import MessageArrived, Outcome, TransferEnded
from reliquary.queueing.travel import arrivals as queueing_arrivals
from reliquary.sim.mqqb.network import StreamNetwork
from reliquary.sim.mqqb.plugin import MqqbPlugin
from reliquary.sim.process import Process
from reliquary.sim.world.run import simulate
from reliquary.streams import facts
from reliquary.streams.acceptance import NumberRelation, Verdict
from reliquary.streams.apply import apply
from reliquary.streams.history import History
from reliquary.streams.incoming import Incoming, StreamKey
from reliquary.streams.outgoing import Sent
from reliquary.wire.packet.session import SessionHeader
from tests.sim.seeds import find_failure

SEEDS = range(1, 81)
FOUND = (
    "loss",
    "duplication",
    "order",
    "left behind",
    "number",
    "bit",
    "counts",
    "visible",
    "order ack",
    "dead letter",
)


def first_failure(process: type[Process] = Process, seeds: range = SEEDS) -> str:
    """Return what the checkers say about the first seed in which they find something."""
    failure = find_failure(partial(simulate, plugins=[MqqbPlugin], process=process), seeds, "mqqb")
    assert failure.startswith(FOUND), failure
    return failure


class Hasty(Process):
    """Performs the effects of a batch before its sync."""

    def _settle(self, batch: Batch) -> None:
        self._perform(batch.after_sync)
        batch.after_sync = []
        super()._settle(batch)


def test_packets_that_leave_before_their_sync_are_found() -> None:
    assert first_failure(Hasty).startswith(("visible", "bit", "order ack"))


def test_a_message_that_leaves_at_once_and_is_not_on_disk_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transmitting, "_is_stored", lambda *_: True)
    assert first_failure().startswith("visible")


@pytest.mark.long
def test_a_number_that_is_passed_over_before_that_is_on_disk_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def is_stored(state: State, outgoing: SessionQueue, entry: Entry) -> bool:
        del outgoing
        return entry.mark <= state.sender.stored_mark

    monkeypatch.setattr(transmitting, "_is_stored", is_stored)
    seeds = range(61, 141)  # one in forty passes over a number in a turn that is not on disk
    assert first_failure(seeds=seeds).startswith("visible")


@pytest.mark.mqqb("G-14")
def test_g14_bits_that_are_not_cleared_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = acknowledging.header

    def header(state: State, session: Session) -> SessionHeader:
        bits = session.bits
        made = real(state, session)
        session.bits = bits & 1
        return made

    monkeypatch.setattr(acknowledging, "header", header)
    monkeypatch.setattr(transmitting, "header", header)
    first_failure()


@pytest.mark.mqqb("G-15")
def test_g15_an_acknowledgement_that_frees_messages_which_were_not_sent_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = settling.on_header

    def on_header(state: State, session: Session, found: SessionHeader, now: Instant) -> str:
        done: dict[int, list[int]] = {}
        for entry in session.outbox:  # the number of a message that was not sent is 0, and 0 <= ack
            if entry.live and entry.weight is Weight.RECOVERABLE:
                settling._end(state, entry, done)
        for queue, lookup_ids in done.items():
            state.draft.signal(TransferEnded(queue, tuple(lookup_ids), Outcome.DELIVERED))
        return real(state, session, found, now)

    monkeypatch.setattr(arrivals, "on_header", on_header)
    assert first_failure().startswith("loss")


@pytest.mark.mqqb("G-19")
def test_g19_a_duplicate_that_is_not_counted_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = messages.take_message

    def take_message(state: State, session: Session, packet: Any, now: Instant) -> bool:
        taken = real(state, session, packet, now)
        if not taken:
            session.received -= 1
            session.unacked -= 1
            if packet.user.recoverable or packet.transaction is not None:
                session.recoverable_received -= 1
        return taken

    monkeypatch.setattr(messages, "take_message", take_message)
    failure = find_failure(partial(simulate, plugins=[MqqbPlugin]), SEEDS, "mqqb")
    assert failure.startswith((*FOUND, "ValueError")), failure


@pytest.mark.mqqb("G-21")
def test_g21_an_identifier_without_its_sender_and_destination_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def arrival(history: History, identifier: ObjectId, destination: str) -> int | None:
        del destination
        entries = [*history.durable.items(), *history.express.items()]
        found = (at for (_, number, _), at in entries if number == identifier.uniquifier)
        return max(found, default=None)

    monkeypatch.setattr(History, "arrival", arrival)
    assert first_failure().startswith("loss")


@pytest.mark.mqqb("G-22")
def test_g22_an_identifier_that_is_remembered_before_its_message_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = messages._hand_over

    def hand_over(state: State, session: Session, arriving: Arriving, now: Instant) -> None:
        if not arriving.is_transactional:
            messages.remember(state, arriving, Instant(arriving.message.sent_time * 1_000_000))
        real(state, session, arriving, now)
        session.shortage = session.shortage or ("" if session.received % 5 else "lost")

    monkeypatch.setattr(messages, "_hand_over", hand_over)
    monkeypatch.setattr(messages, "_verified", _refuse_some)
    monkeypatch.setattr(runs, "begin_run", lambda *_: False)
    first_failure()


def _refuse_some(packet: Any, message: Any) -> Any:
    refuse = message.identifier.uniquifier % 7 == 0 and packet.transaction is None
    return message, MessageClass.NACK_BAD_SIGNATURE if refuse else MessageClass.NORMAL


@pytest.mark.long
@pytest.mark.mqqb("G-28")
def test_g28_a_stream_that_advances_by_a_message_out_of_order_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = {
        key: Verdict.GO_ON if key[1] is NumberRelation.GAP else verdict
        for key, verdict in MQQB_ACCEPTANCE.items()
    }
    monkeypatch.setattr(messages, "MQQB_ACCEPTANCE", table)
    monkeypatch.setattr(runs, "MQQB_ACCEPTANCE", table)
    first_failure()


class OneStream(dict[StreamKey, Incoming]):
    """Incoming streams by their sender alone."""

    def get(self, key: StreamKey, default: Any = None) -> Any:
        return super().get((key[0], ""), default)

    def __getitem__(self, key: StreamKey) -> Incoming:
        return super().__getitem__((key[0], ""))

    def __setitem__(self, key: StreamKey, incoming: Incoming) -> None:
        super().__setitem__((key[0], ""), incoming)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and super().__contains__((key[0], ""))


@pytest.mark.mqqb("G-30")
def test_g30_one_stream_for_all_queues_of_a_sender_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = State.__init__

    def begin(state: State, *arguments: Any) -> None:
        real(state, *arguments)
        state.incoming = OneStream()

    monkeypatch.setattr(State, "__init__", begin)
    assert first_failure().startswith("left behind")


@pytest.mark.mqqb("G-33")
def test_g33_a_second_number_for_a_message_that_goes_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = links.go_again

    def go_again(state: State, outgoing: SessionQueue) -> None:
        sent = state.sent.get(outgoing.queue)
        if sent is not None and sent.numbers:
            apply(state, facts.NumbersFreed(outgoing.queue, tuple(sent.numbers)))
        real(state, outgoing)

    monkeypatch.setattr(links, "go_again", go_again)
    first_failure()


@pytest.mark.mqqb("G-34")
def test_g34_a_previous_number_that_is_always_one_less_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sent, "previous", lambda self, number: number - 1)
    first_failure()


@pytest.mark.mqqb("G-37")
def test_g37_an_acknowledgement_of_another_stream_that_counts_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = acks.on_order_ack

    def on_order_ack(state: State, session: Session, ack: Any, now: Instant) -> None:
        real(state, session, ack, now)
        for queue, sent in list(state.sent.items()):
            if sent.stream.number != ack.body.sequence and sent.awaiting:
                acks._acknowledge(state, queue, min(ack.body.number, sent.stream.last), now)

    monkeypatch.setattr(arrivals, "on_order_ack", on_order_ack)
    first_failure()


@pytest.mark.mqqb("G-38")
def test_g38_an_order_acknowledgement_that_needs_a_session_acknowledgement_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = acks._acknowledge

    def _acknowledge(state: State, queue: int, last: int, now: Instant) -> None:
        outgoing, numbers = state.sender.queues.get(queue), state.sent[queue].numbers
        under_way = () if outgoing is None else outgoing.under_way
        if all(numbers.get(lookup_id, last + 1) > last for lookup_id in under_way):
            real(state, queue, last, now)

    monkeypatch.setattr(acks, "_acknowledge", _acknowledge)
    assert first_failure().startswith("left behind")


@pytest.mark.mqqb("G-39")
def test_g39_an_acknowledgement_that_names_a_number_not_taken_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = packets.order_ack_packet

    def order_ack_packet(state: State, incoming: Any, last: int, peer: str, now: Instant) -> bytes:
        return real(state, incoming, last + 1, peer, now)

    monkeypatch.setattr(transmitting, "order_ack_packet", order_ack_packet)
    assert first_failure().startswith("order ack")


@pytest.mark.mqqb("G-40")
def test_g40_an_acknowledgement_that_is_forgotten_with_its_session_is_survived_by_resending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The sender sends again, so no message is lost; the stream only gets slower."""
    monkeypatch.setattr(ordering, "on_session_open", lambda *_: None)
    monkeypatch.setattr(ordering, "MOST_DIALS", 0)
    for seed in range(1, 9):
        assert not simulate(seed, [MqqbPlugin]).failure


@pytest.mark.mqqb("G-54")
def test_g54_a_queue_that_is_connected_only_once_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = opening.connect_queue
    connected: set[tuple[State, int]] = set()

    def connect_queue(state: State, outgoing: SessionQueue, now: Instant) -> None:
        session = opening.session_to(state, outgoing.host)
        if session is not None or (state, outgoing.queue) not in connected:
            connected.add((state, outgoing.queue))
            real(state, outgoing, now)

    monkeypatch.setattr(queues, "connect_queue", connect_queue)
    assert first_failure().startswith("left behind")


@pytest.mark.long
@pytest.mark.mqqb("G-59")
def test_g59_packets_that_overtake_each_other_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = StreamNetwork.perform

    def perform(self: StreamNetwork, site: str, process: Process, effect: Any) -> None:
        connection = None if isinstance(effect, Dial) else self._connections.get((process, effect.session))
        if connection is not None and effect.serial:
            end = connection.client if connection.client.session == effect.session else connection.server
            self._perform_next(connection, end, effect)
            return
        real(self, site, process, effect)

    monkeypatch.setattr(StreamNetwork, "perform", perform)
    seeds = range(101, 141)  # one in thirty has packets that wait for a sync before others
    first = find_failure(partial(simulate, plugins=[MqqbPlugin]), seeds, "mqqb")
    assert first.startswith((*FOUND, "PacketFault")), first


SHORTAGES = range(283, 400, 10)
"""Seeds in which sites run out of disk space; in few of them a refusal meets that."""


def test_a_refusal_without_room_for_its_report_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The final acknowledgement is not kept, and the order acknowledgement says that the message came."""

    def put(state: Any, queue: Any, signal: MessageArrived, now: Instant) -> Any:
        if queueing_arrivals._is_ours(signal.message) and state.manager.throttled:
            return Outcome.TRY_LATER, MessageClass.NORMAL
        return real(state, queue, signal, now)

    real = queueing_arrivals._put_in_queue
    monkeypatch.setattr(queueing_arrivals, "_put_in_queue", put)
    monkeypatch.setattr(queueing_arrivals, "_is_full", lambda _: False)
    assert first_failure(seeds=SHORTAGES).startswith(("loss", "left behind"))


def test_an_order_acknowledgement_that_leaves_before_the_refusal_which_it_confirms_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ReceiverState, "has_refused", lambda *_: False)
    assert first_failure().startswith("loss")


def test_a_tx_message_that_is_delivered_by_its_session_acknowledgement_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = settling._came

    def came(state: State, entry: Entry, done: dict[int, list[int]], sent_in: dict[int, Sent]) -> None:
        if entry.live and entry.weight is Weight.STREAM:
            state.draft.signal(
                TransferEnded(entry.queue, (entry.lookup_id,), Outcome.DELIVERED, by_receipt=True)
            )
            sent = state.sent.get(entry.queue)
            if sent is not None and entry.lookup_id in sent.numbers:
                streams.free(state, entry.queue, (entry.lookup_id,), MessageClass.ACK_REACH_QUEUE)
            entry.live = False
            return
        real(state, entry, done, sent_in)

    monkeypatch.setattr(settling, "_came", came)
    first_failure()


def test_a_table_that_takes_repeated_messages_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {
        key: Verdict.GO_ON if verdict is Verdict.REPEATED else verdict
        for key, verdict in MQQB_ACCEPTANCE.items()
    }
    monkeypatch.setattr(messages, "MQQB_ACCEPTANCE", table)
    monkeypatch.setattr(runs, "MQQB_ACCEPTANCE", table)
    assert first_failure(seeds=range(1, 9)).startswith(("duplication", "left behind"))


def test_a_run_whose_messages_are_in_no_order_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_is_next", lambda *_: True)
    first_failure()


def test_a_run_that_does_not_look_for_duplicates_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_is_new", lambda *_: True)
    seeds = range(46, 126)  # one in thirty has a duplicate in a run
    assert first_failure(seeds=seeds).startswith("duplication")

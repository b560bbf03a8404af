"""Processes packets that arrive, [MS-MQQB] 3.1.5.1, by their kind and the phase of their session.

    PacketsArrived --> decode --> phase --> handshake
                          |         |-----> SessionAck: the sender settles its packets
                        close       |-----> order or final acknowledgement: the sender
                                    '-----> message: the receiver, and the manager inside this turn

Packets of a session are processed one after another.  A message that the manager judges delays the next
packet until its verdict is known, because a stream must have advanced before its next message is
judged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reliquary.base.time import Instant
from reliquary.base.turn import ContinueBesideSync
from reliquary.protocols.mqqb.codec.acks import FinalAck, is_for_order_queue, read_ack
from reliquary.protocols.mqqb.codec.packets import Packet, decode_packet
from reliquary.protocols.mqqb.events import InboxDue, PacketsArrived
from reliquary.protocols.mqqb.receiver import messages, ordering, runs
from reliquary.protocols.mqqb.sender.acks import on_final_ack, on_order_ack
from reliquary.protocols.mqqb.sender.settling import on_header
from reliquary.protocols.mqqb.sender.transmitting import pump
from reliquary.protocols.mqqb.sessions import handshake
from reliquary.protocols.mqqb.sessions.acknowledging import acknowledge_if_due, count_packets, note_stored
from reliquary.protocols.mqqb.sessions.closing import close, reject, renew_if_drained
from reliquary.protocols.mqqb.sessions.phases import STEPS, PacketAction, kind_of
from reliquary.protocols.mqqb.state import Count, Session, State
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import ArrivalJudged, RunJudged
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.internal import ConnectionParameters, SessionAck
from reliquary.wire.packet.user_message import UserMessage


def on_packets(state: State, event: PacketsArrived, now: Instant) -> None:
    """Process the packets that came on a session; packets of a closed session are ignored."""
    session = state.sessions.get(event.session)
    if session is not None:
        session.heard = True  # QB-021
        session.inbox.extend(event.packets)
        if not session.rests or len(session.inbox) > session.window:
            _begin_work(state, session, now)


def on_inbox_due(state: State, event: InboxDue, now: Instant) -> None:
    """Process the packets that waited until the sync of the acknowledged messages began."""
    session = state.sessions.get(event.session)
    if session is not None and session.rests:
        _begin_work(state, session, now)


def _begin_work(state: State, session: Session, now: Instant) -> None:
    session.rests = session.has_reported = False
    _work(state, session, now)


def _work(state: State, session: Session, now: Instant) -> None:
    """Process packets until the inbox is empty, or the manager has to judge a message first.

    When an acknowledgement of stored messages is made, their sync begins, and the rest is processed
    beside it: the acknowledgement leaves as soon as it can, and neither the disk nor this process
    waits.  For a peer that ignores the window no sync is begun early, because its packets would
    accumulate here.
    """
    while session.inbox and not session.judging:
        if session.has_reported and len(session.inbox) <= session.window:
            _rest(state, session)
            return
        if session.is_open and runs.begin_run(state, session, now):
            return  # the verdict of the manager follows in this turn
        session.singly = max(session.singly - 1, 0)
        _process(state, session, session.inbox.popleft(), now)
        if session.number not in state.sessions:  # it was closed, and the remaining packets are lost with it
            session.inbox.clear()
            return
    if not session.judging:
        renew_if_drained(state, session)
        if session.has_reported and session.is_open:
            _rest(state, session)  # the peer sends more while this is synced


def _rest(state: State, session: Session) -> None:
    """Let the sync of the acknowledged messages begin before further packets are processed."""
    session.rests = True
    state.draft.ask(ContinueBesideSync(InboxDue(session.number)))


def _process(state: State, session: Session, data: bytes | Packet, now: Instant) -> None:
    """Process one packet (QB-022); one that is malformed, or not expected now, closes the session."""
    try:
        packet = decode_packet(data) if isinstance(data, bytes) else data
    except PacketFault as fault:
        reject(state, session, str(fault))
        return
    kind = kind_of(packet)
    step = STEPS[session.phase, kind]
    if step is PacketAction.CLOSE:
        reject(state, session, f"{kind.value} came while the session was {session.phase.value}")
    else:
        _STEPS[step](state, session, packet, now)


def _opened(state: State, session: Session, packet: ConnectionParameters, now: Instant) -> None:
    """Open the session, because the acceptor answered with its window."""
    if packet.refused:
        handshake.refused(state, session, "it refuses the parameters of the session")
        return
    handshake.open_session(state, session, packet.window, now)
    _go_on(state, session, now)


def _answer_parameters(state: State, session: Session, packet: ConnectionParameters, now: Instant) -> None:
    """Open the session, because the initiator sent its parameters."""
    if packet.refused:
        reject(state, session, "its parameters are marked as refused, which only a response can be")
        return
    handshake.answer_parameters(state, session, packet, now)
    _go_on(state, session, now)


def _go_on(state: State, session: Session, now: Instant) -> None:
    """Send the packets that waited for this session."""
    ordering.on_session_open(state, session, now)
    pump(state, session, now)


def _count(state: State, session: Session, packet: SessionAck, now: Instant) -> None:
    """Process a packet that only acknowledges earlier packets (QB-200)."""
    why = on_header(state, session, packet.session, now)
    if why:
        reject(state, session, why)


def _take(state: State, session: Session, packet: UserMessage, now: Instant) -> None:
    """Process a user packet, which is counted even if it is dropped (QB-240)."""
    is_durable = _is_recoverable(packet)
    session.judging = True  # no SessionHeader leaves before the packet is processed
    count_packets(state, session, now, len(packet.properties.body), recoverable=is_durable)
    if packet.session is not None:
        session.mismatch = on_header(state, session, packet.session, now)  # QB-212
    if is_for_order_queue(packet):
        _take_ack(state, session, packet, now)
    elif messages.take_message(state, session, packet, now):
        return  # the verdict of the manager follows in this turn
    _finish(state, session, recoverable=is_durable)


def _take_ack(state: State, session: Session, packet: UserMessage, now: Instant) -> None:
    """Process an order or final acknowledgement; anything else for the order queue is dropped (QB-026)."""
    # DEPARTS from 3.1.5.1.1 (QB-028): a packet of any class is a user message, unless it is addressed to
    # the order queue, because reports and administration acknowledgements travel as messages (G-43).
    ack = read_ack(packet)
    if ack is None:
        state.counts[Count.STRANGE_ACKS] += 1
    elif isinstance(ack, FinalAck):
        on_final_ack(state, session, ack, now)
    else:
        on_order_ack(state, session, ack, now)


def _is_recoverable(packet: UserMessage) -> bool:
    """Return whether a packet counts as a recoverable one; those of streams always do (QB-118)."""
    return packet.user.recoverable or packet.transaction is not None


def _finish(state: State, session: Session, *, recoverable: bool) -> None:
    """End the processing of a user packet: set its bit, and send an acknowledgement if one is due."""
    session.judging = False
    if session.number not in state.sessions:
        return
    if session.mismatch:  # QB-209
        reject(state, session, session.mismatch)
        return
    if session.shortage:
        close(state, session, OutgoingEvent.FAILED, ConnectionStatus.LOW_RESOURCE)
        return
    if recoverable:
        note_stored(session)
    acknowledge_if_due(state, session)


def on_judged(state: State, signal: ArrivalJudged, now: Instant) -> None:
    """End the processing of a packet whose message the manager judged, and continue with the next packet."""
    if ordering.on_final_judged(state, signal):
        return
    arriving = state.receiver.arriving.get(signal.ticket[0])
    session = messages.judged(state, signal, now)
    if arriving is not None and session is not None:
        _finish(state, session, recoverable=_is_recoverable(arriving.packet))
        if session.number in state.sessions:
            _work(state, session, now)


def on_run_judged(state: State, signal: RunJudged, now: Instant) -> None:
    """End the processing of a run of messages; if the manager did not accept it, they follow one by one."""
    run = state.receiver.runs.pop(signal.ticket)
    session = state.sessions.get(run.session)
    if signal.taken:
        runs.remember(state, run.arriving, session, now)
    if session is None:
        return
    session.judging = False
    if signal.taken:
        is_durable, packets = _is_recoverable(run.arriving[0].packet), len(run.arriving)
        size = sum([len(each.message.body) for each in run.arriving])
        count_packets(state, session, now, size, recoverable=is_durable, packets=packets)
        if is_durable:
            note_stored(session, packets)
        acknowledge_if_due(state, session)
    else:
        session.inbox.extendleft(each.unread for each in reversed(run.arriving))
        session.singly = len(run.arriving)
    _work(state, session, now)


_STEPS: Final[dict[PacketAction, Callable[[State, Session, Any, Instant], None]]] = {
    PacketAction.ANSWER_ESTABLISH: handshake.answer_establish,
    PacketAction.ESTABLISHED: handshake.established,
    PacketAction.ANSWER_PARAMETERS: _answer_parameters,
    PacketAction.OPENED: _opened,
    PacketAction.COUNT: _count,
    PacketAction.TAKE: _take,
}
HANDLED: Final = tuple(_STEPS)
"""The steps that have a rule; CLOSE has none, because the packet is not looked at."""

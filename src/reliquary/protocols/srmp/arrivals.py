"""Decodes and routes messages that arrive, [MC-MQSRM] 3.1.5.1, and passes each to its role.

PostArrived --> decode --> kind --> route --> a user message, or a receipt for an application: receiver
                   |         |        |
                  400        |        '-----> for another host: forwarded unchanged
                             '--------------> a stream receipt, or a final one: sender
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from reliquary.base.time import Instant, in_whole_seconds
from reliquary.base.turn import Warn
from reliquary.protocols.srmp.codec.decode import decode, decode_apdu
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.kinds import kind_of
from reliquary.protocols.srmp.codec.lexical import stream_id
from reliquary.protocols.srmp.codec.messages import message_of
from reliquary.protocols.srmp.codec.values import Arrived, Envelope, MessageKind
from reliquary.protocols.srmp.effects import ListenTo
from reliquary.protocols.srmp.events import ApduArrived, PostArrived
from reliquary.protocols.srmp.receiver.messages import answer, hand_over, take_message, take_receipt
from reliquary.protocols.srmp.receiver.routing import MessageTarget, route
from reliquary.protocols.srmp.sender.receipts import on_final_receipt, on_stream_receipt
from reliquary.protocols.srmp.state import Arriving, Count, State
from reliquary.queueing.model.travel.transfer import ListenersChanged


def on_post(state: State, event: PostArrived, now: Instant) -> None:
    """Process a message that another host posted."""
    if not state.address.authorities:
        answer(state, event.to, 500, "this manager does not know its own address yet")
        return
    try:
        arrived = decode(event.content_type, event.body, largest=state.largest_post)
        size = len(arrived.body) + len(arrived.extension)
        if size > state.settings.largest_message:
            raise _too_large(size, state.settings.largest_message)
        if event.hops or event.trace_context:
            arrived = replace(arrived, hops=event.hops, trace_context=event.trace_context)
        state.receiver.peer = event.peer
        _receive(state, event.to, arrived, now)
    except SrmpFault as fault:
        answer(state, event.to, fault.status, f"{fault.element}: {fault.why}")


def _too_large(size: int, largest: int) -> SrmpFault:
    why = f"a message has at most {largest} bytes of body and extension, this one has {size}"
    return SrmpFault("the message", why, spec="MC-MQSRM 1.6")


def on_apdu(state: State, event: ApduArrived, now: Instant) -> None:
    """Process a message that came by multicast, for which there is no answer and no receipt."""
    state.receiver.peer = ""
    try:
        arrived = decode_apdu(event.data, largest=state.largest_post)
        way = route(state, arrived.envelope.to)
        if not way.multicast:
            raise SrmpFault("to", f"{arrived.envelope.to} is no multicast address", spec="2.2.4.2")
        if kind_of(arrived.envelope) is MessageKind.USER_MESSAGE:
            take_message(state, 0, arrived, way, now)
    except SrmpFault as fault:
        why = f"{fault.element}: {fault.why}"
        state.draft.ask(Warn(f"multicast {event.address}", "a message was dropped", why))


def on_listeners_changed(state: State, signal: ListenersChanged, now: Instant) -> None:
    """Change the multicast groups, because queues listen to other addresses."""
    del now
    state.listening = signal.addresses
    state.draft.ask(ListenTo(signal.addresses))


def _receive(state: State, to: int, arrived: Arrived, now: Instant) -> None:
    """Route the message, and process it by its kind."""
    kind = kind_of(arrived.envelope)
    if kind in RECEIPTS:
        state.counts[Count.RECEIPTS_RECEIVED] += 1
        if _is_for_the_sender(state, kind, arrived.envelope):
            _KINDS[kind](state, to, arrived, MessageTarget(""), now)
            return
    way = route(state, arrived.envelope.to)
    if way.name:
        _KINDS[kind](state, to, arrived, way, now)
    else:
        # DEPARTS from 3.1.5.1.3 (SR-186): the envelope is forwarded unchanged, with its identifier, its
        # stream and its receipts' address, because receipts lead from end to end.
        message = message_of(arrived, now=in_whole_seconds(now))
        hand_over(state, Arriving(to, arrived.envelope), way, message)


def _is_for_the_sender(state: State, kind: MessageKind, envelope: Envelope) -> bool:
    """Return whether it is a receipt for a stream of this manager, or for one given up; `to` is ignored."""
    if (
        kind not in (MessageKind.STREAM_RECEIPT, MessageKind.FINAL_STREAM_RECEIPT)
        or envelope.stream_receipt is None
    ):
        return False
    # streams of two managers may have one number, so the name contains the sender
    sender_of, _ = stream_id(envelope.stream_receipt.identifier, "2.2.5.6")
    return any(sent.stream.sender == sender_of for sent in state.sent.values())


# -- kinds of messages, 3.1.5.1.6 to 3.1.5.1.10


def _stream_receipt(state: State, to: int, arrived: Arrived, way: MessageTarget, now: Instant) -> None:
    # DEPARTS from 3.1.5.1.8 (SR-219): the receipt is not put into the order queue, because no application
    # reads that queue and it would only grow.
    del way
    on_stream_receipt(state, arrived.envelope, now)
    answer(state, to, 200)


def _final_receipt(state: State, to: int, arrived: Arrived, way: MessageTarget, now: Instant) -> None:
    del way
    on_final_receipt(state, arrived.envelope, now)
    answer(state, to, 200)


def _ignored(state: State, to: int, arrived: Arrived, way: MessageTarget, now: Instant) -> None:
    del arrived, way, now
    answer(state, to, 200)  # SR-194


_KINDS: Final[dict[MessageKind, Callable[[State, int, Arrived, MessageTarget, Instant], None]]] = {
    MessageKind.USER_MESSAGE: take_message,
    MessageKind.DELIVERY_RECEIPT: take_receipt,
    MessageKind.COMMITMENT_RECEIPT: take_receipt,
    MessageKind.STREAM_RECEIPT: _stream_receipt,
    MessageKind.FINAL_STREAM_RECEIPT: _final_receipt,
    MessageKind.UNKNOWN: _ignored,
}
KINDS: Final = tuple(_KINDS)
RECEIPTS: Final = frozenset(KINDS) - {MessageKind.USER_MESSAGE, MessageKind.UNKNOWN}

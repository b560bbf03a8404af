r"""Implements the loop-back: a carrier without a network, for destinations on the host name `loopback`.

    DIRECT=OS:loopback\private$\orders   through an outgoing queue, into this manager's private queue orders

A message goes through all steps of a message to another manager (outgoing queue, connection, dispatch,
packet, arrival), and ends in a queue of this manager.  Its arrival and its removal from the outgoing queue
are facts of one turn, so no crash loses or doubles it.  Tests use it in place of a protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal, Turn
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.names.formats import DirectName, SingleName, parse_single
from reliquary.queueing.model.names.schemes import OS
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.travel.carriers import Carrier
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import (
    ArrivalJudged,
    ConnectionChanged,
    ConnectionWanted,
    MessageArrived,
    Outcome,
    SendUserMessage,
    TransferEnded,
)
from reliquary.queueing.packets.messages import deserialize, serialize

HOST: Final = "loopback"
HERE: Final = "."
NAME: Final = "loopback"


class Loopback:
    """The machine of the loop-back carrier; it has no state."""

    def handle(self, event: Event, now: Instant) -> Turn:
        """Raise AssertionError, because no event is routed to the loop-back."""
        raise AssertionError(f"the loop-back takes no events, and got {event} at {now}")

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        """Return the answer to a signal of the manager, inside the manager's turn."""
        del now
        return Turn(signals=(_ANSWERS[type(signal)](signal),))

    def settle(self) -> None:
        """Do nothing, because there are no rows to write."""


def _connect(wanted: ConnectionWanted) -> Signal:
    """Report that the connection is established."""
    return ConnectionChanged(
        wanted.queue, OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED, addresses=(HOST,)
    )


def _carry(send: SendUserMessage) -> Signal:
    """Return the arrival of a message; or the end of its transfer, if it does not fit into a packet."""
    name = parse_single(send.destination)
    assert isinstance(name, DirectName), f"the loop-back does not claim {name}"
    try:
        packet = serialize(send.message, computer=HERE)
    except UsageError:  # no class says that a message does not fit into a packet; this one comes closest
        reason = MessageClass.NACK_COULD_NOT_ENCRYPT
        return TransferEnded(send.queue, (send.lookup_id,), Outcome.REFUSED, reason)
    here = str(DirectName(OS, HERE, name.path))
    return MessageArrived(NAME, (send.queue, send.lookup_id), here, deserialize(packet))


def _report(judged: ArrivalJudged) -> Signal:
    """Return the end of a transfer, with the verdict on its arrival."""
    queue, lookup_id = judged.ticket
    return TransferEnded(queue, (lookup_id,), judged.outcome, judged.reason)


_ANSWERS: Final[dict[type[Signal], Callable[[Any], Signal]]] = {
    ConnectionWanted: _connect,
    SendUserMessage: _carry,
    ArrivalJudged: _report,
}


def _claims(name: SingleName) -> bool:
    """Return whether a destination is on the reserved host name."""
    return isinstance(name, DirectName) and name.scheme is OS and name.host.casefold() == HOST


LOOPBACK: Final = Protocol(
    name=NAME,
    machine=lambda _: Loopback(),
    signals=tuple(_ANSWERS),
    carrier=Carrier(name=NAME, claims=_claims),
)
"""The loop-back as a protocol that every manager has."""

"""Describes MQQB as a carrier: its destinations, and the messages that it can bring there.

A message that it cannot bring is refused at the send: a sender that gets the reason at once can correct it.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.protocols.mqqb.codec.acks import ORDER_QUEUE_PATH
from reliquary.protocols.mqqb.receiver.ordering import brought
from reliquary.protocols.mqqb.sender.packets import refuse_privacy
from reliquary.protocols.mqqb.settings import LARGEST_PACKET
from reliquary.protocols.mqqb.tables import NAME
from reliquary.queueing.model.message import NO_GUID, Message, ObjectId, SequenceId
from reliquary.queueing.model.names.formats import DirectName, PrivateName, PublicName, SingleName
from reliquary.queueing.model.names.schemes import OS, TCP
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.carriers import Carrier
from reliquary.queueing.packets.messages import construct

HEADERS: Final = 64 * 1024
"""More bytes than the headers of a message take, unless it names very many queues."""
_ORDER_QUEUE: Final = ORDER_QUEUE_PATH.casefold().removeprefix("\\")


def carrier(largest: int = LARGEST_PACKET, *, enabled: bool = True) -> Carrier:
    """Return the description of MQQB for the queue manager; larger packets are refused at the send."""
    return Carrier(
        name=NAME,
        claims=claims if enabled else _claim_nothing,
        check=partial(check, largest=largest),
        brought=brought,
        holds_backlog=True,
    )


def claims(name: SingleName) -> bool:
    """Return whether MQQB carries messages to this destination."""
    if isinstance(name, DirectName):
        return name.scheme in (TCP, OS)
    return isinstance(name, PrivateName | PublicName)


def _claim_nothing(name: SingleName) -> bool:
    """Return False: a protocol that is switched off carries nothing."""
    del name
    return False


def check(state: State, name: SingleName, message: Message, *, in_transaction: bool, largest: int) -> None:
    """Refuse a message that cannot go to this destination."""
    # SECOND STAGE (QB-091, QB-172, QB-175): a name that needs a directory to find its next hop is refused.
    if not isinstance(name, DirectName):
        raise UsageError(
            f"{name} is found by a directory of other managers, which is not used for sending yet;"
            " name the host instead, such as DIRECT=OS:host\\private$\\orders"
        )
    if name.path.casefold() == _ORDER_QUEUE:
        raise UsageError(f"{name} takes acknowledgements of queue managers only")
    if ";" in name.path:  # its manager would refuse it, and report that only if asked to
        raise UsageError(f"{name} is a subqueue, a journal or a system queue: messages are sent to queues")
    # SECOND STAGE (QB-163, QB-288, QB-289, QB-305): keys of other managers, and caches of them, come
    # with their directory.  A message that would need one is never sent: it is refused here or before
    # its transmission. DEPARTS from 3.1.7.1.5.1 (QB-290): a message to encrypt is refused at its send
    # and enters no outgoing queue, because its sender gets the reason at once and can correct it.
    refuse_privacy(message, name)
    if message.stored_body is not None:
        raise UsageError(f"a message to {name} is one packet, and a body in pieces does not fit into it")
    if message.body_size + len(message.extension) > largest - HEADERS:
        size = _size(state, name, message, in_transaction=in_transaction)
        if size > largest:
            raise UsageError(
                f"a message to {name} has at most {largest} bytes on the wire with its headers,"
                f" this one has {size}"
            )


def _size(state: State, name: SingleName, message: Message, *, in_transaction: bool) -> int:
    """Return the bytes of the packet of a message (QB-012)."""
    identity = state.identity()
    addressed = message.changed(
        identifier=ObjectId(identity.identifier, 1),
        source_machine=identity.identifier,
        destination_queue=str(name),
        sequence=SequenceId(1, 1) if in_transaction else message.sequence,
        transaction=NO_GUID if in_transaction else message.transaction,
    )
    return len(construct(addressed, computer=identity.computer_name).encode())

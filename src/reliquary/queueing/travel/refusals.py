"""Handles messages that a peer refuses permanently, so that an administrator finds each of them.

    refused --> it becomes a dead letter, unless its sender or its queue wants none
            --> a warning names the message, its destination and the reason of the peer
            --> the outgoing queue counts it, and the history has an event
            --> the other messages of its transaction are refused as well

The specification drops a message that requests no dead letter (DM-050).  Its sender got the answer that the
message was accepted, and would get no notice that it is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from reliquary.base.turn import Warn
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.names.pathnames import short_path
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.leave import leave

MOST_BROKEN: Final = 100
"""The number of partly refused transactions that an outgoing queue remembers; the oldest is dropped."""
KINDS: Final = {
    MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE: False,
    MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE: True,
}
"""Whether the destination is a transactional queue, for each refusal that shows it."""
IN_PART: Final = "another message of its transaction was refused"
"""The reason in the warning for the other messages of a refused transaction."""


def give_up(
    state: State,
    queue: QueueState,
    positions: Sequence[Position],
    reason: MessageClass,
    why: str = "",
    *,
    carried: bool = True,
    acknowledged: bool = False,
) -> None:
    """Remove messages from their queue that their destination refuses; `why` is the reason of the peer.

    `carried` says that they left by their carrier; the last flag, that the peer sent the acknowledgement.
    """
    if queue.link is not None:
        queue.link.refused += len(positions)
        queue.link.transactional = KINDS.get(reason, queue.link.transactional)
    messages = [state.messages.get(position, whole=False) for position in positions]
    kept = [
        replace(position, dead_letter=True) if _is_kept(queue, message, reason) else position
        for position, message in zip(positions, messages, strict=True)
    ]
    _remember_broken(state, queue, messages, reason)
    leave(state, queue, kept, reason, carried=carried, acknowledged=acknowledged)
    if messages:
        first = f"{messages[0].identifier}: {why or reason.name.lower().replace('_', '-')}"
        about = short_path(queue.record.pathname)
        state.draft.ask(Warn(about, "messages cannot be delivered", first, len(messages)))


# DEPARTS from 3.1.1.12 (DM-050): a message that requests no dead letter is kept as well when its peer refuses
# it, because its sender got the answer that it was accepted, and would get no notice that it is lost.
def _is_kept(queue: QueueState, message: Message, reason: MessageClass) -> bool:
    """Return whether a refused message is kept as a dead letter."""
    if message.negative_journaling:
        return message.sequence is None
    return (
        queue.record.settings.keep_refused
        and not message.discard_refused
        and message.message_class == MessageClass.NORMAL  # receipts and acknowledgements are not kept
        and message.sequence is None  # else its source has a copy
        and reason < MessageClass.NACK_QUEUE_DELETED  # it never arrived
    )


# -- partly refused transactions


def refuse_broken(state: State, queue: QueueState, position: Position) -> bool:
    """Refuse a message if another message of its transaction was refused; return whether it was."""
    outgoing = queue.record.outgoing
    assert outgoing is not None, f"{queue.record.pathname} is no outgoing queue"
    transaction = state.messages.get(position, whole=False).transaction
    reason = next((why for each, why in outgoing.broken if each == transaction), None)
    if reason is None:
        return False
    give_up(state, queue, (position,), MessageClass(reason), IN_PART, carried=False)
    return True


def _remember_broken(
    state: State, queue: QueueState, messages: Sequence[Message], reason: MessageClass
) -> None:
    """Remember the transactions of refused messages, so that their later messages are not sent.

    A message of another manager that is passed on does not count: its transaction may be an endless stream.
    """
    outgoing, record = queue.record.outgoing, state.identity()
    if outgoing is None or reason >= MessageClass.NACK_QUEUE_DELETED:  # these messages arrived
        return
    known = {each for each, _ in outgoing.broken}
    ours = [each for each in messages if each.identifier.lineage in (record.identifier, record.lineage)]
    new = dict.fromkeys(each.transaction for each in ours if each.transaction is not None)
    broken = [(each, int(reason)) for each in new if each not in known]
    if broken:
        changed = replace(outgoing, broken=(*outgoing.broken, *broken)[-MOST_BROKEN:])
        apply(state, facts.QueueChanged(replace(queue.record, outgoing=changed)))

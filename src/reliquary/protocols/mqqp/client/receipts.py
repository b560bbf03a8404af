"""Ends the reads of messages that an application received under a receipt, at its request or after a time.

EndRead(delete)     RemoteQMEndReceive(ACK), one after another; the answer comes behind the last one
EndRead             RemoteQMEndReceive(NACK)
the timer           RemoteQMEndReceive(NACK), and there is no answer
the link is lost    returned: done by the rundown; deleted: unknown, and the answer is OUTCOME_UNKNOWN
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.client.answers import (
    await_answer,
    end_numbers,
    failure,
    refuse,
    reply,
    unknown,
)
from reliquary.protocols.mqqp.client.calling import Returned, end_receive, forget_read, give_back
from reliquary.protocols.mqqp.client.links import drop_receipt, release, renew
from reliquary.protocols.mqqp.client.state import Call, Ending, Link, Purpose, Receipt
from reliquary.protocols.mqqp.codec.qm2qm import Acknowledge
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import Answer, EndRead, ReceiveMessages
from reliquary.queueing.travel.remote import ReadElsewhere

REJECTED: Final = "the messages are gone, but MQQP cannot say that their reader rejected them"
COUNTED: Final = "the messages are back, but MQQP cannot reset their count of attempts"
NOT_KNOWN: Final = "the receipt is not known: its time may have run out"


def end(state: State, signal: ReadElsewhere, now: Instant) -> None:
    """End the reads of some messages of a receipt, or of all."""
    del now
    request = signal.request
    assert isinstance(request, EndRead)
    receipt = state.client.receipts.get(request.receipt)
    if receipt is None:
        status = HResult.INVALID_HANDLE
        refuse(state, request, signal.number, Answer(status, status.sentence))
        return
    lookup_ids = tuple(dict.fromkeys(request.lookup_ids)) or tuple(sorted(receipt.held))
    if not receipt.held.keys() >= set(lookup_ids):
        status = HResult.TRANSACTION_SEQUENCE
        refuse(state, request, signal.number, Answer(status, status.sentence))
        return
    note = REJECTED if request.reject else COUNTED if request.unseen and not request.delete else ""
    acknowledge = Acknowledge.ACK if request.delete else Acknowledge.NACK
    _begin(state, receipt, lookup_ids, acknowledge, request.to, note=note)


def acknowledge(state: State, signal: ReadElsewhere) -> None:
    """Remove the messages of an older receipt before the receive that requested this."""
    request = signal.request
    assert isinstance(request, ReceiveMessages)
    receipt = state.client.receipts.get(request.acknowledge)
    if receipt is None or receipt.by.user != request.by.user:
        refuse(state, request, signal.number, Answer(HResult.INVALID_HANDLE, NOT_KNOWN))
        return
    then = replace(signal, request=replace(request, acknowledge=0))
    _begin(state, receipt, tuple(sorted(receipt.held)), Acknowledge.ACK, request.to, then=then)


def _begin(
    state: State,
    receipt: Receipt,
    lookup_ids: Sequence[int],
    acknowledge: Acknowledge,
    to: int,
    *,
    note: str = "",
    then: ReadElsewhere | None = None,
) -> None:
    client = state.client
    link = client.links[receipt.link]
    reads = [receipt.held.pop(each) for each in lookup_ids]
    if not receipt.held:
        end_numbers(state, receipt.number)
        drop_receipt(state, receipt)
    ending = Ending(client.next_number(), link.number, to, acknowledge, reads, note, then=then)
    link.endings[ending.number] = ending
    await_answer(state, to, ending)
    renew(state, link)
    _end_next(state, link, ending)


def _end_next(state: State, link: Link, ending: Ending) -> None:
    end_receive(state, link, Purpose.END, ending.left[0], ending.acknowledge, ending=ending.number)


def on_ended(state: State, link: Link, call: Call, returned: Returned, now: Instant) -> Ending | None:
    """End a read; return its ending if this was the last read in it, and None otherwise."""
    del now
    ending = link.endings[call.ending]
    forget_read(state, link, ending.left.pop(0).request)
    if returned.status != HResult.OK:
        ending.failure = failure(link.server, returned.status)  # QP-076
    elif ending.acknowledge is Acknowledge.ACK:
        state.client.taken += 1
    if ending.left:
        _end_next(state, link, ending)
        return None
    _finish(state, link, ending)
    return ending


def _finish(state: State, link: Link, ending: Ending) -> None:
    """Answer the application, unless a receive follows."""
    del link.endings[ending.number]
    if ending.failure is not None and ending.then is not None:
        end_numbers(state, ending.then.number)
    if ending.failure is not None:
        reply(state, ending.to, ending.failure)
    elif ending.then is None:
        reply(state, ending.to, Answer(HResult.OK, ending.note))
    release(state, link)


def lost(state: State, link: Link, ending: Ending, why: str) -> None:
    """Answer without a response: returned messages are in their queue.

    The outcome of the others is unknown.
    """
    if ending.acknowledge is Acknowledge.ACK:
        ending.failure = unknown(link.server, "removed the messages", why)
    _finish(state, link, ending)


def cancel(state: State, ending: Ending) -> None:
    """Answer an application that cancelled its receive; the older receipt ends nevertheless."""
    if ending.then is not None:
        status = HResult.OPERATION_CANCELLED
        refuse(state, ending.then.request, ending.then.number, Answer(status, status.sentence))
        ending.to, ending.then = 0, None


def on_hold_end(state: State, number: int, now: Instant) -> None:
    """Return the messages of a receipt whose time ran out to their queue."""
    del now
    receipt = state.client.receipts.get(number)
    if receipt is None:
        return
    link = state.client.links[receipt.link]
    end_numbers(state, number)
    drop_receipt(state, receipt)
    give_all_back(state, link, receipt)


def give_all_back(state: State, link: Link, receipt: Receipt) -> None:
    """Ask the server to make all messages of a receipt available again."""
    for read in receipt.held.values():
        give_back(state, link, read)

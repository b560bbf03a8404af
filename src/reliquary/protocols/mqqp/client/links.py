"""Finds the link for a request, decides how long a link stays open, and removes it."""

from __future__ import annotations

from typing import Final

from reliquary.base.hresult import HResult
from reliquary.base.time import Duration, seconds
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.mqqp.client.answers import end_numbers
from reliquary.protocols.mqqp.client.calling import drop, forget_read
from reliquary.protocols.mqqp.client.phases import LinkMove, LinkPhase, moved_link
from reliquary.protocols.mqqp.client.state import Link, Receipt
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.descriptors import ALLOWS
from reliquary.queueing.model.events import FOREVER_WAIT, Access
from reliquary.wire.security import Sid

IDLE_TIMER: Final = "mqqp-idle"
LEASE_TIMER: Final = "mqqp-lease"
HOLD_TIMER: Final = "mqqp-hold"

IDLE_TIME: Final[Duration] = seconds(3)
"""The time that a queue which was opened by name stays open for the next request that names it."""


def by_handle(state: State, handle: int, access: Access) -> Link | HResult:
    """Return the link of an open queue, or the answer to a request that cannot use it."""
    link = state.client.handles.get(handle)
    if link is None:
        return HResult.INVALID_HANDLE
    if access not in ALLOWS[link.access]:
        return HResult.ACCESS_DENIED
    renew(state, link)
    return link


def renew(state: State, link: Link) -> None:
    """Set the lease timer of a handle again."""
    if link.lease != FOREVER_WAIT:
        state.draft.ask(SetTimer((LEASE_TIMER, link.handle), link.lease))


def release(state: State, link: Link) -> None:
    """Set the timer that closes a queue which was opened by name, when its last request has ended."""
    if not link.handle and not link.busy and link.phase is LinkPhase.OPEN:
        state.draft.ask(SetTimer((IDLE_TIMER, link.number), IDLE_TIME))


def drop_receipt(state: State, receipt: Receipt) -> None:
    """Remove a receipt; the caller has to end or return its messages."""
    link = state.client.links[receipt.link]
    del state.client.receipts[receipt.number], link.receipts[receipt.number]
    if receipt.timed:
        state.draft.ask(CancelTimer((HOLD_TIMER, receipt.number)))


def withdraw(state: State, link: Link) -> None:
    """End the handle, the cursors and the receipts of a link, so that no further request finds it."""
    client = state.client
    end_numbers(state, link.handle, *link.cursors, *link.receipts)
    for receipt in list(link.receipts.values()):
        drop_receipt(state, receipt)
    link.cursors.clear()
    client.handles.pop(link.handle, None)
    if link.lease != FOREVER_WAIT:
        state.draft.ask(CancelTimer((LEASE_TIMER, link.handle)))
    if not link.handle:
        state.draft.ask(CancelTimer((IDLE_TIMER, link.number)))
        if client.shared.get(shared_key(link)) is link:
            del client.shared[shared_key(link)]


def shared_key(link: Link) -> tuple[str, Access, Sid]:
    """Return the key of the requests that may share a link."""
    return link.key, link.access, link.by.user


def remove(state: State, link: Link) -> None:
    """Remove a link with its calls and its pending reads."""
    client = state.client
    link.phase = moved_link(link.phase, LinkMove.END)
    for number in list(link.calls):
        drop(state, client.calls[number])
    for request in list(link.reads):
        forget_read(state, link, request)
    del client.links[link.number]

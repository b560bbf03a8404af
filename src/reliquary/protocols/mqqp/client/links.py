"""Links: which one a request uses, how long it stays open, and what ends with it."""

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
"""A queue that was opened by name stays open so long for the next request that names it."""


def by_handle(state: State, handle: int, access: Access) -> Link | HResult:
    """Return the link of an open queue, or why a request cannot use it."""
    link = state.client.handles.get(handle)
    if link is None:
        return HResult.INVALID_HANDLE
    if access not in ALLOWS[link.access]:
        return HResult.ACCESS_DENIED
    renew(state, link)
    return link


def renew(state: State, link: Link) -> None:
    """Let the lease of a handle begin again."""
    if link.lease != FOREVER_WAIT:
        state.draft.ask(SetTimer((LEASE_TIMER, link.handle), link.lease))


def release(state: State, link: Link) -> None:
    """Close a queue that was opened by name soon, if no request uses it any more."""
    if not link.handle and not link.busy and link.phase is LinkPhase.OPEN:
        state.draft.ask(SetTimer((IDLE_TIMER, link.number), IDLE_TIME))


def drop_receipt(state: State, receipt: Receipt) -> None:
    """Forget a receipt; what becomes of its messages is the caller's matter."""
    link = state.client.links[receipt.link]
    del state.client.receipts[receipt.number], link.receipts[receipt.number]
    if receipt.timed:
        state.draft.ask(CancelTimer((HOLD_TIMER, receipt.number)))


def withdraw(state: State, link: Link) -> None:
    """End what applications call the queue, its cursors and its receipts; no request finds the link now."""
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
    """Return what requests have in common that share a link."""
    return link.key, link.access, link.by.user


def remove(state: State, link: Link) -> None:
    """Forget a link with its calls and its pending reads."""
    client = state.client
    link.phase = moved_link(link.phase, LinkMove.END)
    for number in list(link.calls):
        drop(state, client.calls[number])
    for request in list(link.reads):
        forget_read(state, link, request)
    del client.links[link.number]

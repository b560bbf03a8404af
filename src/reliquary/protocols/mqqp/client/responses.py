"""Passes responses and faults of servers to rules, selected by the purpose of the call.

A fault that carries an HRESULT counts as the failure of that number (F-05).  Any other fault of
RemoteQMEndReceive leaves open whether the read was ended: the link is closed, so that the server ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reliquary.base.time import Instant
from reliquary.protocols.mqqp.client import changing, opening, reading, receipts, requests, settling
from reliquary.protocols.mqqp.client.answers import failure, is_hresult
from reliquary.protocols.mqqp.client.calling import Returned, take
from reliquary.protocols.mqqp.client.losing import hang_up
from reliquary.protocols.mqqp.client.state import Call, Link, Purpose
from reliquary.protocols.mqqp.events import ServerFaulted, ServerResponded
from reliquary.protocols.mqqp.state import State


def on_responded(state: State, event: ServerResponded, now: Instant) -> None:
    """Process the response of a call; a response to a call that was dropped is ignored."""
    call = take(state, event.link, event.call)
    if call is not None:
        link = state.client.links[call.link]
        status: int = getattr(event.response, "status", 0)
        _RULES[call.purpose](state, link, call, Returned(status, event.response), now)


def on_faulted(state: State, event: ServerFaulted, now: Instant) -> None:
    """Process a fault: the call was refused, or its method raised a status."""
    call = take(state, event.link, event.call)
    if call is None:
        return
    link = state.client.links[call.link]
    if call.purpose in ENDS and not is_hresult(event.status):
        hang_up(state, link, failure(link.server, event.status), now)
    else:
        _RULES[call.purpose](state, link, call, Returned(event.status, None), now)


def _on_ended(state: State, link: Link, call: Call, returned: Returned, now: Instant) -> None:
    """Begin the receive that waited for the end of an older receipt."""
    ending = receipts.on_ended(state, link, call, returned, now)
    if ending is not None and ending.then is not None and ending.failure is None:
        requests.on_request(state, ending.then, now)


def _pass_over(state: State, link: Link, call: Call, returned: Returned, now: Instant) -> None:
    """Ignore a response that no state depends on."""
    del state, link, call, returned, now


ENDS: Final = frozenset({Purpose.DROP, Purpose.SETTLE, Purpose.END, Purpose.RETURN})
"""The purposes of calls that end a read."""

_RULES: Final[Mapping[Purpose, Callable[[State, Link, Call, Returned, Instant], Any]]] = {
    Purpose.OPEN: opening.on_opened,
    Purpose.PORT: opening.on_port,
    Purpose.VERSION: opening.on_version,
    Purpose.ENTER: opening.on_entered,
    Purpose.FORGET: _pass_over,
    Purpose.READ: reading.on_started,
    Purpose.DROP: reading.on_dropped,
    Purpose.SETTLE: settling.on_settled,
    Purpose.END: _on_ended,
    Purpose.RETURN: reading.on_returned,
    Purpose.CANCEL: _pass_over,  # QP-155: the read itself returns, after any result of this call (F-09)
    Purpose.OPEN_CURSOR: changing.on_cursor_opened,
    Purpose.CLOSE_CURSOR: changing.on_cursor_closed,
    Purpose.PURGE: changing.on_purged,
    Purpose.CLOSE: opening.on_closed,
}
ANSWERED: Final = tuple(_RULES)
"""Every purpose of a call."""

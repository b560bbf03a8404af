"""Closes an association at the request of an administrator, in the role that has it."""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.base.turn import Reply
from reliquary.protocols.mqqp.client.losing import hang_up
from reliquary.protocols.mqqp.effects import EndAssociation
from reliquary.protocols.mqqp.events import CloseAssociation
from reliquary.protocols.mqqp.state import State
from reliquary.protocols.mqqp.views import IN, OUT
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.events import Answer


def on_close_wanted(state: State, event: CloseAssociation, now: Instant) -> None:
    """Close the connections of a client, or a link to another manager."""
    direction, _, digits = event.name.partition("-")
    number = int(digits) if digits.isdecimal() else 0
    if direction == IN and number in state.server.associations:
        state.draft.ask(EndAssociation(number))  # its loss is reported, and its handles run down then
    elif direction == OUT and number in state.client.links:
        closed = Answer(HResult.OPERATION_CANCELLED, "an administrator closed the association")
        hang_up(state, state.client.links[number], closed, now)
    else:
        state.draft.ask(Reply(event.to, Done(False, f"there is no association {event.name}")))
        return
    state.draft.ask(Reply(event.to, Done(True)))

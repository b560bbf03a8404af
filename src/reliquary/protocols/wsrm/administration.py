"""Passes the requests of an administrator to the role that has the sequence."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Reply
from reliquary.protocols.wsrm.destination import ending as destination
from reliquary.protocols.wsrm.events import CloseSequence, TerminateSequence
from reliquary.protocols.wsrm.source import ending as source
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.administration import Done


def on_close_wanted(state: State, event: CloseSequence, now: Instant) -> None:
    """Close a sequence, which then takes or sends no new messages."""
    if event.sequence in state.destination.sequences:
        destination.close(state, event.to, event.sequence, now)
    elif event.sequence in state.source.sequences:
        source.close(state, event.to, event.sequence, now)
    else:
        _refuse_unknown(state, event.to, event.sequence)


def on_terminate_wanted(state: State, event: TerminateSequence, now: Instant) -> None:
    """End a sequence without waiting for missing messages."""
    if event.sequence in state.destination.sequences:
        destination.terminate(state, event.to, event.sequence, now)
    elif event.sequence in state.source.sequences:
        source.terminate(state, event.to, event.sequence, now)
    else:
        _refuse_unknown(state, event.to, event.sequence)


def _refuse_unknown(state: State, to: int, sequence: int) -> None:
    state.draft.ask(Reply(to, Done(False, f"there is no sequence {sequence}")))

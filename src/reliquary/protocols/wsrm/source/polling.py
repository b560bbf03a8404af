"""Requests room with AckRequested from time to time if there is none: POLLING_TIMER, [MS-WSRVCRM] 3.2.2.1."""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.wsrm.source.flow import Action, FlowEvent
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.posting import ack_request, post, session_of
from reliquary.protocols.wsrm.source.state import Posted, Purpose, Sequence, Session
from reliquary.protocols.wsrm.source.ways import SendingMode
from reliquary.protocols.wsrm.state import Count, State
from reliquary.queueing.model.travel.transfer import ResendWanted

POLL: Final = "wsrm-poll"
"""The timer POLLING_TIMER, one for each outgoing sequence (FC-031)."""


def flow_happens(state: State, sequence: Sequence, event: FlowEvent) -> None:
    """Apply an event to the table of `flow`, and set or cancel the timer as it requires."""
    action = sequence.flow.happen(event)
    name = (POLL, sequence.number)
    if action in (Action.START, Action.POLL):
        state.draft.ask(SetTimer(name, state.settings.polling))  # FC-033, FC-036, FC-043
    elif action is Action.CANCEL:
        sequence.poll_due = False
        state.draft.ask(CancelTimer(name))  # FC-040, FC-045
    if action is Action.POLL:
        _poll(state, sequence)


def on_poll(state: State, number: int, now: Instant) -> None:
    """Request room when POLLING_TIMER expires (FC-035); the timer of an ended sequence has no effect."""
    del now
    sequence = state.source.sequences.get(number)
    if sequence is not None and sequence.phase is Phase.OPEN:
        flow_happens(state, sequence, FlowEvent.TIMER)


def _poll(state: State, sequence: Sequence) -> None:
    """Send AckRequested alone (FC-036, H-14); without a connection wait for the next one."""
    session = session_of(state, sequence)
    if session.way.kind is not SendingMode.DIAL:
        sequence.poll_due = True
        state.turn.ready.append(sequence.number)
    elif session.is_open and state.source.online:
        state.counts[Count.POLLS] += 1
        post(state, session, ack_request(sequence), Posted(Purpose.ACK_REQUEST, sequence.number))
    _let_expire(state, session)


def _let_expire(state: State, session: Session) -> None:
    """Return waiting messages to the manager: expired ones leave, the others are handed out again."""
    if session.is_open and session.waiting:
        session.waiting.clear()
        state.draft.signal(ResendWanted(session.queue))

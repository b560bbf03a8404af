"""POLLING_TIMER, [MS-WSRVCRM] 3.2.2.1: while there is no room, AckRequested asks for it from time to time."""

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
"""POLLING_TIMER, one for each sequence that goes out (FC-031)."""


def flow_happens(state: State, sequence: Sequence, event: FlowEvent) -> None:
    """Let the table of `flow` answer, and set or cancel the timer as it says."""
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
    """POLLING_TIMER_EXPIRED (FC-035); one of a sequence that ended asks for nothing."""
    del now
    sequence = state.source.sequences.get(number)
    if sequence is not None and sequence.phase is Phase.OPEN:
        flow_happens(state, sequence, FlowEvent.TIMER)


def _poll(state: State, sequence: Sequence) -> None:
    """Send AckRequested by itself (FC-036, H-14); without a connection the next one is waited for."""
    session = session_of(state, sequence)
    if session.way.kind is not SendingMode.DIAL:
        sequence.poll_due = True
        state.turn.ready.append(sequence.number)
    elif session.is_open and state.source.online:
        state.counts[Count.POLLS] += 1
        post(state, session, ack_request(sequence), Posted(Purpose.ACK_REQUEST, sequence.number))
    _let_expire(state, session)


def _let_expire(state: State, session: Session) -> None:
    """Give back messages that only wait: those whose time is over leave, the others are handed out again."""
    if session.is_open and session.waiting:
        session.waiting.clear()
        state.draft.signal(ResendWanted(session.queue))

"""What the response to PUSH, PULL or EXCHANGE means, B.3 and B.5 of the digest.

error           settle, then as `reactions` says
INDOUBT         the batch stays in doubt: a rest, then REPORT
ROLLBACK        its messages are there again: a rest, then they go under a new id
otherwise       a batch is taken, the session goes on or ends; what is still in doubt when nothing more
                is to come is found out with REPORT
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.httpr.client.channel import Asked, Driven
from reliquary.protocols.httpr.client.failures import end, react, rest, suspect
from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.client.pull import on_batch, on_empty
from reliquary.protocols.httpr.client.report import go_on, settle
from reliquary.protocols.httpr.codec.capabilities import agreed
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import Outcome, SessionMark
from reliquary.protocols.httpr.events import ResponseArrived
from reliquary.protocols.httpr.server.responses import unwanted
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.transactions import By, Settlement


def on_answered(state: State, driven: Driven, asked: Asked, event: ResponseArrived, now: Instant) -> None:
    """A response to something that moves messages."""
    header = event.header
    ended = header.session is SessionMark.END
    if header.error is not None:
        suspect(driven, asked, header.error)
    # A rollback in a session that goes on leaves open what the peer does with the batches behind it: as with
    # GET-RESPONDER-INFO, only REPORT can give them back.
    by = By.RESPONSE if ended or not driven.asked else By.INFO_ANSWER
    settled = settle(state, driven, header, by)
    if header.error is not None or settled.returned or header.outcome is Outcome.INDOUBT:
        _refused(state, driven, asked, event, now)
        return
    if header.capabilities is not None and not driven.session_id:  # H-04
        try:
            driven.agreed = agreed(driven.proposed, header.capabilities)
        except HttprFault as wrong:
            rest(state, driven, str(wrong), long=True)
            return
    driven.failures = 0
    _progress(driven, asked, settled)
    if header.transaction_id is not None:
        on_batch(state, driven, event)
    elif asked.fetches:
        on_empty(state, driven, asked, now)
    if driven.phase is not Phase.WAITING:
        return  # the batch ended it
    if ended:
        end(state, driven)
    elif not driven.asked:
        go_on(state, driven)


def _refused(state: State, driven: Driven, asked: Asked, event: ResponseArrived, now: Instant) -> None:
    """Something did not go well; a batch that came along is not taken, and stays in doubt at the peer."""
    header = event.header
    if header.transaction_id is not None:
        unwanted(state, event.batch)
        driven.unresolved = True
    if header.error is not None:
        react(state, driven, asked, header.error, now)
    elif header.outcome is Outcome.INDOUBT:
        rest(state, driven, f"{driven.url} is not sure about batch {header.completed}")  # HR-068
    else:
        keep = header.session is not SessionMark.END and not driven.asked  # H-08
        rest(state, driven, f"{driven.url} rolled batch {header.completed} back", keep=keep)


def _progress(driven: Driven, asked: Asked, settled: Settlement) -> None:
    """Messages of a batch that was refused before turn out to be good."""
    hunt = driven.hunt
    if hunt is not None and asked.batch in settled.committed:
        hunt.left -= asked.messages
        if hunt.left <= 0:
            driven.hunt = None

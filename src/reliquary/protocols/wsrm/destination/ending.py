"""Closes, ends and forgets sequences.

    CloseSequence       closed: what is buffered is delivered or discarded, the acknowledgement is final
    TerminateSequence   ended, and remembered for a while
    time                silent for too long, or expired: ended, and its source is notified
    a fault             its source has given it up: ended

When a sequence takes no more messages, `delivery.settle` does what IncompleteSequenceBehavior says.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import Reply, SetTimer, Warn
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    CloseSequence,
    CloseSequenceResponse,
    Envelope,
    Fault,
    TerminateSequence,
    TerminateSequenceResponse,
    Version,
)
from reliquary.protocols.wsrm.destination import acknowledging, delivery
from reliquary.protocols.wsrm.destination.apply import apply
from reliquary.protocols.wsrm.destination.facts import (
    SequenceClosed,
    SequenceEnded,
    SequencesForgotten,
    SequencesRetired,
)
from reliquary.protocols.wsrm.destination.lookup import fault, find, move, user_of
from reliquary.protocols.wsrm.destination.phases import Move, Phase
from reliquary.protocols.wsrm.destination.state import Sequence
from reliquary.protocols.wsrm.destination.watching import watch
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.state import State
from reliquary.protocols.wsrm.transport import send
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.travel.transfer import EraBegan

INACTIVITY: Final = "wsrm-inactivity"
"""One timer for each sequence.

For silence, for expiry, and for messages of an ended sequence that wait for their queue.
"""
FORGET: Final = "wsrm-forget"
"""One timer for all ended sequences."""
_MOST_FORGOTTEN: Final = 1000
"""The most sequences that one turn forgets."""
_ENDING: Final = frozenset({FaultCode.SEQUENCE_TERMINATED, FaultCode.UNKNOWN_SEQUENCE})
"""The faults by which a source ends its sequence."""


# -- the source says so


def on_close(state: State, exchange: Exchange, body: CloseSequence, now: Instant) -> None:
    """Close a sequence, and answer with its final acknowledgement."""
    sequence = find(state, exchange, body.identifier, now)
    move(exchange, sequence, Move.CLOSE)
    _check_last(exchange, sequence, body.last)
    if sequence.phase is Phase.OPEN:
        _close(state, sequence, _last_of(sequence, body.last))
    _answer(state, exchange, sequence, CloseSequenceResponse(body.identifier))


def on_terminate(state: State, exchange: Exchange, body: TerminateSequence, now: Instant) -> None:
    """End a sequence; WS-RM 1.1 has a response, which is repeated for a sequence that ended before."""
    sequence = find(state, exchange, body.identifier, now)
    move(exchange, sequence, Move.TERMINATE)
    if sequence.phase is not Phase.ENDED:
        _check_last(exchange, sequence, body.last)
        _end(state, sequence, now, _last_of(sequence, body.last))
    if exchange.envelope.dialect.version is Version.RM11:
        _answer(state, exchange, sequence, TerminateSequenceResponse(body.identifier))


def on_fault(state: State, exchange: Exchange, body: Fault, now: Instant) -> None:
    """End a sequence that its source has given up; other faults are logged."""
    here = state.destination
    sequence = here.sequences.get(here.by_identifier.get(body.identifier, 0))
    if sequence is None or not _may_end(sequence, exchange):
        return
    here.now = now
    row = sequence.row
    why = f"{row.identifier}: {body.code.value} {body.reason}".rstrip()
    about = f"WS-RM sequence {row.number} to {row.endpoint or row.queue}"
    state.draft.ask(Warn(about, "its source reports a fault", why))
    if body.code in _ENDING and sequence.phase is not Phase.ENDED:
        _end(state, sequence, now)


def _may_end(sequence: Sequence, exchange: Exchange) -> bool:
    """Return whether the source sent the fault: as a response to our request, or as the sequence's user."""
    owner = sequence.row.owner
    return not exchange.to or not owner or owner == user_of(exchange.by)


def _last_of(sequence: Sequence, said: int) -> int:
    """Return the last number of a sequence that its source ends regularly.

    In WS-RM 1.1 it may be absent: then it is the highest number that came.  In WS-RM 1.0 LastMessage has it.
    """
    return said or (sequence.highest if sequence.row.dialect.version is Version.RM11 else 0)


def _check_last(exchange: Exchange, sequence: Sequence, last: int) -> None:
    """Refuse a LastMsgNumber that contradicts the messages, or an earlier LastMsgNumber."""
    known = sequence.received.last
    if last and (last < sequence.highest or (known and last != known)):
        why = f"LastMsgNumber is {last}, but {known or sequence.highest} came before"
        raise fault(exchange, FaultCode.SENDER, sequence, why)


def _answer(
    state: State,
    exchange: Exchange,
    sequence: Sequence,
    body: CloseSequenceResponse | TerminateSequenceResponse,
) -> None:
    """Answer with the final acknowledgement, to any address of the response."""
    envelope, number = exchange.envelope, sequence.number
    final = acknowledging.acknowledgement(state, number)
    acknowledging.sent(state, number)
    state.draft.wait()
    exchange.response = Envelope(
        dialect=envelope.dialect,
        to=envelope.reply_to,
        relates_to=envelope.message_id,
        acknowledgements=(final,),
        body=body,
    )


# -- time


def on_inactivity(state: State, number: int, now: Instant) -> None:
    """End a silent or expired sequence; try again to deliver the remaining messages of an ended one."""
    sequence = state.destination.sequences.get(number)
    if sequence is None:
        return
    state.destination.now = now
    if sequence.phase is Phase.ENDED:
        if sequence.buffered:
            delivery.resume(state, sequence)
            state.draft.ask(SetTimer((INACTIVITY, number), state.settings.polling))
        return
    due = min(sequence.heard + state.settings.inactivity, sequence.row.expires)
    if due > now:
        state.draft.ask(SetTimer((INACTIVITY, number), Duration(due - now)))
        return
    silent = sequence.row.expires > now
    _give_up(
        state,
        sequence,
        now,
        "no message came for too long" if silent else "its Expires has passed",
    )


def on_forget(state: State, number: int, now: Instant) -> None:
    """Forget sequences that ended long ago, and the oldest if there are too many."""
    del number
    here, settings = state.destination, state.settings
    excess = len(here.ended) - settings.most_remembered
    forgotten: list[int] = []
    wait: int = settings.remembered
    for place, each in enumerate(here.ended):
        sequence = here.sequences[each]
        wait = sequence.received.ended + settings.remembered - now
        if (wait > 0 and place >= excess) or len(forgotten) == _MOST_FORGOTTEN:
            break
        if not sequence.buffered:
            forgotten.append(each)
    if forgotten:
        apply(state, SequencesForgotten(tuple(forgotten)))
    if here.ended:
        has_more = len(forgotten) == _MOST_FORGOTTEN
        after = settings.acknowledgement_interval if has_more else Duration(max(wait, settings.polling))
        state.draft.ask(SetTimer((FORGET, 0), after))


# -- an administrator


def close(state: State, to: int, number: int, now: Instant) -> None:
    """Close a sequence for an administrator."""
    state.destination.now = now
    sequence = state.destination.sequences[number]
    if sequence.phase is not Phase.OPEN:
        state.draft.ask(Reply(to, Done(False, f"sequence {number} is {sequence.phase.value}")))
        return
    _close(state, sequence, 0)
    state.draft.ask(Reply(to, Done(True)))


def terminate(state: State, to: int, number: int, now: Instant) -> None:
    """End a sequence for an administrator, also with missing messages."""
    state.destination.now = now
    sequence = state.destination.sequences[number]
    if sequence.phase is Phase.ENDED:
        state.draft.ask(Reply(to, Done(False, f"sequence {number} is {sequence.phase.value}")))
        return
    _give_up(state, sequence, now, "an administrator ended it")
    state.draft.ask(Reply(to, Done(True)))


# -- the store was restored


def on_era(state: State, signal: EraBegan, now: Instant) -> None:
    """End every sequence of the backup; a source that gets the fault begins another one.

    No acknowledgement goes with the fault: the ranges of the backup would contradict later acknowledgements.
    """
    del signal
    here = state.destination
    here.now = now
    kept = [each for each in here.sequences.values() if each.phase is not Phase.ENDED]
    if not kept:
        return
    apply(state, SequencesRetired(tuple(each.number for each in kept)))
    for sequence in kept:
        row = sequence.row
        _end(state, sequence, now)
        if not sequence.acknowledges_on_response:
            body = Fault(FaultCode.UNKNOWN_SEQUENCE, identifier=row.identifier)
            send(state, row.acks_to, Envelope(dialect=row.dialect, to=row.acks_to, body=body), now)
    why = "the store was restored from a backup; each client must begin a new sequence"
    state.draft.ask(Warn("WS-RM", "open sequences were ended", why, len(kept)))


# -- what follows


def _close(state: State, sequence: Sequence, last: int) -> None:
    apply(state, SequenceClosed(sequence.number, last))
    sequence.target.starved.pop(sequence.number, None)
    delivery.settle(state, sequence)


def _end(state: State, sequence: Sequence, now: Instant, last: int = 0) -> None:
    """End a sequence with its acknowledgements, and the sequence that its client offered."""
    was_open = sequence.phase is Phase.OPEN
    number = sequence.number
    if not state.destination.ended:
        state.draft.ask(SetTimer((FORGET, 0), state.settings.remembered))
    elif len(state.destination.ended) >= state.settings.most_remembered:
        state.draft.ask(SetTimer((FORGET, 0), state.settings.acknowledgement_interval))
    apply(state, SequenceEnded(number, now, last))
    acknowledging.no_longer_due(state, sequence)
    if was_open:
        delivery.settle(state, sequence)
    else:
        delivery.resume(state, sequence)
    if sequence.buffered:
        state.draft.ask(SetTimer((INACTIVITY, number), state.settings.polling))
    watch(state, sequence.target)
    state.turn.ended.append(number)


def _give_up(state: State, sequence: Sequence, now: Instant, why: str) -> None:
    """End a sequence without a request of its source, and notify the source if it can be reached."""
    row = sequence.row
    _end(state, sequence, now)
    about = f"WS-RM sequence {row.number} to {row.endpoint or row.queue}"
    state.draft.ask(Warn(about, "a sequence was ended", f"{row.identifier}: {why}"))
    if sequence.acknowledges_on_response:
        return
    final = acknowledging.acknowledgement(state, row.number)
    acknowledging.sent(state, row.number)
    body = Fault(FaultCode.SEQUENCE_TERMINATED, identifier=row.identifier)
    send(
        state,
        row.acks_to,
        Envelope(dialect=row.dialect, to=row.acks_to, acknowledgements=(final,), body=body),
        now,
    )

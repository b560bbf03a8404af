"""Delivers messages to their queue: alone, with buffered ones behind them, or when the sequence closes.

                      ordered                    unordered        DiscardEntireSequence
    in order          at once, with what waits   at once          buffered
    behind a gap      buffered                   at once          buffered
    complete          -                          -                all as one batch
    closed with gaps  NoDiscard: what is buffered; DiscardFollowingFirstGap and DiscardEntireSequence: nothing

A buffered message is stored and acknowledged, so it is never dropped silently: where the queue has no room it
waits until there is room, even beyond the end of its sequence, and later sequences to an ordered endpoint
wait for it; what must be discarded is logged and counted.
All assurances are kept in one way: a message is acknowledged once it is stored, and delivered once, which is
at least once and at most once.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.turn import Warn
from reliquary.protocols.wsrm.carrier import NAME
from reliquary.protocols.wsrm.codec.values import Envelope, Incomplete, SequenceHeader
from reliquary.protocols.wsrm.destination import acknowledging
from reliquary.protocols.wsrm.destination.apply import apply
from reliquary.protocols.wsrm.destination.facts import BufferReleased
from reliquary.protocols.wsrm.destination.flow_control import add_messages, queue_room
from reliquary.protocols.wsrm.destination.phases import Phase
from reliquary.protocols.wsrm.destination.routing import onward
from reliquary.protocols.wsrm.destination.state import Arriving, Sequence, TargetQueue
from reliquary.protocols.wsrm.destination.tables import BUFFERED, message_key
from reliquary.protocols.wsrm.destination.watching import watch
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.settings import LARGEST_WINDOW, Assurance
from reliquary.protocols.wsrm.state import Count, State
from reliquary.queueing.model.message import Message, MessageClass
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.queueing.model.travel.transfer import BatchArrived, BatchJudged, Outcome
from reliquary.wire.security import parse_sid

_ONCE: Final = Assurance.EXACTLY_ONCE
_MOST_NAMED: Final = 20
"""The most ranges that a warning names."""

# -- into the queue


def hand_over(state: State, exchange: Exchange, arriving: Arriving) -> None:
    """Offer messages to the queue manager as one batch; its verdict comes in this turn."""
    sequence, messages = arriving.sequence, arriving.messages
    sequence.is_judged = True
    sequence.target.arriving += len(messages)
    state.last_ticket = ticket = state.last_ticket + 1
    state.turn.exchanges[ticket] = exchange
    state.destination.arriving[ticket] = arriving
    exchange.judging = True
    row = sequence.row
    transaction = UUID(int=row.number << 64 | arriving.numbers[0])
    state.draft.signal(
        BatchArrived(
            NAME,
            ticket,
            (row.queue,) * len(messages),
            onward(messages, sequence.settings, row.queue, transaction),
            transaction,
            _user_of(sequence),
            checked=True,
            once=sequence.settings.assurance is _ONCE,
            peer=exchange.peer,
        )
    )


def is_delayed(signal: BatchJudged) -> bool:
    """Return whether the queue manager takes the batch later, when there is room or when it is ready."""
    return signal.outcome is Outcome.TRY_LATER or signal.reason is MessageClass.NACK_QUEUE_EXCEED_QUOTA


def _user_of(sequence: Sequence) -> Principal:
    """Return the user who sent last; after a restart, the user who created the sequence, without groups."""
    if sequence.by is not None:
        return sequence.by
    owner = sequence.row.owner
    return Principal(parse_sid(owner)) if owner else ANONYMOUS


# -- messages that are buffered


def ready_numbers(sequence: Sequence) -> list[int]:
    """Return the buffered messages that no missing message before them delays."""
    if not sequence.buffered or (sequence.is_whole and not sequence.is_complete):
        return []
    if sequence.phase is not Phase.OPEN:
        return sorted(sequence.buffered)  # discarded messages are not buffered any more
    return sorted([number for number in sequence.buffered if number < sequence.next])


def buffered_messages(state: State, sequence: Sequence, numbers: list[int]) -> list[Message]:
    """Return the messages under these numbers that wait for earlier ones."""
    found = [state.rows.get(BUFFERED, message_key(sequence.number, number)) for number in numbers]
    return [buffered.message for buffered in found if buffered is not None]


def resume(state: State, sequence: Sequence, most: int = LARGEST_WINDOW) -> None:
    """Offer the buffered messages that are ready to the manager; a whole sequence is always one batch."""
    if sequence.is_judged:
        return
    numbers = ready_numbers(sequence)
    if not numbers:
        _unblock(state, sequence)
        return
    block(sequence)
    if not sequence.is_whole:
        numbers = numbers[: min(most, queue_room(sequence))]
    if not numbers or sequence.waits_for_earlier:
        return
    messages = buffered_messages(state, sequence, numbers)
    sizes = tuple([sequence.buffered[number] for number in numbers])
    arriving = Arriving(sequence, tuple(numbers), tuple(messages), sizes, sequence.target.reports)
    row = sequence.row
    envelope = Envelope(dialect=row.dialect, sequence=SequenceHeader(row.identifier, 0))
    hand_over(state, Exchange(envelope, endpoint=row.endpoint), arriving)


def resume_blocked(state: State, target: TargetQueue) -> None:
    """Offer the messages that wait for a queue, older sequences first, unless not even the first one fits."""
    for _, sequence in sorted(target.blocked.items()):
        numbers = ready_numbers(sequence)
        if not numbers or target.free is None or sequence.buffered[numbers[0]] <= target.free:
            resume(state, sequence)


def on_buffered_judged(state: State, arriving: Arriving, signal: BatchJudged) -> None:
    """Record that buffered messages are in their queue, or must wait for it."""
    sequence = arriving.sequence
    if signal.outcome is Outcome.DELIVERED:
        add_messages(sequence.target, arriving.reports, arriving.sizes)
        apply(state, BufferReleased(sequence.number, arriving.numbers))
        resume(state, sequence)
    elif fits_in_part(signal, sequence):
        resume(state, sequence, signal.place)
    elif is_delayed(signal):
        count = len(sequence.buffered)
        _warn(state, sequence, "messages wait for room", f"{count} messages are buffered: {signal.why}")
    elif sequence.phase is Phase.ENDED:
        discard(state, sequence, arriving.numbers, signal.why or signal.reason.name)
        resume(state, sequence)


def fits_in_part(signal: BatchJudged, sequence: Sequence) -> bool:
    """Return whether the quota has room for the first messages of a batch that may be delivered alone."""
    exceeds = signal.reason is MessageClass.NACK_QUEUE_EXCEED_QUOTA
    return exceeds and signal.place > 0 and not sequence.is_whole


def block(sequence: Sequence) -> None:
    """Record that messages of a sequence wait until their queue has room."""
    sequence.target.blocked[sequence.number] = sequence


def _unblock(state: State, sequence: Sequence) -> None:
    """Record that no message of a sequence waits for its queue, so that the next ones may continue."""
    target = sequence.target
    if target.blocked.pop(sequence.number, None) is not None:
        watch(state, target)
        resume_blocked(state, target)
        acknowledging.notify_starved(state, target)


# -- a sequence that takes no more messages


def settle(state: State, sequence: Sequence) -> None:
    """Deliver or discard the buffered messages of a closed sequence, and report the missing ones."""
    end = max(sequence.received.last, sequence.highest)
    missing = list(sequence.ranges.gaps(1, end)) if end else []
    if missing:
        count = sum(high - low + 1 for low, high in missing)
        _report(state, sequence, "a sequence has gaps", f"messages {_text(missing)} are missing", count)
    lost = _lost_numbers(sequence, missing[0][0] if missing else 0)
    if lost:
        discard(state, sequence, lost, "the sequence is incomplete")
    resume(state, sequence)


def _lost_numbers(sequence: Sequence, gap: int) -> tuple[int, ...]:
    """Return the messages that IncompleteSequenceBehavior discards.

    `gap` is the first missing number, or 0.
    """
    behavior = sequence.settings.incomplete
    if behavior is Incomplete.ENTIRE and not sequence.is_complete:
        return tuple(sorted(sequence.buffered))
    if behavior is Incomplete.FOLLOWING and gap:
        return tuple(sorted([number for number in sequence.buffered if number > gap]))
    return ()


def discard(state: State, sequence: Sequence, numbers: tuple[int, ...], why: str) -> None:
    """Discard messages that were acknowledged, and report it for an administrator."""
    text = _text([(number, number) for number in numbers])
    _report(state, sequence, "messages are discarded", f"messages {text}: {why}", len(numbers))
    apply(state, BufferReleased(sequence.number, numbers))


def _text(ranges: list[tuple[int, int]]) -> str:
    joined: list[tuple[int, int]] = []
    for low, high in ranges:
        if joined and joined[-1][1] + 1 == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    words = [str(low) if low == high else f"{low} to {high}" for low, high in joined[:_MOST_NAMED]]
    more = ["and more"] if len(joined) > _MOST_NAMED else []
    return ", ".join(words + more)


def _report(state: State, sequence: Sequence, what: str, why: str, count: int) -> None:
    """Log and count messages that do not reach their queue; at most a window is counted."""
    state.counts[Count.GAPS] += min(count, LARGEST_WINDOW)
    _warn(state, sequence, what, why)


def _warn(state: State, sequence: Sequence, what: str, why: str) -> None:
    row = sequence.row
    about = f"WS-RM sequence {row.number} to {row.endpoint or row.queue}"
    state.draft.ask(Warn(about, what, f"{row.identifier}: {why}"))

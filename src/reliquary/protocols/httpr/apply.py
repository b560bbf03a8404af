"""Applies each fact to HTTPR's durable state, in memory and as rows; nothing else changes that state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from reliquary.base.turn import Fact
from reliquary.protocols.httpr import facts
from reliquary.protocols.httpr.codec.values import NOTHING, Outcome
from reliquary.protocols.httpr.facts import Side
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import CHANNELS, NUMBERS, ONLY, Channel, Memory, channel_key


def apply(state: State, fact: Fact) -> None:
    """Change the state as a fact says, and add the fact to the turn."""
    _APPLY[type(fact)](state, fact)
    state.draft.state(fact)


def _keep(state: State, channel: Channel) -> None:
    state.add(channel)
    state.rows.put(CHANNELS, channel_key(channel.number), channel)


def _open(state: State, fact: facts.ChannelOpened) -> None:
    state.numbers = replace(state.numbers, channel=max(state.numbers.channel, fact.channel.number))
    state.rows.put(NUMBERS, ONLY, state.numbers)
    _keep(state, fact.channel)


def _number_session(state: State, fact: facts.SessionNumbered) -> None:
    state.numbers = replace(state.numbers, session=fact.session)
    state.rows.put(NUMBERS, ONLY, state.numbers)


def _prepare(state: State, fact: facts.BatchPrepared) -> None:
    before = state.channels[fact.channel]
    assert fact.batch > before.last_source_id, f"batch {fact.batch} after {before.last_source_id}"  # HR-103
    in_doubt = (*before.in_doubt, fact.batch)
    _keep(state, replace(before, last_source_id=fact.batch, in_doubt=in_doubt, source_forgotten=False))


def _settle(state: State, fact: facts.BatchesSettled) -> None:
    before, gone = state.channels[fact.channel], {*fact.committed, *fact.returned, *fact.unknown}
    _keep(state, replace(before, in_doubt=tuple([each for each in before.in_doubt if each not in gone])))


def _receive(state: State, fact: facts.BatchReceived) -> None:
    before = state.channels[fact.channel]
    received = replace(before, last_received_id=fact.batch, last_received_outcome=fact.outcome)
    _keep(state, replace(received, sink_restored=False) if received.sink_restored else received)


def _report(state: State, fact: facts.PeerReported) -> None:
    before = state.channels[fact.channel]
    _keep(state, replace(before, last_sent_id=fact.last_sent_id, sink_restored=False))


def _note_era(state: State, fact: facts.EraNoted) -> None:
    state.numbers = replace(state.numbers, era=fact.began)
    state.rows.put(NUMBERS, ONLY, state.numbers)
    for channel in list(state.channels.values()):
        _keep(state, _restored(channel, fact.began))


def _restored(channel: Channel, began: int) -> Channel:
    """Return the row of a channel as the new era begins with it.

    A channel that was OUTDATED still has messages of the era before that one, so no id is known for certain.
    """
    backup = {Memory.CURRENT: channel.last_source_id, Memory.RESTORED: channel.backup_id}
    return replace(
        channel,
        memory=Memory.RESTORED,
        backup_id=backup.get(channel.memory, NOTHING),
        last_source_id=max(channel.last_source_id, began),
        source_forgotten=channel.source_forgotten or channel.last_source_id == NOTHING,
        sink_restored=channel.has_sink_state,
    )


def _judge_memory(state: State, fact: facts.MemoryJudged) -> None:
    before, last = state.channels[fact.channel], fact.last_source_id
    _keep(state, replace(before, memory=fact.memory, backup_id=NOTHING, last_source_id=last))


def _see_fetching(state: State, fact: facts.FetchingSeen) -> None:
    _keep(state, replace(state.channels[fact.channel], pulled=True))


def _forget(state: State, fact: facts.SideForgotten) -> None:
    before = state.channels[fact.channel]
    if fact.side is Side.SOURCE:
        assert not before.in_doubt, f"batches {before.in_doubt} are in doubt and would be forgotten"
        _keep(state, replace(before, source_forgotten=True))
    else:
        _keep(
            state,
            replace(
                before,
                last_received_id=NOTHING,
                last_received_outcome=Outcome.COMMIT,
                last_sent_id=NOTHING,
                sink_restored=False,
            ),
        )


_APPLY: Final[dict[type[Fact], Callable[[State, Any], None]]] = {
    facts.ChannelOpened: _open,
    facts.SessionNumbered: _number_session,
    facts.BatchPrepared: _prepare,
    facts.BatchesSettled: _settle,
    facts.BatchReceived: _receive,
    facts.PeerReported: _report,
    facts.EraNoted: _note_era,
    facts.MemoryJudged: _judge_memory,
    facts.FetchingSeen: _see_fetching,
    facts.SideForgotten: _forget,
}
APPLIED: Final = tuple(_APPLY)
"""Every class of facts that the machine applies."""

"""Retires sequences after the store was restored from a backup (`queueing.era`).

    a sequence that is being created     forgotten: the peer may have created it, and messages may be in it
    any other sequence                   its messages are sent again under their numbers of the backup;
                                         it assigns no new numbers, and ends when they have their outcome
    a message without a number           it may have been sent after the backup: a dead letter

Messages that this sequence does not confirm are not sent in another one: the old manager may have done that
already.
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.wsrm.source.apply import apply
from reliquary.protocols.wsrm.source.facts import SequenceEnded, SequencesRetired
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.state import Sequence
from reliquary.protocols.wsrm.source.tables import Ranges
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.travel.transfer import EraBegan


def on_era(state: State, signal: EraBegan, now: Instant) -> None:
    """Retire all sequences of the backup, in which no number is assigned any more."""
    del signal, now
    retired = []
    for sequence in list(state.source.sequences.values()):
        if sequence.phase is Phase.CREATING:
            apply(state, SequenceEnded(sequence.number))
        else:
            retired.append(sequence.number)
    if retired:
        apply(state, SequencesRetired(tuple(retired)))


def known_part(sequence: Sequence, ranges: Ranges) -> Ranges:
    """Return acknowledged ranges without the numbers that were assigned after the backup."""
    last = sequence.row.last
    if not sequence.row.restored:
        return ranges
    return tuple((low, min(high, last)) for low, high in ranges if low <= last)

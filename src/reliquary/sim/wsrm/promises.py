"""Finds the messages that may be late: those of a second sequence, and those after a permanent gap.

A message is sent in a second sequence if the first one ended before it was acknowledged; a gap stays if
the source sends nothing more or was restored.
"""

from __future__ import annotations

from collections import Counter

from reliquary.base.turn import TimerFired
from reliquary.protocols.wsrm.destination.facts import MessageBuffered
from reliquary.protocols.wsrm.source import facts as wsrm
from reliquary.queueing.model.facts import MessagesStored
from reliquary.sim.history import named
from reliquary.sim.world.promises import Deliveries, stated


def renumbered_in(deliveries: Deliveries) -> set[bytes]:
    """Return messages that got a number in more than one sequence.

    When a destination ends a sequence with gaps, the messages after the gaps are delivered, because they
    were acknowledged; the missing messages come later, in the next sequence.
    """
    counts: Counter[tuple[str, int, int]] = Counter()
    for site, witness in deliveries.register.sites.items():
        queues: dict[int, int] = {}
        for turned, fact in stated(witness.history):
            if turned.forgotten:
                continue
            match fact:
                case wsrm.SequenceBegun():
                    queues[fact.outbound.number] = fact.outbound.queue
                case wsrm.QueueAssigned():
                    queues[fact.sequence] = fact.queue
                case wsrm.MessagesNumbered():
                    counts.update((site, queues[fact.sequence], each) for each in fact.lookup_ids)
                case _:
                    pass
    return {deliveries.places[place] for place, count in counts.items() if count > 1}


def outlived_in(deliveries: Deliveries) -> set[bytes]:
    """Return acknowledged messages that waited after a gap until the time of their sequence was over.

    Their source does not end the sequence, because it does not reach the destination or has forgotten it.
    """
    found: set[bytes] = set()
    for witness in deliveries.register.sites.values():
        buffered: set[bytes] = set()
        for turned, fact in stated(witness.history):
            if isinstance(fact, MessageBuffered):
                buffered.add(named(fact.message))
            elif isinstance(fact, MessagesStored) and isinstance(turned.event, TimerFired):
                found |= buffered.intersection(map(named, fact.messages))
    return found

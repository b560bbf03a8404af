"""Which messages may be late: those that went on in a second sequence, because the first one ended before."""

from __future__ import annotations

from collections import Counter

from reliquary.protocols.wsrm.source import facts as wsrm
from reliquary.sim.world.promises import Deliveries, stated


def renumbered_in(deliveries: Deliveries) -> set[bytes]:
    """Messages that got a number in more than one sequence.

    When a destination ends a sequence with gaps, what lies behind the gaps is delivered, because it was
    acknowledged; the messages that were missing come later, in the next sequence.
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

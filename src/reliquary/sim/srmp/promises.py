"""Checks at the end the messages that SRMP brought from site to site; `world.promises` checks losses.

duplication   it is there once; twice only if its identifier was forgotten in between, as the settings allow,
              or because the store was restored; what is in a stream does not come twice even then
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import pairwise

from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.sim.history import History, Sending, Violation, shown
from reliquary.sim.world.promises import Arrival, Deliveries, stated
from reliquary.streams import facts as streams


def renumbered_in(deliveries: Deliveries) -> set[bytes]:
    """Return messages that got a second number, because their stream was given up."""
    counts: Counter[tuple[str, int, int]] = Counter()
    for site, witness in deliveries.register.sites.items():
        for turned, fact in stated(witness.history):
            if isinstance(fact, streams.MessagesNumbered) and turned.kept:
                counts.update((site, fact.queue, lookup_id) for lookup_id in fact.lookup_ids)
    return {deliveries.places[place] for place, count in counts.items() if count > 1}


def check_duplication(
    deliveries: Deliveries, settings: Mapping[str, SrmpSettings], renumbered: Collection[bytes]
) -> None:
    """Check that no message arrives twice while its identifier is remembered, and none of a stream ever."""
    sites = deliveries.register.sites
    labels = {sending.label: sending for sending in deliveries.register.sendings.values()}
    for name, arrivals in deliveries.arrivals.items():
        if arrivals and _is_by_another_protocol(deliveries, labels.get(arrivals[0].message.label)):
            continue
        for one, other in pairwise(arrivals):
            forgotten = _was_forgotten(sites[one.site].history, one, other, settings[one.site])
            in_stream = one.message.sequence is not None and name not in renumbered
            passed = one.position.express and one.turned.process_number != other.turned.process_number
            if not passed and (in_stream or not forgotten):
                raise Violation(
                    f"duplication: {shown(name)} came to {one.site} in turn {one.turned.number},"
                    f" and again in turn {other.turned.number}"
                )


def _is_by_another_protocol(deliveries: Deliveries, sending: Sending | None) -> bool:
    """Return whether another protocol carries a message to its destination, or carries its
    acknowledgements."""
    return sending is not None and deliveries.register.last_plugin(sending).name != "srmp"


def _was_forgotten(history: History, one: Arrival, other: Arrival, settings: SrmpSettings) -> bool:
    """Return whether the history of identifiers was too small or too short to find the second arrival."""
    if one.turned.forgotten:
        return True
    later = history.turns[one.turned.number + 1 : other.turned.number]
    remembered = [
        fact for turned in later for fact in turned.facts if isinstance(fact, streams.IdentifierRemembered)
    ]
    count = sum(fact.express == one.position.express for fact in remembered)
    moments = [turned.now for turned in later] + [other.turned.now]
    return count >= settings.history_size or max(moments) - one.turned.now >= settings.history_age

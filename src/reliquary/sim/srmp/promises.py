"""What must hold in the end for all that went from site to site by SRMP; `world.promises` checks losses.

duplication   it is there once; twice only if its identifier was forgotten in between, as the settings allow,
              or because the store was restored; what is in a stream does not come twice even then
receipts      what a receipt says is true, it is said once for each time that it happened, and none is missing
              where no process crashed
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from itertools import pairwise

from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.message import Acknowledgement, MessageClass
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.sim.history import History, Sending, Violation, shown
from reliquary.sim.world.promises import Arrival, Deliveries, stated
from reliquary.streams import facts as streams

ASKED = {
    MessageClass.ACK_REACH_QUEUE: {Acknowledgement.POS_ARRIVAL, Acknowledgement.FULL_REACH_QUEUE},
    MessageClass.ACK_RECEIVE: {Acknowledgement.POS_RECEIVE, Acknowledgement.FULL_RECEIVE},
}
BY_SOURCE = frozenset(
    {
        MessageClass.NACK_REACH_QUEUE_TIMEOUT,
        MessageClass.NACK_PURGED,
        MessageClass.NACK_BAD_DEST_QUEUE,
        MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE,
        MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE,
        NOT_KNOWN,
    }
)
"""What only the site that sends can say of a message."""


def renumbered_in(deliveries: Deliveries) -> set[bytes]:
    """Messages that got a second number, because their stream was given up."""
    counts: Counter[tuple[str, int, int]] = Counter()
    for site, witness in deliveries.register.sites.items():
        for turned, fact in stated(witness.history):
            if isinstance(fact, streams.MessagesNumbered) and turned.kept:
                counts.update((site, fact.queue, lookup_id) for lookup_id in fact.lookup_ids)
    return {deliveries.places[place] for place, count in counts.items() if count > 1}


def check_duplication(
    deliveries: Deliveries, settings: Mapping[str, SrmpSettings], renumbered: Collection[bytes]
) -> None:
    """Nothing comes twice while its identifier is remembered, and nothing of a stream ever."""
    sites = deliveries.register.sites
    for name, arrivals in deliveries.arrivals.items():
        for one, other in pairwise(arrivals):
            forgotten = _was_forgotten(sites[one.site].history, one, other, settings[one.site])
            in_stream = one.message.sequence is not None and name not in renumbered
            passed = one.position.express and one.turned.life != other.turned.life
            if not passed and (in_stream or not forgotten):
                raise Violation(
                    f"duplication: {shown(name)} came to {one.site} in turn {one.turned.number},"
                    f" and again in turn {other.turned.number}"
                )


def _was_forgotten(history: History, one: Arrival, other: Arrival, settings: SrmpSettings) -> bool:
    """Whether the history of identifiers was too small or too short to know the second."""
    if one.turned.forgotten:
        return True
    later = history.turns[one.turned.number + 1 : other.turned.number]
    remembered = [
        fact for turned in later for fact in turned.facts if isinstance(fact, streams.IdentifierRemembered)
    ]
    count = sum(fact.express == one.position.express for fact in remembered)
    moments = [turned.now for turned in later] + [other.turned.now]
    return count >= settings.history_size or max(moments) - one.turned.now >= settings.history_age


def check_receipts(deliveries: Deliveries) -> None:
    """Receipts are true and not repeated, and where no process crashed none is missing."""
    register = deliveries.register
    labels = {sending.label: sending for sending in register.sendings.values()}
    receipts: dict[tuple[bytes, MessageClass], set[bytes]] = defaultdict(set)
    for name, arrivals in deliveries.arrivals.items():
        for arrival in arrivals:
            kind = MessageClass(arrival.message.message_class)
            if kind is MessageClass.NORMAL:
                continue
            sending = labels.get(arrival.message.label)
            if sending is None or not _is_true(deliveries, sending, kind):
                raise Violation(f"receipt: {shown(name)} came to {arrival.site}, and is not so")
            receipts[sending.body, kind].add(name)
    for (body, kind), names in receipts.items():
        restores = sum(site.history.restores for site in register.sites.values())
        if len(names) > max(len(deliveries.arrivals[body]), 1) + restores:
            raise Violation(f"receipt: {kind.name} of {shown(body)} is said {len(names)} times")
    if all(site.history.crashes == 0 for site in register.sites.values()):
        _check_complete(deliveries, receipts)


def _is_true(deliveries: Deliveries, sending: Sending, kind: MessageClass) -> bool:
    register = deliveries.register
    site, _ = register.target(sending)
    seen = site in register.seen[sending.body] if sending.express else bool(deliveries.arrivals[sending.body])
    ends = deliveries.ever_ended(site, sending.body)
    if sending.asks is None:
        return False
    if kind is MessageClass.ACK_REACH_QUEUE:
        return seen
    if kind is MessageClass.ACK_RECEIVE:
        return kind in ends
    if kind is NOT_KNOWN and sending.body in register.put_aside:
        return True
    if kind in BY_SOURCE:
        return kind in deliveries.ever_ended(register.home(sending), sending.body)
    once = len(deliveries.arrivals[sending.body]) <= 1 and not deliveries.forgotten[site, sending.body]
    return kind in ends and not (once and MessageClass.ACK_RECEIVE in ends)


def _check_complete(deliveries: Deliveries, receipts: dict[tuple[bytes, MessageClass], set[bytes]]) -> None:
    for sending in deliveries.register.sendings.values():
        site, _ = deliveries.register.target(sending)
        came = bool(deliveries.arrivals[sending.body])
        read = MessageClass.ACK_RECEIVE in deliveries.ends[site, sending.body]
        for kind, due in ((MessageClass.ACK_REACH_QUEUE, came), (MessageClass.ACK_RECEIVE, read)):
            if due and sending.asks in ASKED[kind] and (sending.body, kind) not in receipts:
                raise Violation(f"receipt: nobody said {kind.name} of {shown(sending.body)}")

"""Checks the acknowledgements that applications requested, by any protocol.

receipts   an acknowledgement is true, it comes once for each event, and none is missing if no process
crashed
"""

from __future__ import annotations

from collections import defaultdict

from reliquary.queueing.model.message import Acknowledgement, MessageClass
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.sim.history import Sending, Violation, shown
from reliquary.sim.world.promises import Deliveries

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
"""The acknowledgements that only the sending site can send."""


def check_receipts(deliveries: Deliveries) -> None:
    """Check that receipts are true and not repeated, and that none is missing if no process crashed."""
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
    if register.last_plugin(sending).may_have_refused(sending, kind):
        return True
    if kind is MessageClass.ACK_REACH_QUEUE:
        return seen
    if kind is MessageClass.ACK_RECEIVE:
        return kind in ends
    if kind is NOT_KNOWN and sending.body in register.put_aside:
        return True
    if kind in BY_SOURCE:
        return kind in deliveries.ever_ended(register.sending_site(sending), sending.body)
    once = len(deliveries.arrivals[sending.body]) <= 1 and not deliveries.forgotten[site, sending.body]
    return kind in ends and not (once and MessageClass.ACK_RECEIVE in ends)


def _check_complete(deliveries: Deliveries, receipts: dict[tuple[bytes, MessageClass], set[bytes]]) -> None:
    for sending in deliveries.register.sendings.values():
        site, _ = deliveries.register.target(sending)
        came = bool(deliveries.arrivals[sending.body])
        # a destination may keep a dead letter of a message that it refused, and an application reads that
        read = came and MessageClass.ACK_RECEIVE in deliveries.ends[site, sending.body]
        for kind, due in ((MessageClass.ACK_REACH_QUEUE, came), (MessageClass.ACK_RECEIVE, read)):
            if due and sending.asks in ASKED[kind] and (sending.body, kind) not in receipts:
                raise Violation(f"receipt: no receipt {kind.name} came for {shown(sending.body)}")

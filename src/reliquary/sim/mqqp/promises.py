"""Checks at the end the messages that one site read from another.

order    one application gets the messages of one sender and priority as they were sent, unless one of them
         was given back by a reader, or locked by an application at its own site
owed     messages that a client has acknowledged for a waiting application were delivered to it
"""

from __future__ import annotations

from collections.abc import Sequence

from reliquary.sim.history import SenderKnowledge, Sending, Violation, shown
from reliquary.sim.mqqp.readings import Readings
from reliquary.sim.world.applications import INBOX
from reliquary.sim.world.register import Register


def check_order(register: Register, readings: Readings) -> None:
    """Check that an application received messages from queues of other sites in the order in which they were
    sent.
    """
    for reader, bodies in readings.orders.items():
        last: dict[tuple[str, str, int], Sending] = {}
        for body in bodies:
            sending = register.sendings[body]
            if sending.standing is not SenderKnowledge.CONFIRMED or sending.transaction is not None:
                continue
            if sending.queue != INBOX:  # another protocol brought it, perhaps in another order
                continue
            if readings.handed_out[body] > 1 or body in readings.out_of_turn:
                continue
            key = (sending.sender, sending.queue, sending.priority)
            before = last.get(key)
            if before is not None and before.number > sending.number:
                raise Violation(f"order: {reader} got {shown(body)} after {shown(before.body)}")
            last[key] = sending


def check_delivered(site: str, owed: Sequence[str]) -> None:
    """Check that no application waits for a message that its server has removed."""
    if owed:
        raise Violation(f"loss: the client of {site} acknowledged {owed}, and no application got that")

"""What must hold in the end for all that went from site to site by HTTPR, beside that nothing is lost.

duplication   what comes a second time is found when it is stored
order         what one application sends with one priority over a single path is stored there in its order
drained       nothing is in doubt, nothing is held, no queue from which messages leave has any
"""

from __future__ import annotations

from reliquary.protocols.httpr.state import State as HttprState
from reliquary.queueing.state import State
from reliquary.sim.between.promises import Books, check_left, check_loss, in_order, under_way
from reliquary.sim.history import Sending, Violation, named, shown
from reliquary.sim.httpr.plan import Plan
from reliquary.sim.httpr.register import Channels
from reliquary.sim.httpr.travel import PASSING


def check_promises(register: Channels, plan: Plan) -> None:
    """All but the last of them."""
    books = Books.of(register, PASSING)
    check_loss(register, books)
    check_order(register, books, plan)


def check_order(register: Channels, books: Books, plan: Plan) -> None:
    """What one application sent to one queue with one priority is stored there as it was sent."""
    last: dict[tuple[str, str, int], Sending] = {}
    for site in register.sites:
        for arrival in in_order(books, site):
            sending = register.sendings[named(arrival.message)]
            if arrival.turned.lost:  # an express message that a crash took comes again
                continue
            if not plan.is_single_path(register.home(sending), sending.queue, site):
                continue
            key = (sending.sender, sending.queue, sending.priority)
            before = last.get(key)
            if before is not None and before.number >= sending.number:
                raise Violation(
                    f"order: {shown(sending.body)} came to {site} in turn {arrival.turned.number},"
                    f" after {shown(before.body)}, which was sent later"
                )
            last[key] = sending


def check_drained(site: str, manager: State, httpr: HttprState) -> None:
    """Nothing of what goes elsewhere is left."""
    check_left(
        site,
        {
            "messages": under_way(manager, PASSING),
            "holds": manager.holds,
            "batches in doubt": {n: each.in_doubt for n, each in httpr.channels.items() if each.in_doubt},
            "administrators": [
                n for n, each in httpr.client.channels.items() if each.report_callers or each.forget_callers
            ],
            "loose bodies": manager.shelf.bodies.loose,
        },
    )

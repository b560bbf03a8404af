"""Scene T-37 of MQQB in full: 140,001 packets on one session, whose counters have 16 bits on the wire."""

from __future__ import annotations

from random import Random

import pytest

from reliquary.protocols.mqqb.state import Count
from reliquary.queueing.model.message import Delivery
from tests.protocols.mqqb.mqqb_harness import waiting
from tests.protocols.mqqb.pair import RIGHT, Pair

OF_EACH_KIND = 70_000
AT_ONCE = 1_000
COUNTERS_WRAP = 1 << 16


@pytest.mark.long
@pytest.mark.mqqb("T-37", "G-17")
@pytest.mark.spec("QB-201", "QB-202")
def test_70000_messages_of_each_kind_arrive_in_order_on_one_session() -> None:
    kinds = [Delivery.EXPRESS, Delivery.RECOVERABLE] * OF_EACH_KIND
    Random(37).shuffle(kinds)
    kinds.append(Delivery.EXPRESS)
    pair = Pair()
    to = f"DIRECT=TCP:{RIGHT}\\private$\\orders"
    for number, kind in enumerate(kinds):
        pair.left.send(to, b"%d" % number, delivery=kind)
        if number % AT_ONCE == 0:
            # An acknowledgement is for 32 packets, and an odd number of them is sent here.  So the session
            # is never drained, and not renewed before its counters wrap.
            pair.run()
            for site in pair.sites.values():  # they are kept for tests, and would fill the memory
                site.turns.clear()
                site.answers.clear()
    (session,) = pair.left.mqqb.sessions.values()
    assert session.number == 1
    assert session.sent == len(kinds) > 2 * COUNTERS_WRAP
    assert session.recoverable_sent == OF_EACH_KIND > COUNTERS_WRAP
    pair.advance(11)  # the last acknowledgement waits for its timer
    assert waiting(pair.left, to) == 0
    assert pair.right.bodies("orders") == [b"%d" % number for number in range(len(kinds))]
    counts = pair.right.mqqb.counts
    assert (counts[Count.RECEIVED], counts[Count.DUPLICATES], counts[Count.MALFORMED]) == (len(kinds), 0, 0)

"""Which queue a name means."""

from __future__ import annotations

import pytest

from reliquary.queueing.destinations import find
from tests.queueing.manager_harness import Bench


@pytest.mark.spec("DM-166")
def test_every_kind_of_name_finds_the_same_queue() -> None:
    state = Bench().state
    identity, queue = state.identity(), find(state, "orders")
    assert queue is not None
    for name in (
        f"DIRECT=OS:{identity.computer_name.upper()}\\private$\\ORDERS",
        "DIRECT=TCP:127.0.0.1\\private$\\orders",
        "DIRECT=HTTP://localhost:8480/msmq/private$/orders",
        f"PRIVATE={identity.identifier}\\{queue.number:x}",
        f"PUBLIC={queue.record.identifier}",
    ):
        assert find(state, name) is queue, name
    assert find(state, f"MACHINE={identity.identifier};DEADXACT") is state.system_queue("deadxact")
    journal = find(state, f"PRIVATE={identity.identifier}\\{queue.number:x};JOURNAL")
    assert journal is not None
    assert journal.record.is_journal
    for name in ("DIRECT=OS:elsewhere\\private$\\orders", "DIRECT=OS:.\\orders", "MULTICAST=224.1.1.1:1"):
        assert find(state, name) is None, name

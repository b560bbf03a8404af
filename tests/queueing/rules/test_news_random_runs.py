"""Random runs of one message that asks for its final outcome: the answer comes exactly once."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.queueing.model.events import (
    AbortTransaction,
    CommitTransaction,
    DeleteQueue,
    EndRead,
    MoveMessage,
    PurgeQueue,
)
from tests.queueing.administration import ask, classes
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, walk

# -- the whole run

STEPS = st.lists(
    st.sampled_from(
        (
            "hold",
            "give back",
            "done",
            "reject",
            "receive",
            "begin",
            "commit",
            "abort",
            "purge",
            "delete",
            "expire",
            "move",
            "move back",
            "restart",
            "crash",
        )
    ),
    max_size=12,
)


class TrackedMessage:
    """One message that wants to know its end."""

    def __init__(self) -> None:
        self.bench = Bench("admin", "orders", "orders;later", "quiet")
        ask(self.bench, b"m", time_to_be_received=1000)
        self.bench.flush()
        self.receipt = 0
        self.transaction: UUID | None = None

    def do(self, step: str) -> None:
        bench = self.bench
        match step:
            case "hold":
                self.receipt = getattr(bench.receive("orders", hold=10**6), "receipt", 0) or self.receipt
            case "give back" | "done" | "reject":
                ended = EndRead(0, self.receipt, delete=step != "give back", reject=step == "reject")
                bench.ask(ended)
            case "receive":
                bench.receive("orders")
                bench.receive("orders;later")
            case "begin":
                self.transaction = self.transaction or bench.begin()
                bench.receive("orders", transaction=self.transaction)
            case "commit" | "abort" if self.transaction is not None:
                asked = CommitTransaction if step == "commit" else AbortTransaction
                bench.ask(asked(0, self.transaction))
                self.transaction = None
            case "move" | "move back":
                there, here = (
                    ("orders;later", "orders") if step == "move back" else ("orders", "orders;later")
                )
                queue = bench.state.find(bench.state.parse(there))
                for position in walk(queue) if queue else []:
                    bench.ask(MoveMessage(0, there, position.lookup_id, here))
            case "purge":
                bench.ask(PurgeQueue(0, "orders"))
            case "delete":
                bench.ask(DeleteQueue(0, "orders"))
            case "expire":
                bench.advance(1000)
            case "restart" | "crash":
                bench.flush()
                bench.restart(crash=step == "crash")
                self.transaction = None
            case _:
                assert self.transaction is None, f"nothing is done for {step}"

    def end(self) -> None:
        """Release all locks on the message, and receive it."""
        for step in ("abort", "give back"):
            self.do(step)
        for path in ("orders", "orders;later"):
            self.bench.receive(path)


@pytest.mark.spec("DM-056")
@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_every_removal_of_a_message_is_acknowledged_exactly_once(steps: list[str]) -> None:
    tracked = TrackedMessage()
    for step in steps:
        tracked.do(step)
        check(tracked.bench.state)
    tracked.end()
    assert len(classes(tracked.bench)) == 1, (steps, classes(tracked.bench))
    assert sum(map(len, map(walk, tracked.bench.state.queues.values()))) == 1

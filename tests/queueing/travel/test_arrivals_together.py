"""A batch for one queue has one result on the short path and on the path for all batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import SECOND
from reliquary.queueing.model.events import AccessChange, ChangeAccess, FlowControl, TakeOffline
from reliquary.queueing.model.message import FOREVER, Delivery, ObjectId, SequenceId, StoredBody
from reliquary.queueing.model.queue import QueuePrivacy
from reliquary.queueing.model.security.principals import ANONYMOUS, EVERYONE, MANAGER, Principal
from reliquary.queueing.model.security.rights import QueueRight
from reliquary.queueing.model.travel.transfer import BatchArrived, BatchJudged, Outcome, RoomWatched
from reliquary.queueing.travel import arrivals
from tests.queueing.answers import everything
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import NOON, message

BATCH = UUID(int=9)
NAMES = [
    "orders", "private$\\orders", "strict", "narrow", "signed", "sealed", "open", "guarded", "nowhere",
    "system$;deadletter", "DIRECT=", "MULTICAST=234.1.1.1:80", "other\\private$\\orders", ELSEWHERE,
]  # fmt: skip
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "plain": {},
    "express": {"delivery": Delivery.EXPRESS},
    "large": {"body": b"x" * 2000},
    "priority": {"priority": 7},
    "delayed": {"delay": 5 * SECOND},
    "in a transaction": {"transaction": BATCH},
    "in a stream": {"sequence": SequenceId(1, 2)},
    "late": {"sent_time": NOON // SECOND - 10, "time_to_be_received": 5},
    "late to reach": {"sent_time": NOON // SECOND - 10, "time_to_reach_queue": 5},
    "in time": {"sent_time": NOON // SECOND - 10, "time_to_be_received": 50},
    "a body that is not there": {"stored_body": StoredBody(77, 5, 1)},
}
HINDRANCES = ["", "", "", "throttled", "offline", "stopped"]


def prepared(hindrance: str, *, watched: bool) -> Exchange:
    """Return a manager with queues of many kinds."""
    exchange = Exchange()
    exchange.create("strict", transactional=True)
    exchange.create("narrow", quota=1)
    exchange.create("signed", authentication=True)
    exchange.create("sealed", privacy=QueuePrivacy.BODY)
    exchange.create("open", privacy=QueuePrivacy.NONE)
    exchange.create("guarded")
    exchange.ask(ChangeAccess(0, "guarded", AccessChange.DENY, EVERYONE, QueueRight.WRITE_MESSAGE))
    exchange.manual_carrier.connects = False
    exchange.say(
        BatchArrived("manual_carrier", 1, (ELSEWHERE,), (message(b"first"),), BATCH)
    )  # it has a queue now
    if watched:
        exchange.say(RoomWatched("manual_carrier", frozenset({"orders", "narrow"})))
    if hindrance == "throttled":
        exchange.handle(FlowControl(throttled=True))
    elif hindrance == "offline":
        exchange.ask(TakeOffline(0))
    elif hindrance == "stopped":
        exchange.stop()
    exchange.turns.clear()
    exchange.manual_carrier.received.clear()
    return exchange


def brought(
    names: tuple[str, ...], kinds: Sequence[str], by: Principal, exchange: Exchange
) -> tuple[object, ...]:
    """Return the answers, the facts and the state after a batch."""
    messages = []
    for place, kind in enumerate(kinds):
        usual: dict[str, Any] = {
            "identifier": ObjectId(UUID(int=7), 5 + place),
            "sent_time": NOON // SECOND,
            "time_to_reach_queue": FOREVER,
        }
        messages.append(message(**usual | ATTRIBUTES[kind]))
    exchange.say(BatchArrived("manual_carrier", 5, names, tuple(messages), BATCH, by, checked=True))
    return exchange.manual_carrier.received, exchange.facts, everything(exchange.state)


def differences(
    names: tuple[str, ...], kinds: Sequence[str], by: Principal, hindrance: str, *, watched: bool
) -> tuple[object, object]:
    """Return the outcome on the short path, and on the long one."""
    short, long = (prepared(hindrance, watched=watched) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrivals, "_put_together", lambda *_: False)
        expected = brought(names, kinds, by, long)
    return brought(names, kinds, by, short), expected


@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(sorted(ATTRIBUTES))), min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([ANONYMOUS, MANAGER]),
    st.sampled_from(HINDRANCES),
    st.booleans(),
)
def test_both_paths_lead_to_one_result(
    batch: list[tuple[str, str]], one_queue: bool, by: Principal, hindrance: str, watched: bool
) -> None:
    names = tuple(batch[0][0] if one_queue else name for name, _ in batch)
    short, long = differences(names, [kind for _, kind in batch], by, hindrance, watched=watched)
    assert short == long


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_both_paths_lead_to_one_result_for_each_kind_of_message(kind: str) -> None:
    for name in ("orders", "strict", "narrow"):
        for kinds in ([kind], ["plain", kind]):
            short, long = differences((name,) * len(kinds), kinds, ANONYMOUS, "", watched=True)
            assert short == long


@pytest.mark.parametrize("name", NAMES)
def test_both_paths_lead_to_one_result_for_each_queue(name: str) -> None:
    for by in (ANONYMOUS, MANAGER):
        short, long = differences((name, name), ["plain"] * 2, by, "", watched=False)
        assert short == long


@pytest.mark.parametrize("hindrance", [each for each in HINDRANCES if each])
def test_both_paths_lead_to_one_result_while_nothing_is_taken(hindrance: str) -> None:
    short, long = differences(("orders",), ["plain"], ANONYMOUS, hindrance, watched=False)
    assert short == long


@pytest.mark.parametrize("name", ["orders", "strict"])
@pytest.mark.parametrize("count", [1, 3])
def test_most_batches_take_the_short_path(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = prepared("", watched=False)
    monkeypatch.delattr(arrivals, "_judge")
    heard, *_ = brought((name,) * count, ["plain"] * count, ANONYMOUS, exchange)
    assert heard == [BatchJudged("manual_carrier", 5, Outcome.DELIVERED)]

"""Random runs show that a reader of a feed sees each message once, under a number that never changes.

Readers have limits in some of them: then a reader gets a report of each message that it does not see.

The runs are like those of `test_recovery`, with few queues and many readers.  The readers read at random
moments, and are checked after every restart.
"""

from __future__ import annotations

import pytest

from tests.queueing.random_runs import DRAW, WEIGHTS, Draw, RandomRun, Weights, one_of, try_seeds

READ: Weights = {
    **{step: weight for step, weight in WEIGHTS.items() if "elsewhere" not in step.__name__},
    RandomRun.open_consumer: 6,
    RandomRun.read_feed: 5,
    RandomRun.move_consumer: 4,
    RandomRun.drop_consumer: 2,
    RandomRun.limit_consumer: 3,
    RandomRun.wait: 4,
    RandomRun.move: 12,
    RandomRun.watch_for_poison: 4,
    RandomRun.end_read: 6,
    RandomRun.crash: 2,
}
FEW: Draw = {
    **DRAW,
    "path": one_of("a", "a", "b"),
    "readable": one_of("a", "a", "b", "a;journal"),
    "early": one_of(True, False, False),
}


@pytest.mark.parametrize("first", range(0, 120, 30))
def test_a_feed_is_read_whole_and_once(first: int) -> None:
    try_seeds(range(first, first + 30), READ, FEW)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1_000, 7_000, 250))
def test_a_feed_is_read_whole_and_once_in_every_random_run(first: int) -> None:
    try_seeds(range(first, first + 250), READ, FEW)

"""Tests two managers and restores on either side: nothing is doubled, out of order, or lost without a
report.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.protocols.srmp.test_conversation import Network, Talker, is_receipt
from tests.protocols.srmp.test_restore import backup, dead, restore
from tests.queueing.state_checks import check


class RandomRun:
    """One random run, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.net = Network(in_flight=self.random.choice([1, 2, 32]))
        self.restores = 0
        self.sent: list[bytes] = []
        """All that was ever committed, in its order."""
        self.excused: set[bytes] = set()
        """What went with an old store: its commit, or its arrival."""

    def commit(self) -> None:
        bodies = [b"%d" % (len(self.sent) + place) for place in range(self.random.randint(1, 5))]
        attributes = {"negative_journaling": True} if self.random.random() < 0.2 else {}
        self.net.alpha.commit(*bodies, **attributes)
        self.sent += bodies

    def some(self, steps: int) -> None:
        for _ in range(steps):
            match self.random.randrange(6):
                case 0 | 1:
                    self.commit()
                case 2:
                    self.net.carry(0)
                case 3:
                    self.net.carry(self.random.choice([0.5, 2, 40]))
                case 4:
                    self.net.lose = self.random.choice([is_receipt, lambda _: True, lambda _: False])
                case _:
                    (self.net.alpha if self.random.random() < 0.5 else self.net.beta).restart()

    def go_back(self) -> None:
        """Go on for a while, and restore one of them from a backup before that."""
        net, sender = self.net, self.random.random() < 0.5
        talker: Talker = net.alpha if sender else net.beta
        saved, known = backup(talker), len(self.sent)
        self.some(self.random.randint(1, 6))
        if sender:
            self.excused.update(self.sent[known:])
        else:
            self.excused.update(net.beta.bodies("torders"), net.beta.bodies("system$;deadxact"))
        self.restores += 1
        restore(talker, saved, self.restores)
        self.some(self.random.randint(1, 6))

    def check(self) -> None:
        net = self.net
        net.lose = lambda _: False
        net.carry(1500)
        arrived = [int(body) for body in net.beta.bodies("torders")]
        assert arrived == sorted(set(arrived)), "twice, or out of order"
        kept = {*net.beta.bodies("torders"), *dead(net.alpha), *dead(net.beta)}
        waiting = set(self.sent) - kept - self.excused
        assert not waiting, f"lost without a report: {sorted(waiting)}"
        check(net.alpha.state)
        check(net.beta.state)


def play(seed: int) -> None:
    run = RandomRun(seed)
    run.some(run.random.randint(1, 8))
    for _ in range(run.random.choice([1, 1, 2])):
        run.go_back()
    run.check()


@pytest.mark.parametrize("seed", range(10))
def test_some_random_runs_keep_the_promise(seed: int) -> None:
    play(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 300))
def test_many_random_runs(seed: int) -> None:
    play(seed)

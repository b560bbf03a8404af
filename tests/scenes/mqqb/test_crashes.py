"""Scenes T-61 of MQQB: one side crashes at each step of a conversation, before or after its last sync."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from tests.protocols.mqqb.mqqb_harness import waiting
from tests.protocols.mqqb.pair import LEFT, RIGHT, Pair

LEDGER = f"DIRECT=TCP:{RIGHT}\\private$\\ledger"
BODIES = [b"1", b"2", b"3"]


class CrashingPair(Pair):
    """A pair of which one side crashes when it, or the other one, performs its effect with a number."""

    def __init__(self, victim: str, at: int) -> None:
        super().__init__()
        self.victim, self.at = victim, at
        self.performed = 0

    def _perform(self, address: str, effect: Any) -> None:
        self.performed += 1
        if self.performed != self.at:
            super()._perform(address, effect)
            return
        # The victim has not performed its own effect; of another one it has not synced what that caused.
        if address != self.victim:
            super()._perform(address, effect)
        self.restart(self.victim, crash=True)


def play(victim: str, at: int) -> bool:
    """Send three messages that ask for final acknowledgements, and receive them.

    Return whether the victim crashed.
    """
    pair = CrashingPair(victim, at)
    pair.right.create("ledger", transactional=True)
    pair.right.flush()
    for body in BODIES:
        pair.left.transact(LEDGER, body, negative_journaling=True)
    pair.left.flush()
    pair.run()
    pair.advance(7)
    received: list[bytes] = []
    while len(received) < len(BODIES):
        received += [each.message.body for each in pair.right.receive("ledger").messages]
        pair.right.flush()  # the application has its answer
        pair.run()
        pair.advance(1)
    pair.advance(40)
    assert received == BODIES, (victim, at)
    assert pair.right.bodies("ledger") == [], (victim, at)
    assert waiting(pair.left, LEDGER) == 0, (victim, at)
    assert pair.left.bodies("system$;deadxact") == [], (victim, at)
    return pair.performed >= at


@pytest.mark.mqqb("T-61")
@pytest.mark.spec("QB-110", "QB-116")
@pytest.mark.parametrize("victim", [LEFT, RIGHT])
def test_a_crash_at_any_step_of_a_conversation_is_not_seen_in_the_end(victim: str) -> None:
    steps = next(at for at in count(1) if not play(victim, at))
    assert steps > 10

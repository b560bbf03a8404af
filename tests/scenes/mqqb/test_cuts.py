"""Scenes T-46 of MQQB: a connection breaks at any byte, and no message is lost or doubled."""

from __future__ import annotations

import random

import pytest

from tests.protocols.mqqb.mqqb_harness import waiting
from tests.protocols.mqqb.pair import RIGHT, Pair


@pytest.mark.mqqb("T-46")
@pytest.mark.spec("QB-293", "QB-296", "QB-298", "QB-309")
@pytest.mark.parametrize("seed", range(12))
def test_a_connection_that_breaks_at_any_byte_loses_and_doubles_nothing(seed: int) -> None:
    chance = random.Random(seed)
    pair = Pair()
    name = f"DIRECT=TCP:{RIGHT}\\private$\\orders"
    bodies = [b"%d" % number for number in range(100)]
    pair.budget = chance.randint(1, 9000)
    for body in bodies:
        pair.left.send(name, body)
    pair.run()
    for _ in range(60):
        if waiting(pair.left, name) == 0:
            break
        pair.budget = chance.randint(1, 40_000)
        pair.advance(2)
    pair.budget = None
    pair.cut()
    pair.advance(12)
    assert sorted(pair.right.bodies("orders")) == sorted(bodies)
    assert waiting(pair.left, name) == 0


def _run_with_a_cut(after: int) -> bool:
    """Send three messages while the connection breaks after some bytes; return whether it broke."""
    pair = Pair()
    pair.right.create("ledger", transactional=True)
    pair.right.flush()
    plain, ledger = (f"DIRECT=TCP:{RIGHT}\\private$\\{name}" for name in ("orders", "ledger"))
    pair.left.send(plain, b"1")
    pair.left.transact(ledger, b"2", b"3", negative_journaling=True)
    pair.budget = after
    pair.run()
    pair.budget = None
    is_cut = not pair.left.mqqb.sessions
    pair.advance(6)
    assert (pair.right.bodies("orders"), pair.right.bodies("ledger")) == ([b"1"], [b"2", b"3"]), after
    for _ in range(2):
        pair.right.receive("ledger")
    pair.advance(12)
    assert (waiting(pair.left, plain), waiting(pair.left, ledger)) == (0, 0), after
    return is_cut


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.mqqb("T-46")
@pytest.mark.spec("QB-293", "QB-309")
def test_a_connection_that_breaks_at_each_byte_in_turn_loses_and_doubles_nothing() -> None:
    after = 0
    while _run_with_a_cut(after):
        after += 1
    assert after > 2 * (572 + 32)  # the handshake alone has more bytes


@pytest.mark.mqqb("T-46")
@pytest.mark.parametrize("after", [0, 571, 1144, 1208, 1300, 1420, 1600])
def test_a_connection_that_breaks_in_the_handshake_or_in_a_message_is_opened_again(after: int) -> None:
    assert _run_with_a_cut(after)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.mqqb("T-46")
@pytest.mark.spec("QB-293", "QB-309")
def test_a_thousand_messages_arrive_over_connections_that_each_break_one_byte_later() -> None:
    pair = Pair()
    name = f"DIRECT=TCP:{RIGHT}\\private$\\orders"
    bodies = [b"%d" % number for number in range(1_000)]
    pair.left.send(name, *bodies)
    pair.budget = 1
    while waiting(pair.left, name):
        pair.budget += 1
        pair.run()
        pair.advance(5.1)  # until the next connection
        pair.cut()
    assert pair.budget > 2 * (572 + 32) + 200  # breaks in the handshake, in messages and in acknowledgements
    assert sorted(pair.right.bodies("orders")) == sorted(bodies)

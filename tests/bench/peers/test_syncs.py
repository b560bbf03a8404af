"""Tests the round of syncs: what strace counted, and when a peer has shown that its confirms wait."""

from __future__ import annotations

import pytest

from bench.peers.syncs import HELD_MS, Proof, counted, proof

TABLE = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 98.01    0.012345          61       200           fdatasync
  1.99    0.000250          50         5         1 fsync
------ ----------- ----------- --------- --------- ----------------
100.00    0.012595          61       205         1 total
"""


def test_the_calls_of_all_syncs_are_added() -> None:
    assert counted(TABLE) == 205
    assert counted("") == 0


def test_a_proof_is_made_of_the_figures_of_a_load() -> None:
    assert proof("redis", {"sent": 7, "confirm": {"least_ms": 20.714}}, 9) == Proof("redis", 7, 9, 20.71)


@pytest.mark.parametrize(
    ("confirms", "syncs", "fastest", "holds"),
    [
        (100, 100, HELD_MS, True),
        (100, 99, HELD_MS + 1, False),
        (100, 300, HELD_MS - 1, False),
        (0, 3, HELD_MS + 1, False),
    ],
)
def test_a_confirm_before_its_sync_is_seen(confirms: int, syncs: int, fastest: float, holds: bool) -> None:
    assert Proof("peer", confirms, syncs, fastest).holds is holds

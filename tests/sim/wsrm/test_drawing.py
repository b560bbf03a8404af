"""Tests the settings of seeds: every window, version and timer comes up, and what must not be forgotten is
not.
"""

from __future__ import annotations

from reliquary.base.time import SECOND, Duration
from reliquary.sim.chance import SeededChance
from reliquary.sim.world.applications import LEDGER
from reliquary.sim.wsrm.drawing import FOR_EVER, NEVER_GIVES_UP, drawn_settings

NAMES = ("a.example", "b.example", "c.example")
DRAWN = [
    each
    for seed in range(100)
    for each in drawn_settings(SeededChance(seed), NAMES, Duration(SECOND)).values()
]


def test_all_dialects_windows_and_kinds_of_endpoints_come_up() -> None:
    endpoints = [endpoint for each in DRAWN for endpoint in each.endpoints]
    peers = [peer for each in DRAWN for peer in each.peers]
    assert {each.window for each in endpoints} == {1, 2, 3, 5, 8, 64}
    assert {each.bounded for each in endpoints} == {each.ordered for each in endpoints} == {True, False}
    assert len({each.dialect for each in peers}) == 8
    assert {each.addressable for each in peers} == {each.offer for each in peers} == {True, False}
    assert any(each.retries < NEVER_GIVES_UP for each in DRAWN)


def test_what_the_promises_need_is_always_so() -> None:
    assert all(each.remembered == FOR_EVER for each in DRAWN)
    ledgers = [each for chosen in DRAWN for each in chosen.endpoints if each.name == LEDGER]
    assert all(each.ordered for each in ledgers)


def test_all_sites_of_a_seed_give_up_or_none_does() -> None:
    for seed in range(40):
        chosen = drawn_settings(SeededChance(seed), NAMES, Duration(SECOND)).values()
        assert len({each.retries == NEVER_GIVES_UP for each in chosen}) == 1

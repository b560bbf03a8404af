"""Tests rounds: each begins with another peer, and ratios are taken within a round."""

from __future__ import annotations

from bench.peers.rounds import Figure, order, summaries


def figure(peer: str, number: int, rate: float, shape: str = "1x1") -> Figure:
    return Figure(peer, shape, number, rate, server_us=rate / 10, load_us=2, confirm_ms=3)


def test_every_round_begins_with_another_and_every_second_runs_backwards() -> None:
    assert [order(["a", "b", "c"], number) for number in range(4)] == [
        ["a", "b", "c"],
        ["a", "c", "b"],
        ["c", "a", "b"],
        ["c", "b", "a"],
    ]
    assert order([], 0) == []


def test_a_ratio_is_to_the_reference_of_its_own_round() -> None:
    figures = [
        *(figure("reference", number, rate) for number, rate in enumerate((100, 10, 1000))),
        *(figure("ours", number, rate) for number, rate in enumerate((50, 20, 600))),
        figure("ours", 0, 7, "16x1"),
    ]
    reference, ours, alone = summaries(figures, "reference")
    assert (reference.messages_per_second, reference.ratio) == (100, 1)
    assert (ours.messages_per_second, ours.slowest, ours.fastest) == (50, 20, 600)
    assert ours.ratio == 0.6  # of 0.5, 2 and 0.6
    assert ours.server_us == 5
    assert (alone.shape, alone.ratio) == ("16x1", None)

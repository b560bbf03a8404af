"""Sets the order in which peers are measured, and sums up the rounds.

A machine drifts: a ratio is taken within a round, and the middle one of all rounds counts.  Rates are the
middle ones too; the ratio of two middle rates is another number, and is not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec


class Figure(msgspec.Struct, frozen=True):
    """One load of one peer in one round."""

    peer: str
    shape: str
    round: int
    messages_per_second: float
    server_us: float
    """Microseconds of processor time of the server for a message."""
    load_us: float
    """Microseconds of processor time of the load for a message."""
    confirm_ms: float
    """Milliseconds to a confirm, in the middle."""


class Summary(msgspec.Struct, frozen=True):
    """What the rounds of one peer and one load add up to."""

    peer: str
    shape: str
    messages_per_second: float
    slowest: float
    fastest: float
    ratio: float | None
    """The ratio to the rate of the reference in this round; None without a reference."""
    server_us: float
    load_us: float
    confirm_ms: float


def order(names: Sequence[str], number: int) -> list[str]:
    """Return the peers in the order of a round: each round begins with another, every second is reversed."""
    start = number % len(names) if names else 0
    turned = [*names[start:], *names[:start]]
    return turned[::-1] if number % 2 else turned


def summaries(figures: Sequence[Figure], reference: str) -> list[Summary]:
    """Return the middle of all rounds, for each peer and load in the order in which they first came."""
    kinds = dict.fromkeys((figure.peer, figure.shape) for figure in figures)
    return [_summary(figures, peer, shape, reference) for peer, shape in kinds]


def _summary(figures: Sequence[Figure], peer: str, shape: str, reference: str) -> Summary:
    mine = [figure for figure in figures if (figure.peer, figure.shape) == (peer, shape)]
    base = {
        figure.round: figure.messages_per_second
        for figure in figures
        if (figure.peer, figure.shape) == (reference, shape)
    }
    rates = [figure.messages_per_second for figure in mine]
    ratios = [figure.messages_per_second / base[figure.round] for figure in mine if base.get(figure.round)]
    return Summary(
        peer=peer,
        shape=shape,
        messages_per_second=median(rates),
        slowest=min(rates),
        fastest=max(rates),
        ratio=median(ratios) if ratios else None,
        server_us=median(figure.server_us for figure in mine),
        load_us=median(figure.load_us for figure in mine),
        confirm_ms=median(figure.confirm_ms for figure in mine),
    )

"""The costs of an audit, and whether they meet their goals."""

from __future__ import annotations

from dataclasses import dataclass

GOAL_EVENTS, GOAL_SECONDS, GOAL_NEW_SECONDS, GOAL_MEMORY = 10_000_000, 25.0, 8.0, 1500.0
"""The limits of an audit of this many events: its seconds, those of the run after it, and MB of memory."""
NEARLY = 0.99
"""The share of these events that is enough: lost messages have fewer events than others."""


@dataclass
class Cost:
    """The figures of one run: events, elapsed seconds, processor seconds and memory."""

    events: int
    seconds: float
    worked: float
    most: float


def judged(whole: Cost, more: Cost) -> list[str]:
    """Return each goal with its figure and whether it is met; smaller sizes have no goal for their time."""
    goals = [
        ("seconds", whole.seconds, GOAL_SECONDS),
        ("seconds, new events", more.seconds, GOAL_NEW_SECONDS),
    ]
    if whole.events < NEARLY * GOAL_EVENTS:
        goals = []
    goals.append(("MB", max(whole.most, more.most), GOAL_MEMORY))
    return [
        f"{what}: {found:,.1f}, goal {goal:,.0f}: {'met' if found <= goal else 'not met'}"
        for what, found, goal in goals
    ]

"""Draws the settings of all sites of a seed: short times, and sometimes small limits."""

from __future__ import annotations

from typing import Final

from reliquary.base.time import DAY, MILLISECOND, Duration
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.sim.chance import SeededChance

LONGEST_CALL: Final = Duration(3_000 * MILLISECOND)
"""The longest time that a client waits for an answer."""
FOR_EVER: Final = Duration(10_000 * DAY)
"""A time longer than any run: a client that remembers messages in doubt delivers none of them twice."""


def drawn_settings(chance: SeededChance, names: tuple[str, ...]) -> dict[str, MqqpSettings]:
    """Draw the settings of each site."""
    return {
        name: MqqpSettings(
            queues=chance.pick((2, 256, 256)),
            pending=chance.pick((2, 256, 256)),
            open_time=Duration(chance.pick((300 * MILLISECOND, LONGEST_CALL))),
            call_time=Duration(chance.pick((200 * MILLISECOND, LONGEST_CALL))),
            memory=chance.pick((FOR_EVER, FOR_EVER, FOR_EVER, Duration(500 * MILLISECOND))),
            seed=name.encode(),
        )
        for name in names
    }

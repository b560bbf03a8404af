"""Draws the settings of all sites of a seed: small windows, short timers, all versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reliquary.base.time import DAY, MILLISECOND, SECOND, Duration
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Soap, Version
from reliquary.protocols.wsrm.settings import EndpointSettings, PeerSettings, WsrmSettings
from reliquary.sim.chance import SeededChance
from reliquary.sim.world.applications import INBOX, LEDGER

NEVER_GIVES_UP: Final = 1_000_000
"""A number of retries that no run reaches."""
LONGEST_INACTIVITY: Final = Duration(20 * SECOND)
"""The time after which the last unused sequence has ended."""
FOR_EVER: Final = Duration(10_000 * DAY)


def drawn_settings(
    chance: SeededChance, names: tuple[str, ...], patience: Duration
) -> dict[str, WsrmSettings]:
    """Draw the settings of each site."""
    gives_up = chance.happens(0.2)
    return {name: _settings(chance, name, names, patience, gives_up=gives_up) for name in names}


def _settings(
    chance: SeededChance, name: str, names: tuple[str, ...], patience: Duration, *, gives_up: bool
) -> WsrmSettings:
    retransmission = _milliseconds(chance, 50, 200, 1000)
    inactivity = Duration(chance.pick((3 * SECOND, 10 * SECOND, LONGEST_INACTIVITY)))
    # a source that lost the answer to CreateSequence may need the slot of an unused sequence
    crowded = inactivity < LONGEST_INACTIVITY and chance.happens(0.2)
    return WsrmSettings(
        endpoints=tuple(_endpoints(chance)),
        window=chance.pick((1, 3, 8)),
        acknowledgement_interval=_milliseconds(chance, 5, 50, 200),
        inactivity=inactivity,
        longest_life=Duration(chance.pick((20 * SECOND, 30 * DAY))),
        most_sequences=3 * len(names) if crowded else 1000,
        remembered=FOR_EVER,
        reply_wait=_milliseconds(chance, 100, 800),
        peers=tuple(_peers(chance, name, names)),
        retransmission=retransmission,
        longest_retransmission=Duration(chance.pick((1, 4, 16)) * retransmission),
        retries=chance.between(2, 5) if gives_up else NEVER_GIVES_UP,
        polling=_milliseconds(chance, 100, 500, 2000),
        idle=_milliseconds(chance, 200, 1000, 5000),
        response_time=patience,
        seed=name.encode(),
    )


def _milliseconds(chance: SeededChance, *spans: int) -> Duration:
    return Duration(chance.pick(spans) * MILLISECOND)


def _endpoints(chance: SeededChance) -> Iterator[EndpointSettings]:
    """Yield the queues that are read: bounded and not, sometimes one that is not listed."""
    for queue in (INBOX, LEDGER):
        if chance.happens(0.85):
            yield EndpointSettings(
                name=queue,
                window=chance.pick((1, 2, 3, 5, 8, 64)),
                bounded=chance.happens(0.5),
                ordered=queue == LEDGER or chance.happens(0.8),
                offers=chance.happens(0.7),
            )


def _peers(chance: SeededChance, name: str, names: tuple[str, ...]) -> Iterator[PeerSettings]:
    """Draw the settings of a site for each other one."""
    for other in names:
        if other != name:
            offer = chance.happens(0.3)
            yield PeerSettings(
                address=f"wsrm://{other}/*",
                dialect=Dialect(
                    chance.pick(tuple(Version)), chance.pick(tuple(Soap)), chance.pick(tuple(Addressing))
                ),
                addressable=chance.happens(0.5),
                window=chance.pick((1, 2, 4, 64)),
                offer=offer,
                replies_into=INBOX if offer else "",
            )

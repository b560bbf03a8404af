"""Draws from the seed how each site moves messages to other sites, and makes the settings for it.

push       both dial, and push their messages
fetch      the second also fetches its messages, so that they have two paths to it
meet       as fetch, with EXCHANGE
hidden     no site can dial the second: it pushes, and fetches; a site that tries it begins with a session,
           because a batch that goes first is in doubt after a crash, and no peer could ever be asked
hidden and meets
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import combinations
from typing import Final

from reliquary.base.time import MILLISECOND, MINUTE, SECOND, Duration
from reliquary.protocols.httpr.codec.values import Capabilities
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.sim.chance import SeededChance
from reliquary.sim.world.applications import INBOX

OUTBOX: Final = "outbox"
"""The name of a queue from which another site fetches into a queue of its own."""
TRANSIT: Final = "transit"
"""The name of a queue from which another site fetches messages for a third one, which they name."""


class ExchangeMode(Enum):
    """The way in which two sites exchange messages."""

    PUSH = "push"
    FETCH = "fetch"
    MEET = "meet"
    HIDDEN = "hidden"
    HIDDEN_MEETS = "hidden and meets"

    @property
    def fetches(self) -> bool:
        """Return whether the second site fetches."""
        return self is not ExchangeMode.PUSH

    @property
    def exchanges(self) -> bool:
        """Return whether the second site fetches while it pushes."""
        return self in (ExchangeMode.MEET, ExchangeMode.HIDDEN_MEETS)

    @property
    def walled(self) -> bool:
        """Return whether the first site cannot dial the second."""
        return self in (ExchangeMode.HIDDEN, ExchangeMode.HIDDEN_MEETS)


@dataclass(slots=True)
class Plan:
    """The exchange modes of a run."""

    ways: dict[tuple[str, str], ExchangeMode] = field(default_factory=dict)
    """The exchange mode from the first site to the second, and back."""
    outbox: tuple[str, str] | None = None
    """The site with an outbox, and the site that fetches from it."""
    transit: tuple[str, str, str] | None = None
    """The site with messages for a third one, the site that fetches them, and the third site."""
    settings: dict[str, HttprSettings] = field(default_factory=dict)

    @classmethod
    def drawn(cls, chance: SeededChance, names: tuple[str, ...]) -> Plan:
        """Return the plan of a seed."""
        plan = cls()
        for one, other in combinations(names, 2):
            pair = (one, other) if chance.happens(0.5) else (other, one)
            plan.ways[pair] = chance.pick((ExchangeMode.PUSH, ExchangeMode.PUSH, *ExchangeMode))
        source, fetcher = _two(chance, names)
        if plan.may_dial(fetcher, source) and chance.happens(0.6):
            plan.outbox = source, fetcher
        source, fetcher = _two(chance, names)
        if plan.may_dial(fetcher, source) and len(names) > 2 and chance.happens(0.8):
            plan.transit = source, fetcher, next(each for each in names if each not in (source, fetcher))
        for name in names:
            plan.settings[name] = _settings(chance, name, plan)
        return plan

    def target_of(self, source: str, queue: str) -> tuple[str, str]:
        """Return the destination of messages that are put into a queue from which another site fetches."""
        if queue == OUTBOX and self.outbox is not None and self.outbox[0] == source:
            return self.outbox[1], INBOX
        assert self.transit is not None, "no site fetches from there"
        return self.transit[2], INBOX

    def may_dial(self, one: str, other: str) -> bool:
        """Return whether the first site can open connections to the second."""
        way = self.ways.get((one, other))
        return way is None or not way.walled

    def has_wall(self, name: str) -> bool:
        """Return whether there is a site that this one cannot dial."""
        return any(pair[0] == name and way.walled for pair, way in self.ways.items())

    def is_fetched(self, source: str, target: str) -> bool:
        """Return whether the target fetches its messages from the source."""
        way = self.ways.get((source, target))
        return way is not None and way.fetches

    def is_single_path(self, source: str, queue: str, target: str) -> bool:
        """Return whether a message has only one possible path."""
        if queue == OUTBOX:
            return True
        if queue == TRANSIT:
            assert self.transit is not None, "no site fetches from there"
            source = self.transit[1]
        way = self.ways.get((source, target), ExchangeMode.PUSH)
        return not way.fetches or way.walled


def _two(chance: SeededChance, names: tuple[str, ...]) -> tuple[str, str]:
    one = chance.pick(names)
    return one, chance.pick([each for each in names if each != one])


def _settings(chance: SeededChance, name: str, plan: Plan) -> HttprSettings:
    """Return settings with small batches and short timers."""
    return HttprSettings(
        forward=plan.transit is not None and plan.transit[1] == name,
        offered=_capabilities(chance, sessions=chance.happens(0.85), most=chance.pick((2, 5, 1000))),
        proposed=_capabilities(
            chance, sessions=chance.happens(0.65) or plan.has_wall(name), most=chance.between(1, 5)
        ),
        peers=tuple(_peers(chance, name, plan)),
        retry_ladder=tuple(
            Duration(span * MILLISECOND) for span in chance.pick(((100, 300, 1000), (300,), (20, 2000)))
        ),
        batch_bytes=chance.pick((700, 4 * 1024 * 1024)),
        missing_queue_time=Duration(2 * SECOND),
        forget_after=Duration(chance.pick((500 * MILLISECOND, 3 * SECOND, 5 * MINUTE))),
    )


def _capabilities(chance: SeededChance, *, sessions: bool, most: int) -> Capabilities:
    return Capabilities(
        idle_session_interval=chance.pick((1, 5, 600)),
        empty_batch_delay=chance.pick((0, 100, 2000)),
        max_latency=chance.pick((0, 20, 200)),
        max_wait_next=chance.pick((0, 20, 200)),
        max_wait_batch=chance.pick((0, 100, 2000)),
        maximum_batch_size=most,
        maximum_pipeline_depth=chance.between(1, 4),
        sessions=sessions,
    )


def _peers(chance: SeededChance, name: str, plan: Plan) -> list[Peer]:
    peers = []
    for pair, way in plan.ways.items():
        if name in pair:
            other = pair[0] if pair[1] == name else pair[1]
            fetches = way.fetches and pair[1] == name
            peers.append(
                Peer(
                    responder=f"httpr://{other}/httpr/mq",
                    channel=chance.pick(("", "", "all")),
                    pull=fetches,
                    exchange=fetches and way.exchanges,
                    sessions=chance.happens(0.85) or way.walled,
                )
            )
    if plan.outbox is not None and plan.outbox[1] == name:
        responder = f"httpr://{plan.outbox[0]}/httpr/{OUTBOX}"
        peers.append(Peer(responder=responder, pull=True, into=INBOX, sessions=chance.happens(0.85)))
    if plan.transit is not None and plan.transit[1] == name:
        responder = f"httpr://{plan.transit[0]}/httpr/{TRANSIT}"
        peers.append(Peer(responder=responder, pull=True, sessions=chance.happens(0.85)))
    return peers

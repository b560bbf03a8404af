"""Lists the peers that take part, in the order in which they are shown."""

from __future__ import annotations

from bench.peers.mosquitto import Mosquitto
from bench.peers.nats import Nats
from bench.peers.ours import Reliquary
from bench.peers.peer import Measured, Peer
from bench.peers.postgresql import PostgreSQL
from bench.peers.rabbitmq import RabbitMQ
from bench.peers.redis import Redis

REFERENCE = Redis.name
"""Ratios are to this one: the fastest queue that syncs every confirm and comes with Debian."""
PEERS: dict[str, Peer] = {
    each.name: each for each in (Redis(), RabbitMQ(), PostgreSQL(), Mosquitto(), Nats())
}
MEASURED: dict[str, Measured] = {Reliquary.name: Reliquary(), **PEERS}

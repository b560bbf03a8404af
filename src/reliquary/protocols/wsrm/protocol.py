"""Describes WS-ReliableMessaging as a protocol with which a queue manager can be opened."""

from __future__ import annotations

from reliquary.base.rows import Rows
from reliquary.base.turn import Event
from reliquary.protocols.wsrm import machine
from reliquary.protocols.wsrm.carrier import CARRIER, NAME
from reliquary.protocols.wsrm.effects import HangUp, Post
from reliquary.protocols.wsrm.events import PostEnded
from reliquary.protocols.wsrm.machine import Wsrm
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.tables import TABLES
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.travel.failures import Failure


def wsrm(settings: WsrmSettings | None = None) -> Protocol:
    """Return source and destination with these settings, or with the defaults."""
    chosen = settings or WsrmSettings()

    def build(rows: Rows) -> Wsrm:
        return Wsrm(rows, chosen)

    return Protocol(
        name=NAME,
        machine=build,
        tables=TABLES,
        signals=machine.SIGNALS,
        takes=machine.TAKES,
        timers=machine.TIMERS,
        carrier=CARRIER,
        unplugged={Post: _fail, HangUp: _ignore},
    )


def _fail(post: Post) -> Event:
    why = "there is no network in this process"
    return PostEnded(post.connection, post.epoch, post.ticket, failure=Failure.NO_CONNECTION, why=why)


def _ignore(effect: HangUp) -> None:
    del effect

"""Describes HTTPR as a protocol with which a queue manager can be opened."""

from __future__ import annotations

from reliquary.base.rows import Rows
from reliquary.base.turn import Event
from reliquary.protocols.httpr import machine
from reliquary.protocols.httpr.effects import CutConnection, HangUp, SendRequest
from reliquary.protocols.httpr.events import Failure, RequestFailed
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.schemes import names_agent
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.httpr.state import HOLDER
from reliquary.protocols.httpr.tables import TABLES
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.travel.carriers import Carrier

CARRIER = Carrier(name=HOLDER, claims=names_agent, takes_batches=True)


def httpr(settings: HttprSettings | None = None) -> Protocol:
    """Return both agents of HTTPR with these settings."""
    chosen = settings or HttprSettings()

    def build(rows: Rows) -> Httpr:
        return Httpr(rows, chosen)

    return Protocol(
        name=HOLDER,
        machine=build,
        tables=TABLES,
        signals=machine.SIGNALS,
        takes=machine.TAKES,
        timers=machine.TIMERS,
        carrier=CARRIER,
        unplugged={SendRequest: _fail, HangUp: _ignore, CutConnection: _ignore},
    )


def _fail(request: SendRequest) -> Event:
    why = "there is no network in this process"
    return RequestFailed(request.channel, request.epoch, request.number, Failure.NO_CONNECTION, why)


def _ignore(effect: HangUp | CutConnection) -> None:
    del effect

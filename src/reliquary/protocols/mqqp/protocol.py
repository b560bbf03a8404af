"""Describes MQQP as a protocol with which a queue manager can be opened."""

from __future__ import annotations

from reliquary.base.rows import Rows
from reliquary.base.turn import Effect, Event
from reliquary.protocols.mqqp import machine
from reliquary.protocols.mqqp.effects import CallServer, EndAssociation, EndLink, RaiseFault, Respond
from reliquary.protocols.mqqp.events import LinkLost
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.reader import NAME, READER
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.tables import TABLES
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.travel.failures import Failure


def mqqp(settings: MqqpSettings | None = None) -> Protocol:
    """Return MQQP with these settings; without any, no queue of another manager is read."""
    chosen = settings or MqqpSettings()

    def build(rows: Rows) -> Mqqp:
        return Mqqp(rows, chosen)

    return Protocol(
        name=NAME,
        machine=build,
        tables=TABLES,
        signals=machine.SIGNALS,
        takes=machine.TAKES,
        timers=machine.TIMERS,
        reader=None if settings is None else READER,
        unplugged={
            CallServer: _fail,
            EndLink: _ignore,
            Respond: _ignore,
            RaiseFault: _ignore,
            EndAssociation: _ignore,
        },
    )


def _fail(call: CallServer) -> Event:
    return LinkLost(call.link, Failure.NO_CONNECTION, "there is no network in this process")


def _ignore(effect: Effect) -> None:
    del effect

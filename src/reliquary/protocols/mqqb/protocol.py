"""Describes MQQB as a protocol with which a queue manager can be opened."""

from __future__ import annotations

from reliquary.base.rows import Rows
from reliquary.base.turn import Event
from reliquary.protocols.mqqb import machine
from reliquary.protocols.mqqb.carrier import carrier
from reliquary.protocols.mqqb.effects import Dial, HangUp, SendPackets, SendPing, SendStored
from reliquary.protocols.mqqb.events import DialFailed
from reliquary.protocols.mqqb.machine import Mqqb
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.tables import NAME, TABLES
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.travel.failures import Failure


def mqqb(settings: MqqbSettings | None = None) -> Protocol:
    """Return MQQB with these settings; None switches MQQB off.

    Switched off, it keeps its tables and carries nothing: messages wait as if the protocol did not exist.
    """
    chosen = settings or MqqbSettings()

    def build(rows: Rows) -> Mqqb:
        return Mqqb(rows, chosen)

    return Protocol(
        name=NAME,
        machine=build,
        tables=TABLES,
        signals=machine.SIGNALS,
        takes=machine.TAKES,
        timers=machine.TIMERS,
        carrier=carrier(chosen.largest_packet, enabled=settings is not None),
        unplugged={
            Dial: _fail,
            SendPackets: _ignore,
            SendStored: _ignore,
            HangUp: _ignore,
            SendPing: _ignore,
        },
    )


def _fail(dialling: Dial) -> Event:
    return DialFailed(dialling.session, Failure.NO_CONNECTION, "there is no network in this process")


def _ignore(effect: SendPackets | HangUp | SendPing) -> None:
    del effect

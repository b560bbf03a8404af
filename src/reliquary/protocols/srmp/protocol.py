"""Describes SRMP as a protocol with which a queue manager can be opened."""

from __future__ import annotations

from reliquary.base.rows import Rows
from reliquary.base.turn import Event
from reliquary.protocols.srmp import machine
from reliquary.protocols.srmp.carrier import carrier
from reliquary.protocols.srmp.effects import EndSession, ListenTo, Post, SendApdu
from reliquary.protocols.srmp.events import PostEnded
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.tables import NAME, TABLES
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.travel.failures import Failure


def srmp(settings: SrmpSettings | None = None) -> Protocol:
    """Return SRMP with these settings, or with those of the specification."""
    chosen = settings or SrmpSettings()

    def build(rows: Rows) -> Srmp:
        return Srmp(rows, chosen)

    return Protocol(
        name=NAME,
        machine=build,
        tables=TABLES,
        signals=machine.SIGNALS,
        takes=machine.TAKES,
        timers=machine.TIMERS,
        carrier=carrier(signs=chosen.trust.signer is not None, largest=chosen.largest_message),
        unplugged={Post: _fail, SendApdu: _fail, EndSession: _ignore, ListenTo: _ignore},
    )


def _fail(sending: Post | SendApdu) -> Event:
    why = "there is no network in this process"
    return PostEnded(sending.session, sending.epoch, sending.lookup_id, 0, Failure.NO_CONNECTION, why)


def _ignore(effect: EndSession | ListenTo) -> None:
    del effect

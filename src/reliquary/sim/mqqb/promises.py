"""Checks at the end the messages that MQQB brought from site to site; `world.promises` checks losses.

duplication   it is there once; twice only if its identifier was forgotten in between, as the settings allow,
              or because the store was restored; what is in a stream does not come twice even then
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.sim.history import History, Violation, shown
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.promises import Arrival, Deliveries
from reliquary.sim.world.register import Register
from reliquary.streams import facts as streams


def _is_carried(register: Register, name: bytes, plugin: Plugin) -> bool:
    """Return whether only MQQB carried a message; `chains` checks others."""
    sending = register.sendings.get(name)
    if sending is None or sending.queue in register.chains:
        return False
    return register.plugin_for(sending.queue) is plugin


def check_duplication(deliveries: Deliveries, settings: Mapping[str, MqqbSettings], plugin: Plugin) -> None:
    """Check that no message arrives twice while its identifier is remembered, and none of a stream ever."""
    sites = deliveries.register.sites
    for name, arrivals in deliveries.arrivals.items():
        for one, other in pairwise(arrivals):
            if not _is_carried(deliveries.register, name, plugin):
                continue
            forgotten = _was_forgotten(sites[one.site].history, one, other, settings[one.site])
            in_stream = one.message.sequence is not None
            passed = one.position.express and one.turned.process_number != other.turned.process_number
            if not passed and (in_stream or not forgotten):
                raise Violation(
                    f"duplication: {shown(name)} came to {one.site} in turn {one.turned.number},"
                    f" and again in turn {other.turned.number}"
                )


def _was_forgotten(history: History, one: Arrival, other: Arrival, settings: MqqbSettings) -> bool:
    """Return whether the history of identifiers was too small or too short to find the second arrival."""
    if one.turned.forgotten:
        return True
    later = history.turns[one.turned.number : other.turned.number + 1]
    remembered = [
        fact for turned in later for fact in turned.facts if isinstance(fact, streams.IdentifierRemembered)
    ]
    count = sum(fact.express == one.position.express for fact in remembered)
    moments = [turned.now for turned in later]
    span = max(moments) - min(moments)
    return count > settings.history_size or span >= settings.history_age

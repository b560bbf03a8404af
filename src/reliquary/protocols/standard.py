"""Lists the protocols of every queue manager; a folder of data has the tables of all of them.

A new protocol adds one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reliquary.protocols.httpr.protocol import httpr
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.mqqb.protocol import mqqb
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqp.protocol import mqqp
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.srmp.protocol import srmp
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.wsrm.protocol import wsrm
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.tables import TABLES as MANAGER_TABLES

BUILDERS: Final[Mapping[type, Callable[[Any], Protocol]]] = {
    SrmpSettings: srmp,
    HttprSettings: httpr,
    WsrmSettings: wsrm,
    MqqpSettings: mqqp,
    MqqbSettings: mqqb,
}
"""The function that builds each protocol from its settings."""


def standard(*settings: object) -> tuple[Protocol, ...]:
    """Return all protocols, each with its settings among these, or with its defaults."""
    given = {type(each): each for each in settings}
    assert given.keys() <= BUILDERS.keys(), f"no protocol has settings of {given.keys() - BUILDERS.keys()}"
    return tuple(build(given.get(kind)) for kind, build in BUILDERS.items())


ALL_TABLES: Final = (*MANAGER_TABLES, *(table for each in standard() for table in each.tables))
"""The tables in the folder of a queue manager."""

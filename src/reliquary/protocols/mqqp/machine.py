"""Implements MQQP as a machine, which passes each event, signal and timer to its rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.base.rows import Rows
from reliquary.base.ruled import Rule, Ruled
from reliquary.base.turn import Event
from reliquary.protocols.mqqp.administration import on_close_wanted
from reliquary.protocols.mqqp.client import rules as client
from reliquary.protocols.mqqp.events import CloseAssociation
from reliquary.protocols.mqqp.server import rules as server
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.state import State


class Mqqp(Ruled[State]):
    """The state machine of [MS-MQQP], with the roles of server and client."""

    def __init__(self, rows: Rows, settings: MqqpSettings) -> None:
        super().__init__(State(rows, settings), _RULES, _SIGNAL_RULES, _TIMERS)


_RULES: Final[Mapping[type[Event], Rule[State]]] = {
    **server.RULES,
    **client.RULES,
    CloseAssociation: on_close_wanted,
}
_SIGNAL_RULES: Final = {**server.SIGNAL_RULES, **client.SIGNAL_RULES}
_TIMERS: Final = {**client.TIMERS}

TAKES: Final = tuple(_RULES)
SIGNALS: Final = tuple(_SIGNAL_RULES)
TIMERS: Final = tuple(_TIMERS)

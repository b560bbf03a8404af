"""Defines the state that the rules of MQQP read and write."""

from __future__ import annotations

from reliquary.base.rows import Rows
from reliquary.base.turn import Draft
from reliquary.protocols.mqqp.client.state import ClientState
from reliquary.protocols.mqqp.events import PortsKnown
from reliquary.protocols.mqqp.server.state import ServerState
from reliquary.protocols.mqqp.settings import MqqpSettings


class State:
    """The settings, and the state of each role; only the client's doubts about messages are on disk."""

    def __init__(self, rows: Rows, settings: MqqpSettings) -> None:
        self.rows = rows
        self.settings = settings
        self.draft = Draft()
        self.ports = PortsKnown()
        self.server = ServerState(settings)
        self.client = ClientState(rows, settings)

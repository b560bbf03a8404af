"""Lists the protocols of a server.  A new one adds a line to this list, and a file with its endpoint."""

from __future__ import annotations

from typing import Final

from reliquary.server.api import API
from reliquary.server.endpoint import ServerProtocol
from reliquary.server.httpr import HTTPR
from reliquary.server.mqqb import MQQB
from reliquary.server.mqqp import MQQP
from reliquary.server.srmp import SRMP
from reliquary.server.wsrm import WSRM

PROTOCOLS: Final[tuple[ServerProtocol, ...]] = (
    API,
    SRMP,
    HTTPR,
    WSRM,
    MQQP,
    MQQB,
)
"""The protocols in the order in which they listen and stop accepting; they hang up in reverse."""

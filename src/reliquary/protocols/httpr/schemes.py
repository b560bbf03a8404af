"""Reads format names of HTTPR agents: `DIRECT=HTTPR://host[:port]/httpr/mq#orders`, HTTPRS over TLS.

Only its agent understands what follows the host (6.2.3), so these names are opaque to the queue manager.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from reliquary.queueing.model.names.formats import DirectName, SingleName
from reliquary.queueing.model.names.schemes import Scheme, register

AGENT_PATH: Final = "/httpr/"
"""The path under which a manager's HTTPR agents are found."""


def _queue_path(path: str) -> str:
    """Return the fragment as the path name of a queue, which it is if the agent is a Reliquary server."""
    return unquote(path.partition("#")[2], errors="replace").replace("/", "\\")


HTTPR: Final = register(Scheme("HTTPR", "80", _queue_path, opaque=True))
HTTPRS: Final = register(Scheme("HTTPRS", "443", _queue_path, opaque=True))
WORDS: Final = (HTTPR.word, HTTPRS.word)


def names_agent(name: SingleName) -> bool:
    """Return whether a name is that of an HTTPR agent's queue."""
    return isinstance(name, DirectName) and name.scheme in (HTTPR, HTTPRS)

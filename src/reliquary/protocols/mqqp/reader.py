"""Decides which queues of other managers MQQP can read."""

from __future__ import annotations

from typing import Final

from reliquary.queueing.model.names import schemes
from reliquary.queueing.model.names.formats import DirectName
from reliquary.queueing.model.travel.carriers import RemoteReader

NAME: Final = "mqqp"
"""The name of the machine in the engine."""


def _claims(name: DirectName) -> bool:
    return name.scheme in (schemes.OS, schemes.TCP)


READER: Final = RemoteReader(name=NAME, claims=_claims)

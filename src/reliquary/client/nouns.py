"""The nouns of administration that a manager has; `queueing/administration.py` tells what a noun is.

Transports, control plane, command line and reference page have a noun that is listed here.
"""

from __future__ import annotations

from typing import Any, Final

from reliquary.protocols.httpr.nouns import CHANNEL
from reliquary.protocols.srmp.nouns import STREAM
from reliquary.queueing.administration import Noun
from reliquary.queueing.travel.nouns import OUTGOING

NOUNS: Final[tuple[Noun[Any], ...]] = (OUTGOING, STREAM, CHANNEL)

"""What is wrong with what a peer sent, by its number."""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import PeerFault
from reliquary.protocols.httpr.codec.values import ErrorNumber

OK: Final = 200
"""The status of HTTP under which an error of HTTPR travels."""


class HttprFault(PeerFault):
    """A peer broke HTTPR; `number` goes back to it, `why` into the log."""

    def __init__(self, number: ErrorNumber, why: str, *, spec: str) -> None:
        super().__init__(OK, why, spec=spec)
        self.number = number

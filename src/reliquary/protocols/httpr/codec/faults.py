"""Defines the fault that says by its number what is wrong in the data of a peer."""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import PeerFault
from reliquary.protocols.httpr.codec.values import ErrorNumber

OK: Final = 200
"""The status of HTTP under which an error of HTTPR travels."""


class HttprFault(PeerFault):
    """A peer violated HTTPR; `number` is sent to the peer, `why` is logged."""

    def __init__(self, number: ErrorNumber, why: str, *, spec: str) -> None:
        super().__init__(OK, why, spec=spec)
        self.number = number

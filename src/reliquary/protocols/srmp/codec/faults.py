"""Defines the fault for a message that violates section 2 of [MC-MQSRM].

It is answered with 400 (SR-182, SR-183).
"""

from __future__ import annotations

from reliquary.base.faults import PeerFault


class SrmpFault(PeerFault):
    """A refused message; `element` is the wrong element or part."""

    def __init__(self, element: str, why: str, *, spec: str) -> None:
        super().__init__(400, why, spec=spec)
        self.element = element

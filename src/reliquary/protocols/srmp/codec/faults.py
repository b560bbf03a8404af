"""A message that does not conform to section 2 of [MC-MQSRM] is answered with 400 (SR-182, SR-183)."""

from __future__ import annotations

from reliquary.base.faults import PeerFault


class SrmpFault(PeerFault):
    """A message that is refused; `element` is the element or the part that is wrong."""

    def __init__(self, element: str, why: str, *, spec: str) -> None:
        super().__init__(400, why, spec=spec)
        self.element = element

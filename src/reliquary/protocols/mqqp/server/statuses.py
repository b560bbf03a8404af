"""Defines the statuses that methods return: those of [MS-MQQP] 3.1.4, and those of the queue manager."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from reliquary.base.hresult import HResult


class Status(IntEnum):
    """Statuses without a counterpart in the queue manager."""

    CANCELLED_BY_CLIENT = 0x400E03E9
    """MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT; it has no severity bit (F-10)."""
    FAILED = 0xC00E0001
    """The specification calls this code MQ_ERROR (QP-009)."""
    INVALID_ARGUMENT = 0xC000000D
    """The code STATUS_INVALID_PARAMETER: a cursor is unknown, or there is none."""
    SHARING_VIOLATION = 0xC0000043
    """The specification calls it STATUS_SHARING_VIOLATION, [MS-MQMP] 3.1.4.2."""


STATUSES: Final[Mapping[HResult, int]] = {
    **{each: int(each) for each in HResult},
    # The queue manager has the code of MSMQ's interface for it; a remote open has its own.
    HResult.SHARING_VIOLATION: int(Status.SHARING_VIOLATION),
}
"""The status for each answer of the queue manager (QP-051, QP-075, QP-160)."""

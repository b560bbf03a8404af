"""Selects the reaction to the answer of a POST, [MC-MQSRM] 3.1.7.2.5.

2xx                           TAKEN     the receiver has the message
400, and statuses of the settings    REFUSED   the message is given up
any other, or no status       RETRY     the connection ends, the queue pauses, all is sent again
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Final

from reliquary.queueing.model.message import MessageClass


class Reaction(Enum):
    """The reaction to an answer."""

    TAKEN = "taken"
    REFUSED = "refused"
    RETRY = "retry"


# DEPARTS from 3.1.7.2.5 (SR-293): every status that the text does not name is tried again until the message
# expires, because a proxy with a wrong configuration for an hour would lose messages.
BY_HUNDRED: Final[Mapping[int, Reaction]] = {
    0: Reaction.RETRY,  # no answer came
    1: Reaction.RETRY,  # "continue" is no final answer
    2: Reaction.TAKEN,  # SR-291
    3: Reaction.RETRY,
    4: Reaction.RETRY,
    5: Reaction.RETRY,  # SR-293
}

_REASONS: Final[Mapping[int, MessageClass]] = {
    401: MessageClass.NACK_ACCESS_DENIED,
    403: MessageClass.NACK_ACCESS_DENIED,
    413: MessageClass.NACK_QUEUE_EXCEED_QUOTA,
}


def reaction_to(status: int, permanent: Collection[int]) -> Reaction:
    """Return the reaction to a status; 0 stands for no answer.

    >>> reaction_to(404, permanent=(400,))
    <Reaction.RETRY: 'retry'>
    """
    if status in permanent:  # SR-292
        return Reaction.REFUSED
    return BY_HUNDRED.get(status // 100) or Reaction.RETRY


def reason_for(status: int) -> MessageClass:
    """Return the class of a refusal that is nearest to an HTTP status."""
    return _REASONS.get(status, MessageClass.NACK_BAD_DEST_QUEUE)

"""Represents one request of a peer with its response, from its arrival until the response is written.

    PostArrived --> begin --> rules of source and destination --> finish --> PostAnswer
                                   |                                ^
                                   '-- BatchArrived, BatchJudged ---'   the queue manager judges in this turn
                                   '-- waits for a reply -----------'   `backchannel`

A rule sets the content of the response: a body, the acknowledgement of a sequence.  A peer without an
address for acknowledgements gets them on these responses.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.protocols.wsrm.codec.values import Envelope
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal


@dataclass(slots=True)
class Exchange:
    """A request, or the envelope on the response to a request of this manager."""

    envelope: Envelope
    to: int = 0
    """The caller to answer; 0 without one, because the envelope came on a response or was answered already.
    """
    endpoint: str = ""
    """The name after /wsrm/; empty if the envelope came on a response."""
    by: Principal = ANONYMOUS
    peer: str = ""
    secure: bool = False
    """Whether the envelope came over TLS."""
    connection: int = 0
    ticket: int = 0
    """The ticket of the own `Post` on whose response the envelope came; 0 if it came as a request."""
    response: Envelope | None = None
    """The response; None for acknowledgements alone, or an empty answer (202)."""
    acknowledged: list[int] = field(default_factory=list)
    """The numbers of incoming sequences whose acknowledgement the response carries."""
    judging: bool = False
    """The queue manager has not judged the message yet; the exchange ends with its verdict."""
    reply_to: int = 0
    """Not 0: the response waits for a reply in this outgoing sequence (`backchannel`)."""

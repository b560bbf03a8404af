"""One request of a peer and its response, from its arrival to the moment when the response can be written.

    PostArrived --> begin --> rules of source and destination --> finish --> PostAnswer
                                   |                                ^
                                   '-- BatchArrived, BatchJudged ---'   the queue manager judges in this turn
                                   '-- waits for a reply -----------'   `backchannel`

A rule says what the response is to have: a body, the acknowledgement of a sequence.  What goes to a peer
whose acknowledgements have no address of their own goes on these responses.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.protocols.wsrm.codec.values import Envelope
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal


@dataclass(slots=True)
class Exchange:
    """A request, or what came back on the response to one of ours."""

    envelope: Envelope
    to: int = 0
    """The caller to answer; 0 where there is none: the envelope came on a response, or was
    answered already.
    """
    endpoint: str = ""
    """The name behind /wsrm/; empty where it came on a response."""
    by: Principal = ANONYMOUS
    peer: str = ""
    secure: bool = False
    """Whether the envelope came over TLS."""
    route: int = 0
    ticket: int = 0
    """The ticket of our `Post` whose response the envelope came on; 0 where it came as a request."""
    response: Envelope | None = None
    """The response; None for acknowledgements alone, or an empty answer (202)."""
    acknowledged: list[int] = field(default_factory=list)
    """Sequences that come in, by number, whose acknowledgement the response carries."""
    judging: bool = False
    """The queue manager has not said yet what becomes of the message; the exchange ends with its verdict."""
    reply_to: int = 0
    """Not 0: the response waits for a reply in this sequence that goes out (`backchannel`)."""

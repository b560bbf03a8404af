"""A queue manager and WS-RM on one bench: envelopes come in and go out, a test is the network.

bench = WsrmBench()                          started and addressed as bench.example, with "orders"
bench.post(envelope)                         a peer posts; the response, an envelope or None (202)
bench.begin_post(envelope)                   a peer posts, and the response may come later
bench.posted                                 what went out: (Post, its envelope), oldest first
bench.answer(post, envelope)                 its response comes
bench.restart()                              as in `Bench`; WS-RM is rebuilt too
"""

from __future__ import annotations

from typing import Any

from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Offer,
    Payload,
    Reference,
    SequenceHeader,
)
from reliquary.protocols.wsrm.effects import HangUp, Post
from reliquary.protocols.wsrm.events import Addressed, PostAnswer, PostArrived, PostEnded
from reliquary.protocols.wsrm.machine import Wsrm
from reliquary.protocols.wsrm.protocol import wsrm
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.state import State as WsrmState
from reliquary.protocols.wsrm.tables import TABLES
from reliquary.queueing.model import tables as manager_tables
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.travel.failures import Failure
from tests.protocols.protocol_bench import ProtocolBench

HOST = "bench.example"
ADDRESSED = Addressed(f"http://{HOST}", frozenset({HOST, "localhost"}))
DEFAULTS = WsrmSettings(seed=b"bench")
ANONYMOUS = Reference("http://www.w3.org/2005/08/addressing/anonymous")
URL = f"http://{HOST}/wsrm/orders"


class WsrmBench(ProtocolBench):
    """A manager that uses WS-RM."""

    TABLES = manager_tables.TABLES + TABLES
    ADDRESSED = ADDRESSED
    GOES_OUT = (Post, HangUp)

    def __init__(self, *queues: str, settings: WsrmSettings = DEFAULTS, **options: Any) -> None:
        self.settings = settings
        super().__init__(*queues, **options)

    def speaks(self) -> Protocol:
        """Return WS-RM with the settings of the bench."""
        return wsrm(self.settings)

    @property
    def wsrm(self) -> WsrmState:
        """The state of the machine."""
        return self.machine(Wsrm).state

    # -- a peer posts

    def begin_post(self, envelope: Envelope, endpoint: str = "orders", **options: Any) -> int:
        """Post as a peer; return the caller, whose answer may come later."""
        caller, encoded = self.new_caller(), encode(envelope)
        self.handle(PostArrived(caller, endpoint, encoded.content_type, encoded.data, **options))
        return caller

    def response_to(self, caller: int) -> PostAnswer | None:
        """Return the response to a caller, if there is one."""
        answer = self.answer_to(caller) if self.answers.get(caller) else None
        assert answer is None or isinstance(answer, PostAnswer)
        return answer

    def send_in(self, envelope: Envelope, endpoint: str = "orders", **options: Any) -> PostAnswer:
        """Post as a peer; return the response as it goes over HTTP."""
        answer = self.response_to(self.begin_post(envelope, endpoint, **options))
        assert answer is not None, "no response"
        return answer

    def post(self, envelope: Envelope, endpoint: str = "orders", **options: Any) -> Envelope | None:
        """Return a peer posts; the envelope of the response, None for 202."""
        answer = self.send_in(envelope, endpoint, **options)
        assert (answer.status == 202) is (not answer.body)
        return decode(answer.content_type, answer.body) if answer.body else None

    def sequence(
        self,
        dialect: Dialect = Dialect(),  # noqa: B008 - it is frozen
        endpoint: str = "orders",
        acks_to: Reference = ANONYMOUS,
        offer: Offer | None = None,
        message_id: str = "urn:uuid:00000000-0000-4000-8000-000000000001",
    ) -> str:
        """Create a sequence to an endpoint; its identifier."""
        body = CreateSequence(acks_to, offer=offer)
        asked = Envelope(
            dialect=dialect, to=Reference(URL), message_id=message_id, reply_to=acks_to, body=body
        )
        response = self.post(asked, endpoint)
        assert response is not None
        assert isinstance(response.body, CreateSequenceResponse), response.body
        return response.body.identifier

    def sequence_to(self, there: Reference, dialect: Dialect = Dialect()) -> str:  # noqa: B008 - it is frozen
        """Create a sequence whose acknowledgements and responses go to an address; its identifier."""
        asked = Envelope(
            dialect=dialect,
            to=Reference(URL),
            message_id="urn:uuid:00000000-0000-4000-8000-00000000000a",
            reply_to=there,
            body=CreateSequence(there),
        )
        assert self.post(asked) is None
        (_, created) = self.posted[-1]
        assert isinstance(created.body, CreateSequenceResponse)
        return created.body.identifier

    # -- we post

    @property
    def posted(self) -> list[tuple[Post, Envelope]]:
        """Return the requests that were posted, oldest first."""
        posts = [effect for effect in self.out if isinstance(effect, Post)]
        return [(post, decode(post.content_type, post.body)) for post in posts]

    def answer(self, post: Post, envelope: Envelope | None = None, status: int = 0) -> None:
        """Deliver the response to a request of the source."""
        if envelope is None:
            self.handle(PostEnded(post.connection, post.epoch, post.ticket, status or 202))
        else:
            encoded = encode(envelope)
            self.handle(
                PostEnded(
                    post.connection,
                    post.epoch,
                    post.ticket,
                    status or 200,
                    encoded.content_type,
                    encoded.data,
                )
            )

    def fail(self, post: Post, failure: Failure = Failure.TIMED_OUT) -> None:
        """Report that a request of the source will have no response."""
        self.handle(PostEnded(post.connection, post.epoch, post.ticket, failure=failure))


def message(
    identifier: str,
    number: int,
    content: bytes = b"<a/>",
    *,
    dialect: Dialect = Dialect(),  # noqa: B008 - it is frozen
    last: bool = False,
    **parts: Any,
) -> Envelope:
    """Return an application message in its place."""
    place = SequenceHeader(identifier, number, last)
    parts = dict[str, Any](action="urn:test/order", to=Reference(URL)) | parts
    return Envelope(dialect=dialect, sequence=place, body=Payload(content), **parts)


def acknowledged(envelope: Envelope | None) -> Acknowledgement:
    """Return the one acknowledgement that an envelope has."""
    assert envelope is not None
    (only,) = envelope.acknowledgements
    return only

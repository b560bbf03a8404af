"""The bodies H1 to H17: what they are byte for byte, and what they say."""

from __future__ import annotations

from dataclasses import dataclass

from reliquary.protocols.httpr.codec.reader import BatchEnded, BodyPart, HeaderRead
from reliquary.protocols.httpr.codec.values import (
    Capabilities,
    Carried,
    Command,
    Disposition,
    Error,
    Outcome,
    RequestHeader,
    ResponseHeader,
    SessionMark,
)


@dataclass(frozen=True)
class Vector:
    """The body of one recorded request or response, with its expected content."""

    data: bytes
    length: int
    """The number of bytes that docs/requirements/httpr.md names."""
    header: RequestHeader | ResponseHeader
    messages: tuple[Carried, ...] = ()
    disposition: Disposition | None = None

    @property
    def events(self) -> list[BodyPart]:
        """Return the events that a reader yields for these bytes."""
        ended: list[BodyPart] = [] if self.disposition is None else [BatchEnded(self.disposition)]
        return [HeaderRead(self.header), *self.messages, *ended]

    @property
    def block(self) -> bytes:
        """The header block of the body."""
        return self.data[: self.data.index(b"\r\n\r\n") + 4]


_TO_Q1 = "target-uri:httpr://yourhost/service#Q1\r\nclass-of-service:assured\r\n"
_REQUESTER = b"requester:httpr://myhost/service\r\n"
_RESPONDER = b"responder:httpr://yourhost/service\r\n"
_LAST = Disposition.LAST

VECTORS = {
    "H1": Vector(
        b"request:GET-RESPONDER-INFO HTTPR/1.0\r\n"
        + _REQUESTER
        + b"channel:primary\r\n"
        + _RESPONDER
        + b"session:begin\r\n"
        b"capabilities:maximum_batch_size=10,flows=PUSH+PULL+EXCHANGE,session_support=SESSION\r\n"
        b"agent-type:example.PyHttpr\r\n\r\n",
        255,
        RequestHeader(
            command=Command.GET_RESPONDER_INFO,
            requester="httpr://myhost/service",
            channel="primary",
            responder="httpr://yourhost/service",
            session=SessionMark.BEGIN,
            capabilities=Capabilities(sessions=True, sessionless=False),
            agent_type="example.PyHttpr",
        ),
    ),
    "H2": Vector(
        b"HTTPR/1.0\r\n" + _RESPONDER + b"sessionid:1\r\ncapabilities:maximum_batch_size=5\r\n"
        b"outcome:COMMIT\r\ncompleted:0000000000000000\r\n\r\n",
        141,
        ResponseHeader(
            version="HTTPR/1.0",
            responder="httpr://yourhost/service",
            session_id="1",
            capabilities=(("maximum_batch_size", "5"),),
            outcome=Outcome.COMMIT,
            completed=0,
        ),
    ),
    "H3": Vector(
        b"request:PUSH HTTPR/1.0\r\n" + _REQUESTER + b"channel:primary\r\n" + _RESPONDER + b"capabilities:"
        b"maximum_batch_size=10\r\ntransactionid:0000000000000001\r\n\r\n"
        b"message-size:5\r\ntarget-uri:httpr://yourhost/service#Q1\r\nclass-of-service:assured\r\n\r\nhello\r\n"
        b"message-encoding:chunked\r\ntarget-uri:httpr://yourhost/service#Q1\r\nclass-of-service:assured\r\n"
        b"\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n\r\npayload-disposition:last\r\n",
        420,
        RequestHeader(
            command=Command.PUSH,
            requester="httpr://myhost/service",
            channel="primary",
            responder="httpr://yourhost/service",
            capabilities=Capabilities(),
            transaction_id=1,
        ),
        (Carried(_TO_Q1, b"hello"), Carried(_TO_Q1, b"hello world")),
        _LAST,
    ),
    "H4": Vector(
        _RESPONDER + b"outcome:COMMIT\r\ncompleted:0000000000000001\r\n\r\n",
        82,
        ResponseHeader(responder="httpr://yourhost/service", outcome=Outcome.COMMIT, completed=1),
    ),
    "H5": Vector(
        b"request:PUSH HTTPR/1.0\r\nsessionid:1\r\ntransactionid:0000000000000001\r\n\r\n"
        b"message-size:0\r\n\r\n\r\npayload-disposition:last\r\n",
        117,
        RequestHeader(command=Command.PUSH, session_id="1", transaction_id=1),
        (Carried("", b""),),
        _LAST,
    ),
    "H6": Vector(
        b"request:PUSH HTTPR/1.0\r\nsessionid:1\r\ntransactionid:0000000000000002\r\n\r\n"
        b"message-size:5\r\n\r\nhello\r\npayload-disposition:abort\r\n",
        123,
        RequestHeader(command=Command.PUSH, session_id="1", transaction_id=2),
        (Carried("", b"hello"),),
        Disposition.ABORT,
    ),
    "H7": Vector(
        b"outcome:ROLLBACK\r\ncompleted:0000000000000002\r\n\r\n",
        48,
        ResponseHeader(outcome=Outcome.ROLLBACK, completed=2),
    ),
    "H8": Vector(
        b"request:PULL HTTPR/1.0\r\nsessionid:1\r\noutcome:COMMIT\r\ncompleted:0000000000000000\r\n\r\n",
        83,
        RequestHeader(command=Command.PULL, session_id="1", outcome=Outcome.COMMIT, completed=0),
    ),
    "H9": Vector(
        b"transactionid:0000000000000001\r\noutcome:COMMIT\r\ncompleted:0000000000000000\r\n\r\n"
        b"message-size:3\r\n\r\nabc\r\npayload-disposition:last\r\n",
        127,
        ResponseHeader(transaction_id=1, outcome=Outcome.COMMIT, completed=0),
        (Carried("", b"abc"),),
        _LAST,
    ),
    "H11": Vector(
        b"outcome:COMMIT\r\ncompleted:0000000000000000\r\n\r\n",
        46,
        ResponseHeader(outcome=Outcome.COMMIT, completed=0),
    ),
    "H12": Vector(
        b"request:REPORT HTTPR/1.0\r\nsessionid:1\r\nsession:end\r\nlast-pushed-id:0000000000000002\r\n"
        b"forget:0000000000000002\r\n\r\n",
        112,
        RequestHeader(
            command=Command.REPORT, session_id="1", session=SessionMark.END, last_pushed_id=2, forget=2
        ),
    ),
    "H13": Vector(
        b"session:end\r\nlast-pulled-id:0000000000000000\r\noutcome:COMMIT\r\n"
        b"completed:0000000000000000\r\n\r\n",
        92,
        ResponseHeader(session=SessionMark.END, last_pulled_id=0, outcome=Outcome.COMMIT, completed=0),
    ),
    "H14": Vector(
        b"session:end\r\noutcome:ROLLBACK\r\ncompleted:0000000000000002\r\n"
        b"error:529 OUT-OF-SEQUENCE-TRANSACTION-DISCARDED\r\n\r\n",
        110,
        ResponseHeader(
            session=SessionMark.END,
            outcome=Outcome.ROLLBACK,
            completed=2,
            error=Error(529, "OUT-OF-SEQUENCE-TRANSACTION-DISCARDED"),
        ),
    ),
    "H15": Vector(
        b"session:end\r\nerror:528 SESSION-IDENTIFIER-NOT-RECOGNISED\r\n\r\n",
        60,
        ResponseHeader(session=SessionMark.END, error=Error(528, "SESSION-IDENTIFIER-NOT-RECOGNISED")),
    ),
    "H16": Vector(
        b"request:EXCHANGE HTTPR/1.0\r\nsessionid:1\r\ntransactionid:0000000000000002\r\noutcome:COMMIT\r\n"
        b"completed:0000000000000101\r\n\r\nmessage-size:2\r\n\r\nhi\r\npayload-disposition:last\r\n",
        167,
        RequestHeader(
            command=Command.EXCHANGE,
            session_id="1",
            transaction_id=2,
            outcome=Outcome.COMMIT,
            completed=0x101,
        ),
        (Carried("", b"hi"),),
        _LAST,
    ),
    "H17": Vector(
        b"transactionid:0000000000000102\r\noutcome:COMMIT\r\ncompleted:0000000000000002\r\n\r\n"
        b"message-size:2\r\n\r\nok\r\npayload-disposition:last\r\n",
        126,
        ResponseHeader(transaction_id=0x102, outcome=Outcome.COMMIT, completed=2),
        (Carried("", b"ok"),),
        _LAST,
    ),
}
REQUESTS = {name: each for name, each in VECTORS.items() if isinstance(each.header, RequestHeader)}
RESPONSES = {name: each for name, each in VECTORS.items() if isinstance(each.header, ResponseHeader)}

"""Bodies of WS-RM have the children of their version; round trips and schemas are in `test_encode`."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Duration
from reliquary.protocols.wsrm.codec import rm10, rm11
from reliquary.protocols.wsrm.codec.body_texts import Protocol, body_action, body_text
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.values import (
    CloseSequence,
    CloseSequenceResponse,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Incomplete,
    MakeConnection,
    Offer,
    Reference,
    TerminateSequence,
    TerminateSequenceResponse,
    Version,
)

IN10, IN11 = Dialect(Version.RM10), Dialect()
ENDPOINT = Reference("http://b")
OFFER = Offer("urn:o", None, Duration(SECOND), Incomplete.ENTIRE)


@pytest.mark.parametrize(
    ("body", "action"),
    [
        (CreateSequence(ENDPOINT), "CreateSequence"),
        (CreateSequenceResponse("urn:a"), "CreateSequenceResponse"),
        (TerminateSequence("urn:a"), "TerminateSequence"),
        (CloseSequence("urn:a"), "CloseSequence"),
        (CloseSequenceResponse("urn:a"), "CloseSequenceResponse"),
        (TerminateSequenceResponse("urn:a"), "TerminateSequenceResponse"),
    ],
)
def test_the_action_of_a_body_has_its_name(body: Protocol, action: str) -> None:
    assert body_action(body, Version.RM11) == f"{rm11.NAMESPACE}/{action}"
    if isinstance(body, CloseSequence | CloseSequenceResponse | TerminateSequenceResponse):
        with pytest.raises(UsageError, match=f"WS-RM 1.0 has no {action}"):
            encode(Envelope(dialect=IN10, body=body))
    else:
        assert body_action(body, Version.RM10) == f"{rm10.NAMESPACE}/{action}"
    encoded = encode(Envelope(dialect=IN11, body=body))
    assert f">{rm11.NAMESPACE}/{action}<".encode() in encoded.data


def test_a_fetch_has_the_action_of_its_own_specification() -> None:
    assert body_action(MakeConnection("urn:a"), Version.RM10) == rm11.MAKE_CONNECTION


def test_an_offer_in_1_0_has_no_endpoint_and_no_behavior() -> None:
    text = body_text(CreateSequence(ENDPOINT, offer=OFFER), IN10)
    assert (
        "<wsrm:Offer><wsrm:Identifier>urn:o</wsrm:Identifier><wsrm:Expires>PT1S</wsrm:Expires></wsrm:Offer>"
        in text
    )
    new = body_text(CreateSequence(ENDPOINT, offer=OFFER), IN11)
    assert (
        "<wsrm:Endpoint><wsa:Address>http://www.w3.org/2005/08/addressing/anonymous</wsa:Address></wsrm:Endpoint>"
        in new
    )
    assert "<wsrm:IncompleteSequenceBehavior>DiscardEntireSequence<" in new


def test_the_last_number_is_reported_in_1_1() -> None:
    assert "<wsrm:LastMsgNumber>9</wsrm:LastMsgNumber>" in body_text(TerminateSequence("urn:a", 9), IN11)
    assert "LastMsgNumber" not in body_text(TerminateSequence("urn:a", 9), IN10)
    assert "LastMsgNumber" not in body_text(CloseSequence("urn:a"), IN11)
    assert "Incomplete" not in body_text(CreateSequenceResponse("urn:a", incomplete=Incomplete.ENTIRE), IN10)

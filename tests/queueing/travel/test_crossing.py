"""A message that goes on by another protocol than the one that brought it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr import schemes
from reliquary.queueing.model.message import AuthenticationLevel, Delivery, Message, ObjectId, SequenceId
from reliquary.queueing.travel.crossing import as_sent_onward, leads_elsewhere, onward_name

BATCH = UUID(int=7)
OWN: dict[str, Any] = {
    "identifier": ObjectId(UUID(int=1), 2),
    "body": b"hello",
    "label": "a label",
    "priority": 5,
    "extension": b"more",
    "response_queue": "DIRECT=http://alpha.example/msmq/private$/replies",
    "negative_journaling": True,
    "sent_time": 1_700_000_000,
    "correlation": ObjectId(UUID(int=3), 4),
}
"""What belongs to the message, whichever way it came."""
OF_THE_FIRST: dict[str, Any] = {
    "soap_envelope": "<Envelope/>",
    "soap_header": "<streamReceipt/>",
    "carrier_header": "target-uri:httpr://here/httpr/mq\r\n",
    "sequence": SequenceId(1, 2),
    "sequence_number": 3,
    "previous_sequence_number": 2,
    "final_ack_required": True,
    "transaction_status_queue": "http://alpha.example/msmq/private$/order_queue$",
    "destination_queue": "DIRECT=http://here/msmq/private$/orders",
    "authentication": AuthenticationLevel.XML_SIG,
    "signature": b"signed",
    "positive_journaling": True,
}
"""What the protocol that brought it has added."""


@pytest.mark.parametrize("transaction", [None, BATCH])
def test_only_what_belongs_to_the_first_protocol_is_left_behind(transaction: UUID | None) -> None:
    came = Message.of(**OWN, **OF_THE_FIRST, delivery=Delivery.RECOVERABLE)
    assert as_sent_onward(came, transaction) == Message.of(
        **OWN, transaction=transaction, delivery=Delivery.RECOVERABLE
    )


def test_a_message_in_a_transaction_is_recoverable_and_another_stays_as_it_is() -> None:
    came = Message(delivery=Delivery.EXPRESS)
    assert as_sent_onward(came, BATCH).delivery is Delivery.RECOVERABLE
    assert as_sent_onward(came, None).is_express


@pytest.mark.parametrize(
    ("text", "elsewhere"),
    [
        ("orders", False),
        ("private$\\orders", False),
        ("DIRECT=HTTP://shop.example/msmq/private$/orders", True),
        ("httpr://shop.example/httpr/mq#orders", True),
        ("http://shop.example/orders", False),
    ],
)
def test_format_names_and_urls_lead_to_other_managers(text: str, elsewhere: bool) -> None:
    assert leads_elsewhere(text) is elsewhere


def test_a_destination_is_a_url_of_a_protocol_or_a_host() -> None:
    name = onward_name("httpr://shop.example/httpr/mq#orders")
    assert (name.scheme, str(name)) == (schemes.HTTPR, "DIRECT=HTTPR://shop.example/httpr/mq#orders")
    assert str(onward_name("direct=http://shop.example/msmq/q")) == "DIRECT=HTTP://shop.example/msmq/q"
    host = "DIRECT=OS:shop\\private$\\orders"
    assert str(onward_name(host)) == host
    for text in ("DIRECT=SPX:0123:45\\private$\\orders", "MULTICAST=234.1.1.1:80", "DIRECT=HTTPR://"):
        with pytest.raises(UsageError):
            onward_name(text)

"""Kept parts of a header survive, and do not disturb the fields of HTTPR."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.httpr.codec.values import Carried
from reliquary.protocols.httpr.fields import chosen_header, fields_of
from reliquary.protocols.httpr.message_decode import decode_message
from reliquary.protocols.httpr.message_encode import encode_message
from reliquary.protocols.wsrm.codec.values import Reference
from reliquary.protocols.wsrm.kept import FIELD, Kept, carrier_header_of, kept_of
from reliquary.queueing.model.message import Message

texts = st.text(max_size=20)
kepts = st.builds(Kept, texts, texts, texts, st.none() | st.builds(Reference, texts, st.binary(max_size=9)))


@given(kepts)
def test_what_is_kept_is_read_back(kept: Kept) -> None:
    header = carrier_header_of(kept)
    assert header.isascii()
    assert kept_of(Message.of(carrier_header=header)) == kept


@given(kepts.filter(lambda kept: kept != Kept()))
def test_the_kept_header_is_one_field_of_httpr(kept: Kept) -> None:
    message = Message.of(carrier_header=carrier_header_of(kept))
    assert list(fields_of(message)) == [FIELD.rstrip(":")]


@given(kepts)
def test_the_kept_header_survives_a_transfer_by_httpr(kept: Kept) -> None:
    message = Message.of(body=b"x", label="a", carrier_header=carrier_header_of(kept))
    header, body = encode_message(message)
    _, back = decode_message(Carried(header=header.encode("latin-1").decode("latin-1"), body=body))
    assert kept_of(back) == kept
    assert back.label == "a"
    assert kept_of(back.changed(carrier_header=back.carrier_header * 2)) == kept


def test_fields_of_httpr_are_not_kept_header_parts() -> None:
    assert kept_of(Message()) == Kept()
    assert (
        kept_of(Message.of(carrier_header=chosen_header({"app-x": FIELD, "content-type": "a/b"}))) == Kept()
    )
    assert kept_of(Message.of(carrier_header="content-type:text/xml\r\n")) == Kept()


def test_nothing_is_kept_of_nothing() -> None:
    assert carrier_header_of(Kept()) == ""


def test_a_field_that_a_peer_made_up_is_nothing() -> None:
    for line in ("[]", "{", '{"to":7}', "", '{"reply_to":{"address":"a","parameters":"?"}}'):
        assert kept_of(Message.of(carrier_header=f"content-type:a\r\n{FIELD}{line}\r\n")) == Kept()

"""Tests of the header that says who asks."""

from __future__ import annotations

from base64 import b64decode

import pytest

from reliquary import BadRequest
from reliquary.client.authorization import authorization_of


def test_an_anonymous_client_sends_no_header() -> None:
    assert authorization_of() is None


def test_a_token_is_sent_as_it_is() -> None:
    assert authorization_of("abc-1") == "Bearer abc-1"


def test_a_name_and_a_password_are_sent_in_utf_8() -> None:
    header = authorization_of(user="zoë", password="a:ß")
    assert header is not None
    assert b64decode(header.removeprefix("Basic ")).decode() == "zoë:a:ß"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"token": "two words"}, "a token is made of"),
        ({"token": "abc", "user": "alice", "password": "x"}, "not both"),
        ({"user": "alice"}, "one of them is missing"),
        ({"password": "x"}, "one of them is missing"),
        ({"user": "", "password": "x"}, "one of them is missing"),
        ({"user": "a:b", "password": "x"}, "has no colon"),
        ({"user": "alice", "password": "x\ny"}, "control characters"),
    ],
)
def test_what_proves_nothing_is_refused(given: dict[str, str], why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        authorization_of(**given)

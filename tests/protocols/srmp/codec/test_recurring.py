"""A POST that is read by its form has the result of reading its parts, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.srmp.codec import canonical
from reliquary.protocols.srmp.codec import recurring as forms
from reliquary.protocols.srmp.codec.decode import decode
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.recurring import MOST, recurring
from reliquary.protocols.srmp.codec.values import Arrived
from tests.protocols.srmp import peer
from tests.protocols.srmp.codec.vector import LARGEST

URL = "http://beta.example/msmq/private$/orders"
BODY = b"<a>1</a>"
Make = Callable[[int], peer.Post]


@pytest.fixture(autouse=True)
def no_forms() -> Iterator[None]:
    """Let each test begin without known forms."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    forms._forms.clear()
    canonical._read.cache_clear()


def plain(number: int, body: bytes = BODY) -> peer.Post:
    return peer.user_message(URL, number=number, body=body)


def streamed(number: int, body: bytes = BODY) -> peer.Post:
    return peer.stream_message(number, previous=number - 1, to=URL, body=body)


def by_parts(content_type: str, body: bytes) -> Arrived | str:
    """Return what is read where no form is known."""
    kept = dict(forms._forms)
    forms._forms.clear()
    try:
        return decode(content_type, body, largest=LARGEST)
    except SrmpFault as fault:
        return str(fault)
    finally:
        forms._forms.update(kept)


def learn(post: peer.Post) -> None:
    for _ in range(3):
        decode(*post, largest=LARGEST)
    assert recurring(*post) is not None


@pytest.mark.parametrize("make", [plain, streamed])
def test_the_next_messages_of_a_sender_are_read_by_their_form(make: Make) -> None:
    learn(make(1001))
    for number in (1002, 8999, 4711):
        post = make(number)
        found = recurring(*post)
        assert found is not None
        assert found == by_parts(*post)


@pytest.mark.parametrize("body", [b"", b"x" * 5000, b"\r\n--MSMQ - SOAP boundary, 101--\r\n"])
def test_a_body_may_have_any_length_and_content(body: bytes) -> None:
    learn(plain(1001))
    found = recurring(*plain(1002, body))
    assert found is not None
    assert found.body == body
    assert found == by_parts(*plain(1002, body))


def test_the_form_is_kept_again_when_the_numbers_of_a_stream_get_longer() -> None:
    learn(streamed(99))
    assert recurring(*streamed(101)) is None
    learn(streamed(101))
    assert recurring(*streamed(102)) is not None


def test_a_form_is_kept_when_an_envelope_came_twice() -> None:
    decode(*plain(1000), largest=LARGEST)
    assert recurring(*plain(1001)) is None
    decode(*plain(1001), largest=LARGEST)
    assert recurring(*plain(1002)) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b"<id>uuid:", b"<id>uuid:x", id="a malformed number"),
        pytest.param(b"1005", b"99999999999", id="a number that is too long"),
        pytest.param(b"1005", b"10051", id="an envelope that is longer than it says"),
        pytest.param(b"<Priority>", b"<priority>", id="another envelope"),
        pytest.param(b"Content-Id: body@", b"Content-Id: bodi@", id="another name of the body"),
        pytest.param(BODY, BODY + b"1", id="a body that is longer than it says"),
        pytest.param(BODY, BODY[1:], id="a body that is shorter than it says"),
        pytest.param(b"text/xml; charset=UTF-8", b"text/xml; charset=UTF-9", id="another charset"),
    ],
)
@pytest.mark.parametrize("make", [plain, streamed])
def test_a_post_that_differs_is_cut_into_its_parts(make: Make, old: bytes, new: bytes) -> None:
    learn(make(1001))
    content_type, body = make(1005)
    changed = body.replace(old, new)
    assert recurring(content_type, changed) is None


def test_a_number_with_a_letter_is_left_to_the_parser() -> None:
    learn(plain(1001))
    content_type, body = plain(1005)
    assert recurring(content_type, body.replace(b"<id>uuid:1005", b"<id>uuid:1x05")) is None


def test_a_post_with_another_content_type_is_cut_into_its_parts() -> None:
    learn(plain(1001))
    content_type, body = plain(1002)
    assert recurring(content_type.replace("type=text/xml", "type=text/plain"), body) is None


@pytest.mark.parametrize("place", [b"<current>0</current>", b"<current>4294967296</current>"])
def test_a_place_that_must_be_refused_is_left_to_the_parser(place: bytes) -> None:
    content_type, body = streamed(1001)
    learn((content_type, body))
    filling = b"0" * (len(b"<current>1001</current><previous>1000</previous>") - len(place))
    changed = body.replace(
        b"<current>1001</current><previous>1000</previous>", place.replace(b">", b">" + filling, 1)
    )
    assert recurring(content_type, changed) is None


@settings(max_examples=150)
@given(st.data())
def test_a_changed_byte_never_changes_how_a_post_is_read(data: st.DataObject) -> None:
    make = data.draw(st.sampled_from([plain, streamed]))
    learn(make(1001))
    content_type, body = make(1003)
    at = data.draw(st.integers(0, len(body) - 1))
    byte = data.draw(st.sampled_from(b'0159 \r\n<>"@-ax'))
    changed = body[:at] + bytes([byte]) + body[at + 1 :]
    found = recurring(content_type, changed)
    assert found is None or found == by_parts(content_type, changed)
    _forget()


def test_the_number_of_forms_is_limited() -> None:
    for number in range(MOST + 2):
        for _ in range(2):
            decode(
                *peer.user_message(f"http://beta.example/msmq/q{number}", number=1, body=BODY),
                largest=LARGEST,
            )
    assert 0 < len(forms._forms) <= MOST


@pytest.mark.parametrize("header", [b"Content-Length: 8\r\n", b"X: 1\ncontent-length: 8\r\n"])
def test_a_body_without_a_length_has_no_form(header: bytes) -> None:
    content_type, body = plain(1001)
    start, delimiter, rest = body.partition(b"Content-Id")
    uncounted = start.replace(b"Content-Length: 8\r\n", header.replace(b"Content-Length: 8\r\n", b""))
    for _ in range(3):
        decode(content_type, uncounted + delimiter + rest, largest=LARGEST)
    assert not forms._forms

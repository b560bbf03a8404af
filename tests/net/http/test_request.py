"""Tests a request as the handler sees it."""

from __future__ import annotations

import pytest

from reliquary.base.faults import PeerFault
from reliquary.net.http.request import Request, split_target
from tests.net.http.harness import echo, everywhere


def ask(query: bytes) -> Request:
    return Request("GET", "/", query, [(b"X-A", b"1")], b"", 7, True, everywhere(echo))


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        pytest.param(b"/", "/", b"", id="root"),
        pytest.param(b"/q?a=1?b", "/q", b"a=1?b", id="the first question mark ends the path"),
        pytest.param(b"/private%24/%C3%A9%20", "/private$/é ", b"", id="percent-encoded"),
        pytest.param(b"/a%2Fb", "/a/b", b"", id="an encoded slash"),
        pytest.param("/é".encode(), "/é", b"", id="raw UTF-8"),
        pytest.param(b"http://host:80/q?x=1", "/q", b"x=1", id="absolute form"),
        pytest.param(b"http://host", "/", b"", id="absolute form without a path"),
        pytest.param(b"*", "*", b"", id="the asterisk of OPTIONS"),
    ],
)
def test_a_target_is_split_into_path_and_query(target: bytes, path: str, query: bytes) -> None:
    assert split_target(target) == (path, query)


@pytest.mark.parametrize("target", [b"/%ff", b"/\xff", b"nonsense"])
def test_a_target_that_cannot_be_read_is_the_peers_fault(target: bytes) -> None:
    with pytest.raises(PeerFault) as caught:
        split_target(target)
    assert caught.value.status == 400


def test_headers_are_lowered_on_demand_and_looked_up_without() -> None:
    request = ask(b"")
    assert request.header(b"x-a") == b"1"
    assert request.headers == [(b"x-a", b"1")]


def test_parameters_are_decoded() -> None:
    found = ask(b"wait=1.5&label=a%20b+c&empty=").parameters()
    assert found == {"wait": "1.5", "label": "a b c", "empty": ""}
    assert ask(b"").parameters() == {}


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(b"a=1&a=2", id="a name twice"),
        pytest.param(b"a=%ff", id="not UTF-8"),
        pytest.param(b"a=\xff", id="raw bytes that are not UTF-8"),
        pytest.param(b"&".join(b"a%d=1" % number for number in range(101)), id="too many"),
    ],
)
def test_a_query_that_cannot_be_read_is_the_peers_fault(query: bytes) -> None:
    with pytest.raises(PeerFault) as caught:
        ask(query).parameters()
    assert caught.value.status == 400


def test_a_request_shows_itself() -> None:
    assert repr(ask(b"")) == "<Request GET / 0 bytes>"

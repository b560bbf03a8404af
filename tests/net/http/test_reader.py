"""From bytes to requests, without a connection; the limits are shown in test_connection."""

from __future__ import annotations

import pytest

from reliquary.base.faults import PeerFault
from reliquary.base.time import seconds
from reliquary.net.http.limits import Limits
from reliquary.net.http.mounts import Mounts
from reliquary.net.http.reader import BODY, HEAD, IDLE, RequestReader
from reliquary.net.http.request import Request
from tests.net.http.harness import echo, everywhere, post


def read(limits: Limits | None = None) -> tuple[RequestReader, list[Request]]:
    found: list[Request] = []
    return RequestReader(
        limits or Limits(), Mounts([everywhere(echo)]), 7, found.append, lambda _: None, 0
    ), found


def test_the_phases_follow_the_bytes() -> None:
    reader, found = read()
    phases = [reader.phase]
    for part in (b"P", b"OST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n", b"o", b"k"):
        reader.feed(part)
        phases.append(reader.phase)
    assert phases == [IDLE, HEAD, BODY, BODY, IDLE]
    assert (found[0].body, found[0].connection) == (b"ok", 7)


def test_a_slow_client_is_found_in_head_and_body_and_not_between() -> None:
    reader, _ = read(Limits(head_time=seconds(1), body_time=seconds(2)))
    assert reader.overdue(seconds(9)) is None
    reader.feed(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n")
    assert reader.overdue(seconds(1)) is None
    assert reader.overdue(seconds(1.5)) == "the head of a request may take 1 s, 1.5 s have passed"
    reader.now = seconds(1)
    reader.feed(b"\r\n")
    assert reader.overdue(seconds(3)) is None
    assert reader.overdue(seconds(4)) == "the body (0 bytes came) of a request may take 2 s, 3 s have passed"


def test_what_cannot_be_read_is_the_peers_fault() -> None:
    reader, _ = read()
    with pytest.raises(PeerFault, match=r"this is not HTTP/1\.1") as caught:
        reader.feed(b"\x00")
    assert caught.value.status == 400


def test_a_declined_upgrade_gives_back_what_it_did_not_read() -> None:
    reader, found = read()
    rest = reader.feed(post("/u", b"body", "Connection: upgrade", "Upgrade: x"))
    assert rest is not None
    assert (bytes(rest), found) == (b"body", [])
    assert reader.feed(rest) is None
    assert found[0].body == b"body"


def test_the_version_is_known() -> None:
    for version, old in ((b"1.0", True), (b"1.1", False)):
        reader, _ = read()
        reader.feed(b"GET / HTTP/" + version + b"\r\n\r\n")
        assert reader.is_old() is old

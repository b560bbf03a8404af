"""Tests which mount takes a path, and on which terms."""

from __future__ import annotations

import pytest

from reliquary.base.faults import PeerFault
from reliquary.net.http import Limits, Mount, Refusals, Request, Responder
from reliquary.net.http.mounts import Mounts, anyone
from reliquary.net.http.streams import BodySink
from tests.net.http.harness import bodies, connect, echo, everywhere, post


def under(prefix: str, *, any_case: bool = False) -> Mount:
    return Mount(prefix=prefix, handler=echo, any_case=any_case)


TABLE = Mounts([under("/api/"), everywhere(echo), under("/api/stages/"), under("/msmq/", any_case=True)])


@pytest.mark.parametrize(
    ("target", "prefix"),
    [
        pytest.param(b"/api/queues", "/api/", id="a prefix"),
        pytest.param(
            b"/api/stages/1?a=/msmq/", "/api/stages/", id="the longest prefix, whatever the query is"
        ),
        pytest.param(b"/api", "", id="a prefix without its slash"),
        pytest.param(b"/API/queues", "", id="a prefix in another case"),
        pytest.param(b"/MsMq/private%24/q", "/msmq/", id="a prefix in any case"),
        pytest.param("/mſmq/q".encode(), "", id="a letter that only Unicode folds"),
        pytest.param(b"/%6dsmq/q", "/msmq/", id="a prefix that is percent-encoded"),
        pytest.param(b"http://here/api/queues", "/api/", id="the absolute form"),
        pytest.param(b"*", "", id="the asterisk of OPTIONS"),
        pytest.param(b"/in/api/", "", id="a prefix further behind"),
    ],
)
def test_a_path_belongs_to_the_longest_prefix_it_begins_with(target: bytes, prefix: str) -> None:
    assert TABLE.resolve(target).mount.prefix == prefix


def test_a_target_is_its_path_its_query_and_its_mount() -> None:
    path, query, mount = TABLE.resolve(b"/api/private%24?wait=1")
    assert (path, query, mount.prefix) == ("/api/private$", b"wait=1", "/api/")


def test_a_target_that_cannot_be_read_is_the_fault_of_the_peer() -> None:
    with pytest.raises(PeerFault, match="not UTF-8"):
        TABLE.resolve(b"/api/%ff")


@pytest.mark.parametrize(
    "mounts",
    [
        pytest.param([under("/a/")], id="no mount for other paths"),
        pytest.param([everywhere(echo), under("/a/"), under("/a/")], id="two mounts with one prefix"),
    ],
)
def test_a_table_that_leaves_a_path_open_is_refused(mounts: list[Mount]) -> None:
    with pytest.raises(AssertionError):
        Mounts(mounts)


def test_bodies_of_a_mount_are_whole_or_streamed() -> None:
    def begin(request: Request, responder: Responder) -> BodySink:
        raise AssertionError("no request is made")

    with pytest.raises(AssertionError, match="whole or streamed"):
        Mount(prefix="/a/")
    with pytest.raises(AssertionError, match="whole or streamed"):
        Mount(prefix="/a/", handler=echo, begin=begin)


def test_a_mount_says_who_may_come_in_and_its_handler_asks() -> None:
    seen: list[object] = []

    def handler(request: Request, responder: Responder) -> None:
        seen.append(request.mount.admit(request))
        responder.respond(200, b"")

    named = Mount(prefix="/a/", handler=handler, admit=lambda request: f"who asks for {request.path}")
    connection, _ = connect(handler, None, named)
    connection.data_received(post("/a/1") + post("/b/1"))
    assert seen == ["who asks for /a/1", anyone(None)]  # type: ignore[arg-type,func-returns-value]


def test_a_mount_has_its_own_limit_and_its_own_refusals() -> None:
    refused: list[tuple[int, str, str]] = []
    own = Mount(
        prefix="/small/",
        handler=echo,
        body_bytes=10,
        refusals=Refusals({413: 400}, lambda *reported: refused.append(reported)),
    )
    for path, answer in (("/small/1", (400, b"")), ("/large/1", (200, b"POST /large/1 " + b"x" * 11))):
        connection, transport = connect(echo, Limits(body_bytes=100), own)
        sent = post(path, b"x" * 11)
        connection.data_received(sent[:-5])
        connection.data_received(sent[-5:])
        assert bodies(transport.sent) == [answer]
    assert refused == [(400, "", "a body may have 10 bytes, this has 11")]

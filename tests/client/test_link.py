"""Tests the link from a plain thread: what is tried again, and what each silence is called."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reliquary import BadRequest, OutcomeUnknown, QueueNotFound, ServerUnreachable
from reliquary.client.certificates import ClientCertificates
from reliquary.client.link import Link
from tests.client.scripted import HANG_UP, Answer, Scripted, answer, streamed
from tests.ports import free_port

STOPPING = answer(503, {"error": "the server is stopping", "code": "STOPPING"})


@pytest.fixture(autouse=True)
def closing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what a test opened."""
    opened: list[Link] = []
    begin = Link.__init__

    def watched(self: Link, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        opened.append(self)

    monkeypatch.setattr(Link, "__init__", watched)
    yield
    for each in opened:
        each.close()


def link(server: Scripted, authorization: str | None = None) -> Link:
    return Link(server.url, authorization, pauses=(0, 0))


@pytest.mark.parametrize("url", ["orders", "ftp://here", "http://", "http://here:port", "http://[::1"])
def test_a_malformed_address_is_refused(url: str) -> None:
    with pytest.raises(BadRequest, match=r"must be like http|is not an address"):
        Link(url)


def test_a_time_without_end_is_refused() -> None:
    with pytest.raises(BadRequest, match="more than 0 seconds, not 0"):
        Link("http://here:1", timeout=0)


def test_one_connection_serves_one_request_after_the_other() -> None:
    with Scripted([answer(200, 1), answer(200, 2)]) as server:
        asking = link(server, "Bearer secret")
        assert (asking.ask("GET", "/a"), asking.ask("POST", "/b", {"x": 1})) == (b"1", b"2")
        assert server.connections == 1
        asking.close()
    first, second = server.asked
    assert (first.method, first.target, second.target) == ("GET", "/api/v1/a", "/api/v1/b")
    assert first.headers["Authorization"] == "Bearer secret"
    assert second.body == b'{"x":1}'


def test_a_kept_connection_that_was_hung_up_is_no_failure() -> None:
    with Scripted([Answer(answer(200, 1).data, cut=True), answer(200, 2)]) as server:
        asking = Link(server.url, pauses=())
        assert asking.ask("GET", "/a") == b"1"
        assert asking.ask("POST", "/b", changes=True) == b"2"


def test_what_was_not_answered_is_asked_again() -> None:
    with Scripted([HANG_UP, STOPPING, answer(200, 3)]) as server:
        assert link(server).ask("GET", "/a") == b"3"


def test_the_tries_are_bounded() -> None:
    with Scripted([HANG_UP] * 9) as server:
        with pytest.raises(ServerUnreachable, match="does not answer"):
            link(server).ask("GET", "/a")
        with pytest.raises(OutcomeUnknown, match="may have done it or not"):
            link(server).ask("POST", "/a", changes=True)
    assert len(server.asked) == 6


def test_a_change_that_never_left_changed_nothing() -> None:
    with Scripted([STOPPING] * 3) as server, pytest.raises(ServerUnreachable, match="stopping"):
        link(server).ask("POST", "/a", changes=True)
    with pytest.raises(ServerUnreachable, match="Connection refused"):
        Link(f"http://127.0.0.1:{free_port()}", pauses=()).ask("POST", "/a", changes=True)


def test_a_refusal_is_not_asked_again() -> None:
    no = answer(404, {"error": "it is not here", "code": "QUEUE_NOT_FOUND"})
    with Scripted([no]) as server, pytest.raises(QueueNotFound, match="it is not here"):
        link(server).ask("GET", "/a")
    assert len(server.asked) == 1


def test_an_answer_is_read_while_it_comes_and_its_connection_kept() -> None:
    with Scripted([HANG_UP, streamed(b"abc", b"def"), answer(200, 1)]) as server:
        asking = link(server)
        with asking.reading("/a") as body:
            assert body.read(4) == b"abcd"
            assert body.read() == b"ef"
        asking.ask("GET", "/b")
    assert server.connections == 2


def test_an_answer_that_breaks_off_is_never_taken_for_whole() -> None:
    broken = pytest.raises(ServerUnreachable, match="broke off in the middle")
    with Scripted([streamed(b"abc", whole=False)]) as server, broken, link(server).reading("/a"):
        pass
    assert len(server.asked) == 1, "what began is the caller's to ask again"


def test_a_client_that_does_not_read_on_hangs_up() -> None:
    with Scripted([streamed(b"abc", b"def"), answer(200, 1)]) as server:
        asking = link(server)
        with pytest.raises(KeyError), asking.reading("/a"):
            raise KeyError
        asking.ask("GET", "/b")
    assert server.connections == 2


def test_a_body_is_sent_while_it_is_made() -> None:
    with Scripted([answer(201, 7)]) as server:
        assert link(server).put("/a", iter([b"abc", b"def"])) == b"7"
    [asked] = server.asked
    assert (asked.method, asked.body) == ("PUT", b"abcdef")


def test_a_server_that_answers_early_is_sent_no_more() -> None:
    early = answer(400, {"error": "row 1: no", "code": "INVALID_PARAMETER"})

    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 65536

    script = [Answer(early.data, cut=True, early=True)]
    with Scripted(script) as server, pytest.raises(BadRequest, match="row 1: no"):
        link(server).put("/a", endless())


def test_a_body_that_breaks_off_counts_for_nothing() -> None:
    with Scripted([HANG_UP]) as server, pytest.raises(ServerUnreachable, match="nothing of it counts"):
        link(server).put("/a", [b"abc"])


def test_what_fails_while_a_body_is_made_is_the_callers() -> None:
    def failing() -> Iterator[bytes]:
        yield b"abc"
        raise OSError("the disk is full")

    with Scripted([answer(201)]) as server, pytest.raises(OSError, match="the disk is full"):
        link(server).put("/a", failing())


def test_a_file_of_authorities_must_be_one(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(BadRequest, match="cannot be used"):
            Link(url, files=ClientCertificates(str(tmp_path / "none"))).ask("GET", "/a")


def test_no_connection_goes_along_into_another_process() -> None:
    with Scripted([answer(200, 1), answer(200, 2), answer(200, 3)]) as server:
        asking = link(server)
        asking.ask("GET", "/a")
        again: Link = pickle.loads(pickle.dumps(asking))  # noqa: S301
        asking.close()
        assert again.ask("GET", "/b") == b"2"
        child = os.fork()
        if not child:
            with Scripted([answer(200, 3)]) as other:
                again._base, again._port = "", int(other.url.rpartition(":")[2])
                os._exit(0 if again.ask("GET", "/c") == b"3" else 1)
        assert os.waitpid(child, 0)[1] == 0
        again.close()
    assert server.connections == 2

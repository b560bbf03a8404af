"""Tests what agents of applications are called."""

from __future__ import annotations

import pytest

from reliquary import BadRequest
from reliquary.client.agent_names import agent_names


def test_a_server_of_ours_has_queues_to_send_to_and_to_fetch_from() -> None:
    names = agent_names("http://host:8480", "laptop/app", ("replies", "a b"), ("answers",))
    assert (names.requester, names.authority, names.own_origin) == (
        "httpr://laptop/app",
        "laptop",
        "httpr://laptop",
    )
    assert (names.server, names.origin) == ("httpr://host:8480/httpr/mq", "http://host:8480")
    assert names.sources == (
        ("httpr://host:8480/httpr/replies", "replies"),
        ("httpr://host:8480/httpr/a%20b", "a b"),
        ("httpr://host:8480/httpr/mq", "answers"),
    )
    assert names.here == ("replies", "a b", "answers")
    assert names.destination("orders") == "DIRECT=HTTPR://host:8480/httpr/mq#orders"
    assert names.destination("private$/a b") == "DIRECT=HTTPR://host:8480/httpr/mq#private$/a%20b"


def test_names_of_a_server_with_tls_begin_with_httprs() -> None:
    names = agent_names("https://host/", "laptop/app", ("replies",), ())
    assert (names.server, names.origin) == ("httprs://host/httpr/mq", "https://host")
    assert names.sources == (("httprs://host/httpr/replies", "replies"),)
    assert names.destination("orders") == "DIRECT=HTTPRS://host/httpr/mq#orders"


def test_any_other_agent_knows_itself_what_is_for_us() -> None:
    names = agent_names("httpr://host/QM1", "laptop/app", (), ("answers", "more"))
    assert (names.server, names.origin) == ("httpr://host/QM1", "http://host")
    assert names.sources == (("httpr://host/QM1", "answers"),)
    assert names.destination("Query@QM1") == "DIRECT=HTTPR://host/QM1#Query@QM1"


@pytest.mark.parametrize(
    ("server", "name", "fetch", "inbox", "why"),
    [
        ("http://host", "laptop", (), (), "the name of an agent is like"),
        ("http://host", "laptop/", (), (), "the name of an agent is like"),
        ("http://host", "lap top/app", (), (), "the name of an agent is like"),
        ("http://host", "host/app", (), (), "the name of its server"),
        ("host:8480", "laptop/app", (), (), "is not like http://host:8480"),
        ("ftp://host", "laptop/app", (), (), "is not like http://host:8480"),
        ("httpr://host/QM1#orders", "laptop/app", (), (), "is not like http://host:8480"),
        ("httpr:/QM1", "laptop/app", (), (), "is not like http://host:8480"),
        ("httpr://host/QM1", "laptop/app", ("replies",), (), "has no queues to fetch by name"),
        ("http://host", "laptop/app", ("a",), ("a",), "name each queue once"),
        ("http://host", "laptop/app", ("",), (), "name each queue once"),
    ],
)
def test_malformed_names_are_refused(
    server: str, name: str, fetch: tuple[str, ...], inbox: tuple[str, ...], why: str
) -> None:
    with pytest.raises(BadRequest, match=why):
        agent_names(server, name, fetch, inbox)


def test_a_queue_has_a_name() -> None:
    with pytest.raises(BadRequest, match="is not the name of a queue"):
        agent_names("http://host", "laptop/app", (), ()).destination("")

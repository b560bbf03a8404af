"""Tests agents, contact URLs and Destinations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.httpr.addresses import (
    Target,
    agent_of,
    contact_url,
    format_name,
    own_agent,
    read_target,
    target_uri,
)


@pytest.mark.spec("HR-110")
@pytest.mark.parametrize(
    ("uri", "target"),
    [
        (
            "httpr://Shop.example:8480/httpr/mq#orders",
            Target("httpr://Shop.example:8480/httpr/mq", "shop.example:8480", "/httpr/mq", "orders"),
        ),
        (
            "http://gateway.org1.com/soapAgent#SOAPQ@QM1_SERVER",
            Target(
                "httpr://gateway.org1.com/soapAgent", "gateway.org1.com", "/soapAgent", "SOAPQ@QM1_SERVER"
            ),
        ),
        ("http:////host/s#d", Target("httpr://host/s", "host", "/s", "d")),
        ("httpr:/mq#d", Target("httpr:/mq", "", "/mq", "d")),
        ("httpr://mq#a/b", Target("httpr://mq", "", "mq", "a/b")),
        ("http:QM1#/QueueQuery@QM1", Target("httpr:QM1", "", "QM1", "/QueueQuery@QM1")),
        (" \thttpr://host/s\t", Target("httpr://host/s", "host", "/s", "")),
        ("HTTPR://host:80/s", Target("httpr://host:80/s", "host", "/s", "")),
        ("httprs://host:443/s", Target("httprs://host:443/s", "host", "/s", "")),
        ("https://host:80/s", Target("httprs://host:80/s", "host:80", "/s", "")),
        ("httpr://[::1]:8480/s#a#b", Target("httpr://[::1]:8480/s", "[::1]:8480", "/s", "a#b")),
    ],
)
def test_each_shape_of_a_target_is_read(uri: str, target: Target) -> None:
    assert read_target(uri) == target


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "orders",
        "urn:x#y",
        "http:",
        "http://",
        "http:#x",
        "httpr://user@host/s",
        "httpr://[::1/s",
        "httpr:////",
    ],
)
def test_what_is_no_target_is_none_and_leads_nowhere(uri: str) -> None:
    assert read_target(uri) is None
    assert format_name(uri) == ""
    assert contact_url(uri) == ""


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("httpr://host/httpr/mq#orders", "DIRECT=HTTPR://host/httpr/mq#orders"),
        ("httprs://host/httpr/mq#orders", "DIRECT=HTTPRS://host/httpr/mq#orders"),
        ("httpr://Host:80/S#Queue@Manager", "DIRECT=HTTPR://Host:80/S#Queue@Manager"),
        ("httpr://host/s#a,b", "DIRECT=HTTPR://host/s#a%2Cb"),
        ("httpr://host/s#a\\b", "DIRECT=HTTPR://host/s#a\\b"),
        ("httpr://host/s", "DIRECT=HTTPR://host/s"),
    ],
)
def test_a_target_and_its_format_name_are_each_others(uri: str, name: str) -> None:
    assert format_name(uri) == name
    assert target_uri(name) == uri
    assert target_uri(uri) == uri
    assert agent_of(name) == agent_of(uri) == uri.partition("#")[0]


def test_a_target_is_named_by_its_agent_whichever_scheme_it_was_written_with() -> None:
    assert format_name("http://host/s#q") == "DIRECT=HTTPR://host/s#q"
    assert agent_of("http://host/s#q") == "httpr://host/s"
    assert format_name("httpr://host/s#my queue") == "DIRECT=HTTPR://host/s#my%20queue"


@pytest.mark.parametrize(
    "uri", ["httpr:/mq#d", "httpr://mq#d", "http:QM1#/QueueQuery@QM1", "httpr://host:99999/s#q"]
)
def test_no_outgoing_queue_leads_to_an_agent_without_an_address(uri: str) -> None:
    assert format_name(uri) == ""


@pytest.mark.parametrize(
    "name", ["", "orders", "DIRECT=OS:a\\q", "DIRECT=HTTP://a/msmq/q", "DIRECT=HTTPR:x", "A,B"]
)
def test_other_names_stand_for_no_uri(name: str) -> None:
    assert target_uri(name) == ""


@pytest.mark.parametrize(
    ("responder", "given_url", "url"),
    [
        ("httpr://host:8480/httpr/mq", "", "http://host:8480/httpr/mq"),
        ("httprs://host/httpr/mq", "", "https://host/httpr/mq"),
        ("httpr://host/mq", "https://proxy:1/x", "https://proxy:1/x"),
        ("httpr:/mq", "http://there/mq", "http://there/mq"),
        ("httpr:/mq", "", ""),
        ("QM1", "", ""),
    ],
)
def test_an_agent_is_found_where_an_administrator_says_or_as_it_is_called(
    responder: str, given_url: str, url: str
) -> None:
    assert contact_url(responder, given_url) == url


@pytest.mark.spec("HR-087", "HR-089")
@pytest.mark.parametrize("service", ["mq", "orders", "private$/orders", "two words", "grün", "a#b?c"])
def test_the_name_of_our_own_agent_is_read_again(service: str) -> None:
    target = read_target(own_agent("httpr://here:8480", service) + "#two%20words")
    assert target is not None
    assert (target.authority, target.service, target.queue) == ("here:8480", service, "two words")


@given(st.text())
def test_no_text_is_too_odd_to_be_looked_at(text: str) -> None:
    for uri in (text, f"httpr:{text}", f"http://{text}", f"DIRECT=HTTPR:{text}"):
        read_target(uri)
        agent_of(uri)
        contact_url(uri)
        target_uri(uri)
        name = format_name(uri)
        assert not name or format_name(target_uri(name)) == name

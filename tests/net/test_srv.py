"""Tests of the lookup of a domain's service."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.net import srv
from reliquary.net.srv import BadAnswer, find_servers, hosts_in, question
from tests.ports import free_port

SERVICE = "_ldap._tcp.dc._msdcs.shop.example"
ASKED = question(7, SERVICE)[12:]


def name(text: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".")) + b"\0"


def record(priority: int, weight: int, host: bytes, kind: int = 33) -> bytes:
    body = priority.to_bytes(2, "big") + weight.to_bytes(2, "big") + (389).to_bytes(2, "big") + host
    return b"\xc0\x0c" + kind.to_bytes(2, "big") + b"\0\x01" + bytes(4) + len(body).to_bytes(2, "big") + body


def answer(*records: bytes, number: int = 7, flags: int = 0x8180) -> bytes:
    head = number.to_bytes(2, "big") + flags.to_bytes(2, "big") + b"\0\x01" + len(records).to_bytes(2, "big")
    return head + bytes(4) + ASKED + b"".join(records)


def test_the_question_is_one_for_srv_records() -> None:
    asked = question(0x1234, "_ldap._tcp.example")
    assert (
        asked == bytes.fromhex("1234 0100 0001 0000 0000 0000") + name("_ldap._tcp.example") + b"\0\x21\0\x01"
    )


@pytest.mark.spec("DM-086")
def test_hosts_come_by_priority_and_then_by_weight() -> None:
    shortened = b"\x03dc2\xc0" + bytes([12 + len(name("_ldap._tcp.dc._msdcs")) - 1])
    data = answer(
        record(1, 5, name("dc3.shop.example")),
        record(0, 1, shortened),
        record(0, 9, name("dc1.shop.example")),
        record(0, 9, name("cname"), kind=5),
        record(2, 0, name("dc1.shop.example")),
    )
    assert hosts_in(data, 7) == ("dc1.shop.example", "dc2.shop.example", "dc3.shop.example")


GOOD = answer(record(0, 0, name("dc1")))
BAD = {
    "another number": answer(number=8),
    "no answer": answer(flags=0x0100),
    "an unknown name": answer(flags=0x8183),
    "cut off": GOOD[:-3],
    "empty": b"",
    "in circles": answer(record(0, 0, b"\xc0" + bytes([len(GOOD) - 5]))),
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_what_is_no_answer_is_refused(data: bytes) -> None:
    with pytest.raises(BadAnswer):
        hosts_in(data, 7)


@given(st.binary(max_size=100))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    try:
        hosts_in(b"\0\x07\x81\x80" + data, 7)
    except BadAnswer:
        return


def test_the_first_resolver_that_answers_counts() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.bind(("127.0.0.1", 0))

        def serve() -> None:
            asked, caller = resolver.recvfrom(512)
            number = int.from_bytes(asked[:2], "big")
            resolver.sendto(answer(record(0, 0, name("dc1.shop.example")), number=number), caller)

        thread = threading.Thread(target=serve)
        thread.start()
        found = find_servers(SERVICE, [("127.0.0.1", free_port()), resolver.getsockname()])
        thread.join()
    assert found == ("dc1.shop.example",)


def test_without_a_resolver_there_is_no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(srv, "RESOLVERS", tmp_path / "missing")
    assert find_servers(SERVICE) == ()


def test_the_resolvers_are_those_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "resolv.conf").write_text("search example\nnameserver 127.0.0.1\nnameserver\n")
    monkeypatch.setattr(srv, "RESOLVERS", tmp_path / "resolv.conf")
    assert srv._resolvers() == [("127.0.0.1", 53)]

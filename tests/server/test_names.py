"""Under which names a server is reached."""

from __future__ import annotations

from reliquary.net.host import host_name
from reliquary.server.config import Settings
from reliquary.server.names import Listening, authorities, is_loopback, own_name

SETTINGS = Settings(computer_name="HERE", domain="shop.example")
PLAIN = Listening("http", "127.0.0.1", 8480)


def test_a_port_is_named_unless_it_is_the_usual_one() -> None:
    assert PLAIN.authority("here") == "here:8480"
    assert Listening("http", "h", 80).authority("here") == "here"
    assert Listening("https", "h", 443).authority("here") == "here"
    assert Listening("https", "h", 80).authority("here") == "here:80"


def test_on_the_loopback_we_are_localhost_and_else_the_computer() -> None:
    assert own_name(SETTINGS, [PLAIN]) == "localhost"
    assert own_name(SETTINGS, [PLAIN, Listening("http", "0.0.0.0", 80)]) == "HERE"


def test_each_name_is_ours_bare_and_with_each_port() -> None:
    ours = authorities(SETTINGS, [Listening("http", "10.0.0.1", 80), PLAIN], {"MQ.example", "other:7"})
    names = {"here", "here.shop.example", "localhost", "127.0.0.1", "[::1]", "10.0.0.1", "mq.example"}
    names.add(host_name().lower())
    assert ours == names | {f"{name}:{port}" for name in names for port in (80, 8480)} | {"other:7"}


def test_an_address_of_the_loopback_is_known() -> None:
    assert [is_loopback(host) for host in ("127.0.0.9", "::1", "localhost", "0.0.0.0", "h")] == [
        True, True, True, False, False,
    ]  # fmt: skip

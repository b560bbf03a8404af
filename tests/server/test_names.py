"""Tests of the names under which a server is reached."""

from __future__ import annotations

from reliquary.net.host import host_name
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.server.config import Settings
from reliquary.server.httpr_options import HttprOptions
from reliquary.server.names import Listening, authorities, host_names, own_name
from reliquary.server.srmp_options import SrmpOptions

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


def test_clients_name_a_server_by_its_own_names_and_by_those_of_the_settings() -> None:
    options = (
        HttprOptions(names=("agent.example:81",), origin="httpr://origin.example:82"),
        SrmpOptions(names=("msmq.example",), protocol=SrmpSettings(receipts_host="receipts.example:83")),
    )
    settings = Settings(
        computer_name="HERE", domain="shop.example", names=("Mq.example", "mq:9"), tables=options
    )
    named = {"here", "here.shop.example", "mq.example", "mq", "agent.example", "origin.example"}
    named |= {"msmq.example", "receipts.example", host_name().lower()}
    assert host_names(settings, "127.0.0.1") == named | {"127.0.0.1", "localhost"}
    assert host_names(settings, "0.0.0.0") == named | {"0.0.0.0", "localhost"}
    assert host_names(settings, "mq.internal") == named | {"mq.internal"}

"""Tests the table [httpr]: every setting from file and environment, each wrong one named."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.base.time import seconds
from reliquary.protocols.httpr.codec.values import Command
from reliquary.protocols.httpr.settings import OFFERED, PROPOSED, HttprSettings, Peer, Service
from reliquary.server.httpr_options import NAMES, HttprOptions
from reliquary.server.loading import load

EVERYTHING = """
[httpr]
enabled = false
origin = "httpr://mq.example:81"
names = ["mq.example", "mq.example:82"]
ca_file = "/ca"
certificate = "/cc"
key = "/ck"
tokens = {"https://far.example" = "secret"}
services = [{name = "in", into = "orders", source = "private$/replies"}, {name = "bare"}]
manager_service = "manager"
open_services = false
open_channels = false
channels = ["primary"]
user_ids = ["alice", "bob"]
forward = true
requester = "httpr://mq.example/httpr/manager"
retry_ladder = [0.5, 2]
response_time = 3
batch_bytes = 4
forget_after = 5
missing_queue_time = 6
[[httpr.peers]]
responder = "httpr://far.example/httpr/mq"
url = "https://far.example:444/httpr/mq"
channel = "one"
pull = true
exchange = true
into = "orders"
sessions = false
carries = ["httpr://inside.*"]
[[httpr.peers]]
responder = "httpr://near.example/httpr/mq"
[httpr.offered]
maximum_batch_size = 7
flows = ["PUSH"]
sessions = false
[httpr.proposed]
idle_session_interval = 8
"""


def from_text(folder: Path, text: str) -> HttprOptions:
    file = folder / "reliquary.toml"
    file.write_text(text, encoding="utf-8")
    return load(file).table(HttprOptions)


def test_without_settings_the_protocol_is_on_with_its_defaults() -> None:
    options = load().table(HttprOptions)
    assert options == HttprOptions()
    assert options.enabled
    assert options.protocol == HttprSettings()


def test_every_setting_can_come_from_the_file(tmp_path: Path) -> None:
    options = from_text(tmp_path, EVERYTHING)
    chosen = options.protocol
    assert chosen.services == (
        Service(name="in", into="orders", source="private$/replies"),
        Service(name="bare"),
    )
    far, near = chosen.peers
    assert far == Peer(
        responder="httpr://far.example/httpr/mq",
        url="https://far.example:444/httpr/mq",
        channel="one",
        pull=True,
        exchange=True,
        into="orders",
        sessions=False,
        carries=("httpr://inside.*",),
    )
    assert options.tokens == {"https://far.example": "secret"}
    assert near == Peer(responder="httpr://near.example/httpr/mq")
    assert chosen.offered == replace(
        OFFERED, maximum_batch_size=7, flows=frozenset({Command.PUSH}), sessions=False
    )
    assert chosen.proposed == replace(PROPOSED, idle_session_interval=8)
    assert chosen.retry_ladder == (seconds(0.5), seconds(2))
    assert (chosen.response_time, chosen.forget_after) == (seconds(3), seconds(5))
    for made, usual in ((options, HttprOptions()), (chosen, HttprSettings())):
        same = [one.name for one in fields(made) if getattr(made, one.name) == getattr(usual, one.name)]
        assert same == []
    assert set(NAMES) == {one.name for made in (options, chosen) for one in fields(made)} - {"protocol"}


def test_what_one_line_can_say_can_come_from_the_environment_which_wins(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"
    file.write_text("[httpr]\nbatch_bytes = 1\nforward = true\n")
    environment = {
        "RELIQUARY_HTTPR_BATCH_BYTES": "9",
        "RELIQUARY_HTTPR_RETRY_LADDER": "1, 2",
        "RELIQUARY_HTTPR_NAMES": "a, b:1",
        "RELIQUARY_HTTPR_USER_IDS": "alice",
        "RELIQUARY_HTTPR_ENABLED": "false",
        "RELIQUARY_HTTPR_CA_FILE": "/ca",
    }
    options = load(file, environment).table(HttprOptions)
    chosen = options.protocol
    assert (chosen.batch_bytes, chosen.forward, chosen.user_ids) == (9, True, ("alice",))
    assert (options.names, options.enabled, options.ca_file) == (("a", "b:1"), False, Path("/ca"))
    assert chosen.retry_ladder == (seconds(1), seconds(2))


@pytest.mark.parametrize("name", ["TOKENS", "SERVICES", "PEERS", "OFFERED", "PROPOSED"])
def test_what_one_line_cannot_say_stands_in_the_file(name: str) -> None:
    with pytest.raises(UsageError, match=f"environment: {name.lower()} stand in the settings file alone"):
        load(None, {f"RELIQUARY_HTTPR_{name}": "x"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("origin = 'http://h'", "httpr.origin is 'http://h', which is not like httpr://host"),
        ("origin = 'httpr://h/x'", "httpr.origin is 'httpr://h/x', which is not like httpr://host"),
        ("names = ['a b']", "httpr.names has 'a b', which is not like host or host:port"),
        ("tokens = {far = 'x'}", "httpr.tokens has 'far', which is not like https://host:port"),
        ("tokens = {'http://h' = 'a b'}", "httpr.tokens has a token for http://h that is no printable word"),
        ("certificate = '/c'", "httpr.certificate and httpr.key belong together"),
        ("forward = 'yes'", "httpr.forward: Expected `bool`, got `str`"),
        ("manager_service = ''", "httpr.manager_service is a name without /, not ''"),
        ("services = [{into = 'q'}]", "httpr.services: each needs the field name, and one has none"),
        ("services = [{name = ''}]", "httpr.services has one without a name"),
        ("services = [{name = 'a'}, {name = 'a'}]", "httpr.services has 'a' twice"),
        ("services = [{name = 'mq'}]", "httpr.services has 'mq' twice, or as manager_service too"),
        ("services = [{name = 'a', int = 'q'}]", "there is no field 'int'; these are name, into, source"),
        ("services = [{name = 'a', into = 'a+b'}]", "httpr.services has the queue 'a+b': "),
        (
            "services = [{name = 'a', into = 'PUBLIC=00000000-0000-0000-0000-000000000001'}]",
            "messages are passed on to a URL such as",
        ),
        ("services = [{name = 'a', source = 'DIRECT=HTTP://h/q'}]", "httpr.services has the queue 'DIRECT="),
        ("services = 'a'", "httpr.services: Expected `array`, got `str`"),
        ("requester = 'me'", "httpr.requester has 'me', which is not like httpr://host:port/service"),
        ("peers = [{url = 'http://h'}]", "httpr.peers: each needs the field responder, and one has none"),
        ("peers = [{responder = 'x'}]", "httpr.peers has 'x', which is not like httpr://host:port/service"),
        ("peers = [{responder = 'httpr://h/a b'}]", "which is not like httpr://host:port/service"),
        ("peers = [{responder = 'httpr:/mq'}]", "'httpr:/mq', which has no host: a url is missing"),
        ("peers = [{responder = 'httpr://h/s', url = 'x'}]", "httpr.peers has 'x', which is not a URL"),
        ("peers = [{responder = 'httpr://h/s', pull = 1}]", "httpr.peers: pull: Expected `bool`, got `int`"),
        ("peers = [{responder = 'httpr://h/s', into = 'a+b'}]", "httpr.peers has the queue 'a+b': "),
        (
            "peers = [{responder = 'httpr://h/s', exchange = true}]",
            "httpr: exchange with httpr://h/s needs pull = true",
        ),
        ("peers = [{responder = 'httpr://h/s'}, {responder = 'httpr://h/s'}]", "'httpr://h/s' twice"),
        ("offered = {batch = 1}", "httpr.offered: there is no capability 'batch'; these are idle_session"),
        ("offered = {max_latency = -1}", "httpr.offered.max_latency is 0 to 2147483647, not -1"),
        ("offered = {maximum_batch_size = 0}", "httpr.offered.maximum_batch_size is 1 to 2147483647, not 0"),
        ("offered = {flows = []}", "httpr.offered.flows has at least one of PUSH, PULL and EXCHANGE"),
        ("offered = {flows = ['GRAB']}", "httpr.offered: flows: Invalid enum value 'GRAB'"),
        ("proposed = {sessions = false, sessionless = false}", "httpr.proposed has sessions or sessionless"),
        ("response_time = 0", "httpr.response_time is 0, it must be at least 1"),
        ("retry_ladder = []", "httpr.retry_ladder needs at least one span"),
        ("retry_ladder = [nan]", "httpr.retry_ladder: a span is a number of seconds, not nan"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        from_text(tmp_path, f"[httpr]\n{text}\n")
    assert said in str(refused.value)


def test_the_guide_has_a_row_for_every_setting() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "httpr.md").read_text()
    table = guide.partition("## All settings")[2]
    assert [name for name in NAMES if f"`{name}`" not in table] == []

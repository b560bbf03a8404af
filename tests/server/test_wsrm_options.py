"""Tests the table [wsrm]: every setting from file and environment, each wrong one named."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import seconds
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Incomplete, Soap, Version
from reliquary.protocols.wsrm.settings import Assurance, EndpointSettings, PeerSettings, WsrmSettings
from reliquary.server.loading import load
from reliquary.server.wsrm_options import NAMES, WsrmOptions

EVERYTHING = """
[wsrm]
enabled = false
origin = "https://mq.example:81"
names = ["mq.example", "mq.example:82"]
ca_file = "/ca"
certificate = "/cc"
key = "/ck"
tokens = {"https://far.example" = "secret"}
open_endpoints = false
window = 4096
acknowledgement_interval = 0.3
inactivity = 60
longest_life = 3600
most_sequences = 10
remembered = 61
most_remembered = 11
reply_wait = 12
largest_message = 13
longest_identifier = 14
retransmission = 1.5
longest_retransmission = 15
retries = 16
polling = 17
idle = 18
response_time = 19
[[wsrm.endpoints]]
name = "in"
queue = "orders"
assurance = "at-least-once"
ordered = false
window = 32
bounded = true
incomplete = "DiscardEntireSequence"
offers = false
required = false
[[wsrm.endpoints]]
name = "private$/far*"
queue = "DIRECT=WSRM://far.example/wsrm/orders"
[[wsrm.peers]]
address = "wsrm://far.example:81/service"
url = "http://relay.example/service"
to = "urn:service"
version = "1.0"
soap = "1.1"
addressing = "2004/08"
addressable = true
window = 12
offer = true
replies_into = "replies"
[[wsrm.peers]]
address = "wsrms://near.example/*"
version = "1.2"
"""


def from_text(folder: Path, text: str) -> WsrmOptions:
    file = folder / "reliquary.toml"
    file.write_text(text, encoding="utf-8")
    return load(file).table(WsrmOptions)


def test_wsrm_is_on_by_default_and_as_the_protocol_has_it() -> None:
    options = load().table(WsrmOptions)
    assert options == WsrmOptions()
    assert options.enabled
    assert options.protocol == WsrmSettings()


def test_every_setting_can_come_from_the_file(tmp_path: Path) -> None:
    options = from_text(tmp_path, EVERYTHING)
    chosen = options.protocol
    assert chosen.endpoints == (
        EndpointSettings(
            name="in",
            queue="orders",
            assurance=Assurance.AT_LEAST_ONCE,
            ordered=False,
            window=32,
            bounded=True,
            incomplete=Incomplete.ENTIRE,
            offers=False,
            required=False,
        ),
        EndpointSettings(name="private$/far*", queue="DIRECT=WSRM://far.example/wsrm/orders"),
    )
    far, near = chosen.peers
    assert far == PeerSettings(
        address="wsrm://far.example:81/service",
        url="http://relay.example/service",
        to="urn:service",
        dialect=Dialect(Version.RM10, Soap.SOAP11, Addressing.WSA2004),
        addressable=True,
        window=12,
        offer=True,
        replies_into="replies",
    )
    assert near == PeerSettings(address="wsrms://near.example/*")
    assert options.tokens == {"https://far.example": "secret"}
    assert (chosen.acknowledgement_interval, chosen.retransmission) == (seconds(0.3), seconds(1.5))
    for made, usual in ((options, WsrmOptions()), (chosen, WsrmSettings())):
        same = [one.name for one in fields(made) if getattr(made, one.name) == getattr(usual, one.name)]
        assert same == ([] if made is options else ["seed"])
    assert set(NAMES) == {one.name for made in (options, chosen) for one in fields(made)} - {
        "protocol",
        "seed",
    }


@pytest.mark.parametrize(
    ("version", "meant"), [("1.0", Version.RM10), ("1.1", Version.RM11), ("1.2", Version.RM11)]
)
def test_all_three_versions_have_a_name(tmp_path: Path, version: str, meant: Version) -> None:
    text = f"[[wsrm.peers]]\naddress = 'wsrm://h/p'\nversion = '{version}'\n"
    [peer] = from_text(tmp_path, text).protocol.peers
    assert peer.dialect == Dialect(version=meant)


def test_what_one_line_can_say_can_come_from_the_environment_which_wins(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"
    file.write_text("[wsrm]\nwindow = 1\nretries = 3\n")
    environment = {
        "RELIQUARY_WSRM_WINDOW": "9",
        "RELIQUARY_WSRM_POLLING": "2.5",
        "RELIQUARY_WSRM_NAMES": "a, b:1",
        "RELIQUARY_WSRM_ENABLED": "false",
        "RELIQUARY_WSRM_CA_FILE": "/ca",
    }
    options = load(file, environment).table(WsrmOptions)
    assert (options.protocol.window, options.protocol.retries) == (9, 3)
    assert options.protocol.polling == seconds(2.5)
    assert (options.names, options.enabled, options.ca_file) == (("a", "b:1"), False, Path("/ca"))


@pytest.mark.parametrize("name", ["TOKENS", "ENDPOINTS", "PEERS"])
def test_what_one_line_cannot_say_stands_in_the_file(name: str) -> None:
    with pytest.raises(UsageError, match=f"environment: {name.lower()} stand in the settings file alone"):
        load(None, {f"RELIQUARY_WSRM_{name}": "x"})


@pytest.mark.parametrize(
    "address", ["wsrm://h", "wsrm://h:1/a?b", "wsrms://h/a/*", "wsrm://h*", "wsrm://[::1]/a", "wsrm://*"]
)
def test_an_address_may_end_with_a_star(tmp_path: Path, address: str) -> None:
    [peer] = from_text(tmp_path, f"[[wsrm.peers]]\naddress = '{address}'\n").protocol.peers
    assert peer.address == address


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("enabled = 1", "wsrm.enabled: Expected `bool`, got `int`"),
        ("origin = 'wsrm://h'", "wsrm.origin is 'wsrm://h', which is not like http://host or https://host"),
        ("origin = 'http://h/x'", "wsrm.origin is 'http://h/x', which is not like http://host"),
        ("names = ['a b']", "wsrm.names has 'a b', which is not like host or host:port"),
        ("tokens = {far = 'x'}", "wsrm.tokens has 'far', which is not like https://host:port"),
        ("tokens = {'http://h' = 'a b'}", "wsrm.tokens has a token for http://h that is no printable word"),
        ("certificate = '/c'", "wsrm.certificate and wsrm.key belong together"),
        ("key = '/c'", "wsrm.certificate and wsrm.key belong together"),
        ("open_endpoints = 'no'", "wsrm.open_endpoints: Expected `bool`, got `str`"),
        ("window = 0", "wsrm.window is 0, it must be at least 1"),
        ("window = 4097", "wsrm.window is 1 to 4096, not 4097"),
        ("window = 'wide'", "wsrm.window: Expected `int`, got `str`"),
        ("polling = 0", "wsrm.polling is 0, it must be at least 1"),
        ("polling = -1", "wsrm.polling: a span is 0 or more seconds, not -1"),
        ("idle = nan", "wsrm.idle: a span is a number of seconds, not nan"),
        ("retries = 0", "wsrm.retries is 0, it must be at least 1"),
        ("retransmission = 61", "wsrm.retransmission is longer than wsrm.longest_retransmission"),
        ("largest_message = 0", "wsrm.largest_message is 0, it must be at least 1"),
        ("seed = 'x'", "there is no setting 'seed' in [wsrm]; these are enabled, origin"),
        ("endpoints = 'in'", "wsrm.endpoints: Expected `array`, got `str`"),
        ("endpoints = [{queue = 'q'}]", "wsrm.endpoints: each needs the field name, and one has none"),
        ("endpoints = [{name = ''}]", "wsrm.endpoints has '', which is not a name such as orders"),
        ("endpoints = [{name = '/a'}]", "wsrm.endpoints has '/a', which is not a name such as orders"),
        ("endpoints = [{name = 'a*b'}]", "wsrm.endpoints has 'a*b', which is not a name such as orders"),
        ("endpoints = [{name = 'a'}, {name = 'a'}]", "wsrm.endpoints has 'a' twice"),
        ("endpoints = [{name = 'a', into = 'q'}]", "there is no field 'into'; these are name, queue"),
        ("endpoints = [{name = 'a', queue = 'a+b'}]", "wsrm.endpoints has the queue 'a+b': "),
        ("endpoints = [{name = 'a', queue = 'DIRECT=X:y'}]", "wsrm.endpoints has the queue 'DIRECT=X:y': "),
        ("endpoints = [{name = 'a', window = 0}]", "the window of the endpoint a is 1 to 4096, not 0"),
        ("endpoints = [{name = 'a', window = 4097}]", "the window of the endpoint a is 1 to 4096, not 4097"),
        ("endpoints = [{name = 'a', bounded = 1}]", "wsrm.endpoints: bounded: Expected `bool`, got `int`"),
        ("endpoints = [{name = 'a', assurance = 'twice'}]", "assurance: Invalid enum value 'twice'"),
        ("endpoints = [{name = 'a', incomplete = 'Keep'}]", "incomplete: Invalid enum value 'Keep'"),
        ("peers = [{url = 'http://h'}]", "wsrm.peers: each needs the field address, and one has none"),
        ("peers = [{address = 'http://h'}]", "wsrm.peers has 'http://h', which is not an address such as"),
        ("peers = [{address = 'wsrm://'}]", "wsrm.peers has 'wsrm://', which is not an address such as"),
        ("peers = [{address = 'wsrm://h/*/x'}]", "wsrm.peers has 'wsrm://h/*/x', which is not an address"),
        ("peers = [{address = 'wsrm://h/a b'}]", "wsrm.peers has 'wsrm://h/a b', which is not an address"),
        ("peers = [{address = 'wsrm://h'}, {address = 'wsrm://h'}]", "wsrm.peers has 'wsrm://h' twice"),
        ("peers = [{address = 'wsrm://h', url = 'x'}]", "wsrm.peers has 'x', which is not a URL"),
        ("peers = [{address = 'wsrm://h', to = 'a b'}]", "wsrm.peers has to = 'a b', which is not a URI"),
        ("peers = [{address = 'wsrm://h', version = '2'}]", "version: Invalid enum value '2'"),
        ("peers = [{address = 'wsrm://h', version = 1.1}]", "version: Expected `str`, got `float`"),
        ("peers = [{address = 'wsrm://h', soap = '1.3'}]", "soap: Invalid enum value '1.3'"),
        ("peers = [{address = 'wsrm://h', addressing = '2005'}]", "addressing: Invalid enum value '2005'"),
        ("peers = [{address = 'wsrm://h', dialect = 'x'}]", "there is no field 'dialect'; these are address"),
        ("peers = [{address = 'wsrm://h', window = 0}]", "the window to wsrm://h is 1 to 4096, not 0"),
        ("peers = [{address = 'wsrm://h', offer = true}]", "offer to wsrm://h needs replies_into"),
        (
            "peers = [{address = 'wsrm://h', replies_into = 'a+b'}]",
            "wsrm.peers has the queue 'a+b': ",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        from_text(tmp_path, f"[wsrm]\n{text}\n")
    assert said in str(refused.value)


def test_the_guide_has_a_row_for_every_setting() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "wsrm.md").read_text()
    table = guide.partition("## All settings")[2]
    assert [name for name in NAMES if f"`{name}`" not in table] == []

"""Tests the table [srmp]: every setting from file and environment, each wrong one named."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import seconds
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.server.loading import load
from reliquary.server.srmp_options import NAMES, SrmpOptions
from reliquary.streams.ladder import RESEND_LADDER

EVERYTHING = """
open_to_network = true
tls_certificate = "/c"
tls_key = "/k"
[srmp]
enabled = false
anonymous_senders = true
names = ["mq.example", "mq.example:81"]
host = "0.0.0.0"
http_port = 80
https_port = 443
ca_file = "/ca"
certificate = "/cc"
key = "/ck"
signing_key = "/sk"
signing_certificate = "/sc"
trusted_certificates = ["/t", "/u"]
allow_sha1 = true
allow_md5 = true
allow_dsa = true
receipts_host = "mq.example"
store_and_forward = true
outbound_redirections = [{from = "http://a/*", to = "http://b/"}, {from = "http://c/", to = "https://d:1"}]
outbound_exceptions = ["http://a/x*"]
inbound_redirections = [{from = "http://e/*", to = "http://f/msmq/q"}]
receipt_urls = [{from = "http://*", to = "http://g/r"}]
default_receipt_url = "http://h/msmq/private$/order_queue$"
retransmission = 1
resend_ladder = [1, 2.5]
session_cleanup = 2
response_time = 3
coalescing = 0.25
longest_coalescing = 4
most_coalesced = 5
in_flight = 6
window = 7
history_size = 8
history_age = 9
largest_message = 10
missing_queue_time = 11
check_expiry_on_receive = true
permanent_statuses = [400, 413]
dead_letter_stream = true
windows_framing = true
capital_stream = true
"""


def from_text(folder: Path, text: str) -> SrmpOptions:
    file = folder / "reliquary.toml"
    file.write_text(text, encoding="utf-8")
    return load(file).table(SrmpOptions)


def test_without_settings_the_protocol_is_on_with_the_defaults_of_its_specification() -> None:
    options = load().table(SrmpOptions)
    assert options == SrmpOptions()
    assert options.enabled
    assert options.protocol == SrmpSettings()
    assert options.protocol.resend_ladder == RESEND_LADDER


@pytest.mark.spec("SR-129", "SR-130", "SR-132")
def test_every_setting_can_come_from_the_file(tmp_path: Path) -> None:
    options = from_text(tmp_path, EVERYTHING)
    chosen = options.protocol
    assert (options.http_port, options.https_port, options.ca_file) == (80, 443, Path("/ca"))
    assert chosen.outbound_redirections == (
        Redirection("http://a/*", "http://b/"),
        Redirection("http://c/", "https://d:1"),
    )
    assert chosen.resend_ladder == (seconds(1), seconds(2.5))
    assert (chosen.coalescing, chosen.response_time) == (seconds(0.25), seconds(3))
    for made, usual in ((options, SrmpOptions()), (chosen, SrmpSettings())):
        same = [one.name for one in fields(made) if getattr(made, one.name) == getattr(usual, one.name)]
        assert [name for name in same if name != "trust"] == []
    assert set(NAMES) == {one.name for made in (options, chosen) for one in fields(made)} - {
        "protocol",
        "trust",
    }


def test_what_one_line_can_say_can_come_from_the_environment_which_wins(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"
    file.write_text("[srmp]\nwindow = 1\nin_flight = 2\n")
    environment = {
        "RELIQUARY_SRMP_WINDOW": "9",
        "RELIQUARY_SRMP_RESEND_LADDER": "1, 2",
        "RELIQUARY_SRMP_NAMES": "a, b:1",
        "RELIQUARY_SRMP_ENABLED": "false",
        "RELIQUARY_SRMP_RESPONSE_TIME": "0.5",
        "RELIQUARY_SRMP_CA_FILE": "/ca",
        "RELIQUARY_SRMP_HTTP_PORT": "80",
    }
    options = load(file, environment).table(SrmpOptions)
    chosen = options.protocol
    assert (chosen.window, chosen.in_flight) == (9, 2)
    assert (options.names, options.enabled, options.http_port) == (("a", "b:1"), False, 80)
    assert (chosen.resend_ladder, chosen.response_time) == ((seconds(1), seconds(2)), seconds(0.5))


@pytest.mark.parametrize("name", ["OUTBOUND_REDIRECTIONS", "INBOUND_REDIRECTIONS", "RECEIPT_URLS"])
def test_what_one_line_cannot_say_stands_in_the_file(name: str) -> None:
    with pytest.raises(UsageError, match=f"environment: {name.lower()} stand in the settings file alone"):
        load(None, {f"RELIQUARY_SRMP_{name}": "http://a"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http_port = 65536", "srmp.http_port is 0 to 65535, not 65536"),
        ("https_port = -1", "srmp.https_port is 0 to 65535, not -1"),
        ("certificate = '/c'", "srmp.certificate and srmp.key belong together"),
        ("signing_key = '/k'", "srmp.signing_certificate and srmp.signing_key belong together"),
        ("names = ['a b']", "srmp.names has 'a b', which is not like host or host:port"),
        ("names = ['http://a']", "srmp.names has 'http://a', which is not like host or host:port"),
        ("receipts_host = 'a/b'", "srmp.receipts_host has 'a/b', which is not like host or host:port"),
        ("default_receipt_url = 'x'", "srmp.default_receipt_url has 'x', which is not a URL such as"),
        (
            "default_receipt_url = 'http://h:x'",
            "srmp.default_receipt_url has 'http://h:x', which is",
        ),
        ("default_receipt_url = 'http:///q'", "srmp.default_receipt_url has 'http:///q', which is not a URL"),
        ("outbound_exceptions = ['a*']", "srmp.outbound_exceptions has 'a*', which is not a URL such as"),
        ("outbound_exceptions = ['http://*/a']", "with a * only at its end"),
        (
            "outbound_redirections = [{from = 'http://a'}]",
            "srmp.outbound_redirections: Object missing",
        ),
        ("receipt_urls = [{from = 'http://a', to = 'b'}]", "srmp.receipt_urls has 'b', which is not a URL"),
        (
            "receipt_urls = [{from = 'http://a', to = 'httpr://b/mq'}]",
            "srmp.receipt_urls has 'httpr://b/mq', which is not a URL",
        ),
        (
            "inbound_redirections = [{from = 'http://a', to = 'MULTICAST=234.1.1.1:8001'}]",
            "messages are passed on to a URL such as",
        ),
        (
            "inbound_redirections = [{from = 'http://a', to = 'DIRECT=HTTP://b/msmq/q'}]",
            "srmp.inbound_redirections has 'DIRECT=HTTP://b/msmq/q', which is not a URL",
        ),
        ("receipt_urls = [{from = 'b', to = 'http://a'}]", "srmp.receipt_urls has 'b', which is not a URL"),
        ("receipt_urls = [{from='http://a', to='http://b', x=1}]", "contains unknown field `x`"),
        ("retransmission = 0", "srmp.retransmission is 0, it must be at least 1"),
        ("retransmission = inf", "srmp.retransmission: a span is a number of seconds, not inf"),
        ("resend_ladder = []", "srmp.resend_ladder needs at least one span"),
        ("resend_ladder = [nan]", "srmp.resend_ladder: a span is a number of seconds, not nan"),
        ("coalescing = 20", "srmp.longest_coalescing is"),
        ("permanent_statuses = [200]", "srmp.permanent_statuses are from 300 to 599, not 200"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        from_text(tmp_path, f"[srmp]\n{text}\n")
    assert said in str(refused.value)


def test_http_and_https_of_srmp_need_different_ports(tmp_path: Path) -> None:
    tls = "tls_certificate = '/c'\ntls_key = '/k'\n"
    with pytest.raises(UsageError, match=r"srmp\.http_port and srmp\.https_port are both 81"):
        from_text(tmp_path, f"{tls}[srmp]\nhttp_port = 81\nhttps_port = 81\n")


def test_the_guide_has_a_row_for_every_setting() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "srmp.md").read_text()
    table = guide.partition("## All settings")[2]
    assert [name for name in NAMES if f"`{name}`" not in table] == []

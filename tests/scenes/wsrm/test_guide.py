"""Tests that the guide to WS-ReliableMessaging is true: names, settings, faults, and the own header block."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.properties import properties_block, read_properties
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Properties, Soap, Version
from reliquary.protocols.wsrm.schemes import url_of
from reliquary.queueing.model.names.formats import DirectName, parse_single
from reliquary.server.loading import load
from reliquary.server.wsrm_options import WsrmOptions
from reliquary.wire.xml import root_of

GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "wsrm.md").read_text()
WITHOUT_ROW = {
    FaultCode.UNSUPPORTED_SELECTION, FaultCode.MISSING_SELECTION, FaultCode.INVALID_HEADER,
    FaultCode.HEADER_REQUIRED, FaultCode.ACTION_NOT_SUPPORTED, FaultCode.RECEIVER,
}  # fmt: skip
"""Faults of malformed requests, about which an administrator can do nothing."""


def section(heading: str) -> str:
    text = GUIDE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    assert text, heading
    return text


def options(folder: Path, text: str) -> WsrmOptions:
    file = folder / "reliquary.toml"
    file.write_text(text)
    return load(file).table(WsrmOptions)


def test_the_address_of_a_service_elsewhere_means_the_url_that_the_guide_says() -> None:
    (name, url) = re.findall(r"^(wsrm://host/\S+) .* at (http://\S+)$", GUIDE, re.MULTILINE)[0]
    found = parse_single(f"DIRECT={name}")
    assert isinstance(found, DirectName)
    assert url_of(found) == url


def test_the_settings_of_the_peers_are_read(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.+?)```", section("Our source against other services"), re.DOTALL)
    chosen = options(tmp_path, text).protocol
    wcf = chosen.peer("wsrm://crm.example/Orders.svc")
    assert wcf.dialect == Dialect(Version.RM10, Soap.SOAP12, Addressing.WSA10)
    assert (wcf.offer, wcf.replies_into) == (True, "answers")
    gsoap = chosen.peer("wsrm://meter.example:8080/any")
    assert gsoap.dialect == Dialect(Version.RM11, Soap.SOAP11, Addressing.WSA10)
    assert (gsoap.addressable, gsoap.window) == (True, 16)


def test_the_bounded_endpoint_is_read(tmp_path: Path) -> None:
    (text,) = re.findall(r"printf '(.+)' > wsrm.toml", section("Flow control"))
    (endpoint,) = options(tmp_path, text.replace("\\n", "\n")).protocol.endpoints
    assert (endpoint.name, endpoint.window, endpoint.bounded) == ("slow", 64, True)


@pytest.mark.parametrize(
    "code", [code for code in FaultCode if code not in WITHOUT_ROW], ids=lambda code: code.value
)
def test_every_fault_that_an_administrator_meets_has_its_row(code: FaultCode) -> None:
    table = section("Sequences: what goes wrong, and what to do").partition("| Fault |")[2]
    assert f"`{code.value}`" in table


def test_the_header_block_of_our_own_is_read() -> None:
    (example,) = re.findall(r"^(<rq:Properties .+/>)$", GUIDE, re.MULTILINE)
    read = read_properties(root_of(example.encode()))
    assert read == Properties(priority=5, application_tag=7, time_to_be_received=3600)


def test_every_property_of_that_block_is_named() -> None:
    everything = Properties(
        label="l", priority=1, body_type=1, application_tag=1, express=True, sent_time=1,
        time_to_be_received=1, correlation="c", response_queue="r", administration_queue="a",
        acknowledgements=("pos-arrival",), message_class=1, dead_letter=True, hops=1, trace_context="t",
    )  # fmt: skip
    written = root_of(properties_block(everything).encode())
    assert len(written.items()) == len(Properties.__struct_fields__)
    assert [name for name in written.keys() if f"`{name}`" not in GUIDE] == []  # noqa: SIM118

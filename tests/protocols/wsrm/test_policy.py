"""The WSDL of an endpoint is well-formed, stable, and says what the settings are."""

from __future__ import annotations

import pytest
from lxml import etree

from reliquary.base.time import MILLISECOND, Duration, seconds
from reliquary.protocols.wsrm.mapping import ACTION
from reliquary.protocols.wsrm.policy import REQUEST_ACTION, wsdl
from reliquary.protocols.wsrm.settings import Assurance, EndpointSettings, WsrmSettings
from reliquary.wire.xml import Element, root_of
from tests.protocols.wsrm.codec.vector import FOLDER

NAMES = {
    "wsdl": "http://schemas.xmlsoap.org/wsdl/",
    "xs": "http://www.w3.org/2001/XMLSchema",
    "wsp": "http://schemas.xmlsoap.org/ws/2004/09/policy",
    "wsu": "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd",
    "wsrm": "http://schemas.xmlsoap.org/ws/2005/02/rm/policy",
    "wsrmp": "http://docs.oasis-open.org/ws-rx/wsrmp/200702",
    "netrmp": "http://schemas.microsoft.com/ws-rx/wsrmp/200702",
    "net": "http://schemas.microsoft.com/net/2005/02/rm/policy",
    "wsmc": "http://docs.oasis-open.org/ws-rx/wsmc/200702",
    "wsaw": "http://www.w3.org/2006/05/addressing/wsdl",
    "soap11": "http://schemas.xmlsoap.org/wsdl/soap/",
    "soap12": "http://schemas.xmlsoap.org/wsdl/soap12/",
}
URL = "http://host:8080/wsrm/orders?a&b"
DEFAULT = EndpointSettings(name="orders")


def described(endpoint: EndpointSettings = DEFAULT, settings: WsrmSettings | None = None) -> Element:
    return root_of(wsdl("orders", URL, endpoint, settings or WsrmSettings()))


def policy(root: Element, name: str) -> Element:
    (found,) = root.xpath(f"wsp:Policy[@wsu:Id='{name}']/wsp:ExactlyOne/wsp:All", namespaces=NAMES)
    return found


def test_the_description_is_equal_each_time() -> None:
    assert wsdl("orders", URL, DEFAULT, WsrmSettings()) == wsdl("orders", URL, DEFAULT, WsrmSettings())


def test_there_is_a_port_for_each_version_and_soap() -> None:
    root = described()
    ports = root.findall("wsdl:service/wsdl:port", NAMES)
    assert [port.get("name") for port in ports] == ["Rm10Soap11", "Rm10Soap12", "Rm11Soap11", "Rm11Soap12"]
    assert {port[0].get("location") for port in ports} == {URL}
    bindings = {each.get("name"): each for each in root.findall("wsdl:binding", NAMES)}
    for port in ports:
        binding = bindings[port.get("binding").removeprefix("tns:")]
        reference = binding.find("wsp:PolicyReference", NAMES).get("URI").removeprefix("#")
        assert reference == f"{port.get('name')[:4]}Policy"
        assert len(policy(root, reference))
        prefix = port.get("name")[4:].lower()
        assert binding.find(f"{prefix}:binding", NAMES).get("transport").endswith("/soap/http")
        actions = [each.get("soapAction") for each in binding.iterfind(f".//{prefix}:operation", NAMES)]
        assert actions == [ACTION, REQUEST_ACTION]


def test_ws_rm_1_0_describes_its_intervals() -> None:
    assertion = policy(described(), "Rm10Policy").find("wsrm:RMAssertion", NAMES)
    assert [(etree.QName(each).localname, each.get("Milliseconds")) for each in assertion] == [
        ("InactivityTimeout", "600000"),
        ("AcknowledgementInterval", "200"),
    ]


@pytest.mark.parametrize("assurance", Assurance)
@pytest.mark.parametrize("ordered", [False, True])
def test_ws_rm_1_1_describes_its_assurance(assurance: Assurance, ordered: bool) -> None:
    settings = WsrmSettings(inactivity=seconds(90), acknowledgement_interval=Duration(7 * MILLISECOND))
    endpoint = EndpointSettings(name="orders", assurance=assurance, ordered=ordered)
    assertion = policy(described(endpoint, settings), "Rm11Policy").find("wsrmp:RMAssertion", NAMES)
    assured = assertion.find("wsp:Policy/wsrmp:DeliveryAssurance/wsp:Policy", NAMES)
    words = "".join(word.capitalize() for word in assurance.value.split("-"))
    assert [etree.QName(each).localname for each in assured] == [words] + ["InOrder"] * ordered
    assert assertion.find("netrmp:InactivityTimeout", NAMES).get("Milliseconds") == "90000"
    assert assertion.find("netrmp:AcknowledgementInterval", NAMES).get("Milliseconds") == "7"


def test_the_assertions_of_1_1_are_valid_by_their_schema() -> None:
    schema = etree.XMLSchema(etree.parse(FOLDER / "schemas" / "wsrmp-1.1-schema-200702.xsd"))
    root = described()
    for name in ("RMAssertion", "DeliveryAssurance", "ExactlyOnce", "InOrder"):
        (element,) = root.iter(f"{{{NAMES['wsrmp']}}}{name}")
        schema.assertValid(etree.fromstring(etree.tostring(element, with_tail=False)))


@pytest.mark.parametrize("name", ["Rm10Policy", "Rm11Policy"])
def test_the_window_is_reported_and_addressing_is_used(name: str) -> None:
    found = policy(described(EndpointSettings(name="orders", window=64)), name)
    assert found.findtext("net:RmFlowControl/net:MaxReceiveBufferSize", namespaces=NAMES) == "64"
    assert found.find("wsaw:UsingAddressing", NAMES) is not None
    assert (found.find("wsmc:MCSupported", NAMES) is not None) is (name == "Rm11Policy")


@pytest.mark.parametrize("offers", [False, True])
def test_replies_need_an_offer(offers: bool) -> None:
    root = described(EndpointSettings(name="orders", offers=offers))
    found = [each.get("name") for each in root.findall("wsdl:portType/wsdl:operation", NAMES)]
    assert found == ["Send"] + ["Request"] * offers
    for binding in root.findall("wsdl:binding", NAMES):
        assert [each.get("name") for each in binding.findall("wsdl:operation", NAMES)] == found


def test_the_schema_allows_any_xml_in_a_message() -> None:
    schema = etree.XMLSchema(described().find("wsdl:types/xs:schema", NAMES))
    message = etree.fromstring('<Message xmlns="urn:reliquary:wsrm"><a xmlns="urn:a"/><b/></Message>')
    schema.assertValid(message)


@pytest.mark.parametrize("name", ["private$/a b", "1", "é&<", ""])
def test_any_endpoint_has_a_name_for_xml(name: str) -> None:
    root = root_of(wsdl(name, "http://h/", DEFAULT, WsrmSettings()))
    service = root.find("wsdl:service", NAMES).get("name")
    assert service.isascii()
    assert service.replace("_", "").isalnum()

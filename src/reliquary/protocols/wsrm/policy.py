"""Writes the WSDL 1.1 of an endpoint with its WS-Policy, so that tools can make a client.

    portType Queue     Send       one-way: <Message> with any XML in it
                       Request    as Send, with a <Message> as reply; where the endpoint takes offers
    bindings           WS-RM 1.0 and 1.1, SOAP 1.1 and 1.2, each with WS-Addressing 1.0

The endpoint takes any other XML in the Body too; tools need a name for it.
With RmFlowControl, .NET and Metro give a client the number of messages that the receiver holds.
"""

from __future__ import annotations

import re
from typing import Final

from reliquary.base.time import MILLISECOND, Duration
from reliquary.protocols.wsrm.codec import addressing, rm10, rm11
from reliquary.protocols.wsrm.codec.names import OURS
from reliquary.protocols.wsrm.codec.values import Addressing, Soap, Version
from reliquary.protocols.wsrm.mapping import ACTION
from reliquary.protocols.wsrm.settings import Assurance, EndpointSettings, WsrmSettings
from reliquary.wire.xml_text import quoted

CONTENT_TYPE: Final = "text/xml; charset=utf-8"
REQUEST_ACTION: Final = f"{OURS}/Request"
_NET_POLICY: Final = "http://schemas.microsoft.com/ws-rx/wsrmp/200702"
_FLOW_POLICY: Final = "http://schemas.microsoft.com/net/2005/02/rm/policy"
_SOAP_WSDL: Final = {
    Soap.SOAP11: "http://schemas.xmlsoap.org/wsdl/soap/",
    Soap.SOAP12: "http://schemas.xmlsoap.org/wsdl/soap12/",
}
_HTTP: Final = "http://schemas.xmlsoap.org/soap/http"
_ASSURANCES: Final = {
    Assurance.EXACTLY_ONCE: "ExactlyOnce",
    Assurance.AT_LEAST_ONCE: "AtLeastOnce",
    Assurance.AT_MOST_ONCE: "AtMostOnce",
}
_NAMES: Final = {Version.RM10: "Rm10", Version.RM11: "Rm11"}
_SOAP_NAMES: Final = {Soap.SOAP11: "Soap11", Soap.SOAP12: "Soap12"}
_BINDINGS: Final = [(version, soap) for version in Version for soap in Soap]
_TYPES: Final = f"""<wsdl:types><xs:schema targetNamespace="{OURS}" elementFormDefault="qualified">
<xs:element name="Message"><xs:complexType><xs:sequence>
<xs:any namespace="##any" processContents="lax" minOccurs="0" maxOccurs="unbounded"/>
</xs:sequence></xs:complexType></xs:element>
</xs:schema></wsdl:types>
<wsdl:message name="Message"><wsdl:part name="body" element="tns:Message"/></wsdl:message>
"""
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_]+")


def wsdl(name: str, url: str, endpoint: EndpointSettings, settings: WsrmSettings) -> bytes:
    """Return the WSDL of the endpoint /wsrm/<name> at a URL."""
    text = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<wsdl:definitions name={quoted(_name(name))} targetNamespace="{OURS}" xmlns:tns="{OURS}"\n'
        ' xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:xs="http://www.w3.org/2001/XMLSchema"\n'
        f' xmlns:soap11="{_SOAP_WSDL[Soap.SOAP11]}" xmlns:soap12="{_SOAP_WSDL[Soap.SOAP12]}"\n'
        ' xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy"\n'
        ' xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"\n'
        ' xmlns:wsaw="http://www.w3.org/2006/05/addressing/wsdl"\n'
        f' xmlns:wsa="{addressing.NAMESPACES[Addressing.WSA10]}">\n'
    )
    text += "".join(_policy(version, endpoint, settings) for version in Version)
    text += _TYPES + _port_type(endpoint)
    text += "".join(_binding(version, soap, endpoint) for version, soap in _BINDINGS)
    text += f"<wsdl:service name={quoted(_name(name))}>\n"
    text += "".join(_port(version, soap, url) for version, soap in _BINDINGS)
    return f"{text}</wsdl:service>\n</wsdl:definitions>\n".encode()


def _name(name: str) -> str:
    """Return a name for XML that is made from the name of an endpoint."""
    return f"Queue_{_NO_NAME.sub('_', name)}"


def _milliseconds(span: Duration) -> int:
    return span // MILLISECOND


def _policy(version: Version, endpoint: EndpointSettings, settings: WsrmSettings) -> str:
    intervals = (
        f'InactivityTimeout Milliseconds="{_milliseconds(settings.inactivity)}"',
        f'AcknowledgementInterval Milliseconds="{_milliseconds(settings.acknowledgement_interval)}"',
    )
    if version is Version.RM10:
        inner = "".join(f"<wsrm:{each}/>" for each in intervals)
        assertions = f'<wsrm:RMAssertion xmlns:wsrm="{rm10.POLICY}">{inner}</wsrm:RMAssertion>\n'
    else:
        assured = f"<wsrmp:{_ASSURANCES[endpoint.assurance]}/>"
        if endpoint.ordered:
            assured += "<wsrmp:InOrder/>"
        inner = "".join(f"<netrmp:{each}/>" for each in intervals)
        assertions = (
            f'<wsrmp:RMAssertion xmlns:wsrmp="{rm11.POLICY}" xmlns:netrmp="{_NET_POLICY}"><wsp:Policy>'
            f"<wsrmp:DeliveryAssurance><wsp:Policy>{assured}</wsp:Policy></wsrmp:DeliveryAssurance>"
            f"</wsp:Policy>{inner}</wsrmp:RMAssertion>\n"
            f'<wsmc:MCSupported xmlns:wsmc="{rm11.MAKE_CONNECTION_NAMESPACE}" wsp:Optional="true"/>\n'
        )
    return (
        f'<wsp:Policy wsu:Id="{_NAMES[version]}Policy"><wsp:ExactlyOne><wsp:All>\n{assertions}'
        f'<net:RmFlowControl xmlns:net="{_FLOW_POLICY}" wsp:Optional="true">'
        f"<net:MaxReceiveBufferSize>{endpoint.window}</net:MaxReceiveBufferSize></net:RmFlowControl>\n"
        "<wsaw:UsingAddressing/>\n</wsp:All></wsp:ExactlyOne></wsp:Policy>\n"
    )


def _port_type(endpoint: EndpointSettings) -> str:
    text = (
        '<wsdl:portType name="Queue">\n<wsdl:operation name="Send">'
        f'<wsdl:input message="tns:Message" wsaw:Action="{ACTION}"/></wsdl:operation>\n'
    )
    if endpoint.offers:
        text += (
            '<wsdl:operation name="Request">'
            f'<wsdl:input message="tns:Message" wsaw:Action="{REQUEST_ACTION}"/>'
            f'<wsdl:output message="tns:Message" wsaw:Action="{ACTION}"/></wsdl:operation>\n'
        )
    return f"{text}</wsdl:portType>\n"


def _binding(version: Version, soap: Soap, endpoint: EndpointSettings) -> str:
    prefix = _SOAP_NAMES[soap].lower()
    body = f'<{prefix}:body use="literal"/>'
    text = (
        f'<wsdl:binding name="{_NAMES[version]}{_SOAP_NAMES[soap]}" type="tns:Queue">\n'
        f'<wsp:PolicyReference URI="#{_NAMES[version]}Policy"/>\n'
        f'<{prefix}:binding transport="{_HTTP}"/>\n'
        f'<wsdl:operation name="Send"><{prefix}:operation soapAction="{ACTION}" style="document"/>'
        f"<wsdl:input>{body}</wsdl:input></wsdl:operation>\n"
    )
    if endpoint.offers:
        text += (
            f'<wsdl:operation name="Request"><{prefix}:operation soapAction="{REQUEST_ACTION}"'
            f' style="document"/><wsdl:input>{body}</wsdl:input><wsdl:output>{body}</wsdl:output>'
            "</wsdl:operation>\n"
        )
    return f"{text}</wsdl:binding>\n"


def _port(version: Version, soap: Soap, url: str) -> str:
    name, prefix = f"{_NAMES[version]}{_SOAP_NAMES[soap]}", _SOAP_NAMES[soap].lower()
    return (
        f'<wsdl:port name="{name}" binding="tns:{name}"><{prefix}:address location={quoted(url)}/>'
        "</wsdl:port>\n"
    )

"""Faults have the form that SOAP 1.1 and 1.2 demand, and are valid by the schemas."""

from __future__ import annotations

import pytest
from lxml import etree

from reliquary.protocols.wsrm.codec import names
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.fault_forms import FORMS, Family, code_in, subcode
from reliquary.protocols.wsrm.codec.fault_writer import invalid_acknowledgement, unsupported_selection
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.lexical import resolved
from reliquary.protocols.wsrm.codec.values import Acknowledgement, Dialect, Envelope, Fault, Soap, Version
from reliquary.wire.xml import Element, root_of
from tests.protocols.wsrm.codec.schema import check_schemas
from tests.protocols.wsrm.codec.vector import DIALECTS

S12 = f"{{{names.SOAP[Soap.SOAP12]}}}"
IN_SOAP12 = [dialect for dialect in DIALECTS if dialect.soap is Soap.SOAP12]
IN_SOAP11 = [dialect for dialect in DIALECTS if dialect.soap is Soap.SOAP11]


def written(fault: Fault, dialect: Dialect, foreign: tuple[str, ...] = ()) -> tuple[Element, Element]:
    encoded = encode(Envelope(dialect=dialect, body=fault, foreign=foreign))
    check_schemas(encoded, dialect)
    header, body = root_of(encoded.data)
    return header, body[0]


def name_in(element: Element) -> tuple[str, str]:
    return resolved(element.text, element.nsmap)


@pytest.mark.parametrize("dialect", IN_SOAP12, ids=str)
@pytest.mark.parametrize("code", FaultCode)
def test_a_fault_of_soap_1_2_has_code_and_subcode(code: FaultCode, dialect: Dialect) -> None:
    header, fault = written(Fault(code, identifier="urn:a"), dialect)
    as_written = code_in(code, dialect.version)
    value = fault.find(f"{S12}Code/{S12}Value")
    inner = fault.find(f"{S12}Code/{S12}Subcode/{S12}Value")
    if FORMS[as_written].family is Family.SOAP:
        assert name_in(value) == (names.SOAP[Soap.SOAP12], as_written.value)
        assert inner is None
    else:
        receiver = FORMS[as_written].receiver
        assert name_in(value) == (names.SOAP[Soap.SOAP12], "Receiver" if receiver else "Sender")
        assert name_in(inner) == subcode(as_written, dialect)
    assert fault.findtext(f"{S12}Reason/{S12}Text") == FORMS[as_written].reason
    detail = fault.find(f"{S12}Detail")
    assert detail[0].tag == f"{{{names.RM[dialect.version]}}}Identifier"
    assert header.find(f"{{{names.RM[dialect.version]}}}SequenceFault") is None


@pytest.mark.parametrize("dialect", IN_SOAP11, ids=str)
@pytest.mark.parametrize("code", FaultCode)
def test_a_fault_of_soap_1_1_about_a_header_block_is_a_header_block(
    code: FaultCode, dialect: Dialect
) -> None:
    header, fault = written(Fault(code, "Because & so", "urn:a"), dialect)
    as_written = code_in(code, dialect.version)
    block = header.find(f"{{{names.RM[dialect.version]}}}SequenceFault")
    family = FORMS[as_written].family
    assert fault.findtext("faultstring") == "Because & so"
    assert (block is not None) is (family is Family.SEQUENCE)
    if block is not None:
        assert name_in(block[0]) == (names.RM[dialect.version], as_written.value)
        assert name_in(fault.find("faultcode")) == (names.SOAP[Soap.SOAP11], "Client")
        inner = block[1]
        assert etree.QName(inner).localname == ("Detail" if dialect.version is Version.RM11 else "Identifier")
    elif family is not Family.SOAP:
        assert name_in(fault.find("faultcode")) == subcode(as_written, dialect)
    about_header = family in (Family.SEQUENCE, Family.ADDRESSING)
    assert (fault.find("detail") is None) is about_header  # SOAP 1.1, 4.4: only what is about the body


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_the_highest_number_is_reported_in_1_1(dialect: Dialect) -> None:
    envelope = Envelope(dialect=dialect, body=Fault(FaultCode.MESSAGE_NUMBER_ROLLOVER, identifier="urn:a"))
    encoded = encode(envelope)
    reported = b"MaxMessageNumber" in encoded.data and b"9223372036854775807" in encoded.data
    assert reported is (dialect.version is Version.RM11)
    assert decode(encoded.content_type, encoded.data).body == envelope.body


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_an_invalid_acknowledgement_is_shown_in_the_fault(dialect: Dialect) -> None:
    fault = invalid_acknowledgement(Acknowledgement("urn:a", ((1, 7),), buffer=3), dialect)
    encoded = encode(Envelope(dialect=dialect, body=fault))
    check_schemas(encoded, dialect)
    back = decode(encoded.content_type, encoded.data).body
    assert isinstance(back, Fault)
    assert (back.code, back.identifier) == (FaultCode.INVALID_ACKNOWLEDGEMENT, "urn:a")
    assert b'Upper="7"' in back.detail


@pytest.mark.parametrize("name", ["{urn:x&y}z", "plain"])
def test_a_selection_that_is_not_supported_is_named(name: str) -> None:
    fault = unsupported_selection(name)
    _, element = written(fault, Dialect())
    unsupported = element.find(f"{S12}Detail")[0]
    namespace, local = name_in(unsupported)
    assert (f"{{{namespace}}}{local}" if namespace else local) == name


def test_blocks_that_are_not_understood_are_named_in_soap_1_2() -> None:
    header, _ = written(Fault(FaultCode.MUST_UNDERSTAND), Dialect(), ("{urn:x}y", "z"))
    found = [resolved(block.get("qname"), block.nsmap) for block in header.iter(f"{S12}NotUnderstood")]
    assert found == [("urn:x", "y"), ("", "z")]
    header, _ = written(Fault(FaultCode.MUST_UNDERSTAND), Dialect(soap=Soap.SOAP11), ("{urn:x}y",))
    assert not [block for block in header if "NotUnderstood" in block.tag]


def test_a_wrong_version_is_answered_with_the_right_ones() -> None:
    header, _ = written(Fault(FaultCode.VERSION_MISMATCH), Dialect())
    supported = header.find(f"{S12}Upgrade")
    assert [resolved(each.get("qname"), each.nsmap)[0] for each in supported] == [
        names.SOAP[Soap.SOAP12], names.SOAP[Soap.SOAP11],
    ]  # fmt: skip

"""Every fault has a form in every dialect, and the codes that are written are known when they come back."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec import names, rm11
from reliquary.protocols.wsrm.codec.addressing import NAMESPACES
from reliquary.protocols.wsrm.codec.fault_forms import (
    FORMS,
    Family,
    code_in,
    fault_action,
    known_code,
    soap_code,
    subcode,
)
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault, status_of
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Fault, Soap, Version
from tests.protocols.wsrm.codec.vector import DIALECTS

OLDEST = Dialect(Version.RM10, Soap.SOAP12, Addressing.WSA2004)
WSA10, WSA2004 = NAMESPACES[Addressing.WSA10], NAMESPACES[Addressing.WSA2004]


def test_every_fault_has_its_form() -> None:
    assert set(FORMS) == set(FaultCode)
    assert all(form.reason.endswith(".") for form in FORMS.values())


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
@pytest.mark.parametrize("code", FaultCode)
def test_what_is_written_is_known(code: FaultCode, dialect: Dialect) -> None:
    written = code_in(code, dialect.version)
    namespace, name = subcode(written, dialect)
    if not name:
        namespace, name = names.SOAP[dialect.soap], soap_code(written, dialect.soap)
    assert known_code(namespace, name) is written


@pytest.mark.parametrize(
    ("namespace", "name", "code"),
    [
        (rm11.NAMESPACE, "WsrmRequired", FaultCode.WSRM_REQUIRED),
        (rm11.NAMESPACE, "unknownsequence", FaultCode.UNKNOWN_SEQUENCE),
        (names.SOAP[Soap.SOAP11], "Client.Authentication", FaultCode.SENDER),
        (names.SOAP[Soap.SOAP11], "Server", FaultCode.RECEIVER),
        (names.SOAP[Soap.SOAP12], "Receiver", FaultCode.RECEIVER),
        (WSA2004, "InvalidMessageInformationHeader", FaultCode.INVALID_HEADER),
        (WSA10, "InvalidMessageInformationHeader", None),
        ("urn:other", "UnknownSequence", None),
        (names.FLOW, "ConnectionLimitReached", None),
    ],
)
def test_codes_of_peers_are_known_by_namespace_and_name(
    namespace: str, name: str, code: FaultCode | None
) -> None:
    assert known_code(namespace, name) is code


@pytest.mark.parametrize(
    ("code", "version", "written"),
    [
        (FaultCode.SEQUENCE_CLOSED, Version.RM10, FaultCode.LAST_NUMBER_EXCEEDED),
        (FaultCode.LAST_NUMBER_EXCEEDED, Version.RM11, FaultCode.SEQUENCE_CLOSED),
        (FaultCode.WSRM_REQUIRED, Version.RM10, FaultCode.SENDER),
        (FaultCode.SEQUENCE_CLOSED, Version.RM11, FaultCode.SEQUENCE_CLOSED),
    ],
)
def test_a_version_without_a_fault_has_a_near_one(
    code: FaultCode, version: Version, written: FaultCode
) -> None:
    assert code_in(code, version) is written


@pytest.mark.parametrize(
    ("code", "dialect", "action"),
    [
        (FaultCode.UNKNOWN_SEQUENCE, Dialect(), rm11.FAULT),
        (FaultCode.CREATE_SEQUENCE_REFUSED, Dialect(addressing=Addressing.WSA2004), rm11.FAULT),
        (FaultCode.UNKNOWN_SEQUENCE, Dialect(Version.RM10), f"{WSA10}/fault"),
        (FaultCode.UNKNOWN_SEQUENCE, OLDEST, f"{WSA2004}/fault"),
        (FaultCode.MISSING_SELECTION, Dialect(Version.RM10), rm11.MAKE_CONNECTION_FAULT),
        (FaultCode.INVALID_HEADER, Dialect(), f"{WSA10}/fault"),
        (FaultCode.SENDER, Dialect(), f"{WSA10}/soap/fault"),
        (FaultCode.MUST_UNDERSTAND, Dialect(addressing=Addressing.WSA2004), f"{WSA2004}/fault"),
    ],
)  # fmt: skip
def test_a_fault_has_the_action_of_its_specification(code: FaultCode, dialect: Dialect, action: str) -> None:
    assert fault_action(code, dialect) == action


@pytest.mark.parametrize("code", FaultCode)
def test_the_status_of_http_follows_the_code_of_soap(code: FaultCode) -> None:
    expected = 400 if soap_code(code, Soap.SOAP12) == "Sender" else 500
    assert status_of(code, Dialect()) == WsrmFault(Fault(code), Dialect()).status == expected
    assert status_of(code, Dialect(soap=Soap.SOAP11)) == 500


def test_faults_about_header_blocks_are_those_of_the_digest() -> None:
    about_bodies = {code for code, form in FORMS.items() if form.family is Family.CREATION}
    assert about_bodies == {FaultCode.CREATE_SEQUENCE_REFUSED, FaultCode.WSRM_REQUIRED}

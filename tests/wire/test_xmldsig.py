"""Tests that the Signature element is read and written with exact bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import PeerFault
from reliquary.wire.xmldsig import (
    NAMESPACE,
    SOAP,
    Reference,
    read_signatures,
    write_signature,
    write_signed_info,
)

METHOD = f"{NAMESPACE}dsa"
SHA1 = f"{NAMESPACE}sha1"

C7_SIGNATURE = (
    '<Signature xmlns="http://www.w3.org/2000/02/xmldsig#"><SignedInfo><SignatureMethod '
    'Algorithm="http://www.w3.org/2000/02/xmldsig#dsa"></SignatureMethod><Reference '
    'URI="cid:body@5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10"><DigestMethod '
    'Algorithm="http://www.w3.org/2000/02/xmldsig#sha1"></DigestMethod><DigestValue>'
    "/BwfZYUAV36xG88NvtTzoAqJOkQ=</DigestValue></Reference><Reference "
    'URI="cid:extension@5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10"><DigestMethod '
    'Algorithm="http://www.w3.org/2000/02/xmldsig#sha1"></DigestMethod><DigestValue>'
    "Qo6/i70vgxaWeWbbjwgShUMLa1c=</DigestValue></Reference></SignedInfo><SignatureValue>"
    "RBd8xvXcclmf5rej+02QbvWcIv8BbzYQXSafQjB0zkSXJa2AM4r1TUCg/2hbKarEBLDMP/h9VPSvUpUTrPp4UA=="
    "</SignatureValue></Signature>"
)
"""Composed from the element tables; its key is unknown."""


def envelope(*headers: str, before: str = "", body: str = "") -> str:
    return (
        f'{before}<se:Envelope xmlns:se="{SOAP}" xmlns="http://schemas.xmlsoap.org/srmp/">'
        f"<se:Header>{''.join(headers)}</se:Header><se:Body>{body}</se:Body></se:Envelope>"
    )


@pytest.mark.spec("SR-109", "SR-110", "SR-111", "SR-112", "SR-115")
def test_the_composed_example_is_encoded_and_decoded() -> None:
    (signature,) = read_signatures(envelope("<path>é</path>", C7_SIGNATURE))
    start, end = C7_SIGNATURE.index("<SignedInfo>"), C7_SIGNATURE.index("<SignatureValue>")
    assert signature.signed_infos == (C7_SIGNATURE[start:end].encode(),)
    assert signature.methods == (METHOD,)
    assert [reference.uri.split("@")[0] for reference in signature.references] == [
        "cid:body",
        "cid:extension",
    ]
    assert signature.references[0].methods == (SHA1,)
    assert signature.references[0].values == ("/BwfZYUAV36xG88NvtTzoAqJOkQ=",)
    assert len(signature.values[0]) == 88
    assert signature.certificates == ()
    digests = [bytes.fromhex("fc1c1f658500577eb11bcf0dbed4f3a00a893a44")]
    digests.append(bytes.fromhex("428ebf8bbd2f8316967966db8f081285430b6b57"))
    uris = [reference.uri for reference in signature.references]
    signed_info = write_signed_info(METHOD, zip(uris, [SHA1, SHA1], digests, strict=True))
    assert signed_info.encode() == signature.signed_infos[0]
    assert C7_SIGNATURE.startswith(write_signature(signed_info, b"")[: -len("</SignatureValue></Signature>")])


def test_the_bytes_of_signed_info_are_those_of_the_envelope() -> None:
    signed_info = "<d:SignedInfo  a = '&gt;&#x41;é'>\n <d:SignatureMethod Algorithm='x'/>\t</d:SignedInfo  >"
    text = envelope(f'<d:Signature xmlns:d="{NAMESPACE}">{signed_info}</d:Signature>', before="\n")
    (signature,) = read_signatures(text)
    assert signature.signed_infos == (signed_info.encode(),)
    assert signature.methods == ("x",)


@pytest.mark.parametrize("before", ["\ufeff", '<?xml version="1.0" encoding="UTF-8"?>\r\n', "<!-- é -->"])
def test_what_stands_before_the_envelope_moves_nothing(before: str) -> None:
    (signature,) = read_signatures(envelope(C7_SIGNATURE, before=before))
    assert signature.signed_infos[0].startswith(b"<SignedInfo>")
    assert signature.signed_infos[0].endswith(b"</SignedInfo>")


def test_a_prefix_that_the_envelope_declares_means_the_namespace() -> None:
    text = envelope("<d:Signature><d:SignatureValue>AA==</d:SignatureValue></d:Signature>")
    text = text.replace("<se:Envelope ", f'<se:Envelope xmlns:d="{NAMESPACE}" ')
    assert read_signatures(text)[0].values == ("AA==",)


def test_missing_and_repeated_parts_are_reported() -> None:
    (empty,) = read_signatures(envelope(f'<Signature xmlns="{NAMESPACE}"/>'))
    assert (empty.signed_infos, empty.methods, empty.references, empty.values) == ((), (), (), ())
    twice = "<SignedInfo><SignatureMethod/><SignatureMethod Algorithm='b'/><Reference/></SignedInfo>" * 2
    (doubled,) = read_signatures(envelope(f'<Signature xmlns="{NAMESPACE}">{twice}</Signature>'))
    assert len(doubled.signed_infos) == 2
    assert doubled.methods == ("", "b", "", "b")
    assert doubled.references == (Reference("", (), ()), Reference("", (), ()))


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(envelope(body=C7_SIGNATURE), id="in the body"),
        pytest.param(envelope(f"<path>{C7_SIGNATURE}</path>"), id="in another block"),
        pytest.param(envelope(C7_SIGNATURE.replace("2000/02", "2000/09")), id="another namespace"),
        pytest.param(envelope(), id="nowhere"),
    ],
)
def test_a_signature_is_one_in_the_header_alone(place: str) -> None:
    assert read_signatures(place) == ()


def test_two_signatures_are_both_reported() -> None:
    assert len(read_signatures(envelope(C7_SIGNATURE, C7_SIGNATURE))) == 2


def test_white_space_in_base64_means_nothing() -> None:
    text = write_signature(write_signed_info("m", []), b"").replace(
        "<SignatureValue>", "<SignatureValue>A\n A "
    )
    assert read_signatures(envelope(text))[0].values == ("AA",)


@pytest.mark.parametrize("text", ["", "no XML", "<a>", envelope("<path>")])
def test_what_is_no_xml_is_refused(text: str) -> None:
    with pytest.raises(PeerFault, match="no XML"):
        read_signatures(text)


def test_a_document_type_is_refused() -> None:
    with pytest.raises(PeerFault, match="document type"):
        read_signatures(envelope(before='<!DOCTYPE x [<!ENTITY a "b">]>'))


@given(
    st.lists(st.tuples(st.sampled_from(["cid:body@x", "cid:extension@y"]), st.just(SHA1), st.binary())),
    st.binary(),
    st.binary(),
)
def test_what_is_written_is_read(
    references: list[tuple[str, str, bytes]], value: bytes, certificate: bytes
) -> None:
    signed_info = write_signed_info(METHOD, references)
    (signature,) = read_signatures(envelope(write_signature(signed_info, value, certificate)))
    assert signature.signed_infos == (signed_info.encode(),)
    assert [reference.uri for reference in signature.references] == [uri for uri, _, _ in references]
    assert len(signature.values) == 1
    assert len(signature.certificates) == bool(certificate)

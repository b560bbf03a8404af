"""Tests XML signatures made and verified: each check, each algorithm, each byte that could be another."""

from __future__ import annotations

from base64 import b64decode, b64encode
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree
from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.values import Arrived, Envelope
from reliquary.protocols.srmp.signing import CHECKS, parts_source, sign, verify
from reliquary.protocols.srmp.trust import Signer, Trust
from reliquary.queueing.model.message import AuthenticationLevel, HashAlgorithm, Message, ObjectId
from reliquary.wire import xmldsig_algorithms as algorithms
from reliquary.wire.xmldsig import NAMESPACE
from reliquary.wire.xmldsig_algorithms import Obsolete
from tests.protocols.srmp.signers import EVERYTHING, KINDS, signer, trust
from tests.wire.signing_keys import NOW, certificate, key
from tests.wire.test_xmldsig import C7_SIGNATURE, envelope

SOURCE = UUID("5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10")
MESSAGE = Message.of(body=b"signed body", extension=b"signed extension")
BODY_ALONE = Message(body=b"signed body")
TRUST = trust(*KINDS, signs="rsa")
SAID = Envelope(
    action="MSMQ:", to="http://h/msmq/q", id="uuid:1@x", identifier=ObjectId(SOURCE, 1), expires_at=0
)


def arrival(signature: str, message: Message = MESSAGE, **parts: Any) -> Arrived:
    given: dict[str, Any] = {
        "body": message.body,
        "extension": message.extension,
        "has_body": bool(message.body),
        "has_extension": bool(message.extension),
    }
    return Arrived(envelope=SAID, text=envelope("<path>é</path>", signature), **{**given, **parts})


def signed(message: Message = MESSAGE, by: Trust = TRUST) -> str:
    return sign(message, SOURCE, by)[1]


def verified(arrived: Arrived, by: Trust = TRUST, now: Instant = NOW) -> Message:
    return verify(arrived, Message.of(body=arrived.body, extension=arrived.extension), by, now)


def refused(arrived: Arrived, element: str, why: str, by: Trust = TRUST, now: Instant = NOW) -> None:
    with pytest.raises(SrmpFault, match=why) as fault:
        verified(arrived, by, now)
    assert (fault.value.status, fault.value.element) == (400, element)


@pytest.mark.spec("SR-113", "SR-114", "SR-286", "SR-287", "SR-288")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "message",
    [MESSAGE, BODY_ALONE, Message.of(extension=b"signed extension")],
    ids=["both", "body", "extension"],
)
def test_what_was_signed_is_authenticated(kind: str, message: Message) -> None:
    text = signed(message, trust(signs=kind))
    assert [f"cid:{name}@{SOURCE}" in text for name in ("body", "extension")] == [
        bool(message.body),
        bool(message.extension),
    ]
    taken = verified(arrival(text, message), trust(kind))
    assert taken.authentication is AuthenticationLevel.XML_SIG
    assert taken.sender_certificate == signer(kind).certificate.public_bytes(Encoding.DER)
    assert taken.signature
    assert (taken.body, taken.extension) == (message.body, message.extension)


@pytest.mark.srmp("T-69")
@pytest.mark.spec("SR-114", "SR-287", "SR-206", "SR-207")
@pytest.mark.parametrize(
    ("asked", "used", "uri", "length"),
    [
        (HashAlgorithm.SHA_256, HashAlgorithm.SHA_256, algorithms.SHA_256, 44),
        (HashAlgorithm.SHA_512, HashAlgorithm.SHA_512, algorithms.SHA_512, 88),
        (HashAlgorithm.SHA1, HashAlgorithm.SHA1, algorithms.SHA1, 28),
        (HashAlgorithm.SHA, HashAlgorithm.SHA1, algorithms.SHA1, 28),
        (HashAlgorithm.MD5, HashAlgorithm.MD5, algorithms.MD5, 24),
        (HashAlgorithm.MD2, HashAlgorithm.SHA_256, algorithms.SHA_256, 44),
    ],
)
def test_the_message_chooses_its_hash(
    asked: HashAlgorithm, used: HashAlgorithm, uri: str, length: int
) -> None:
    message, text = sign(BODY_ALONE.changed(hash_algorithm=asked), SOURCE, TRUST)
    assert message.hash_algorithm is used
    assert f'<DigestMethod Algorithm="{uri}">' in text
    assert len(text.split("<DigestValue>")[1].split("<")[0]) == length
    assert verified(arrival(text, message)).hash_algorithm is used


@pytest.mark.parametrize("asked", [HashAlgorithm.SHA1, HashAlgorithm.SHA, HashAlgorithm.MD5])
def test_a_weak_hash_gives_way_to_a_strong_one_unless_it_is_allowed(asked: HashAlgorithm) -> None:
    careful = trust("rsa", signs="rsa", allowed=frozenset())
    message, text = sign(MESSAGE.changed(hash_algorithm=asked), SOURCE, careful)
    assert message.hash_algorithm is HashAlgorithm.SHA_256
    assert verified(arrival(text), careful).hash_algorithm is HashAlgorithm.SHA_256


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_a_message_that_goes_again_keeps_its_signature(kind: str) -> None:
    assert signed(by=trust(signs=kind)) == signed(by=trust(signs=kind))


def test_parts_keep_the_guid_that_a_signature_names() -> None:
    other = UUID("c2d94f7a-88b1-4f0e-8a53-71be0d5f3e29")
    plain = Message.of(source_machine=SOURCE, body=b"x")
    assert parts_source(plain) == SOURCE
    assert parts_source(plain.changed(soap_envelope=envelope("<path>cid:body@x</path>"))) == SOURCE
    text = sign(BODY_ALONE, other, TRUST)[1]
    assert parts_source(plain.changed(soap_envelope=envelope(text))) == other
    foreign = envelope(text.replace(str(other), "not-a-guid"))
    assert parts_source(plain.changed(soap_envelope=foreign)) == SOURCE


# -- the checks, in their order


@pytest.mark.spec("SR-201")
def test_a_signature_is_there_once() -> None:
    refused(arrival(""), "Signature", "there are 0")
    refused(arrival(signed() * 2), "Signature", "there are 2")
    refused(replace(arrival(signed()), text="<broken"), "Signature", "no XML")


@pytest.mark.spec("SR-110", "SR-111", "SR-201", "SR-206")
@pytest.mark.parametrize(
    "name", ["SignedInfo", "SignatureMethod", "DigestMethod", "DigestValue", "SignatureValue"]
)
def test_every_element_is_there_once(name: str) -> None:
    text = signed(BODY_ALONE)
    start, end = text.index(f"<{name}"), text.index(f"</{name}>") + len(name) + 3
    refused(arrival(text[:start] + text[end:], BODY_ALONE), name, "there are 0, and one is needed")
    refused(arrival(text[:end] + text[start:], BODY_ALONE), name, "there are 2, and one is needed")


@pytest.mark.srmp("T-68")
@pytest.mark.spec("SR-202")
@pytest.mark.parametrize("uri", ["", "dsa", f"{NAMESPACE}rsa-sha1", f"{NAMESPACE}DSA"])
def test_a_method_that_is_unknown_is_refused(uri: str) -> None:
    refused(arrival(signed().replace(algorithms.RSA_SHA256, uri)), "SignatureMethod", "is unknown")


@pytest.mark.spec("SR-202", "SR-206")
def test_what_is_obsolete_is_refused_unless_it_is_allowed() -> None:
    by_dsa = signed(by=trust(signs="dsa"))
    refused(
        arrival(by_dsa), "SignatureMethod", "not allowed", trust("dsa", allowed=frozenset({Obsolete.SHA1}))
    )
    for algorithm, obsolete in ((HashAlgorithm.SHA1, Obsolete.SHA1), (HashAlgorithm.MD5, Obsolete.MD5)):
        weak = arrival(signed(MESSAGE.changed(hash_algorithm=algorithm)))
        refused(weak, "DigestMethod", "not allowed", trust("rsa", allowed=EVERYTHING - {obsolete}))
        assert verified(weak, trust("rsa", allowed=frozenset({obsolete}))).hash_algorithm is algorithm


def referring(*uris: str, message: Message = MESSAGE) -> Arrived:
    """Return a message with references that were composed manually."""
    text = signed(BODY_ALONE)
    start, end = text.index("<Reference "), text.index("</SignedInfo>")
    one = text[start:end]
    old = f"cid:body@{SOURCE}"
    return arrival(text[:start] + "".join(one.replace(old, uri) for uri in uris) + text[end:], message)


@pytest.mark.srmp("T-68")
@pytest.mark.spec("SR-112", "SR-203")
def test_a_signature_needs_one_or_two_references() -> None:
    refused(referring(), "Reference", "there are 0")
    refused(referring("cid:body@x", "cid:extension@x", "cid:body@x"), "Reference", "there are 3")


@pytest.mark.spec("SR-204")
def test_a_reference_needs_its_part() -> None:
    no_parts = Message()
    refused(referring("cid:body@x", message=no_parts), "Reference", "no part for 'cid:body@x'")
    refused(referring("cid:extension@x", message=BODY_ALONE), "Reference", "no part for 'cid:extension@x'")
    for uri in ("", "cid:", "cid:label@x", "cid:bodyguard@x", "http://h/cid:body@x"):
        refused(referring(uri), "Reference", "neither the body nor the extension")


@pytest.mark.srmp("T-68")
@pytest.mark.spec("SR-205")
@pytest.mark.parametrize("kind", ["body", "extension"])
def test_two_references_to_one_part_are_refused(kind: str) -> None:
    refused(referring(f"cid:{kind}@x", f"CID:{kind.upper()}@y"), "Reference", f"two of them mean the {kind}")


@pytest.mark.spec("SR-113")
def test_a_part_that_was_not_signed_is_refused() -> None:
    smuggled = arrival(signed(BODY_ALONE), BODY_ALONE, extension=b"not signed", has_extension=True)
    refused(smuggled, "Reference", "the extension has none")
    other = Message.of(extension=b"signed")
    refused(
        arrival(signed(other), other, body=b"not signed", has_body=True), "Reference", "the body has none"
    )


def test_an_empty_part_is_a_part() -> None:
    empty = arrival(signed(BODY_ALONE), BODY_ALONE, has_extension=True)
    refused(empty, "Reference", "the extension has none")


@pytest.mark.srmp("T-68")
@pytest.mark.spec("SR-206")
def test_a_digest_that_is_unknown_is_refused() -> None:
    for uri in ("", "sha256", f"{NAMESPACE}sha224"):
        refused(arrival(signed().replace(algorithms.SHA1, uri)), "DigestMethod", "is unknown")


@pytest.mark.spec("SR-207")
@pytest.mark.parametrize("part", ["body", "extension"])
def test_a_part_that_is_not_what_was_signed_is_refused(part: str) -> None:
    content = getattr(MESSAGE, part)
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 0x20
        other = replace(arrival(signed()), **{part: bytes(changed)})
        refused(other, "DigestValue", f"the {part} is not what was signed")
    refused(replace(arrival(signed()), **{part: content + b" "}), "DigestValue", "not what was signed")


def test_body_and_extension_cannot_change_places() -> None:
    swapped = arrival(signed(), body=MESSAGE.extension, extension=MESSAGE.body)
    refused(swapped, "DigestValue", "the body is not what was signed")


@pytest.mark.spec("SR-201")
@pytest.mark.parametrize("value", ["", "=", "AAA", "A*==", "é"])
def test_a_value_is_base64(value: str) -> None:
    text = signed()
    start, end = text.index("<SignatureValue>") + 16, text.index("</SignatureValue>")
    refused(arrival(text[:start] + value + text[end:]), "SignatureValue", "not base64")


@pytest.mark.spec("SR-208")
def test_no_byte_of_signed_info_can_be_another() -> None:
    """Only bytes are changed that the other checks let pass: a space, a case, a GUID."""
    text = signed()
    changes = [
        (f"cid:body@{SOURCE}", f"cid:body@{str(SOURCE).upper()}"),
        (f"cid:body@{SOURCE}", "cid:body@x"),
        ("<SignedInfo>", "<SignedInfo >"),
        ("</SignedInfo>", "</SignedInfo >"),
        ("<Reference ", "<Reference  "),
        ("</SignatureMethod>", "</SignatureMethod>\n"),
        ("<DigestValue>", "<DigestValue> "),
    ]
    for old, new in changes:
        assert old in text
        refused(arrival(text.replace(old, new, 1)), "SignatureValue", "not made with the key")


@pytest.mark.spec("SR-208")
@pytest.mark.parametrize("kind", KINDS)
def test_no_byte_of_the_value_can_be_another(kind: str) -> None:
    text = signed(by=trust(signs=kind))
    old = text.split("<SignatureValue>")[1].split("<")[0]
    value = b64decode(old)
    for place in range(0, len(value), 9):
        changed = bytearray(value)
        changed[place] ^= 1
        other = text.replace(old, b64encode(changed).decode())
        refused(arrival(other), "SignatureValue", "not made with the key", trust(kind))


# -- the certificate


def with_certificate(text: str, encoded: str) -> str:
    start, end = text.index("<X509Certificate>") + 17, text.index("</X509Certificate>")
    return text[:start] + encoded + text[end:]


def without_key_info(text: str) -> str:
    return text[: text.index("<KeyInfo>")] + text[text.index("</KeyInfo>") + len("</KeyInfo>") :]


def test_an_untrusted_signer_authenticates_nothing() -> None:
    refused(arrival(signed()), "X509Certificate", "not trusted", trust("ecdsa"))
    refused(arrival(signed()), "X509Certificate", "not trusted", trust())


def test_a_certificate_of_another_user_does_not_verify_the_signature() -> None:
    other = b64encode(signer("rsa", 1).encoded).decode()
    both = Trust(trusted=(signer("rsa").certificate, signer("rsa", 1).certificate), allowed=EVERYTHING)
    refused(arrival(with_certificate(signed(), other)), "SignatureValue", "not made with the key", both)
    another_kind = b64encode(signer("ecdsa").encoded).decode()
    refused(arrival(with_certificate(signed(), another_kind)), "SignatureValue", "not made with the key")


def test_no_byte_of_the_certificate_can_be_another() -> None:
    """Certificates are trusted as a whole: one that was changed is not the one that is trusted."""
    encoded = signer("rsa").encoded
    for place in range(0, len(encoded), 41):
        changed = bytearray(encoded)
        changed[place] ^= 1
        with pytest.raises(SrmpFault) as fault:
            verified(arrival(with_certificate(signed(), b64encode(changed).decode())))
        assert fault.value.element == "X509Certificate"


def test_a_certificate_that_cannot_be_read_is_refused() -> None:
    refused(arrival(with_certificate(signed(), "AAAA")), "X509Certificate", "cannot be read")
    refused(arrival(with_certificate(signed(), "*")), "X509Certificate", "cannot be read")
    text = signed()
    start, end = text.index("<KeyInfo>"), text.index("</Signature>")
    twice = text[:end] + text[start:end] + text[end:]
    refused(arrival(twice), "X509Certificate", "there are 2, and one at most")


def test_a_certificate_is_compared_with_the_clock() -> None:
    refused(arrival(signed()), "X509Certificate", "not good before 2020", now=Instant(0))
    refused(arrival(signed()), "X509Certificate", "good until 2030", now=Instant(2 * NOW))


def test_a_certificate_from_an_authority_is_enough() -> None:
    authority = certificate(key("ecdsa"), name="authority", authority=True)
    own = Signer(key("rsa"), certificate(key("rsa"), issuer=(key("ecdsa"), "authority")))
    text = signed(by=Trust(signer=own))
    trusting = Trust(trusted=(authority,))
    assert verified(arrival(text), trusting).sender_certificate == own.encoded


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_without_certificate_is_from_one_of_those_that_are_trusted(kind: str) -> None:
    bare = without_key_info(signed(by=trust(signs=kind)))
    taken = verified(arrival(bare), trust(*KINDS))
    assert taken.sender_certificate == signer(kind).encoded
    others = [other for other in KINDS if other != kind]
    refused(arrival(bare), "SignatureValue", "not made with the key", trust(*others))
    refused(arrival(bare), "X509Certificate", "brings none", trust())
    refused(arrival(bare), "X509Certificate", "brings none", trust(*KINDS), Instant(0))


# -- as a whole


@pytest.mark.spec("SR-208")
def test_the_composed_example_passes_every_check_but_the_last() -> None:
    """The digests of the example are real; its key is unknown, so its value cannot be verified."""
    refused(arrival(C7_SIGNATURE), "SignatureValue", "not made with the key", trust(*KINDS))
    careful = trust(*KINDS, allowed=frozenset())
    refused(arrival(C7_SIGNATURE), "SignatureMethod", "not allowed", careful)


def test_every_check_names_an_element_of_the_dialect() -> None:
    order = list(dict.fromkeys(element for element, _ in CHECKS))
    assert order == [
        "Signature",
        "SignedInfo",
        "SignatureMethod",
        "Reference",
        "DigestMethod",
        "DigestValue",
        "SignatureValue",
        "X509Certificate",
    ]
    assert len({check for _, check in CHECKS}) == len(CHECKS)


@given(
    st.binary(),
    st.binary(),
    st.sampled_from(["rsa", "ecdsa"]),
    st.sampled_from(list(HashAlgorithm)),
    st.uuids(),
)
def test_any_message_that_was_signed_is_authenticated(
    body: bytes, extension: bytes, kind: str, algorithm: HashAlgorithm, source: UUID
) -> None:
    message = Message.of(body=body, extension=extension, hash_algorithm=algorithm)
    if not body and not extension:
        return
    used, text = sign(message, source, trust(signs=kind))
    taken = verified(arrival(text, message), trust(kind))
    assert taken.hash_algorithm is used.hash_algorithm
    with pytest.raises(SrmpFault):
        verified(arrival(text, message, body=body + b"!", has_body=True), trust(kind))


@given(st.data())
def test_any_signature_is_authenticated_or_refused(data: st.DataObject) -> None:
    text = signed(by=trust(signs="ecdsa"))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 40, len(text))))
    marks = ["</SignedInfo>", "<Reference/>", "&#0;", "&#233;", "<!--"]
    piece = data.draw(st.text(max_size=20) | st.sampled_from(marks))
    with suppress(SrmpFault):
        taken = verified(arrival(text[:start] + piece + text[end:]), trust("ecdsa"))
        assert taken.sender_certificate == signer("ecdsa").encoded


@given(st.integers(0, 2000), st.binary(max_size=8))
def test_any_invalid_certificate_is_refused(place: int, piece: bytes) -> None:
    own = signer("ecdsa").encoded
    changed = own[:place] + piece + own[place + len(piece) :]
    assume(changed != own)
    text = with_certificate(signed(by=trust(signs="ecdsa")), b64encode(changed).decode())
    authority = certificate(key("rsa"), name="sender", authority=True)
    with pytest.raises(SrmpFault) as fault:
        verified(arrival(text), Trust(trusted=(signer("ecdsa").certificate, authority), allowed=EVERYTHING))
    assert fault.value.element == "X509Certificate"


def test_a_second_implementation_agrees() -> None:
    """Another parser cuts out SignedInfo, digests and value, and they are verified by hand."""
    text = envelope(signed(by=trust(signs="rsa", allowed=frozenset())))
    root = etree.fromstring(text)
    (value,) = (each.text or "" for each in root.iter(f"{{{NAMESPACE}}}SignatureValue"))
    (encoded,) = (each.text or "" for each in root.iter(f"{{{NAMESPACE}}}X509Certificate"))
    digests = [each.text or "" for each in root.iter(f"{{{NAMESPACE}}}DigestValue")]
    signed_info = text[text.index("<SignedInfo>") : text.index("</SignedInfo>") + len("</SignedInfo>")]
    public = x509.load_der_x509_certificate(b64decode(encoded)).public_key()
    assert isinstance(public, RSAPublicKey)
    public.verify(b64decode(value), signed_info.encode(), PKCS1v15(), hashes.SHA256())
    for part, digest in zip((MESSAGE.body, MESSAGE.extension), digests, strict=True):
        again = hashes.Hash(hashes.SHA256())
        again.update(part)
        assert b64decode(digest) == again.finalize()

"""Makes and verifies XML signatures, [MC-MQSRM] 2.2.7, 3.1.5.1.6.1 and 3.1.7.2.4.

    sign     body, extension --> digests --> SignedInfo --> signature --> Signature for the envelope
    verify   the steps in reverse, as a list of checks in the order of the text; the first that fails
             names its element, and the message changes nothing

A signature proves that the owner of a certificate made body and extension.  It does not cover the
envelope: label, destination and identifier can be forged.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from reliquary.base.faults import PeerFault
from reliquary.base.time import Instant
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.values import Arrived
from reliquary.protocols.srmp.trust import Trust, doubt_of, read_certificate
from reliquary.queueing.model.message import USUAL, AuthenticationLevel, HashAlgorithm, Message
from reliquary.wire import xmldsig_algorithms as algorithms
from reliquary.wire.xmldsig import (
    NAMESPACE,
    Reference,
    Signature,
    read_signatures,
    write_signature,
    write_signed_info,
)
from reliquary.wire.xmldsig_algorithms import DIGESTS, METHODS

SPEC: Final = "[MC-MQSRM] 3.1.5.1.6.1"
MOST_REFERENCES: Final = 2

# DEPARTS from 2.2.7.1.2.1 (SR-114, SR-206): SHA-256 and SHA-512 are offered, SHA-1 and MD5 only where they
# are allowed, because other data with an equal digest can be found for them.
DIGEST_OF: Final[Mapping[HashAlgorithm, str]] = {
    HashAlgorithm.SHA_256: algorithms.SHA_256,
    HashAlgorithm.SHA_512: algorithms.SHA_512,
    HashAlgorithm.SHA1: algorithms.SHA1,
    HashAlgorithm.SHA: algorithms.SHA1,
    HashAlgorithm.MD5: algorithms.MD5,
}
"""The URIs of hash algorithms; other algorithms have none."""
HASH_OF: Final = {
    uri: algorithm for algorithm, uri in DIGEST_OF.items() if algorithm is not HashAlgorithm.SHA
}
STRONG: Final = HashAlgorithm.SHA_256

_SIGNED: Final = AuthenticationLevel.XML_SIG
_PART: Final = re.compile(r"cid:(body|extension)@", re.IGNORECASE)
_GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


# -- made


def is_to_be_signed(message: Message) -> bool:
    """Return whether this manager signs a message.

    A forwarded message keeps its own signature, or has none.
    """
    more = message.more or USUAL
    return more.authentication is _SIGNED and not more.soap_envelope


def sign(message: Message, source: UUID, trust: Trust) -> tuple[Message, str]:
    """Return the message with the hash that was used, and its Signature for the envelope.

    `source` is the GUID in the Content-Ids of its parts.  A retry has an unchanged signature, unless it
    is a DSA key.
    """
    signer = trust.signer
    assert signer is not None, "the manager takes nothing to be signed without a key"
    message = message.changed(hash_algorithm=_hash_for(message, trust))
    uri = DIGEST_OF[message.hash_algorithm]
    parts = {"body": message.body, "extension": message.extension}
    assert any(parts.values()), "the manager takes nothing to be signed that has no part"
    signed_info = write_signed_info(  # SR-286, SR-287
        signer.method,
        [(f"cid:{name}@{source}", uri, DIGESTS[uri].of(part)) for name, part in parts.items() if part],
    )
    value = METHODS[signer.method].sign(signer.key, signed_info.encode())
    # DEPARTS from 2.2.7 (SR-109): KeyInfo contains the certificate, because the text says that it is attached
    # and has no element for it.
    return message, write_signature(signed_info, value, signer.encoded)


def parts_source(message: Message) -> UUID:
    """Return the GUID in the Content-Ids of a message's parts.

    For a message that is forwarded with its envelope it is the GUID in its signature.
    """
    envelope = (message.more or USUAL).soap_envelope
    if NAMESPACE in envelope:
        for signature in read_signatures(envelope):
            for reference in signature.references:
                named = _PART.match(reference.uri)
                if named and _GUID.fullmatch(reference.uri, named.end()):
                    return UUID(reference.uri[named.end() :])
    return message.source_machine


def _hash_for(message: Message, trust: Trust) -> HashAlgorithm:
    """Return the hash that the message asks for, or a strong one if that is unknown or not allowed."""
    uri = DIGEST_OF.get(message.hash_algorithm)
    if uri is None or not trust.allows(DIGESTS[uri].obsolete):
        return STRONG
    return HASH_OF[uri]


# -- verified


@dataclass(slots=True)
class Case:
    """A message whose signature is verified."""

    arrived: Arrived
    signatures: tuple[Signature, ...]
    trust: Trust
    now: Instant
    value: bytes = b""
    """The bytes of the element SignatureValue."""
    candidates: list[x509.Certificate] = field(default_factory=list)
    """The certificates that may belong to the signer; after the checks, only that of the signer."""

    @property
    def signature(self) -> Signature:
        """The only signature of the message."""
        return self.signatures[0]

    @property
    def references(self) -> tuple[Reference, ...]:
        """The references in the SignedInfo of the signature."""
        return self.signature.references

    def part(self, reference: Reference) -> bytes | None:
        """Return the part of a reference; None if it does not exist."""
        if _kind(reference) == "body":
            return self.arrived.body if self.arrived.has_body else None
        return self.arrived.extension if self.arrived.has_extension else None


def verify(arrived: Arrived, message: Message, trust: Trust, now: Instant) -> Message:
    """Return the message, authenticated by its signature; SrmpFault names the error in a signature."""
    try:
        case = Case(arrived, read_signatures(arrived.text), trust, now)
    except PeerFault as why:
        raise SrmpFault("Signature", why.why, spec=SPEC) from why
    for element, check in CHECKS:
        wrong = check(case)
        if wrong:
            raise SrmpFault(element, wrong, spec=SPEC)
    return message.changed(
        authentication=AuthenticationLevel.XML_SIG,
        signature=case.value,
        sender_certificate=case.candidates[0].public_bytes(Encoding.DER),
        hash_algorithm=HASH_OF[case.references[0].methods[0]],
    )


def _one_signature(case: Case) -> str:
    return _once(case.signatures)


def _one_signed_info(case: Case) -> str:
    return _once(case.signature.signed_infos)


def _one_method(case: Case) -> str:
    return _once(case.signature.methods)


def _method_is_allowed(case: Case) -> str:
    # DEPARTS from 2.2.7.1.1 (SR-111, SR-202): RSA and ECDSA with SHA-256 are offered, DSA with SHA-1 only
    # where it is allowed, because signatures with SHA-1 can be forged.
    uri = case.signature.methods[0]
    method = METHODS.get(uri)
    if method is None:
        return f"the algorithm {_quoted(uri)} is unknown"
    return "" if case.trust.allows(method.obsolete) else f"the algorithm {_quoted(uri)} is not allowed"


def _one_or_two_references(case: Case) -> str:
    count = len(case.references)
    return "" if 1 <= count <= MOST_REFERENCES else f"there are {count}, and one or two are needed"


def _references_mean_parts(case: Case) -> str:
    for reference in case.references:
        if not _PART.match(reference.uri):
            return f"{_quoted(reference.uri)} is neither the body nor the extension"
        if case.part(reference) is None:
            return f"there is no part for {_quoted(reference.uri)}"
    return ""


def _references_differ(case: Case) -> str:
    kinds = [_kind(reference) for reference in case.references]
    return "" if len(kinds) == len(set(kinds)) else f"two of them mean the {kinds[0]}"


def _every_part_is_meant(case: Case) -> str:
    # DEPARTS from 3.1.5.1.6.1 (SR-113): a part without a reference is refused, because an attacker could have
    # added it beside the signed one.
    kinds = {_kind(reference) for reference in case.references}
    there = {"body": case.arrived.has_body, "extension": case.arrived.has_extension}
    missing = [kind for kind, is_there in there.items() if is_there and kind not in kinds]
    return f"the {missing[0]} has none" if missing else ""


def _digest_methods_are_allowed(case: Case) -> str:
    for reference in case.references:
        wrong = _once(reference.methods)
        if wrong:
            return wrong
        digest = DIGESTS.get(reference.methods[0])
        if digest is None:
            return f"the algorithm {_quoted(reference.methods[0])} is unknown"
        if not case.trust.allows(digest.obsolete):
            return f"the algorithm {_quoted(reference.methods[0])} is not allowed"
    return ""


def _one_digest_each(case: Case) -> str:
    return next(filter(None, (_once(reference.values) for reference in case.references)), "")


def _digests_are_right(case: Case) -> str:
    for reference in case.references:
        part = case.part(reference) or b""
        if _decoded(reference.values[0]) != DIGESTS[reference.methods[0]].of(part):
            return f"the {_kind(reference)} is not what was signed"
    return ""


def _one_value(case: Case) -> str:
    wrong = _once(case.signature.values)
    if wrong:
        return wrong
    value = _decoded(case.signature.values[0])
    if not value:
        return "it is not base64"
    case.value = value
    return ""


def _certificate_is_trusted(case: Case) -> str:
    """Return the doubt about the candidate certificates: the one that came, or else all trusted ones."""
    given = case.signature.certificates
    if not given:
        case.candidates = [each for each in case.trust.trusted if not doubt_of(each, case.now)]
        return "" if case.candidates else "the message brings none, and none is trusted that it may be from"
    if len(given) > 1:
        return f"there are {len(given)}, and one at most is needed"
    certificate = read_certificate(_decoded(given[0]) or b"")
    if certificate is None:
        return "it cannot be read"
    case.candidates = [certificate]
    return case.trust.doubt(certificate, case.now)


def _value_is_right(case: Case) -> str:
    # DEPARTS from 3.1.5.1.6.1 (SR-208): the value is verified, not computed and compared, because it cannot
    # be computed without the private key.
    method = METHODS[case.signature.methods[0]]
    case.candidates = [
        each
        for each in case.candidates
        if method.is_signed(each.public_key(), case.value, case.signature.signed_infos[0])
    ]
    return "" if case.candidates else "it was not made with the key of the sender's certificate"


CHECKS: Final[tuple[tuple[str, Callable[[Case], str]], ...]] = (
    ("Signature", _one_signature),  # SR-201
    ("SignedInfo", _one_signed_info),  # SR-110, SR-201
    ("SignatureMethod", _one_method),  # SR-111, SR-201
    ("SignatureMethod", _method_is_allowed),  # SR-202
    ("Reference", _one_or_two_references),  # SR-203
    ("Reference", _references_mean_parts),  # SR-204
    ("Reference", _references_differ),  # SR-205
    ("Reference", _every_part_is_meant),  # SR-113
    ("DigestMethod", _digest_methods_are_allowed),  # SR-206
    ("DigestValue", _one_digest_each),  # SR-206
    ("DigestValue", _digests_are_right),  # SR-207
    ("SignatureValue", _one_value),  # SR-201
    ("X509Certificate", _certificate_is_trusted),
    ("SignatureValue", _value_is_right),  # SR-208
)
"""The checks of a signature, each with the element that a failure names; each may rely on those before it."""


def _once(there: tuple[object, ...]) -> str:
    return "" if len(there) == 1 else f"there are {len(there)}, and one is needed"


def _kind(reference: Reference) -> str:
    match = _PART.match(reference.uri)
    return match[1].lower() if match else ""


def _decoded(text: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return None


def _quoted(text: str) -> str:
    return repr(text[:80])

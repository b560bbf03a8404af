"""Tests of keys and certificates that are read from files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.trust import NO_TRUST
from reliquary.server.signatures import signature_trust
from reliquary.server.srmp_options import SrmpOptions
from reliquary.wire.xmldsig_algorithms import Obsolete
from tests.console.harness import Harness, play
from tests.protocols.srmp.signers import signer
from tests.wire.signing_keys import certificate_pem, key_pem


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """own.key and own.pem; partners: one file with two certificates, one with one of them again."""
    (tmp_path / "own.key").write_bytes(key_pem(signer("rsa").key))
    (tmp_path / "own.key").chmod(0o600)
    (tmp_path / "own.pem").write_bytes(certificate_pem(signer("rsa").certificate))
    partners = tmp_path / "partners"
    partners.mkdir()
    two = certificate_pem(signer("ecdsa").certificate, signer("dsa").certificate)
    (partners / "a.pem").write_bytes(two)
    (partners / "b.CRT").write_bytes(certificate_pem(signer("ecdsa").certificate))
    (partners / "readme.txt").write_text("not a certificate")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_without_files_nothing_is_signed_and_no_signer_is_trusted() -> None:
    assert signature_trust(SrmpOptions()) == NO_TRUST


def test_key_certificate_files_and_folders_are_read(files: Path) -> None:
    trust = signature_trust(
        SrmpOptions(
            signing_key=files / "own.key",
            signing_certificate=files / "own.pem",
            trusted_certificates=(files / "partners", files / "own.pem"),
        )
    )
    assert trust.signer is not None
    assert trust.signer.certificate == signer("rsa").certificate
    trusted = [signer(kind).certificate for kind in ("ecdsa", "dsa", "rsa")]
    assert list(trust.trusted) == trusted


@pytest.mark.parametrize(
    ("name", "what"),
    [("allow_sha1", Obsolete.SHA1), ("allow_md5", Obsolete.MD5), ("allow_dsa", Obsolete.DSA)],
)
def test_what_is_obsolete_is_allowed_one_by_one(name: str, what: Obsolete) -> None:
    assert signature_trust(SrmpOptions(**{name: True})).allowed == {what}  # type: ignore[arg-type]


def test_what_is_wrong_is_reported_with_the_file(files: Path) -> None:
    own, own_pem = files / "own.key", files / "own.pem"
    other = files / "partners" / "b.CRT"
    note = files / "partners" / "readme.txt"
    for key, certificate, trusted, why in (
        (files / "missing", own_pem, (), f"{files / 'missing'} cannot be read: No such file"),
        (own, files / "missing", (), f"{files / 'missing'} cannot be read: No such file"),
        (
            own,
            other,
            (),
            f"signing_key {own} and srmp.signing_certificate {other}: the signing certificate",
        ),
        (None, None, (files / "missing",), f"{files / 'missing'} cannot be read: No such file"),
        (None, None, (note,), f"{note}: this is no certificate in PEM"),
        (None, None, (files / "empty",), f"{files / 'empty'} has no certificate"),
    ):
        options = SrmpOptions(signing_key=key, signing_certificate=certificate, trusted_certificates=trusted)
        with pytest.raises(UsageError, match=re.escape(why)):
            signature_trust(options)


def test_a_key_that_others_can_read_is_refused(files: Path) -> None:
    (files / "own.key").chmod(0o640)
    options = SrmpOptions(signing_key=files / "own.key", signing_certificate=files / "own.pem")
    with pytest.raises(UsageError, match="can be read by others; chmod 600"):
        signature_trust(options)


def test_a_server_that_has_a_key_takes_messages_to_be_signed(files: Path) -> None:
    body = json.dumps({"text": "x", "authentication": "xmlsig"}).encode()
    web = quote("DIRECT=http://127.0.0.1:9/msmq/private$/q", safe="")

    async def scene(harness: Harness, *, status: int, why: bytes) -> None:
        answer = await harness.data.request("POST", f"/api/v1/queues/{web}/messages", body)
        assert answer.status == status
        here = await harness.data.request("POST", "/api/v1/queues/orders/messages", body)
        assert here.status == 400
        assert why in here.body

    options = SrmpOptions(signing_key=files / "own.key", signing_certificate=files / "own.pem")
    with_key = partial(scene, status=201, why=b"only what leaves by HTTP or multicast is signed")
    play(files / "with", with_key, tables=(options,))
    play(files / "without", partial(scene, status=400, why=b"this manager has no signing key"))


def test_a_key_that_is_not_allowed_is_refused(files: Path) -> None:
    (files / "own.key").write_bytes(key_pem(signer("dsa").key))
    (files / "own.pem").write_bytes(certificate_pem(signer("dsa").certificate))
    options = SrmpOptions(signing_key=files / "own.key", signing_certificate=files / "own.pem")
    with pytest.raises(UsageError, match="one of DSA, which is not allowed"):
        signature_trust(options)
    assert signature_trust(replace(options, allow_dsa=True)).signer is not None

"""Keys and certificates from files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.trust import NOBODY
from reliquary.server.trust import read_trust
from reliquary.wire.xmldsig_algorithms import Obsolete
from tests.protocols.srmp.signers import signer
from tests.wire.signing_keys import certificate_pem, key_pem

NOTHING: frozenset[Obsolete] = frozenset()


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


def test_without_files_nobody_signs_and_nobody_is_believed() -> None:
    assert read_trust(None, None, (), NOTHING) == NOBODY


def test_key_certificate_files_and_folders_are_read(files: Path) -> None:
    places = [files / "partners", files / "own.pem"]
    trust = read_trust(files / "own.key", files / "own.pem", places, frozenset({Obsolete.MD5}))
    assert trust.signer is not None
    assert trust.signer.certificate == signer("rsa").certificate
    believed = [signer(kind).certificate for kind in ("ecdsa", "dsa", "rsa")]
    assert list(trust.trusted) == believed
    assert trust.allowed == {Obsolete.MD5}


def test_what_is_wrong_is_told_with_the_file(files: Path) -> None:
    own, own_pem = files / "own.key", files / "own.pem"
    other = files / "partners" / "b.CRT"
    note = files / "partners" / "readme.txt"
    for key, certificate, trusted, why in (
        (files / "missing", own_pem, (), f"{files / 'missing'} cannot be read: No such file"),
        (own, files / "missing", (), f"{files / 'missing'} cannot be read: No such file"),
        (own, other, (), f"{own} and {other}: the signing certificate is that of another key"),
        (None, None, (files / "missing",), f"{files / 'missing'} cannot be read: No such file"),
        (None, None, (note,), f"{note}: this is no certificate in PEM"),
        (None, None, (files / "empty",), f"{files / 'empty'} has no certificate"),
    ):
        with pytest.raises(UsageError, match=re.escape(why)):
            read_trust(key, certificate, trusted, NOTHING)


def test_a_key_that_others_can_read_is_refused(files: Path) -> None:
    (files / "own.key").chmod(0o640)
    with pytest.raises(UsageError, match="can be read by others; chmod 600"):
        read_trust(files / "own.key", files / "own.pem", (), NOTHING)

"""Tests certificates and keys in PEM: each file that cannot be used is named, with the reason."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from reliquary.base.faults import UsageError
from reliquary.net.identity.pem_files import PemFile, load_authorities, load_own
from tests.net.http.certificate import PEM


def key_file(folder: Path, password: bytes = b"") -> Path:
    """Write the key of no certificate."""
    form = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    made = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, form
    )
    file = folder / "made.key"
    file.write_bytes(made)
    return file


def refused(certificate: Path, key: Path) -> str:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with pytest.raises(UsageError) as why:
        load_own(context, PemFile("tls_certificate", certificate), PemFile("tls_key", key))
    return str(why.value)


def test_a_certificate_and_its_key_are_taken() -> None:
    load_own(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), PemFile("a", PEM), PemFile("b", PEM))


def test_what_is_wrong_is_named_with_setting_and_file(tmp_path: Path) -> None:
    missing, bad = tmp_path / "missing", tmp_path / "bad"
    bad.write_text("x")
    assert refused(missing, PEM) == f"tls_certificate {missing} cannot be read: No such file or directory"
    assert refused(PEM, missing) == f"tls_key {missing} cannot be read: No such file or directory"
    assert refused(PEM, tmp_path) == f"tls_key {tmp_path} cannot be read: Is a directory"
    assert refused(bad, PEM) == f"tls_certificate {bad} has no certificate in PEM"
    assert refused(PEM, bad) == f"tls_key {bad} has no private key in PEM"
    other = key_file(tmp_path)
    assert refused(PEM, other) == f"tls_key {other} is not the key of tls_certificate {PEM}"


def test_an_encrypted_key_is_refused_and_no_terminal_is_asked(tmp_path: Path) -> None:
    why = refused(PEM, key_file(tmp_path, b"secret"))
    assert "is encrypted, and a server cannot be asked for its password" in why


def test_authorities_are_certificates(tmp_path: Path) -> None:
    context, bad = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), tmp_path / "bad"
    load_authorities(context, PemFile("ca_file", PEM))
    assert context.cert_store_stats()["x509"] == 1
    bad.write_text("x")
    with pytest.raises(UsageError, match=r"^ca_file .*bad has no certificate in PEM$"):
        load_authorities(context, PemFile("ca_file", bad))
    with pytest.raises(UsageError, match=r"^ca_file .*missing cannot be read: No such file"):
        load_authorities(context, PemFile("ca_file", tmp_path / "missing"))

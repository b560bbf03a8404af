"""Tests of the certificates of a client."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from reliquary import BadRequest
from reliquary.client.certificates import ClientCertificates
from tests.net.srmp.certificates import Authority


def test_without_files_the_authorities_of_the_system_are_trusted() -> None:
    assert ClientCertificates().context().verify_mode is ssl.CERT_REQUIRED


def test_files_are_loaded(tmp_path: Path) -> None:
    ours = Authority(tmp_path, "ours")
    made = ClientCertificates(str(ours.file), str(ours.vouch("client.example"))).context()
    [trusted] = made.get_ca_certs()
    assert trusted["subject"] == ((("commonName", "ours"),),)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (ClientCertificates(ca_file="nowhere.pem"), "the file of authorities 'nowhere.pem' cannot be used"),
        (ClientCertificates(certificate="nowhere.pem"), "the certificate 'nowhere.pem' cannot be used"),
        (ClientCertificates(key="key.pem"), "a key needs the certificate"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(files: ClientCertificates, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        files.context()

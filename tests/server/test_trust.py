"""Tests which certificates a server trusts when it calls others; an error names a file that has none."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.trust import trust_of
from tests.net.http.certificate import PEM


def test_without_a_word_the_system_is_trusted() -> None:
    context = trust_of("srmp.", SrmpOptions())()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_a_file_is_trusted_in_its_place() -> None:
    context = trust_of("srmp.", SrmpOptions(ca_file=PEM, certificate=PEM, key=PEM))()
    assert context.cert_store_stats()["x509"] == 1
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_a_certificate_of_our_own_leaves_the_systems_trust() -> None:
    assert trust_of("srmp.", SrmpOptions(certificate=PEM, key=PEM))().verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize("name", ["ca_file", "certificate"])
def test_a_file_without_a_certificate_is_named(tmp_path: Path, name: str) -> None:
    bad = tmp_path / "x.pem"
    bad.write_text("x")
    given: dict[str, Any] = {name: bad} | ({"key": bad} if name == "certificate" else {})
    with pytest.raises(UsageError, match=rf"srmp\.{name} .*x\.pem has no certificate in PEM"):
        trust_of("srmp.", SrmpOptions(**given))

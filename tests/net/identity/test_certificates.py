"""Which certificates a listener shows and asks for; tests/server/test_build.py shows them with clients."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.identity.certificates import serving_context
from tests.net.http.certificate import PEM


@pytest.mark.parametrize(
    ("ca", "required", "mode"),
    [
        pytest.param(None, False, ssl.CERT_NONE, id="no client is asked"),
        pytest.param(PEM, False, ssl.CERT_OPTIONAL, id="clients may show one"),
        pytest.param(PEM, True, ssl.CERT_REQUIRED, id="clients must show one"),
    ],
)
def test_clients_are_asked_as_wanted(ca: Path | None, required: bool, mode: ssl.VerifyMode) -> None:
    assert serving_context(PEM, PEM, ca, client_required=required).verify_mode is mode


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.pem"
    with pytest.raises(UsageError, match=f"the certificate {missing} cannot be used"):
        serving_context(missing, missing, None, client_required=False)
    with pytest.raises(UsageError, match=f"tls_client_ca {missing} cannot be used"):
        serving_context(PEM, PEM, missing, client_required=True)

"""Which certificates a listener shows and asks for; tests/server/test_build.py shows them with clients."""

from __future__ import annotations

import ssl
import warnings
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.identity.certificates import Serving, serving_context
from tests.net.http.certificate import PEM, client_context


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
    with pytest.raises(UsageError, match=f"tls_certificate {missing} cannot be read"):
        serving_context(missing, missing, None, client_required=False)
    with pytest.raises(UsageError, match=f"tls_client_ca {missing} cannot be read"):
        serving_context(PEM, PEM, missing, client_required=True)


def test_nothing_older_than_tls_1_2_is_spoken() -> None:
    context = serving_context(PEM, PEM, None, client_required=False)
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    here, there = ssl.MemoryBIO(), ssl.MemoryBIO()
    client, server = old.wrap_bio(here, there), context.wrap_bio(there, here, server_side=True)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    with pytest.raises(ssl.SSLError, match=r"(?i)unsupported.protocol|version.too.low"):
        server.do_handshake()


def test_handshakes_get_the_context_that_was_read_last() -> None:
    serving = Serving(serving_context(PEM, PEM, None, client_required=False))
    other = serving_context(PEM, PEM, None, client_required=False)
    other.set_alpn_protocols(["other"])

    def chosen() -> ssl.SSLContext:
        here, there = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = client_context().wrap_bio(here, there, server_hostname="localhost")
        server = serving.front.wrap_bio(there, here, server_side=True)
        for side in (client, server):
            with pytest.raises(ssl.SSLWantReadError):
                side.do_handshake()
        return server.context

    assert chosen() is serving.front
    serving.renew(other)
    assert chosen() is other

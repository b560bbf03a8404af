"""Tests the certificates of a listener; tests/server/test_build.py shows them with clients."""

from __future__ import annotations

import ssl
import warnings
from contextlib import suppress
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.identity.certificates import Serving, serving_context
from tests.net.http.certificate import PEM, client_context
from tests.net.srmp.certificates import Authority


@pytest.mark.parametrize(
    ("ca", "required", "mode"),
    [
        pytest.param(None, False, ssl.CERT_NONE, id="no client is asked"),
        pytest.param(PEM, False, ssl.CERT_OPTIONAL, id="clients may show one"),
        pytest.param(PEM, True, ssl.CERT_REQUIRED, id="clients must show one"),
    ],
)
def test_clients_are_asked_for_certificates_as_the_settings_say(
    ca: Path | None, required: bool, mode: ssl.VerifyMode
) -> None:
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


def shaken(
    serving: Serving, client: ssl.SSLContext, session: ssl.SSLSession | None = None
) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """Return both sides of a connection after a whole handshake; SSLError says why there is none."""
    here, there = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(here, there, server_hostname="localhost", session=session)
    answering = serving.front.wrap_bio(there, here, server_side=True)
    for side in (asking, answering, asking, answering):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    answering.write(b"x")  # the tickets of TLS 1.3 come before it
    assert asking.read(1) == b"x"
    return asking, answering


def test_handshakes_get_the_context_that_was_read_last() -> None:
    first, other = (serving_context(PEM, PEM, None, client_required=False) for _ in range(2))
    serving = Serving(first)
    assert shaken(serving, client_context())[1].context is first
    serving.renew(other)
    assert shaken(serving, client_context())[1].context is other


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("tickets", [True, False])
def test_no_session_is_resumed_under_authorities_that_came_after_it(
    tmp_path: Path, version: ssl.TLSVersion, tickets: bool
) -> None:
    before, after, own = (Authority(tmp_path, name) for name in ("before", "after", "own"))
    certificate = own.vouch("server.example")

    def accepting(authority: Authority) -> ssl.SSLContext:
        return serving_context(certificate, certificate, authority.file, client_required=True)

    client = ssl.create_default_context(cafile=str(own.file))
    client.load_cert_chain(before.vouch("client.example"))
    client.maximum_version = version
    if not tickets:
        client.options |= ssl.OP_NO_TICKET
    serving = Serving(accepting(before))
    first = shaken(serving, client)
    again = shaken(serving, client, first[0].session)
    assert again[1].session_reused
    serving.renew(accepting(after))
    with pytest.raises(ssl.SSLError, match=r"(?i)verify.failed"):
        shaken(serving, client, again[0].session)

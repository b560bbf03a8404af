"""Tests Samba's `raw_protocol`: 194 tests of what a DCE/RPC server does with each PDU, played against ours.

Samba's own server passes 153 of them where there is no domain.  What ours does not pass is listed here with
the reason, and nothing else may fail.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.namespaces import lone_host
from tests.peers import samba_run
from tests.peers.samba_server import PASSWORD, USER

pytestmark = [
    pytest.mark.xdist_group("namespaces"),  # what one test left, another would clear away
    pytest.mark.needs("samba", "iproute2"),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces are for root"),
]

SUITE = "samba.tests.dcerpc.raw_protocol"
PASSES = 162
SLOW = "test_fragmented_requests"
"""These wait 10 ms for an answer after each of many fragments."""
PASSES_OF_SLOW = 5

OVER_SMB = frozenset(
    (
        "test_assoc_group_fail3",
        "test_assoc_group_ok2",
        "test_lsa_multi_auth_sign_connect1a",
        "test_lsa_multi_auth_sign_connect1u",
        *(f"test_lsa_multi_auth_connect{number}{kind}" for number in range(1, 5) for kind in "au"),
    )
)
"""Tests that call over named pipes of SMB, which are no transport of MQQP."""
WITH_KERBEROS = frozenset(
    (
        *(
            f"test_krb5_hdr_sign_delayed{each}"
            for each in ("1_fail1", "1_ok1", "2_fail1", "2_ok1", "3_fail1")
        ),
        "test_krb5_hdr_signing_integrity",
        "test_krb5_hdr_signing_packet",
        "test_krb5_signing_integrity",
        "test_krb5_signing_packet",
    )
)
"""Tests that need a domain."""
ANONYMOUS_LOGON = frozenset(
    (
        "test_ntlmssp_auth_pad_ok",
        "test_spnego_auth_pad_ok",
        "test_spnego_connect_integrity_upgrade",
        "test_spnego_connect_packet_upgrade",
        "test_spnego_connect_reauth_alter",
        "test_spnego_connect_reauth_auth3",
        "test_spnego_integrity_downgrade_connect",
        "test_spnego_packet_downgrade_connect",
    )
)
"""Tests that log on with NTLM and an empty name; here an anonymous client comes without authentication."""
REFUSED_EARLIER = frozenset(("test_spnego_integrity_bind_none", "test_spnego_packet_bind_none"))
"""A client asks for signatures and negotiates none: it is refused when it binds, not when it calls."""
SIGNED_ANYWAY = frozenset(("test_spnego_multiple_auth_hdr_signing",))
"""The header of a PDU is part of what NTLM signs, whether that was negotiated or not."""
EXPLAINED = OVER_SMB | WITH_KERBEROS | ANONYMOUS_LOGON | REFUSED_EARLIER | SIGNED_ANYWAY

SETTINGS = {
    "SERVER": "127.0.0.1",
    "TARGET_HOSTNAME": "localhost",
    "DOMAIN": "WORKGROUP",
    "REALM": "WORKGROUP.EXAMPLE",
    "USERNAME": USER,
    "PASSWORD": PASSWORD,
    "MAX_NUM_AUTH": "16",
    "SMB_CONF_PATH": "/dev/null",
    "PATH": os.environ["PATH"],
}


def play(folder: Path, *left_out: str) -> tuple[list[str], dict[str, str]]:
    """Run Samba's tests against our server; the names of those that passed, and why others did not."""
    with lone_host() as host:
        server = host.start("tests.peers.samba_server")
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            assert server.stdout.readline() == "ready\n"
            ran = subprocess.run(
                [*host.inside, "/usr/bin/python3", samba_run.__file__, SUITE, *left_out],
                cwd=folder, env=SETTINGS, check=True, capture_output=True, text=True,
            )  # fmt: skip
        finally:
            server.stdin.close()
            server.wait()
            server.stdout.close()
    found = json.loads(ran.stdout)
    return found["passed"], found["failed"]


def test_the_tests_of_samba_pass_but_for_those_that_are_explained(tmp_path: Path) -> None:
    passed, failed = play(tmp_path, SLOW)
    assert {name: why for name, why in failed.items() if name not in EXPLAINED} == {}
    assert len(passed) >= PASSES - PASSES_OF_SLOW


@pytest.mark.long
def test_the_tests_of_samba_with_long_requests_in_many_fragments_pass(tmp_path: Path) -> None:
    passed, failed = play(tmp_path)
    assert {name: why for name, why in failed.items() if name not in EXPLAINED} == {}
    assert len(passed) >= PASSES

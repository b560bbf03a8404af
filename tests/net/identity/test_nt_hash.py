"""Tests NT hashes: the vectors of RFC 1320 A.5 and of [MS-NLMP] 4.2.2.1.2."""

from __future__ import annotations

import pytest
from spnego._ntlm_raw.md4 import md4

from reliquary.net.identity.nt_hash import nt_hash


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        ("", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        ("a", "bde52cb31de33e46245e05fbdbd6fb24"),
        ("abc", "a448017aaf21d8525fc10ae87aa6729d"),
        ("message digest", "d9130a8164549fe818874806e1c7014b"),
        ("abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "043f8582f241db351ce627e153e7f0e4",
        ),
        ("1234567890" * 8, "e33b4ddc9c38f2199c3e7b164fcc0536"),
    ],
)
def test_md4_gives_the_digests_of_its_standard(data: str, digest: str) -> None:
    assert md4(data.encode()).hex() == digest


@pytest.mark.parametrize(
    ("password", "digest"),
    [("Password", "a4f49c406510bdcab6824ee7c30fd852"), ("", "31d6cfe0d16ae931b73c59d7e0c089c0")],
)
def test_the_hash_of_a_password_is_that_of_windows(password: str, digest: str) -> None:
    assert nt_hash(password) == digest


def test_a_password_that_is_no_valid_unicode_has_a_hash_too() -> None:
    assert len(nt_hash("\ud800")) == 32

"""Tests the files that settings name are read with them: an error names file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.server import tracing_options
from reliquary.server.files import load_checked
from tests.net.http.certificate import PEM

TLS = f"tls_certificate = '{PEM}'\ntls_key = '{PEM}'\n"
PEER = """\
[[peers]]
name = "depot"
control = "http://depot:1"

[[peers]]
name = "shop"
control = "http://shop:1"
"""
NONE = "/nowhere/x.pem"
ABSENT = "No such file or directory"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            f"tls_certificate = '{NONE}'\ntls_key = '{PEM}'",
            1,
            f"tls_certificate {NONE} cannot be read: {ABSENT}",
        ),
        (f"tls_certificate = '{PEM}'\ntls_key = '{NONE}'", 2, f"tls_key {NONE} cannot be read: {ABSENT}"),
        (f"{TLS}tls_client_ca = '{NONE}'", 3, f"tls_client_ca {NONE} cannot be read: {ABSENT}"),
        (f"[srmp]\nca_file = '{NONE}'", 2, f"srmp.ca_file {NONE} cannot be read"),
        (f"[httpr]\ncertificate = '{PEM}'\nkey = '{NONE}'", 3, f"httpr.key {NONE} cannot be read"),
        (f"[wsrm]\ncertificate = '{NONE}'\nkey = '{PEM}'", 2, f"wsrm.certificate {NONE} cannot be read"),
        (
            f"[srmp]\nsigning_certificate = '{PEM}'\nsigning_key = '{NONE}'",
            3,
            f"srmp.signing_key: {NONE} cannot be read",
        ),
        (f"[srmp]\ntrusted_certificates = ['{NONE}']", 2, f"srmp.trusted_certificates: {NONE} cannot be r"),
        (f"{PEER}token_file = '{NONE}'", 8, f"peers 'shop': token_file {NONE} cannot be read: {ABSENT}"),
        (f"{PEER}ca_file = '{NONE}'", 8, f"peers 'shop': ca_file {NONE} cannot be read"),
        (f"{PEER}certificate = '{PEM}'\nkey = '{NONE}'", 9, f"peers 'shop': key {NONE} cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_found_with_line_and_key(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    file = tmp_path / "reliquary.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        load_checked(file)
    assert str(refused.value).startswith(f"{file}:{line}: {said}")


def test_missing_packages_of_tracing_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing_options, "NEEDED", ("no.such.package",))
    file = tmp_path / "reliquary.toml"
    file.write_text("[tracing]\nendpoint = 'http://127.0.0.1:1/v1/traces'")
    with pytest.raises(UsageError, match=r"reliquary\.toml:2: tracing\.endpoint is set, and the packages"):
        load_checked(file)


def test_files_that_are_there_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"
    file.write_text(f"{TLS}tls_client_ca = '{PEM}'\n{PEER}ca_file = '{PEM}'\n")
    assert load_checked(file).tls_client_ca == PEM

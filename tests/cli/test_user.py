"""Tests of the command `reliquary user`."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

from click.testing import CliRunner

from reliquary.cli.main import cli
from reliquary.net.identity.nt_hash import nt_hash
from reliquary.net.identity.password_hashes import is_password
from reliquary.server.exits import Exit
from reliquary.server.loading import load


def test_a_token_is_shown_once_and_the_lines_are_settings(tmp_path: Path) -> None:
    made = CliRunner().invoke(cli, ["user", "token", "alice", "--group", "administrators"])
    assert made.exit_code == 0
    found = re.fullmatch(r"([\w-]{43})\n", made.stderr)
    assert found is not None
    file = tmp_path / "reliquary.toml"
    file.write_text(made.stdout, encoding="utf-8")
    (user,) = load(file).users
    assert (user.name, user.groups) == ("alice", ("administrators",))
    assert user.token_sha256 == sha256(found[1].encode()).hexdigest()
    assert user.nt_hash == ""


def test_the_token_is_the_password_of_ntlm_on_demand(tmp_path: Path) -> None:
    made = CliRunner().invoke(cli, ["user", "token", "alice", "--ntlm"])
    token = made.stderr.strip()
    file = tmp_path / "reliquary.toml"
    file.write_text(made.stdout, encoding="utf-8")
    (user,) = load(file).users
    assert user.nt_hash == nt_hash(token)


def test_a_password_that_the_user_has_is_asked_for_and_not_shown() -> None:
    made = CliRunner().invoke(cli, ["user", "token", "alice", "--ask-password"], input="password\n")
    assert made.exit_code == 0
    assert 'nt_hash = "8846f7eaee8fb117ad06bdd830b7586c"\n' in made.stdout
    assert "password\n" not in made.stdout + made.stderr.removeprefix("password: \n")


def test_each_token_is_another() -> None:
    tokens = {CliRunner().invoke(cli, ["user", "token", "alice"]).stderr for _ in range(3)}
    assert len(tokens) == 3


def test_a_name_that_no_user_can_have_is_refused() -> None:
    refused = CliRunner(env=dict(os.environ)).invoke(cli, ["user", "token", "a b"])
    assert refused.exit_code == Exit.USAGE
    assert "1 to 64 letters or digits" in refused.stderr


def test_a_password_comes_from_stdin_and_its_hash_is_a_setting(tmp_path: Path) -> None:
    line = ["user", "password", "alice", "--role", "operator", "--group", "clerks"]
    made = CliRunner().invoke(cli, line, input="correct horse\n")
    assert made.exit_code == 0, made.stderr
    assert "correct horse" not in made.stdout + made.stderr
    file = tmp_path / "reliquary.toml"
    file.write_text(made.stdout, encoding="utf-8")
    (user,) = load(file).users
    assert (user.name, user.role, user.groups) == ("alice", "operator", ("clerks",))
    assert is_password(user.password_hash, "correct horse")


def test_a_password_that_is_too_short_is_refused() -> None:
    refused = CliRunner().invoke(cli, ["user", "password", "alice"], input="short\n")
    assert refused.exit_code == Exit.USAGE
    assert "8 to 1024 characters, this has 5" in refused.stderr

"""Tests of the command `reliquary config`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from reliquary.cli.main import cli
from reliquary.server.exits import Exit
from reliquary.server.limit_options import LimitOptions
from tests.cli.conftest import Run
from tests.client.served import Served


def test_valid_settings_are_called_valid_and_others_are_refused_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"
    file.write_text("data_port = 9000\n")
    done = CliRunner().invoke(cli, ["config", "check", "--settings", str(file)])
    assert (done.exit_code, done.stdout) == (0, "the settings are valid\n")
    file.write_text("data_port = 9000\nquota = -1\n")
    done = CliRunner().invoke(cli, ["config", "check", "--settings", str(file)])
    assert done.exit_code == Exit.USAGE
    assert f"{file}:2: quota is 0 to" in done.stderr
    file.write_text("[srmp]\nca_file = '/nowhere/ca.pem'\n")
    done = CliRunner().invoke(cli, ["config", "check", "--settings", str(file)])
    assert done.exit_code == Exit.USAGE
    assert f"{file}:2: srmp.ca_file /nowhere/ca.pem cannot be read" in done.stderr


def test_a_folder_that_every_user_can_enter_is_warned_of(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    done = CliRunner().invoke(cli, ["config", "check", "--set", f"folder={tmp_path}"])
    assert (done.exit_code, done.stdout) == (0, "the settings are valid\n")
    assert f"every user of this computer can enter the folder {tmp_path}: `chmod o= " in done.stderr
    tmp_path.chmod(0o750)
    assert not CliRunner().invoke(cli, ["config", "check", "--set", f"folder={tmp_path}"]).stderr


def test_settings_are_shown_as_toml_or_json(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"
    file.write_text("data_port = 9000\n")
    command = ["config", "show", "--settings", str(file)]
    done = CliRunner().invoke(cli, [*command, "--table"], env={"RELIQUARY_QUOTA": "5"})
    assert done.stdout == f"data_port = 9000  # {file}:1\nquota = 5  # environment\n"
    done = CliRunner().invoke(cli, [*command, "--json"])
    assert json.loads(done.stdout) == {
        "table": "", "name": "data_port", "value": 9000, "origin": f"{file}:1",
    }  # fmt: skip
    whole = CliRunner().invoke(cli, [*command, "--effective", "--table"]).stdout
    assert "control_port = 8481  # default" in whole
    assert "[mqqb]" in whole


def test_without_any_setting_the_command_says_that_all_are_defaults() -> None:
    done = CliRunner().invoke(cli, ["config", "show", "--table"])
    assert done.stdout == "# all settings have their defaults\n"


def test_settings_by_name_are_options(tmp_path: Path) -> None:
    line = ["config", "show", "--set", "history.keep_days=7", "--set", "quota=5", "--table"]
    done = CliRunner().invoke(cli, line, env={"RELIQUARY_QUOTA": "4"})
    assert done.stdout == "quota = 5  # command line\n\n[history]\nkeep_days = 7.0  # command line\n"
    done = CliRunner().invoke(cli, ["config", "check", "--set", "quota=x"])
    assert done.exit_code == Exit.USAGE


def test_a_server_reads_its_settings_anew(run: Run, shared_server: Served) -> None:
    reloader = shared_server.server.reloader
    refused = run("config", "reload")
    assert (refused.exit_code, "without a place to read" in refused.stderr) == (Exit.USAGE, True)
    reloader.read = lambda: replace(
        reloader.settings, quota=9, queues=("first",), limits=LimitOptions(rate=10**6)
    )
    assert json.loads(run("config", "reload", "--json").output) == {
        "applied": ["queues", "limits.rate"], "restart": ["quota"], "notes": [],
    }  # fmt: skip
    assert run("config", "reload", "--table").output == (
        "applied: nothing has changed\nwith the next start: quota\n"
    )

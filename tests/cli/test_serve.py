"""`reliquary serve`: options become settings; the server itself is tested in its own room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reliquary.cli.main import cli
from reliquary.server import run as server
from reliquary.server.config import Settings
from reliquary.server.exits import Exit
from reliquary.server.logs import LogFormat, LogLevel


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Return the settings of servers that would have run."""
    seen: list[Settings] = []

    def serve(settings: Settings, read: Callable[[], Settings]) -> Exit:
        assert read() == settings  # a reload reads what the start read
        seen.append(settings)
        return Exit.PORT_IN_USE

    monkeypatch.setattr(server, "serve", serve)
    return seen


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner(env={"RELIQUARY_SERVER": "x", "RELIQUARY_CONTROL": "y", **environment}).invoke(
        cli, ["serve", *arguments]
    )


def test_without_options_the_defaults_hold(started: list[Settings]) -> None:
    assert run().exit_code == Exit.PORT_IN_USE
    assert started == [Settings()]
    assert started[0].folder == Path("reliquary-data")


def test_options_become_settings(started: list[Settings]) -> None:
    run(
        *("--data", "d", "--host", "0.0.0.0", "--port", "1", "--control-host", "::1", "--control-port", "2"),
        *("--open-to-network", "--log-format", "json", "--log-level", "info"),
        *("--first-queue", "a", "--first-queue", "b", "--computer-name", "PC", "--quota", "9"),
    )
    wanted = Settings(
        folder=Path("d"),
        data_host="0.0.0.0",
        data_port=1,
        control_host="::1",
        control_port=2,
        open_to_network=True,
        log_format=LogFormat.JSON,
        log_level=LogLevel.INFO,
        queues=("a", "b"),
        computer_name="PC",
        quota=9,
    )
    assert started == [wanted]


def test_a_file_and_the_environment_come_before_options(started: list[Settings], tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("data_port = 1\ncontrol_port = 2\nquota = 3\n")
    run("--settings", str(tmp_path / "s.toml"), "--quota", "5", RELIQUARY_CONTROL_PORT="4")
    assert (started[0].data_port, started[0].control_port, started[0].quota) == (1, 4, 5)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            ("--host", "0.0.0.0"),
            "data_host is 0.0.0.0, which other computers may reach, and the settings",
        ),
        (("--control-host", "mq.example"), "control_host is mq.example, which other computers may reach"),
        (("--port", "70000"), "data_port is 0 to 65535, not 70000"),
        (("--tls-key", "k"), "tls_certificate and tls_key belong together"),
        (("--settings", "missing.toml"), "missing.toml cannot be read"),
        (("--first-queue", "a+b"), "cannot contain '+'"),
    ],
)
def test_a_wrong_setting_is_one_sentence(
    started: list[Settings], line: tuple[str, ...], sentence: str
) -> None:
    result = run(*line)
    assert (result.exit_code, started) == (Exit.USAGE, [])
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1

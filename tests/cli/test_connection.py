"""Tests of how a command finds the server and its token."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from reliquary import BadRequest
from reliquary.base.faults import UsageError
from reliquary.cli.connection import Where, connected, read_token_file
from reliquary.cli.main import cli
from reliquary.server.exits import Exit


@pytest.mark.parametrize("where", [Where("folder", None), Where("http://127.0.0.1:1", "folder")])
def test_only_addresses_are_taken(where: Where) -> None:
    with click.Context(click.Command("x"), obj=where), pytest.raises(click.UsageError, match="'folder'"):
        connected()


def test_without_a_port_there_is_no_next_one() -> None:
    with click.Context(click.Command("x"), obj=Where("http://host", None)), pytest.raises(BadRequest):
        connected()


def test_no_connection_is_opened_before_the_first_request() -> None:
    with click.Context(click.Command("x"), obj=Where("http://127.0.0.1:9", None)):
        connected().close()


def test_queues_over_mqqp_need_no_control_plane_and_no_token() -> None:
    where = Where("mqqp://127.0.0.1:1/orders", "http://127.0.0.1:2", "a token of another server")
    with click.Context(click.Command("x"), obj=where), connected() as manager:
        assert manager.queue().name == "orders"


def test_a_token_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("  secret\n")
    assert Where("x", None, None, file).read_token() == "secret"
    assert Where("x", None, "said").read_token() == "said"
    assert Where("x", None).read_token() is None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "holds 0 words, and a token is one"),
        (b"two words\n", "holds 2 words, and a token is one"),
        (b"\xff", "cannot be read: it is not text"),
    ],
)
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: bytes | None, why: str) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=f"--token-file .* {why}"):
        read_token_file(file)


@pytest.mark.parametrize(
    ("line", "environment", "token", "file"),
    [
        ([], {}, None, None),
        (["--token", "a"], {}, "a", None),
        (["--token-file", "f"], {}, None, "f"),
        ([], {"RELIQUARY_TOKEN": "a"}, "a", None),
        ([], {"RELIQUARY_TOKEN_FILE": "f"}, None, "f"),
        (["--token", "a"], {"RELIQUARY_TOKEN_FILE": "f"}, "a", None),
        (["--token-file", "f"], {"RELIQUARY_TOKEN": "a"}, None, "f"),
    ],
)
def test_the_command_line_wins_over_the_environment(
    line: list[str], environment: dict[str, str], token: str | None, file: str | None
) -> None:
    found: list[Where] = []

    @click.command()
    @click.pass_obj
    def probe(where: Where) -> None:
        found.append(where)

    root = click.Group("root", callback=cli.callback, params=cli.params, commands={"probe": probe})
    result = CliRunner(env=environment).invoke(root, [*line, "probe"])
    assert result.exit_code == 0, result.output
    assert (found[0].token, found[0].token_file) == (token, None if file is None else Path(file))


@pytest.mark.parametrize(
    ("line", "environment"),
    [
        (["--token", "a", "--token-file", "f"], {}),
        ([], {"RELIQUARY_TOKEN": "a", "RELIQUARY_TOKEN_FILE": "f"}),
    ],
)
def test_a_token_and_a_file_from_one_place_are_refused(line: list[str], environment: dict[str, str]) -> None:
    result = CliRunner(env=environment).invoke(cli, [*line, "queue", "list"])
    assert result.exit_code == Exit.USAGE
    assert "a token comes from --token or from --token-file, not from both" in result.stderr


def test_a_missing_token_file_is_one_sentence_and_nothing_is_asked() -> None:
    result = CliRunner().invoke(cli, ["--token-file", "nowhere", "queue", "list"])
    assert (result.exit_code, result.stderr.count("\n")) == (Exit.USAGE, 1)
    assert "--token-file nowhere cannot be read" in result.stderr

"""Tests of how a command finds the server and its token."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from reliquary import BadRequest
from reliquary.base.faults import UsageError
from reliquary.cli.connection import PlaneAddresses, connected, read_token_file
from reliquary.cli.main import cli
from reliquary.net.identity.users import User
from reliquary.queueing.model.security.roles import Role
from reliquary.server.exits import Exit
from tests.client.served import served
from tests.net.identity.cheap_hash import cheap_hash
from tests.net.srmp.certificates import Authority


@pytest.mark.parametrize(
    "where", [PlaneAddresses("folder", None), PlaneAddresses("http://127.0.0.1:1", "folder")]
)
def test_only_addresses_are_taken(where: PlaneAddresses) -> None:
    with click.Context(click.Command("x"), obj=where), pytest.raises(click.UsageError, match="'folder'"):
        connected()


def test_without_a_port_there_is_no_next_one() -> None:
    with (
        click.Context(click.Command("x"), obj=PlaneAddresses("http://host", None)),
        pytest.raises(BadRequest),
    ):
        connected()


def test_no_connection_is_opened_before_the_first_request() -> None:
    with click.Context(click.Command("x"), obj=PlaneAddresses("http://127.0.0.1:9", None)):
        connected().close()


def test_queues_over_mqqp_need_no_control_plane_and_no_token() -> None:
    where = PlaneAddresses("mqqp://127.0.0.1:1/orders", "http://127.0.0.1:2", "a token of another server")
    with click.Context(click.Command("x"), obj=where), connected() as manager:
        assert manager.queue().name == "orders"


def test_a_token_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("  secret\n")
    assert PlaneAddresses("x", None, None, file).read_token() == "secret"
    assert PlaneAddresses("x", None, "said").read_token() == "said"
    assert PlaneAddresses("x", None).read_token() is None


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
    ("line", "environment", "chosen"),
    [
        ([], {}, (None, None, None)),
        (["--token", "a"], {}, ("a", None, None)),
        (["--token-file", "f"], {}, (None, "f", None)),
        ([], {"RELIQUARY_TOKEN": "a"}, ("a", None, None)),
        ([], {"RELIQUARY_TOKEN_FILE": "f"}, (None, "f", None)),
        ([], {"RELIQUARY_USER": "alice"}, (None, None, "alice")),
        (["--token", "a"], {"RELIQUARY_TOKEN_FILE": "f"}, ("a", None, None)),
        (["--token-file", "f"], {"RELIQUARY_TOKEN": "a"}, (None, "f", None)),
        (["--user", "alice"], {"RELIQUARY_TOKEN": "a"}, (None, None, "alice")),
        (["--token", "a"], {"RELIQUARY_USER": "alice"}, ("a", None, None)),
    ],
)
def test_the_command_line_wins_over_the_environment(
    line: list[str], environment: dict[str, str], chosen: tuple[str | None, str | None, str | None]
) -> None:
    found: list[PlaneAddresses] = []

    @click.command()
    @click.pass_obj
    def probe(where: PlaneAddresses) -> None:
        found.append(where)

    root = click.Group("root", callback=cli.callback, params=cli.params, commands={"probe": probe})
    result = CliRunner(env=environment).invoke(root, [*line, "probe"])
    assert result.exit_code == 0, result.output
    token, file, user = chosen
    assert (found[0].token, found[0].user) == (token, user)
    assert found[0].token_file == (None if file is None else Path(file))


@pytest.mark.parametrize(
    ("line", "environment"),
    [
        (["--token", "a", "--token-file", "f"], {}),
        ([], {"RELIQUARY_TOKEN": "a", "RELIQUARY_TOKEN_FILE": "f"}),
        (["--token", "a", "--user", "alice"], {}),
        ([], {"RELIQUARY_TOKEN": "a", "RELIQUARY_USER": "alice"}),
    ],
)
def test_two_ways_from_one_place_are_refused(line: list[str], environment: dict[str, str]) -> None:
    result = CliRunner(env=environment).invoke(cli, [*line, "queue", "list"])
    assert result.exit_code == Exit.USAGE
    assert "say who you are in one way" in result.stderr


def test_a_missing_token_file_is_one_sentence_and_nothing_is_asked() -> None:
    result = CliRunner().invoke(cli, ["--token-file", "nowhere", "queue", "list"])
    assert (result.exit_code, result.stderr.count("\n")) == (Exit.USAGE, 1)
    assert "--token-file nowhere cannot be read" in result.stderr


def test_a_password_comes_from_a_file_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "password"
    file.write_text("two words\n")
    monkeypatch.setenv("RELIQUARY_PASSWORD", "of the environment")
    named = PlaneAddresses("x", None, user="alice", password_file=file)
    assert named.read_proof() == {"user": "alice", "password": "two words"}
    assert PlaneAddresses("x", None, user="alice").read_proof()["password"] == "of the environment"


def test_a_person_at_a_terminal_is_asked_for_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []

    def prompt(text: str, *, hide_input: bool, err: bool) -> str:
        asked.append((text, hide_input and err))
        return "typed"

    monkeypatch.delenv("RELIQUARY_PASSWORD", raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(click, "prompt", prompt)
    assert PlaneAddresses("x", None, user="alice").read_proof() == {"user": "alice", "password": "typed"}
    assert asked == [("password of alice", True)]


def test_a_script_without_a_password_is_informed_where_to_put_it() -> None:
    result = CliRunner().invoke(cli, ["--user", "alice", "queue", "list"])
    assert (result.exit_code, result.stderr.count("\n")) == (Exit.USAGE, 1)
    assert "the user alice needs a password: --password-file names a file" in result.stderr


@pytest.mark.parametrize("content", ["", "\n", "one\ntwo\n"])
def test_a_file_without_one_line_holds_no_password(tmp_path: Path, content: str) -> None:
    file = tmp_path / "password"
    file.write_text(content)
    with pytest.raises(UsageError, match="and a password is one"):
        PlaneAddresses("x", None, user="alice", password_file=file).read_proof()


def test_pipelines_want_a_token_and_say_so(tmp_path: Path) -> None:
    line = ["--user", "alice", "pipeline", "run", "lake", "--queue", "orders", "--lake", str(tmp_path)]
    result = CliRunner(env={"RELIQUARY_PASSWORD": "x"}).invoke(cli, line)
    assert "use --token-file in place of --user" in result.stderr


def test_a_command_shows_a_password_and_a_certificate_to_both_planes(tmp_path: Path) -> None:
    ours = Authority(tmp_path, "ours")
    own, mine = ours.vouch("server.example"), ours.vouch("client.example")
    alice = User(name="alice", password_hash=cheap_hash("open sesame"), role=Role.ADMINISTRATOR)
    with served(tmp_path / "data", own, (alice,), client_ca=ours.file) as running:
        data, control = (each.replace("127.0.0.1", "localhost") for each in (running.data, running.control))
        at = ["--server", data, "--control", control, "--ca-file", str(ours.file), "--user", "alice"]

        def run(*line: str, password: str = "open sesame") -> tuple[int, str]:
            result = CliRunner(env={"RELIQUARY_PASSWORD": password}).invoke(cli, [*at, *line])
            return result.exit_code, result.output

        shown = ("--certificate", str(mine))
        assert run(*shown, "wait", "--timeout", "0") == (0, "")
        assert run(*shown, "queue", "create", "orders")[0] == 0
        assert run(*shown, "message", "send", "orders", "hello")[0] == 0
        assert run(*shown, "consumer", "list", "orders")[0] == 0
        code, why = run(*shown, "queue", "list", password="wrong")
        assert (code, "belong to no user" in why) == (Exit.REFUSED, True)
        assert run("queue", "list")[0] == Exit.UNREACHABLE

"""Tests of how commands end: with one sentence and a named exit code."""

from __future__ import annotations

from typing import Final

import click
import pytest
from click.testing import CliRunner, Result

from reliquary import (
    AccessDenied,
    BadRequest,
    NotFound,
    OutcomeUnknown,
    QueueExists,
    QueueNotFound,
    ServerUnreachable,
)
from reliquary.base.faults import StoreDamage, StoreFailure, UsageError
from reliquary.cli.ending import Root
from reliquary.cli.main import cli
from reliquary.server.exits import Exit

CLOSED: Final = "the peer closed the connection before the answer was whole"
"""The words of the client of HTTP for a peer that wants TLS, or a certificate."""


def failing(why: BaseException) -> Result:
    @click.group(cls=Root)
    def tool() -> None:
        """Return a command line tool whose command `fail` raises `why`."""

    @tool.command()
    def fail() -> None:
        raise why

    return CliRunner().invoke(tool, ["fail"])


@pytest.mark.parametrize(
    ("why", "code"),
    [
        pytest.param(BadRequest("INVALID_PARAMETER", "a sentence"), Exit.USAGE, id="bad request"),
        pytest.param(QueueNotFound("QUEUE_NOT_FOUND", "a sentence"), Exit.NOT_FOUND, id="not found"),
        pytest.param(QueueExists("QUEUE_EXISTS", "a sentence"), Exit.REFUSED, id="refused"),
        pytest.param(ServerUnreachable(sentence="a sentence"), Exit.UNREACHABLE, id="no server"),
        pytest.param(OutcomeUnknown(sentence="a sentence"), Exit.OUTCOME_UNKNOWN, id="unknown"),
        pytest.param(StoreFailure("locked", "a sentence"), Exit.STORE_LOCKED, id="locked"),
        pytest.param(StoreDamage("a sentence"), Exit.STORE_DAMAGED, id="damaged"),
        pytest.param(UsageError("a sentence"), Exit.USAGE, id="usage"),
        pytest.param(PermissionError("a sentence"), Exit.NO_PERMISSION, id="permission"),
        pytest.param(OSError("a sentence"), Exit.DISK_FAILED, id="disk"),
    ],
)
def test_what_was_foreseen_is_one_sentence_and_a_code(why: Exception, code: Exit) -> None:
    result = failing(why)
    assert (result.exit_code, result.stderr.count("\n"), result.stdout) == (code, 1, "")
    assert result.stderr.startswith("reliquary: a sentence")


@pytest.mark.parametrize(
    ("why", "advice"),
    [
        (
            QueueNotFound("QUEUE_NOT_FOUND", "the queue does not exist"),
            "`reliquary queue list` shows all queues",
        ),
        (NotFound("PATH_NOT_FOUND", "a sentence"), "is --server the address of a data plane"),
        (AccessDenied("UNAUTHENTICATED", "a sentence"), "--token-file or --user say who you are"),
        (
            AccessDenied("ACCESS_DENIED", "anonymous (S-1-5-7) lacks the right READ"),
            "--token-file or --user say who you are",
        ),
        (ServerUnreachable(sentence="a sentence"), "does a server run there?"),
        (ServerUnreachable(sentence="https://a: [SSL: CERTIFICATE_VERIFY_FAILED]"), "--ca-file names"),
        (
            ServerUnreachable(sentence=f"https://a does not answer: {CLOSED}"),
            "does it ask for a certificate? --certificate",
        ),
        (ServerUnreachable(sentence=f"http://a does not answer: {CLOSED}"), "does it use TLS?"),
    ],
)
def test_a_wrong_step_ends_with_what_to_do(why: Exception, advice: str) -> None:
    assert f"; {advice}" in failing(why).stderr


def test_a_user_who_was_named_is_not_asked_for_a_name() -> None:
    assert failing(AccessDenied("ACCESS_DENIED", "bob lacks the right READ")).stderr.endswith("READ\n")


def test_an_interrupt_has_its_code() -> None:
    assert failing(KeyboardInterrupt()).exit_code == Exit.INTERRUPTED


def test_a_bug_of_ours_is_not_hidden() -> None:
    assert isinstance(failing(ZeroDivisionError()).exception, ZeroDivisionError)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["nonsense"], "No such command 'nonsense'. Try 'reliquary --help'."),
        (["send", "orders"], "No such command 'send'. Did you mean 'message send'? Try 'reliquary --help'."),
        (["purge", "orders"], "Did you mean 'queue purge'"),
        (["list"], "No such command 'list'. Try 'reliquary --help'."),
        (["queue", "show"], "Missing argument 'NAME'. Try 'reliquary queue show --help'."),
        (["queue", "lst"], "Did you mean 'list'? Try 'reliquary queue --help'."),
        (["quueue", "list"], "No such command 'quueue'. Did you mean 'queue'? Try 'reliquary --help'."),
        (["queue", "list", "--colour"], "No such option"),
        (
            ["queue", "list", "--server", "http://127.0.0.1:9"],
            "--server stands before the command: reliquary --server ... queue list",
        ),
        (["--server", "nowhere", "queue", "list"], "'nowhere' is not an address such as http"),
        (["--server", "http://127.0.0.1:9", "queue", "list"], "no connection to 127.0.0.1:10"),
    ],
)
def test_a_wrong_line_is_one_sentence(line: list[str], sentence: str) -> None:
    result = CliRunner().invoke(cli, line, prog_name="reliquary")
    assert result.exit_code in (Exit.USAGE, Exit.UNREACHABLE)
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1

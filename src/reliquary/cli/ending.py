"""Ends a command with one sentence on stderr and a named exit code, never with a traceback.

click's usage errors, the client's errors and the store's faults all come through here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final, NoReturn

import click

from reliquary.base.faults import StoreDamage, StoreFailure, UsageError
from reliquary.server.exits import Exit, exit_of

ADVICE: Final = {
    "QUEUE_NOT_FOUND": "`reliquary queue list` shows all queues, `reliquary queue create NAME` makes one",
    "PATH_NOT_FOUND": "is --server the address of a data plane, and --control that of its control plane?",
    "METHOD_NOT_ALLOWED": "is --server the address of a data plane, and --control that of its control plane?",
    "UNAUTHENTICATED": "--token-file or --user say who you are",
}
"""The advice for users, by the code of an error."""
NOUNS_SHOWN: Final = 3
"""The most nouns that are named to a user who typed a verb alone."""
NO_SERVER: Final = "does a server run there? `reliquary serve` starts one, --server and --control name it"


class Root(click.Group):
    """The group of all commands; the only place where errors become exit codes."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run a command and exit."""
        extra["standalone_mode"] = False
        code, sentence = Exit.OK, ""
        try:
            code = super().main(args, *rest, **extra) or Exit.OK
        except click.Abort:
            code, sentence = Exit.INTERRUPTED, "interrupted"
        except click.ClickException as why:
            code, sentence = Exit.USAGE, _complaint(why)
        except BrokenPipeError:
            _hush()
            code = Exit.FAILED
        except Exception as why:
            known = exit_and_sentence(why)
            if known is None:
                raise
            code, sentence = known
        if sentence:
            click.echo(f"reliquary: {sentence}", err=True)
        sys.exit(code)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; where there is none of that name, name those that were probably meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as why:
            if found := self._likely(ctx, args[0]):
                raise click.UsageError(f"No such command '{args[0]}'. Did you mean {found}?", ctx) from why
            raise

    def _likely(self, ctx: click.Context, wrong: str) -> str:
        """Return the nouns that have a verb, or else the nouns whose names are like it; empty if none."""
        nouns = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        having = [
            f"'{name} {wrong}'"
            for name, each in nouns.items()
            if isinstance(each, click.Group) and wrong in each.list_commands(ctx)
        ]
        if 0 < len(having) <= NOUNS_SHOWN:
            return " or ".join(having)
        return " or ".join(f"'{name}'" for name in get_close_matches(wrong, nouns, n=2))


def exit_and_sentence(why: Exception) -> tuple[Exit, str] | None:
    """Return the exit code and the sentence for an expected error; None for a bug of this program."""
    from reliquary.client.errors import ReliquaryError

    if isinstance(why, StoreFailure | StoreDamage | UsageError):
        return exit_of(why), str(why)
    if isinstance(why, ReliquaryError):
        code, advice = _exit_of_error(why), ADVICE.get(why.code, "")
        if code is Exit.UNREACHABLE:
            advice = _advice_for(why.sentence)
        elif why.code == "ACCESS_DENIED" and why.sentence.startswith("anonymous"):
            advice = ADVICE["UNAUTHENTICATED"]
        elif why.code == "QUEUE_NOT_FOUND" and "queue" not in why.sentence:
            advice = ""  # for example an outgoing queue, which only a message creates
        return code, f"{why.sentence}; {advice}" if advice else why.sentence
    if isinstance(why, OSError):
        return Exit.NO_PERMISSION if isinstance(why, PermissionError) else Exit.DISK_FAILED, str(why)
    return None


def _advice_for(sentence: str) -> str:
    """Return what to do about a server that does not answer, by the sentence of its failure."""
    if "CERTIFICATE_VERIFY_FAILED" in sentence:
        return "--ca-file names the authorities that its certificate is checked with"
    if "closed the connection" in sentence:
        if sentence.startswith("https:"):
            return "does it ask for a certificate? --certificate shows yours"
        return "does it use TLS? its address begins with https:// then"
    return NO_SERVER


def _exit_of_error(why: Exception) -> Exit:
    from reliquary.client import errors

    match why:
        case errors.OutcomeUnknown():
            return Exit.OUTCOME_UNKNOWN
        case errors.ServerUnreachable():
            return Exit.UNREACHABLE
        case errors.NotFound():
            return Exit.NOT_FOUND
        case errors.BadRequest():
            return Exit.USAGE
        case _:
            return Exit.REFUSED


def _complaint(why: click.ClickException) -> str:
    context = getattr(why, "ctx", None)
    if isinstance(why, click.NoSuchOption) and _is_of_root(why):
        command = why.ctx.command_path.partition(" ")[2] if why.ctx else ""
        return f"{why.option_name} stands before the command: reliquary {why.option_name} ... {command}"
    text = " ".join(why.format_message().split()).removesuffix(".")
    end = "" if text.endswith(("?", ")")) else "."
    return text if context is None else f"{text}{end} Try '{context.command_path} --help'."


def _is_of_root(why: click.NoSuchOption) -> bool:
    """Return whether an option that a command does not have is one of the program itself."""
    if why.ctx is None or why.ctx.parent is None:
        return False
    return any(why.option_name in each.opts for each in why.ctx.find_root().command.params)


def _hush() -> None:
    """Discard further output after its reader has closed the pipe; the interpreter would fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

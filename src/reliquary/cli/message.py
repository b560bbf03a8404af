"""`reliquary message`: send, receive, send again and peek."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.lines import batches
from reliquary.cli.output import format_option, print_json, print_table, wants_json
from reliquary.cli.span import Span
from reliquary.server.exits import Exit

if TYPE_CHECKING:
    from reliquary.client.message import Message, SendOptions, Sent
    from reliquary.client.sync.queue import Queue

ACKNOWLEDGEMENTS = (
    "pos-arrival",
    "pos-receive",
    "neg-arrival",
    "neg-receive",
    "nack-reach-queue",
    "full-reach-queue",
    "nack-receive",
    "full-receive",
)
BATCH = 64
PREVIEW = 60


@click.group()
def message() -> None:
    """Send, receive and look at messages."""


# -- send


@message.command()
@click.argument("queue")
@click.argument("bodies", metavar="[BODY]...", nargs=-1)
@click.option("--lines", is_flag=True, help="Each line of stdin is a message.")
@click.option("--label", default="", help="Up to 249 characters.")
@click.option("--priority", type=int, default=3, show_default=True, help="0 to 7; 7 is received first.")
@click.option("--expires", type=Span(), help="Not to be received later than this: 90, 5m, 2h, 1d.")
@click.option("--delay", type=Span(), default=0, help="Not to be seen earlier than after this: 90, 5m.")
@click.option("--express", is_flag=True, help="Keep it in memory only; a crash loses it.")
@click.option("--journal", is_flag=True, help="Keep a copy in system$;journal.")
@click.option(
    "--deadletter/--no-deadletter",
    default=None,
    help="Keep it in a dead-letter queue when it expires, or never; else when it cannot be delivered.",
)
@click.option("--deadletter-queue", default="", metavar="QUEUE", help="Keep it in this queue instead.")
@click.option("--response-queue", default="", metavar="QUEUE", help="Where an answer is wanted.")
@click.option("--administration-queue", default="", metavar="QUEUE", help="Where acknowledgements go.")
@click.option(
    "--acknowledge",
    "acknowledgements",
    multiple=True,
    type=click.Choice(ACKNOWLEDGEMENTS),
    help="Which acknowledgements are wanted; may be given more than once.",
)
@click.option("--correlation", metavar="ID", help="The id of the message that this one answers.")
@click.option("--tag", type=int, default=0, help="A number for the application.")
@click.option("--transaction", is_flag=True, help="Send all of them in one transaction, or none.")
@click.option("--sign", is_flag=True, help="Sign it with the manager's key; only what leaves by HTTP.")
@format_option
@examples(
    'reliquary message send orders "hello"',
    "reliquary message send orders < order.json",
    "tail -f log | reliquary message send logs --lines",
    'reliquary message send "DIRECT=HTTP://host:8480/msmq/private$/orders" hello --transaction',
    "reliquary message send orders hello --acknowledge full-receive --administration-queue news",
)
def send(
    queue: str,
    bodies: tuple[str, ...],
    lines: bool,
    express: bool,
    transaction: bool,
    sign: bool,
    as_json: bool | None,
    **options: Any,
) -> None:
    """Send each BODY as a message to QUEUE; without BODY, or with -, what comes on stdin.

    When the command returns, the messages are on disk.
    """
    if lines and bodies not in ((), ("-",)):
        raise click.UsageError("--lines reads stdin, and a BODY is given too.")
    if lines and transaction:
        raise click.UsageError("--lines sends lines as they come, and --transaction all of them at once.")
    options["durable"] = not express
    if sign:
        options["authentication"] = "xmlsig"
    with connected() as manager:
        target = manager.queue(queue)
        if lines:
            _send_lines(target, sys.stdin.buffer, as_json, options)
            return
        given = [_body(body) for body in bodies or ("-",)]
        with manager.transaction() if transaction else nullcontext():
            sent = target.send_many(given, **options)
    _tell(sent, wants_json(as_json))


def _body(given: str) -> bytes:
    return sys.stdin.buffer.read() if given == "-" else given.encode()


def _send_lines(target: Queue, source: IO[bytes], as_json: bool | None, options: dict[str, Any]) -> None:
    count = 0
    try:
        for batch in batches(source):
            sent = target.send_many(batch, **options)
            count += len(sent)
            if wants_json(as_json):
                _tell(sent, True)
    except Exception:
        click.echo(f"reliquary: {count} messages were sent before this went wrong", err=True)
        raise
    if not wants_json(as_json):
        click.echo(f"sent {count} messages")


def _tell(sent: list[Sent], as_json: bool) -> None:
    if as_json:
        print_json({"id": each.id, "lookup_id": str(each.lookup_id)} for each in sent)
    else:
        for each in sent:
            click.echo(f"sent {each.id}")


# -- receive


@message.command()
@click.argument("queue")
@click.option(
    "--count", type=click.IntRange(1), default=1, show_default=True, help="Up to this number of messages."
)
@click.option(
    "--timeout", type=Span(), default=0, help="How long to wait for the next one: 90, 5m.  [default: 0]"
)
@click.option("--follow", is_flag=True, help="Go on until Ctrl-C.")
@click.option("--output", type=click.File("wb", lazy=True), help="Write to a file; one body as it was sent.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines with all fields instead of the text.")
@click.pass_context
@examples(
    "reliquary message receive orders",
    "reliquary message receive orders --count 100 --timeout 5",
    "reliquary message receive orders --follow --json | jq .text",
)
def receive(
    context: click.Context,
    queue: str,
    count: int,
    timeout: float,
    follow: bool,
    output: IO[bytes] | None,
    as_json: bool,
) -> None:
    """Take messages from QUEUE and print their text.

    A message is gone from the queue when it has been printed: if printing fails, it stays.
    Without a message the exit code is 6.
    """
    single = count == 1 and not follow and output is not None
    taken = 0
    with connected() as manager, _written(output) as out:
        batch = BATCH if follow else min(count, BATCH)
        with manager.queue(queue).consume(batch, timeout=None if follow else timeout) as messages:
            for each in messages:
                out.write(_line(each, as_json, bare=single))
                out.flush()
                taken += 1
                if taken == count and not follow:
                    break
    if not taken:
        click.echo(f"reliquary: no message came from {queue!r}", err=True)
        context.exit(Exit.EMPTY)


@contextmanager
def _written(output: IO[bytes] | None) -> Iterator[IO[bytes]]:
    if output is None:
        yield sys.stdout.buffer
    else:
        with output:
            yield output


def _line(each: Message, as_json: bool, *, bare: bool) -> bytes:
    if as_json:
        import msgspec

        return msgspec.json.encode(record_of(each)) + b"\n"
    return each.body if bare or each.body.endswith(b"\n") else each.body + b"\n"


def record_of(each: Message) -> dict[str, Any]:
    """Return a message as JSON: text where it is text; places as strings, which JavaScript does not round."""
    import msgspec

    record = {**msgspec.to_builtins(each), "lookup_id": str(each.lookup_id), "priority": each.priority}
    with suppress(UnicodeDecodeError):
        record["text"] = each.text
        record.pop("body", None)
    return record


# -- reject


@message.command()
@click.argument("queue")
@click.argument("lookup_id", type=click.IntRange(0))
@examples("reliquary message reject orders 216172782113784833")
def reject(queue: str, lookup_id: int) -> None:
    """Refuse the message LOOKUP_ID of QUEUE.

    It is gone from the queue, and kept in a dead-letter queue if its sender asked for that; a sender that
    asked for acknowledgements gets one.
    """
    with connected() as manager:
        manager.queue(queue).reject(lookup_id)
    click.echo(f"rejected {lookup_id}")


# -- resend


@message.command()
@click.argument("queue")
@click.argument("lookup_ids", metavar="[LOOKUP_ID]...", type=click.IntRange(0), nargs=-1)
@click.option(
    "--class", "why", default="", metavar="CLASS", help="Only those that are there for this reason."
)
@examples(
    "reliquary message resend 'system$;deadxact' --class nack-source-computer-guid-changed",
    "reliquary message resend 'system$;deadletter' 216172782113784833",
)
def resend(queue: str, lookup_ids: tuple[int, ...], why: str) -> None:
    """Send dead letters of QUEUE once more, each to the queue where it was: those named, or all.

    They get new ids.  A dead letter of a transaction leaves QUEUE in the transaction that sends it;
    another one leaves when it was sent, so a crash in between sends it twice.
    """
    with connected() as manager:
        dead_letters = manager.queue(queue)
        chosen = [each for each in dead_letters.browse() if not lookup_ids or each.lookup_id in lookup_ids]
        letters = [each for each in chosen if each.origin and why in ("", each.message_class)]
        for each in letters:
            target, options = manager.queue(each.origin), _options_of(each)
            if each.transaction is None:
                target.send(each.body, **options)
                dead_letters.lookup(each.lookup_id, receive=True)
            else:
                with manager.transaction():
                    if dead_letters.lookup(each.lookup_id, receive=True) is not None:
                        target.send(each.body, **options)
    click.echo(f"sent {len(letters)} messages again")


def _options_of(each: Message) -> SendOptions:
    """Return the options that a dead letter was sent with, without its times, which are over."""
    return {
        "label": each.label,
        "priority": each.priority,
        "durable": each.durable,
        "journal": each.journal,
        "deadletter": each.deadletter or None,
        "correlation": each.correlation,
        "tag": each.tag,
        "body_type": each.body_type,
        "extension": each.extension,
        "response_queue": each.response_queue,
        "administration_queue": each.administration_queue,
        "acknowledgements": each.acknowledgements,
        "deadletter_queue": each.deadletter_queue,
    }


# -- peek


@message.command()
@click.argument("queue")
@click.option(
    "--limit", type=click.IntRange(1), default=10, show_default=True, help="Up to this number of messages."
)
@format_option
@examples("reliquary message peek orders", 'reliquary message peek "system$;deadletter" --limit 3 --json')
def peek(queue: str, limit: int, as_json: bool | None) -> None:
    """Look at the first messages of QUEUE and leave them there."""
    with connected() as manager:
        messages = list(islice(manager.queue(queue).browse(), limit))
    if wants_json(as_json):
        print_json(map(record_of, messages))
    else:
        columns = ("lookup id", "priority", "label", "arrived", "class", "origin", "bytes", "text")
        print_table(columns, map(_row, messages))


def _row(each: Message) -> tuple[object, ...]:
    arrived = each.arrived.isoformat(" ", "seconds").removesuffix("+00:00")
    size = len(each.body)
    why = each.message_class, each.origin
    return each.lookup_id, each.priority, each.label, arrived, *why, size, preview(each.body)


def preview(body: bytes) -> str:
    """Return the beginning of a body on one line, without control characters of a terminal."""
    text = body[: 4 * PREVIEW].decode(errors="replace")
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    return line if len(line) <= PREVIEW else line[: PREVIEW - 1] + "…"

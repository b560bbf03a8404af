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
@click.option("--lines", is_flag=True, help="Send each line of stdin as a message.")
@click.option("--label", default="", help="The label, of up to 249 characters.")
@click.option(
    "--priority", type=int, default=3, show_default=True, help="The priority, 0 to 7; 7 is received first."
)
@click.option("--expires", type=Span(), help="Expire if not received within this time: 90, 5m, 2h, 1d.")
@click.option("--delay", type=Span(), default=0, help="Make it available only after this time: 90, 5m.")
@click.option("--express", is_flag=True, help="Keep it in memory only; a crash loses it.")
@click.option("--journal", is_flag=True, help="Keep a copy in system$;journal.")
@click.option(
    "--deadletter/--no-deadletter",
    default=None,
    help="Keep a copy as a dead letter if it expires too; or never.  [default: if it cannot be delivered]",
)
@click.option("--deadletter-queue", default="", metavar="QUEUE", help="Put dead letters into this queue.")
@click.option("--response-queue", default="", metavar="QUEUE", help="The queue for answers.")
@click.option("--administration-queue", default="", metavar="QUEUE", help="The queue for acknowledgements.")
@click.option(
    "--acknowledge",
    "acknowledgements",
    multiple=True,
    type=click.Choice(ACKNOWLEDGEMENTS),
    help="The acknowledgements to ask for; may be given several times.",
)
@click.option("--correlation", metavar="ID", help="The id of the message that this one answers.")
@click.option("--tag", type=int, default=0, help="A number that the application chooses.")
@click.option("--transaction", is_flag=True, help="Send all messages in one transaction, or none.")
@click.option(
    "--sign", is_flag=True, help="Sign it with the manager's key; only for a queue that is reached by HTTP."
)
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
    """Send each BODY as a message to QUEUE; without BODY, or with -, send the data of stdin.

    When the command returns, the messages are on disk.
    """
    if lines and bodies not in ((), ("-",)):
        raise click.UsageError("--lines reads stdin: leave out BODY or --lines.")
    if lines and transaction:
        raise click.UsageError("--lines sends each line at once: leave out --transaction or --lines.")
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
        click.echo(f"reliquary: {count} messages were sent before the error below", err=True)
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
    "--count", type=click.IntRange(1), default=1, show_default=True, help="The largest number of messages."
)
@click.option(
    "--timeout", type=Span(), default=0, help="The time to wait for the next message: 90, 5m.  [default: 0]"
)
@click.option("--follow", is_flag=True, help="Continue until Ctrl-C.")
@click.option(
    "--output",
    type=click.File("wb", lazy=True),
    help="Write to this file; a single body is written byte for byte.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines with all fields instead of the text.")
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
    """Receive messages from QUEUE and print their text.

    A message is removed from the queue after it was printed: if printing fails, it stays.
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
    """Return a message as JSON.

    Valid text as text, and positions as strings, which JavaScript does not round.
    """
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

    The message is removed from the queue.  It becomes a dead letter if its sender asked for that, and its
    sender gets an acknowledgement if it asked for them.
    """
    with connected() as manager:
        manager.queue(queue).reject(lookup_id)
    click.echo(f"rejected {lookup_id}")


# -- resend


@message.command()
@click.argument("queue")
@click.argument("lookup_ids", metavar="[LOOKUP_ID]...", type=click.IntRange(0), nargs=-1)
@click.option(
    "--class",
    "why",
    default="",
    metavar="CLASS",
    help="Only dead letters with this reason, such as nack-purged.",
)
@examples(
    "reliquary message resend 'system$;deadxact' --class nack-source-computer-guid-changed",
    "reliquary message resend 'system$;deadletter' 216172782113784833",
)
def resend(queue: str, lookup_ids: tuple[int, ...], why: str) -> None:
    """Send dead letters of QUEUE again, each to its former queue: those with a given LOOKUP_ID, or all.

    The messages get new ids.  A dead letter of a transaction leaves QUEUE in the transaction that sends it.
    Another one leaves after it was sent, so a crash in between sends it twice.
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
    """Return the options with which a dead letter was sent, without its times, which are over."""
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

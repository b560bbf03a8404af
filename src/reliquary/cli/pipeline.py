"""`reliquary pipeline`: run the lake and its replay, and see what a lake holds."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from reliquary.base.faults import UsageError
from reliquary.cli.connection import PlaneAddresses, read_token_file
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_fields, print_json, print_table, wants_json
from reliquary.cli.pipeline_audit import audit_options, run_audit
from reliquary.cli.span import Span
from reliquary.server.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

folder = click.Path(path_type=Path)
LOG_LEVEL: Final = "spark.log.level"
STDERR: Final = 2
_NAMED: Final = re.compile(r"^(?:[\w.]+: )?reliquary(?:\.\w+)+\.(\w+): (.+)$", re.MULTILINE)
"""The last line of an own traceback, in Spark's report of it."""
EXITS: Final = {
    "BadOption": Exit.USAGE,
    "BadSchema": Exit.USAGE,
    "JavaMissing": Exit.USAGE,
    "UsageError": Exit.USAGE,
    "ServerGone": Exit.UNREACHABLE,
    "QueueMissing": Exit.NOT_FOUND,
}
"""Exit codes by the name of the error, because Spark reports only its text; all others are refusals."""


@click.group()
def pipeline() -> None:
    """Run pipelines over queues and histories with Spark."""


@pipeline.group()
def run() -> None:
    """Run a pipeline: the lake, the audit, a replay."""


def spark_options(command: Any) -> Any:
    """Adds --master and --conf; the command gets `master` and `conf`."""
    command = click.option(
        "--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark; may be given several times."
    )(command)
    return click.option("--master", metavar="URL", help="Spark's master.  [default: this machine]")(command)


@run.command("lake")
@click.option("--server", metavar="URL", help="The server's data plane.  [default: as `reliquary --server`]")
@click.option(
    "--queue",
    "queues",
    multiple=True,
    metavar="NAMES",
    help="Queues to read: names and patterns, with commas.",
)
@click.option(
    "--history",
    multiple=True,
    type=folder,
    metavar="DIR",
    help="A folder that a manager exports its history to.",
)
@click.option("--lake", type=folder, metavar="DIR", help="The folder of the lake.  [default: lake]")
@click.option("--format", "kept_as", metavar="FORMAT", help="parquet or delta.  [default: parquet]")
@click.option(
    "--data-as",
    metavar="FORM",
    help="The column data of silver: variant, or text for readers without VARIANT.  [default: variant]",
)
@click.option(
    "--continuous",
    type=Span(),
    metavar="TIME",
    help="Continue until Ctrl-C, with one batch in each span of this length.",
)
@click.option(
    "--json-schema", type=folder, metavar="FILE", help="The columns of JSON bodies.  [default: VARIANT]"
)
@click.option("--consumer", metavar="NAME", help="The lake's name at the server.  [default: lake]")
@click.option("--rows-per-batch", type=int, metavar="N", help="[default: 100000]")
@click.option("--token-file", type=folder, metavar="FILE", help="A file that holds the token.")
@click.option(
    "--ca", metavar="FILE", help="A PEM file with the certificate of the server or of its authority."
)
@click.option("--config", type=folder, metavar="FILE", help="A TOML file with settings; options win over it.")
@spark_options
@format_option
@click.pass_context
@examples(
    "reliquary pipeline run lake --queue 'orders,inv*' --lake ./lake",
    "reliquary pipeline run lake --queue orders --history ./reliquary-data/history --continuous 10s",
)
def run_lake_command(context: click.Context, /, as_json: bool | None, **given: Any) -> None:
    """Write the messages of queues and the events of histories into the tables of a lake, and end.

    Bronze is what came, silver is decoded, with what cannot be read in the quarantine beside it; gold has
    flow, latency, retries and dead letters for each queue and minute.  Run again, it goes on where it
    stopped.
    """
    from reliquary.spark.pipelines.settings import load, with_schema_file

    where = _where(context)
    options: dict[str, object] = {
        "server": _server(context, given["server"]),
        "queues": tuple(name for names in given["queues"] for name in names.split(",") if name) or None,
        "history": tuple(given["history"]) or None,
        "lake": given["lake"],
        "format": given["kept_as"],
        "data_as": given["data_as"],
        "continuous": given["continuous"],
        "consumer": given["consumer"],
        "rows_per_batch": given["rows_per_batch"],
        "token": _token(given["token_file"], where),
        "ca": given["ca"],
    }
    settings = load(given["config"], options)
    if given["json_schema"] is not None:
        settings = with_schema_file(settings, given["json_schema"])
    _require_spark()
    from reliquary.spark.pipelines.delta import require_delta
    from reliquary.spark.pipelines.lake import check_folder, run_lake
    from reliquary.spark.pipelines.progress import Shown

    if settings.format == "delta":
        require_delta()
    check_folder(settings.lake.absolute(), settings)
    running = _session(context, "reliquary lake", given["master"], given["conf"])
    with running as (spark, go_on), Shown(sys.stderr) as shown:
        report = run_lake(spark, settings, progress=shown, go_on=go_on)
    rows = [
        {"table": each.table, "rows": each.rows, "added": each.added, "where": each.where}
        for each in report.tables
    ]
    _print(rows, as_json)
    quarantined = report.added("silver/quarantine")
    if quarantined:
        click.echo(
            f"reliquary: {quarantined} messages could not be read; why is in the table silver/quarantine",
            err=True,
        )


@run.command("replay")
@click.option("--from", "lake", required=True, type=folder, metavar="LAKE", help="The folder of the lake.")
@click.option("--to-queue", required=True, metavar="QUEUE", help="The queue that the messages are sent to.")
@click.option("--queue", default="", metavar="QUEUE", help="Only messages of this queue.")
@click.option(
    "--since",
    metavar="TIME",
    help="Only messages that arrived at this time or later, such as 2026-11-15T12:00:00Z.",
)
@click.option("--until", metavar="TIME", help="Only messages that arrived before this time.")
@click.option(
    "--where", "condition", default="", metavar="SQL", help="Only rows for which this condition is true."
)
@click.option(
    "--layer",
    default="bronze",
    show_default=True,
    metavar="NAME",
    help="The table whose columns --where names: bronze or silver.",
)
@click.option(
    "--run-id", default="", metavar="NAME", help="A name for this run, to replay a slice once more."
)
@click.option("--server", metavar="URL", help="The server's data plane.  [default: as `reliquary --server`]")
@click.option("--token-file", type=folder, metavar="FILE", help="A file that holds the token.")
@click.option(
    "--ca",
    default="",
    metavar="FILE",
    help="A PEM file with the certificate of the server or of its authority.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be sent, and send nothing.")
@spark_options
@format_option
@click.pass_context
@examples(
    "reliquary pipeline run replay --from ./lake --queue orders --to-queue orders-again \\",
    "    --since 2026-11-15T12:00:00Z --until 2026-11-15T13:00:00Z --where \"label like 'EU%'\"",
)
def run_replay_command(context: click.Context, /, as_json: bool | None, **given: Any) -> None:
    """Send a slice of a lake to a queue again, in its order, each message once.

    Run again after a crash, it goes on where it stopped and doubles nothing.
    """
    from reliquary.spark.pipelines.replay import ReplaySettings

    where = _where(context)
    settings = ReplaySettings(
        lake=given["lake"],
        to_queue=given["to_queue"],
        server=_server(context, given["server"]) or where.server,
        layer=given["layer"],
        queue=given["queue"],
        since=_moment("--since", given["since"]),
        until=_moment("--until", given["until"]),
        where=given["condition"],
        run_id=given["run_id"],
        token=_token(given["token_file"], where) or "",
        ca=given["ca"],
        dry_run=given["dry_run"],
    )
    with _session(context, "reliquary replay", given["master"], given["conf"]) as (spark, _):
        from reliquary.spark.pipelines.progress import Shown
        from reliquary.spark.pipelines.replay import run_replay

        with Shown(sys.stderr) as shown:
            report = run_replay(spark, settings, progress=shown)
    fields = report._asdict()
    if wants_json(as_json):
        print_json([fields])
    else:
        print_fields(fields)


@run.command("audit")
@audit_options
@spark_options
@format_option
@click.pass_context
@examples(
    "reliquary pipeline run audit --history a/history --history b/history --out ./audit",
    "reliquary pipeline run audit --history './histories/*' --out ./audit --route shop.example=beta",
)
def run_audit_command(context: click.Context, /, as_json: bool | None, **given: Any) -> None:
    """Prove or refute that every message was delivered once, in order and in time.

    Joins the histories of all managers that are given, and writes tables and one page, report.html.  Ends
    with 0 when all is proven, 30 when a fault was found, 31 when not everything could be judged.
    """
    with _session(context, "reliquary audit", given.pop("master"), given.pop("conf")) as (spark, _):
        code = run_audit(spark, json=wants_json(as_json), **given)
    context.exit(code)


@pipeline.command()
@click.argument("lake", type=folder)
@format_option
@examples("reliquary pipeline show ./lake")
def show(lake: Path, as_json: bool | None) -> None:
    """Show the tables of a LAKE with their batches and rows; Spark is not started."""
    from reliquary.spark.pipelines.lake import open_lake

    found = open_lake(lake.absolute())
    rows = [
        {"table": name, "batches": len(table.batches()), "rows": table.rows(), "where": str(table.folder)}
        for name, table in found.batched.items()
    ]
    for name, table in found.gold.items():
        days = table.day_rows()
        rows.append(
            {
                "table": f"gold/{name}",
                "batches": len(days),
                "rows": sum(days.values()),
                "where": str(table.folder),
            }
        )
    _print(rows, as_json)


def _print(rows: list[dict[str, Any]], as_json: bool | None) -> None:
    if wants_json(as_json):
        print_json(rows)
    else:
        print_table(tuple(rows[0]), [tuple(row.values()) for row in rows])


# -- what the commands share


def _where(context: click.Context) -> PlaneAddresses:
    where = context.find_object(PlaneAddresses)
    assert where is not None, "the root command says where the server is"
    return where


def _server(context: click.Context, given: str | None) -> str | None:
    """Return the server named after or before the noun; None leaves it to the settings."""
    if given is not None:
        return given
    said = context.find_root().get_parameter_source("server")
    return None if said is ParameterSource.DEFAULT else _where(context).server


def _token(file: Path | None, where: PlaneAddresses) -> str | None:
    """Return the token for Spark's processes, which accept no password."""
    if file is not None:
        return read_token_file(file)
    if where.user is not None:
        raise UsageError("pipelines ask the server with a token: use --token-file in place of --user")
    return where.read_token()


def _moment(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} is a time such as 2026-11-15T12:00:00Z, not {text!r}") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _require_spark() -> None:
    from importlib.util import find_spec

    if find_spec("pyspark") is None:
        raise UsageError("pipelines need Spark: pip install 'reliquary[spark]'")


@contextmanager
def _session(
    context: click.Context, name: str, master: str | None, conf: tuple[str, ...]
) -> Iterator[tuple[SparkSession, Callable[[], bool]]]:
    """Yield a session for one pipeline; a failure ends in one sentence, the first Ctrl-C stops in order."""
    chosen = {"spark.master": master} if master else {}
    for each in conf:
        key, found, value = each.partition("=")
        if not found or not key:
            raise UsageError(f"--conf is KEY=VALUE, not {each!r}")
        chosen[key] = value
    _require_spark()
    from pyspark.errors import PySparkException

    from reliquary.spark.errors import SparkFault
    from reliquary.spark.session import session

    try:
        with nullcontext() if LOG_LEVEL in chosen else _aside():
            spark = session(name, **({LOG_LEVEL: "ERROR"} | chosen))
        try:
            yield spark, _until_signal()
        finally:
            spark.stop()
    except (SparkFault, PySparkException) as failure:
        named = f"{type(failure).__module__}.{type(failure).__name__}: {failure}"
        code, sentence = sentence_of(named if isinstance(failure, SparkFault) else str(failure))
        click.echo(f"reliquary: {sentence}", err=True)
        context.exit(code)


@contextmanager
def _aside() -> Iterator[None]:
    """Discard the stderr of processes that are started in this block, as long as they run.

    Spark's own output repeats its failures; users who want it set a level.
    """
    kept = os.dup(STDERR)
    with TemporaryFile() as nowhere:
        os.dup2(nowhere.fileno(), STDERR)
        try:
            yield
        finally:
            os.dup2(kept, STDERR)
            os.close(kept)


def sentence_of(failure: str) -> tuple[Exit, str]:
    """Return the exit code and the own sentence in a text of Spark, or else its first line."""
    found = _NAMED.findall(failure)
    if not found:
        return Exit.FAILED, " ".join(failure.strip().splitlines()[:1])
    name, sentence = found[-1]
    return EXITS.get(name, Exit.REFUSED), sentence.strip()


def _until_signal() -> Callable[[], bool]:
    """Return a function that is False after the first signal; a second signal interrupts."""
    import signal
    from threading import Event

    asked = Event()

    def ask(number: int, _: object) -> None:
        signal.signal(number, signal.default_int_handler)
        asked.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    return lambda: not asked.is_set()

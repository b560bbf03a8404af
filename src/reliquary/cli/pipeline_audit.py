"""`reliquary pipeline run audit`: prove or refute that every message was delivered once, in order and in
time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from reliquary.cli.span import Span
from reliquary.server.exits import Exit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from reliquary.spark.pipelines.audit.run import AuditReport

F = TypeVar("F", bound=Callable[..., Any])

EXITS: Final = {"proven": Exit.OK, "refuted": Exit.AUDIT_REFUTED, "not-judged": Exit.AUDIT_NOT_JUDGED}


class DestinationOwner(click.ParamType[tuple[str, str]]):
    """A destination and the manager that it leads to."""

    name = "NAME=MANAGER"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return both parts of the text.

        >>> DestinationOwner().convert("DIRECT=HTTP://shop/msmq/orders=beta", None, None)
        ('DIRECT=HTTP://shop/msmq/orders', 'beta')
        """
        if isinstance(value, tuple):
            return value
        name, found, manager = str(value).rpartition("=")
        if not found or not name or not manager:
            self.fail(f"{value!r} is not NAME=MANAGER, such as shop.example=beta", param, ctx)
        return name, manager


_OPTIONS: Final = (
    click.option(
        "--history",
        multiple=True,
        required=True,
        metavar="FOLDER",
        help="A folder with exported history; give one for each manager.",
    ),
    click.option(
        "--out",
        required=True,
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="The folder for the tables, the report and the state for the next run.",
    ),
    click.option(
        "--late",
        type=Span(),
        default="1h",
        show_default=True,
        help="A delivery that takes longer counts as late.",
    ),
    click.option(
        "--doubt",
        type=Span(),
        default="1h",
        show_default=True,
        help="A batch that is in doubt for longer counts as stuck.",
    ),
    click.option(
        "--grace",
        type=Span(),
        default="5m",
        show_default=True,
        help="The largest difference between the clocks of managers.",
    ),
    click.option(
        "--route",
        multiple=True,
        type=DestinationOwner(),
        metavar="NAME=MANAGER",
        help="The manager that has a destination, or that a computer name means.",
    ),
    click.option(
        "--in-order",
        multiple=True,
        metavar="QUEUE",
        help="A non-transactional queue that is read from the front, without selecting; * for all.",
    ),
    click.option(
        "--any-order",
        multiple=True,
        metavar="QUEUE",
        help="A transactional queue whose readers select messages, so that order is not judged; * for all.",
    ),
)


def audit_options(command: F) -> F:
    """Adds the options of the audit to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def run_audit(spark: SparkSession, /, *, json: bool = False, **given: Any) -> Exit:
    """Run the audit with the given options, and return the exit code."""
    from reliquary.spark.pipelines.audit import run as pipeline
    from reliquary.spark.pipelines.audit.rules import SECOND, Limits

    config = pipeline.AuditConfig(
        history=tuple(given["history"]),
        out=given["out"],
        limits=Limits(**{name: int(given[name] * SECOND) for name in ("late", "doubt", "grace")}),
        routes=dict(given["route"]),
        in_order=frozenset(given["in_order"]),
        any_order=frozenset(given["any_order"]),
    )
    report = pipeline.run_audit(spark, config, lambda line: click.echo(f"audit: {line}", err=True))
    _show(report, json=json)
    return EXITS[report.verdict]


def _show(report: AuditReport, *, json: bool) -> None:
    from reliquary.cli.output import print_json
    from reliquary.spark.pipelines.audit.report import sentence

    if json:
        found = {str(kind): count for kind, count in report.found.items()}
        unjudged = {str(reason): count for reason, count in report.unjudged.items()}
        summary = {
            "verdict": str(report.verdict),
            "sentence": sentence(report),
            "findings": found,
            "not_judged": unjudged,
            "events": report.events,
            "streams": len(report.streams),
            "report": str(report.page),
        }
        print_json([summary])
        return
    click.echo(f"{report.verdict}: {sentence(report)}")
    click.echo(f"report: {report.page}")

"""The reference page of metrics, made from their declarations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import ModuleType

from reliquary.console import manager_counters, metrics
from reliquary.net.counters import Metric
from reliquary.server import (
    httpr_counters,
    limit_counters,
    mqqb_counters,
    mqqp_counters,
    protocol_counters,
    srmp_counters,
    wsrm_counters,
)

PAGE = Path("docs/reference/metrics.md")
PARTS: tuple[tuple[str, ModuleType], ...] = (
    ("The manager, its store and its readers", manager_counters),
    ("Queues", metrics),
    ("Memory of connections", limit_counters),
    ("All protocols", protocol_counters),
    ("SRMP and multicast", srmp_counters),
    ("HTTPR", httpr_counters),
    ("WS-ReliableMessaging", wsrm_counters),
    ("MQQP", mqqp_counters),
    ("MQQB", mqqb_counters),
)
HEAD = """# Metrics

<!-- Made by `./dev docs` from the declarations of the metrics; change them there. -->

`GET /metrics` of the control plane has these, in the text format of Prometheus (version 0.0.4).
[Observe a server](../guides/observe.md) says which of them to watch.

- Counters begin at 0 with the process, but for those whose meaning says otherwise.
- Metrics of a queue have a sample for every queue, zeros too. Metrics of consumers, outgoing queues
  and streams are there when there is one.
- Traffic of a protocol that is switched off is not shown; what its machine has is.
- A histogram `NAME` has the series `NAME_bucket` (label `le`), `NAME_sum` and `NAME_count`.
"""


def page(_: Path) -> str:
    """Return the page of all metrics as Markdown."""
    lines = [HEAD]
    for title, found in groupby(_declared(), key=lambda each: each[0]):
        lines += [f"## {title}", "", "| Name | Type | Labels | Meaning |", "|---|---|---|---|"]
        for _title, each in found:
            labels = ", ".join(f"`{label}`" for label in each.labels)
            lines.append(f"| `{metrics.PREFIX}{each.name}` | {each.kind} | {labels} | {each.meaning} |")
        lines.append("")
    return "\n".join(lines)


def declared() -> list[Metric]:
    """Return all metrics of a server, in the order of the page."""
    return [metric for _, metric in _declared()]


def _declared() -> Iterator[tuple[str, Metric]]:
    for title, module in PARTS:
        for value in vars(module).values():
            for metric in _inside(value):
                yield title, metric


def _inside(value: object) -> Iterator[Metric]:
    """Yield the metrics in a constant of a module: one, or those of a tuple."""
    if isinstance(value, Metric):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _inside(each)

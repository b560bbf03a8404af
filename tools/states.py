"""The page of state diagrams, drawn from the tables that the code runs with.

    TABLES    name of a module and of its table: (state, event) -> next state
       |
       v
    docs/reference/states.md, docs/drawings/state-NAME.svg

A value of a table is the next state, or a tuple that begins with it.  Any other value (None, a status, a
fault) is a refusal.  Events that change no state and refusals are not drawn; the page counts them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

from tools.drawing import DrawingRow, lanes_svg

PAGE: Final = Path("docs/reference/states.md")
DRAWINGS: Final = Path("docs/drawings")
HEAD: Final = """\
# State diagrams

<!-- Made by `./dev docs` from the tables of states in the code. -->

Each machine keeps its states in one table, and the code asks that table. The drawings below are made
from the tables, so they cannot differ from the code.

How to read a drawing: a column is a state. A row is an event: a dot stands in each state in which the
event changes the state, and the arrow ends at the state that follows. Events that leave the state as
it is, and events that are refused in a state, are not drawn.
"""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of states, and the module that has it."""

    name: str
    title: str
    module: str
    attribute: str = "NEXT"


TABLES: Final = (
    Table("manager", "The queue manager", "queueing.rules.readiness"),
    Table("queue", "A queue", "queueing.rules.queue_life"),
    Table("position", "A message in a queue", "queueing.model.positions"),
    Table("waiting-read", "A read that waits for a message", "queueing.model.waiting"),
    Table("cursor", "A cursor", "queueing.model.cursors"),
    Table("outgoing-queue", "An outgoing queue", "queueing.model.travel.link"),
    Table(
        "directory", "The connection to the directory", "queueing.model.directory.connection", "TRANSITIONS"
    ),
    Table("srmp-session", "SRMP: the session of an outgoing queue", "protocols.srmp.sender.phases"),
    Table("httpr-channel", "HTTPR: a channel of the client", "protocols.httpr.client.phases"),
    Table("httpr-memory", "HTTPR: a channel after a restore", "protocols.httpr.memory"),
    Table("wsrm-source", "WS-RM: a sequence that goes out", "protocols.wsrm.source.phases"),
    Table("wsrm-flow", "WS-RM: flow control at the source", "protocols.wsrm.source.flow"),
    Table("wsrm-destination", "WS-RM: a sequence that comes in", "protocols.wsrm.destination.phases"),
    Table("mqqp-queue", "MQQP: a queue that a client opened", "protocols.mqqp.server.phases"),
    Table("mqqp-link", "MQQP: the link of an opened queue", "protocols.mqqp.client.phases", "LINKS"),
    Table("mqqp-task", "MQQP: a request of an application", "protocols.mqqp.client.phases", "TASKS"),
    Table("pgm-source", "Multicast: a session of a source", "protocols.pgm.source"),
    Table("pgm-repair", "Multicast: a packet that a receiver misses", "protocols.pgm.repairs"),
)


def pages(root: Path) -> dict[Path, str]:
    """Return the page and the drawing of each table, by their paths."""
    made: dict[Path, str] = {}
    lines = [HEAD]
    for table in TABLES:
        entries = entries_of(table)
        drawing = DRAWINGS / f"state-{table.name}.svg"
        made[drawing] = lanes_svg(table.title, _states(entries), steps_of(entries))
        lines += section(table, entries)
    made[PAGE] = "\n".join(lines)
    return made


def entries_of(table: Table) -> Mapping[tuple[Any, ...], Any]:
    """Return the table as the code has it."""
    found: Mapping[tuple[Any, ...], Any] = getattr(
        importlib.import_module(f"reliquary.{table.module}"), table.attribute
    )
    return found


def section(table: Table, entries: Mapping[tuple[Any, ...], Any]) -> Iterator[str]:
    """Yield the lines of the page about one table."""
    path = f"src/reliquary/{table.module.replace('.', '/')}.py"
    moves = [each for each in entries.items() if _next(*each) not in (None, each[0][0])]
    stays = sum(_next(*each) is each[0][0] for each in entries.items())
    refused = sum(_next(*each) is None for each in entries.items())
    yield f"## {table.title}"
    yield ""
    yield f"The table `{table.attribute}` in [{path}](../../{path}) has {len(entries)} cases:"
    yield f"{len(moves)} change the state, {stays} leave it as it is and {refused} are refused."
    yield ""
    yield f"![{table.title}](../drawings/state-{table.name}.svg)"
    yield ""


def steps_of(entries: Mapping[tuple[Any, ...], Any]) -> list[DrawingRow]:
    """Return the events that change a state, each with the states that it leads from and to."""
    rows: dict[tuple[str, str], list[str]] = {}
    for key, value in entries.items():
        target = _next(key, value)
        if target is not None and target is not key[0]:
            event = ", ".join(_word(each) for each in key[1:])
            rows.setdefault((event, _word(target)), []).append(_word(key[0]))
    return [
        DrawingRow(event, tuple(dict.fromkeys(sources)), target) for (event, target), sources in rows.items()
    ]


def _states(entries: Mapping[tuple[Any, ...], Any]) -> list[str]:
    first = next(iter(entries))[0]
    return [_word(each) for each in type(first)]


def _next(key: tuple[Any, ...], value: Any) -> Enum | None:
    """Return the state that an entry of a table leads to, or None for a refusal."""
    target = value[0] if isinstance(value, tuple) else value
    return target if type(target) is type(key[0]) else None


def _word(value: Enum) -> str:
    """Return the words of a state or an event."""
    text = value.value if isinstance(value.value, str) else value.name.lower()
    return re.sub(r"[-_]", " ", text)

"""The two tables of the history's reference page that follow from its declaration: events and columns.

The rest of the page is written by hand; what lies between two marks is made anew.
"""

from __future__ import annotations

from pathlib import Path

from reliquary.wire.history import ABOUT, HISTORY_COLUMNS

PAGE = Path("docs/reference/history.md")
EVENTS = "<!-- Made by `./dev docs` from the events of the history, up to the next mark. -->"
COLUMNS = "<!-- Made by `./dev docs` from the columns of the history, up to the next mark. -->"
END = "<!-- Up to here. -->"


def page(root: Path) -> str | None:
    """Return the whole page with its tables made anew, or None while there is no page."""
    if not (root / PAGE).exists():
        return None
    text = (root / PAGE).read_text()
    for begin, rows in ((EVENTS, events()), (COLUMNS, columns())):
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(END)
        text = "\n".join((f"{before}{begin}\n", *rows, f"\n{END}{after}"))
    return text


def events() -> list[str]:
    """Return the lines of the table of events."""
    rows = [f"| `{each.word}` | {about} |" for each, about in ABOUT.items()]
    return ["| Event | What happened |", "|---|---|", *rows]


def columns() -> list[str]:
    """Return the lines of the table of columns."""
    rows = [f"| `{each.name}` | {each.kind.value} | {each.about} |" for each in HISTORY_COLUMNS]
    return ["| Column | Type | What it is |", "|---|---|---|", *rows]

"""Write the pages and files that are made from the code, or check that they are up to date.

`./dev docs` writes, `./dev docs --check` compares.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools import (
    api_reference,
    cli_reference,
    configuration_reference,
    conformance,
    dissector,
    drawings,
    history_reference,
    metrics_reference,
    states,
)

ROOT = Path(__file__).resolve().parent.parent
GENERATORS = (
    conformance,
    cli_reference,
    api_reference,
    configuration_reference,
    dissector,
    history_reference,
    metrics_reference,
)
"""Generators of one page each: `PAGE` is its path, `page` makes its text."""
GROUPS = (drawings, states)
"""Generators of several files: `pages` returns their texts by their paths."""


def stale(root: Path) -> dict[Path, str]:
    """Return the pages whose text is out of date, with the text that they should have."""
    made = {generator.PAGE: generator.page(root) for generator in GENERATORS}
    for group in GROUPS:
        made |= group.pages(root)
    return {
        path: text
        for path, text in made.items()
        if text is not None and not ((root / path).exists() and (root / path).read_text() == text)
    }


def main(arguments: list[str]) -> int:
    """Write or check; what is wrong in the sources is one sentence and exit code 1."""
    if arguments not in ([], ["--check"]):
        print("usage: ./dev docs [--check]", file=sys.stderr)
        return 2
    try:
        pages = stale(ROOT)
    except conformance.Unclear as why:
        print(why, file=sys.stderr)
        return 1
    if arguments:
        for path in pages:
            print(f"{path} is out of date: run ./dev docs", file=sys.stderr)
        return 1 if pages else 0
    for path, text in pages.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

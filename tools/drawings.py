"""The drawings of the documentation: each text file of docs/drawings becomes an SVG file beside it.

    title: The life of one message          what the drawing shows
    lanes: application | net | store        the columns, from left to right
    application -> net: text                a step from one lane to another
    store: text                             a step inside one lane

`rooms.txt` is another kind: one line for each layer of the import contract in `pyproject.toml`,
`cli: what people type`.  Its rooms must be those of the contract, in their order.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

from tools.conformance import Unclear
from tools.drawing import DrawingRow, lanes_svg, layers_svg

FOLDER: Final = Path("docs/drawings")
ROOMS: Final = FOLDER / "rooms.txt"
_STEP: Final = re.compile(r"(?P<source>[^:>]+?)(?: -> (?P<target>[^:]+?))?: (?P<text>.+)")


def pages(root: Path) -> dict[Path, str]:
    """Return the SVG text of each drawing by its path."""
    made = {}
    for path in sorted((root / FOLDER).glob("*.txt")):
        name = path.relative_to(root)
        text = path.read_text()
        made[name.with_suffix(".svg")] = rooms(name, text, root) if name == ROOMS else steps(name, text)
    return made


def steps(name: Path, text: str) -> str:
    """Return the drawing of a text with lanes; raise Unclear for a line that is no step."""
    first, second, *rest = text.splitlines()
    if not (first.startswith("title: ") and second.startswith("lanes: ")):
        raise Unclear(f"{name} must begin with a line `title: ...` and a line `lanes: one | two`")
    lanes = [each.strip() for each in second.removeprefix("lanes: ").split("|")]
    found = []
    for number, line in enumerate(rest, 3):
        step = _STEP.fullmatch(line)
        if step is None:
            raise Unclear(f"{name}, line {number}: {line!r} is not like `lane -> lane: text` or `lane: text`")
        source = step["source"]
        target = step["target"] or source
        unknown = {source, target} - set(lanes)
        if unknown:
            raise Unclear(f"{name}, line {number}: {', '.join(sorted(unknown))} is no lane of the drawing")
        found.append(DrawingRow(step["text"], (source,), target))
    return lanes_svg(first.removeprefix("title: "), lanes, found)


def rooms(name: Path, text: str, root: Path) -> str:
    """Return the drawing of the rooms; raise Unclear where it differs from the import contract."""
    first, *rest = text.splitlines()
    layers = [(line.partition(": ")[0].split(" | "), line.partition(": ")[2]) for line in rest]
    wanted = contract(root)
    drawn = [names for names, _ in layers]
    if drawn != wanted:
        raise Unclear(f"{name} has the layers {drawn}, and the contract in pyproject.toml has {wanted}")
    return layers_svg(first.removeprefix("title: "), layers)


def contract(root: Path) -> list[list[str]]:
    """Return the layers of rooms from the import contract."""
    linter = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [each["layers"] for each in linter["contracts"] if each.get("containers") == ["reliquary"]]
    return [[name.strip("() ") for name in layer.split("|")] for layer in layers]

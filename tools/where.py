"""`./dev where DM-190`: from a requirement to the functions that obey it, their neighbours and the tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools import conformance, places

ROOT = Path(__file__).resolve().parent.parent


def answer(root: Path, name: str) -> Iterator[str]:
    """Return the lines about one id; KeyError when docs/requirements does not have it.

    The tests of an anomaly are those of the requirements that its reading touches.
    """
    folder = root / "docs" / "requirements"
    known = {one.id: one for spec in conformance.specifications(folder) for one in spec.requirements}
    known |= {one.id: one for one in conformance.readings(folder)}
    one = known[name]
    yield f"{one.id} ({one.level}, section {one.section}): {one.words}"
    modules = places.modules(root / "src", root, sorted({each[:2] for each in known}))
    found = places.places(modules).get(name, [])
    yield from ("", "Obeyed in")
    yield from (f"  {place.path}:{place.line}  {place.name or '(the module)'}" for place in found)
    if not found:
        yield "  no place in src cites it"
    for module in modules:
        if module.path in {place.path for place in found}:
            yield from ("", f"Beside it in {module.path}")
            yield from _neighbours(module, found)
    yield from ("", "Shown by")
    shown = conformance.marks(root / "tests", root)
    touched = conformance.anomalies(folder).get(name, (name,))
    tests = sorted({test for each in touched for test in shown.get(each, ())})
    yield from (f"  {test}" for test in tests or ["no test is marked with it"])


def _neighbours(module: places.Module, found: Sequence[places.Definition]) -> Iterator[str]:
    """Return the other functions of a file, and its other places that cite an id."""
    for place, cited in module.cited.items():
        if place not in found and (cited or place.kind is places.DefinitionKind.FUNCTION):
            yield f"  {place.line:>5}  {place.name or '(the module)':<44}  {' '.join(cited) or '-'}"


def main(arguments: Sequence[str]) -> int:
    """Print what is known about each id; an id that does not exist is one sentence and exit code 1."""
    if not arguments or any(one.startswith("-") for one in arguments):
        print("usage: ./dev where ID ...; ID is a requirement such as DM-190", file=sys.stderr)
        return 2
    for number, name in enumerate(arguments):
        try:
            lines = list(answer(ROOT, name.upper()))
        except KeyError:
            print(f"docs/requirements has no requirement {name}.", file=sys.stderr)
            return 1
        print("\n".join([*([""] if number else []), *lines]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

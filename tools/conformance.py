"""The conformance page: where each requirement is obeyed, what shows it, and where we depart from the text.

    docs/requirements/*.md   rows | DM-028 | 3.1.1.2 | MUST | words |       what is asked
                             rows | AN-03 | 3.1.7.1.9 | reading | DM-191 |  how a contradiction is read
    tests/**                 @pytest.mark.spec("DM-028")                    what is shown
    src/**                   a comment or docstring with DM-028             what obeys it (tools/places.py)
    src/**                   # DEPARTS from 3.1.7.1.9 (AN-03): text         what we do instead
    src/**                   # SECOND STAGE (QB-175): text                  what is refused, not built
                     |
                     v
    docs/reference/conformance.md

Sources are read as text and syntax trees, nothing is imported; the page depends on nothing else,
so one tree of sources always gives one page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import places

PAGE = Path("docs/reference/conformance.md")

ID = r"[A-Z]{2}-\d{2,3}"
LEVELS = ("MUST", "SHOULD", "MAY", "DEF")
SHOWN, DEPARTED, SECOND_STAGE, NOT_YET = STATUSES = ("shown", "departed", "second stage", "not yet")


class Unclear(Exception):
    """The sources do not fit together; the text says where and what to do."""


@dataclass(frozen=True)
class Requirement:
    """One row of a list of requirements."""

    id: str
    section: str
    level: str
    words: str


@dataclass(frozen=True)
class Specification:
    """One list of requirements: a file of docs/requirements."""

    title: str
    requirements: tuple[Requirement, ...]


@dataclass(frozen=True)
class Departure:
    """One place where the code does not follow the printed text."""

    place: str  # file and name of the class and function: a line number would change with every edit
    section: str
    ids: tuple[str, ...]
    text: str


# ------------------------------------------------------------------------------------ reading


def specifications(folder: Path) -> list[Specification]:
    """Return all lists of requirements, in the order of their file names."""
    found = []
    for path in sorted(folder.glob("*.md")):
        text = path.read_text()
        rows = re.findall(rf"^\| ({ID}) \| ([^|]*) \| (MUST NOT|{'|'.join(LEVELS)}) \| (.*) \|$", text, re.M)
        if rows:
            requirements = tuple(Requirement(*row) for row in rows)
            found.append(Specification(text.splitlines()[0].removeprefix("# "), requirements))
    return found


def anomalies(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return each anomaly with the requirements that its reading touches."""
    text = (folder / "anomalies.md").read_text()
    rows = re.findall(rf"^\| ({ID}) \| [^|]* \| [^|]* \|((?: {ID})*) \|$", text, re.M)
    return {name: tuple(touched.split()) for name, touched in rows}


def readings(folder: Path) -> list[Requirement]:
    """Return the anomalies, each with the reading that we follow, as rows beside the requirements."""
    text = (folder / "anomalies.md").read_text()
    rows = re.findall(rf"^\| ({ID}) \| ([^|]*) \| ([^|]*) \|(?: {ID})* \|$", text, re.M)
    return [Requirement(name, section, "our reading", words) for name, section, words in rows]


def marks(tests: Path, root: Path, kind: str = "spec") -> dict[str, list[str]]:
    """Return which tests show each requirement, from the `spec` marks on functions, classes and modules.

    Or which tests have another kind of mark, by what it says.
    """
    shown: dict[str, list[str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        text = path.read_text()
        if f"pytest.mark.{kind}(" not in text:
            continue
        try:
            for name, spec_id in _marked(ast.parse(text, str(path)), (), kind):
                shown.setdefault(spec_id, []).append(f"{path.relative_to(root)}{name}")
        except Unclear as why:
            raise Unclear(f"{path.relative_to(root)}: {why}") from why
    return {spec_id: sorted(set(places)) for spec_id, places in shown.items()}


def _marked(node: ast.AST, outer: tuple[str, ...], kind: str) -> Iterator[tuple[str, str]]:
    """Yield each (::Class::test, id) below a node; a class's or module's marks count as its own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = (*outer, child.name)
            name = "".join(f"::{part}" for part in inner)
            yield from ((name, spec_id) for mark in child.decorator_list for spec_id in _ids_of(mark, kind))
            if isinstance(child, ast.ClassDef):
                yield from _marked(child, inner, kind)
        elif isinstance(child, ast.Assign) and any(_is_pytestmark(target) for target in child.targets):
            yield from (("", spec_id) for spec_id in _ids_of(child.value, kind))


def _is_pytestmark(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == "pytestmark"


def _ids_of(mark: ast.expr, kind: str) -> Iterator[str]:
    """Yield the ids in a mark of this kind, wherever it stands inside a decorator."""
    for call in ast.walk(mark):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == f"pytest.mark.{kind}":
            if not all(isinstance(argument, ast.Constant) for argument in call.args):
                raise Unclear(f"write the ids themselves, not {ast.unparse(call)}")
            yield from (str(ast.literal_eval(argument)) for argument in call.args)


def citations(root: Path, known: Iterable[str]) -> dict[str, list[places.Definition]]:
    """Return the places of src that cite each id; Unclear when one of them is not in the lists."""
    names = set(known)
    found = places.places(places.modules(root / "src", root, sorted({name[:2] for name in names})))
    for name, where in sorted(found.items()):
        if name not in names:
            raise Unclear(f"{where[0]}: no requirement or anomaly {name} in docs/requirements")
    return found


def departures(source: Path, root: Path) -> list[Departure]:
    """Return every announced departure; its text goes on over the comment lines that follow."""
    found = []
    for path in sorted(source.rglob("*.py")):
        text = path.read_text()
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            start = re.search(r"# DEPARTS\b(.*)", line)
            if start is None:
                continue
            whole = " ".join([start[1].strip(), *_comment_lines(lines[number:])])
            parts = re.fullmatch(rf"from (\S+) \(({ID}(?:, {ID})*)\): (.+)", whole)
            if parts is None:
                raise Unclear(
                    f"{path.relative_to(root)}:{number}: write a departure as"
                    " `# DEPARTS from 3.1.7.1.9 (AN-03): what, because why.`"
                )
            place = f"{path.relative_to(root)}{_name_at(ast.parse(text), number)}"
            found.append(Departure(place, parts[1], tuple(parts[2].split(", ")), parts[3]))
    return found


def second_stage(source: Path, root: Path) -> dict[str, str]:
    """Return each requirement that the code announces as not built, with the file that refuses it."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            start = re.search(r"# SECOND STAGE\b(.*)", line)
            if start is None:
                continue
            parts = re.match(rf" \(({ID}(?:, {ID})*)\): \S", start[1])
            place = f"{path.relative_to(root)}:{number}"
            if parts is None:
                raise Unclear(
                    f"{place}: write `# SECOND STAGE (QB-175): what is refused.`, the ids on one line"
                )
            found.update(dict.fromkeys(parts[1].split(", "), place))
    return found


def _name_at(node: ast.AST, line: int) -> str:
    """Return ::Class::function of the innermost definition round a line."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if child.lineno <= line <= (child.end_lineno or line):
            return f"::{child.name}{_name_at(child, line)}"
    return ""


def _comment_lines(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        text = line.strip()
        if not text.startswith("#") or text.startswith("# DEPARTS"):
            return
        yield text.lstrip("#").strip()


# ------------------------------------------------------------------------------------ writing


def page(root: Path) -> str:
    """Return the whole page; Unclear when a mark or a departure names what is not in the lists."""
    folder = root / "docs" / "requirements"
    specs = specifications(folder)
    touched_by = anomalies(folder)
    shown = marks(root / "tests", root)
    departed = departures(root / "src", root)
    known = {requirement.id for spec in specs for requirement in spec.requirements}
    obeyed = citations(root, [*known, *touched_by])
    for spec_id, tests in sorted(shown.items()):
        if spec_id not in known:
            raise Unclear(f"{tests[0]}: no requirement {spec_id} in docs/requirements")
    for departure in departed:
        for name in departure.ids:
            if name not in known and name not in touched_by:
                raise Unclear(f"{departure.place}: no requirement or anomaly {name} in docs/requirements")
    refused = second_stage(root / "src", root)
    for spec_id, place in sorted(refused.items()):
        if spec_id not in known:
            raise Unclear(f"{place}: no requirement {spec_id} in docs/requirements")
        if spec_id not in shown:
            raise Unclear(f"{place}: no test is marked with {spec_id} and shows what is refused")
    status = (
        dict.fromkeys(known, NOT_YET) | dict.fromkeys(shown, SHOWN) | dict.fromkeys(refused, SECOND_STAGE)
    )
    for departure in departed:
        for name in departure.ids:
            status |= dict.fromkeys(touched_by.get(name, (name,)), DEPARTED)
    lines = [*_OPENING]
    for spec in specs:
        lines += _specification(spec, obeyed, shown, status)
    lines += ["## Departures", "", *_departures(departed)]
    return "\n".join(lines) + "\n"


_OPENING = (
    "# Conformance",
    "",
    "<!-- Made by `./dev docs` from docs/requirements, the tests' marks and the code's comments. -->",
    "",
    "A requirement is *shown* when a test is marked with it, *departed* when the code announces below that",
    "it does something else (tests then show our reading), *second stage* when it is not built and what",
    "needs it is refused with a reason (tests then show that), and *not yet* when none of these is true.",
    "*Obeyed in* names each function, class, field or table that cites the requirement; `./dev where DM-028`",
    "prints them with their neighbours.",
    "",
)


def _specification(
    spec: Specification,
    obeyed: Mapping[str, list[places.Definition]],
    shown: Mapping[str, list[str]],
    status: Mapping[str, str],
) -> list[str]:
    lines = [f"## {spec.title}", "", f"| Level | {' | '.join(STATUSES)} | all |"]
    lines += ["|---|" + "---:|" * (len(STATUSES) + 1)]
    for level in (*LEVELS, "all"):
        of_level = [
            status[requirement.id]
            for requirement in spec.requirements
            if level in {"all", requirement.level.removesuffix(" NOT")}
        ]
        counts = [of_level.count(name) for name in STATUSES]
        lines.append(f"| {level} | {' | '.join(map(str, counts))} | {len(of_level)} |")
    lines += ["", "| Id | Section | Level | In a few words | Status | Obeyed in | Tests |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for one in spec.requirements:
        tests = "<br>".join(f"`{place}`" for place in shown.get(one.id, ()))
        cells = [
            one.id,
            one.section,
            one.level,
            one.words,
            status[one.id],
            _obeyed(obeyed.get(one.id, ())),
            tests,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _obeyed(cited: Sequence[places.Definition]) -> str:
    """Return a link to each file with the names in it; a line number would change with every edit."""
    names: dict[str, list[str]] = {}
    for place in cited:
        names.setdefault(place.path, []).extend(f" `{place.name}`" for _ in place.name[:1])
    files = [
        f"[{path.removeprefix('src/reliquary/')}]({'../' * (len(PAGE.parts) - 1)}{path}){','.join(named)}"
        for path, named in names.items()
    ]
    return "<br>".join(files) or "-"


def _departures(departed: Sequence[Departure]) -> list[str]:
    if not departed:
        return ["None."]
    head = ["| Section | Reading | What we do, and why | Where |", "|---|---|---|---|"]
    in_order = sorted(departed, key=lambda one: (_by_number(one.section), one.place, one.text))
    return head + [
        f"| {one.section} | {', '.join(one.ids)} | {_cell(one.text)} | `{one.place}` |" for one in in_order
    ]


def _by_number(section: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", section)]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

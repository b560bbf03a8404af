"""Tests house rules that a reader of the sources can check: this test reads them all."""

from __future__ import annotations

import ast
import doctest
import importlib
import io
import re
import shutil
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.plain_words import unwanted
from tools import conformance

ROOT = Path(__file__).parents[1]
LONGEST = 600
LOWER_ROOMS = {"queueing", "views", "engine", "streams", "store", "base"}
"""Rooms that no protocol is named in."""
NO_ROOMS = {"utils", "util", "common", "helpers", "helper", "misc"}

# Modules without a test file of their own, each with the reason.
EXEMPT: dict[str, str] = {
    "console/context.py": "what all handlers share: every test of tests/console goes through it",
    "console/errors.py": "shown by the refusals in tests/console/test_app.py and test_queues.py",
    "console/manager_counters.py": "declarations; shown by tests/console/test_metrics.py and test_pages.py",
    "console/request.py": "one class; every request of tests/console goes through it",
    "console/web/state.py": "values only; every test of tests/console/web goes through them",
    "console/web/refusals.py": "shown by tests/console/web/test_pages.py and test_signing.py",
    "console/web/routes.py": "one list; shown by tests/console/web/test_pages.py and test_assets.py",
    "engine/clock.py": "one interface; every test of tests/engine/test_loop.py goes through it",
    "net/counters.py": "values only; shown by tests/server/test_srmp_counters.py and test_httpr_counters.py",
    "net/api/context.py": "what all handlers share: every test of tests/net/api goes through it",
    "net/api/health.py": "shown by tests/net/api/test_plane.py",
    "net/identity/origin.py": "shown by tests/net/identity/test_admission.py, and by its own example",
    "net/identity/shown.py": "one class and one interface; shown by tests/net/identity/test_admission.py",
    "queueing/model/parts/name_index.py": "values only; shown by tests/queueing/model/test_parts.py",
    "queueing/model/parts/open_queues.py": "values only; shown by tests/queueing/model/test_parts.py",
    "queueing/model/parts/this_manager.py": "values only; shown by tests/queueing/model/test_parts.py",
    "queueing/model/parts/totals.py": "values only; shown by tests/queueing/model/test_parts.py",
    "queueing/model/parts/transactions.py": "values only; shown by tests/queueing/model/test_parts.py",
    "queueing/model/parts/travel.py": "values only; shown by tests/queueing/model/test_parts.py",
    "queueing/model/parts/turn.py": "values only; shown by tests/queueing/model/test_parts.py",
    "protocols/pgm/actions.py": "values only; shown by the tests of source and receiver",
    "protocols/httpr/client/state.py": "values only; shown by the tests of the rules that use them",
    "protocols/httpr/codec/faults.py": "one class; every refusal in the tests of the codec goes through it",
    "protocols/httpr/codec/values.py": "values only; every test of the codec goes through them",
    "protocols/httpr/effects.py": "values only; shown by the tests of the machine that asks for them",
    "protocols/httpr/events.py": "values only; shown by the tests of the machine that takes them",
    "protocols/httpr/facts.py": "values only; shown by tests/protocols/httpr/test_apply.py",
    "protocols/httpr/recovery.py": "shown by tests/protocols/httpr/test_apply.py: rebuilt equals live",
    "protocols/httpr/server/state.py": "values only; shown by the tests of the rules that use them",
    "protocols/httpr/state.py": "shown by tests/protocols/httpr/test_apply.py",
    "protocols/httpr/tables.py": "values only; shown by tests/protocols/httpr/test_apply.py",
    "protocols/mqqp/codec/qm2qm.py": "values only; every test of the codec goes through them",
    "protocols/mqqp/codec/qmcomm.py": "values only; every test of the codec goes through them",
    "protocols/mqqp/effects.py": "values only; shown by the tests of the machine that asks for them",
    "protocols/mqqp/events.py": "values only; shown by the tests of the machine that takes them",
    "protocols/mqqp/tables.py": "one list; shown by tests/protocols/mqqp/test_protocol.py",
    "protocols/srmp/codec/faults.py": "one class; every refusal in the tests of the codec goes through it",
    "protocols/srmp/codec/values.py": "values only; every test of the codec goes through them",
    "protocols/srmp/effects.py": "values only; shown by the tests of the machine that asks for them",
    "protocols/srmp/events.py": "values only; shown by the tests of the machine that takes them",
    "protocols/wsrm/codec/faults.py": "values only; shown by tests/protocols/wsrm/codec/test_fault_forms.py",
    "protocols/wsrm/codec/names.py": "spelling only; shown by the tests of the codec",
    "protocols/wsrm/codec/reading.py": "what the readers share: shown by test_headers.py and test_bodies.py",
    "protocols/wsrm/codec/rm10.py": "spelling only; shown by the tests of the codec",
    "protocols/wsrm/codec/rm11.py": "spelling only; shown by the tests of the codec",
    "protocols/wsrm/codec/values.py": "values only; every test of the codec goes through them",
    "protocols/wsrm/effects.py": "values only; shown by the tests of the machine that asks for them",
    "protocols/wsrm/events.py": "values only; shown by the tests of the machine that takes them",
    "protocols/wsrm/source/facts.py": "values only; shown by tests/protocols/wsrm/source/test_apply.py",
    "protocols/wsrm/source/state.py": "values only; shown by the tests of the rules that use them",
    "queueing/directory/feature.py": "shown by tests/queueing/test_features.py",
    "queueing/feed/events.py": "values only; shown by the tests of the rules that take them",
    "queueing/feed/facts.py": "values only; shown by tests/queueing/test_recovery.py",
    "queueing/feed/feature.py": "shown by tests/queueing/test_features.py",
    "queueing/history/events.py": "values only; shown by tests/queueing/history/test_keeping.py",
    "queueing/history/feature.py": "shown by tests/queueing/test_features.py",
    "queueing/model/history/records.py": "values only; shown by tests/queueing/history",
    "queueing/security/feature.py": "shown by tests/queueing/test_features.py",
    "queueing/staging/events.py": "values only; shown by the tests of the rules that take them",
    "queueing/staging/facts.py": "values only; shown by tests/queueing/test_recovery.py",
    "queueing/travel/feature.py": "shown by tests/queueing/test_features.py",
    "streams/facts.py": "values only; shown by tests/streams/test_apply.py",
    "wire/columns.py": "values only; shown by tests/net/feed/test_columns_out.py",
    "spark/pipelines/content.py": "values only; shown by tests/spark/pipelines/test_decode.py",
    "server/api.py": "shown by tests/server/test_endpoint.py and tests/net/feed/test_endpoint.py",
    "server/protocols.py": "one list; shown by tests/server/test_endpoint.py",
    "server/table.py": "values only; shown by tests/server/test_loading.py",
    "sim/httpr/applications.py": "shown by tests/sim/httpr/test_run.py: some of everything",
    "sim/httpr/channels.py": "what the monitors share: shown by tests/sim/httpr/test_mutants.py",
    "sim/httpr/monitor.py": "shown by tests/sim/httpr/test_mutants.py: each check has its mutant",
    "sim/httpr/plugin.py": "shown by tests/sim/httpr/test_run.py and test_mutants.py",
    "sim/mqqp/applications.py": "shown by tests/sim/mqqp/test_run.py: some of everything",
    "sim/mqqp/connections.py": "values only; shown by the tests of the network",
    "sim/mqqp/leavings.py": "shown by tests/sim/mqqp/test_mutants.py: what a mutant leaves behind",
    "sim/mqqp/monitor.py": "shown by tests/sim/mqqp/test_mutants.py: each check has its mutant",
    "sim/mqqp/packets.py": "shown by tests/sim/mqqp/test_run.py: some calls go through the codec",
    "sim/mqqp/plugin.py": "shown by tests/sim/mqqp/test_run.py and test_mutants.py",
    "sim/mqqp/reading.py": "shown by tests/sim/mqqp/test_mutants.py: each check has its mutant",
    "sim/mqqp/readings.py": "what the monitors share: shown by tests/sim/mqqp/test_mutants.py",
    "sim/mqqp/serving.py": "shown by tests/sim/mqqp/test_mutants.py: each check has its mutant",
    "sim/mqqb/monitor.py": "shown by tests/sim/mqqb/test_mutants.py: each check has its mutant",
    "sim/mqqb/network.py": "shown by tests/sim/mqqb/test_run.py and test_mutants.py",
    "sim/mqqb/plugin.py": "shown by tests/sim/mqqb/test_run.py and test_mutants.py",
    "sim/mqqb/promises.py": "shown by tests/sim/mqqb/test_mutants.py: each check has its mutant",
    "sim/srmp/monitor.py": "shown by tests/sim/srmp/test_mutants.py: each check has its mutant",
    "sim/srmp/plugin.py": "shown by tests/sim/srmp/test_run.py and test_mutants.py",
    "sim/srmp/posts.py": "what the monitors share: shown by tests/sim/srmp/test_mutants.py",
    "sim/srmp/promises.py": "shown by tests/sim/srmp/test_mutants.py: each check has its mutant",
    "sim/wsrm/acknowledging.py": "shown by tests/sim/wsrm/test_mutants.py: each check has its mutant",
    "sim/wsrm/envelopes.py": "what the monitors share: shown by tests/sim/wsrm/test_mutants.py",
    "sim/wsrm/monitor.py": "shown by tests/sim/wsrm/test_mutants.py: each check has its mutant",
    "sim/wsrm/plugin.py": "shown by tests/sim/wsrm/test_run.py and test_mutants.py",
    "sim/wsrm/promises.py": "shown by tests/sim/wsrm/test_seeds.py: without it seeds break",
    "sim/wsrm/sending.py": "shown by tests/sim/wsrm/test_mutants.py: each check has its mutant",
    "sim/world/applications.py": "shown by tests/sim/srmp/test_run.py: some of everything",
    "sim/world/monitor.py": "what the monitors share: shown by the mutants of each protocol",
    "sim/world/network.py": "what the networks share: shown by their tests",
    "sim/world/promises.py": "shown by the mutants of each protocol: tests/sim/srmp, tests/sim/httpr",
    "sim/world/reasons.py": "shown by the mutants of each protocol: losses that are no losses",
    "sim/world/register.py": "what the checkers share: shown by the mutants of each protocol",
    "sim/world/witness.py": "shown by the mutants of each protocol",
    "streams/events.py": "one class; shown by tests/streams/test_resetting.py",
}

SOURCES = sorted(
    path
    for folder in ("src", "tests", "tools", "bench", "examples")
    for path in (ROOT / folder).rglob("*.py")
)
MODULES = sorted(
    path
    for path in (ROOT / "src" / "reliquary").rglob("*.py")
    if path.name not in {"__init__.py", "__main__.py"}
)
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
OTHER_TEXTS = [
    ROOT / "dev",
    ROOT / "pyproject.toml",
    *sorted(
        path
        for folder in ("src", "tests", "tools", "bench", "deploy", "examples", "docs/drawings")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".c", ".h", ".hex", ".http", ".lua", ".scene", ".service", ".sql", ".toml", ".txt"}
        or (path.suffix == ".md" and folder != "docs/drawings")
    ),
]
"""Files that are no Python and no page of docs: programs of peers, vectors, settings, folder pages."""
TEXTS = [
    *SOURCES,
    ROOT / "dev",
    ROOT / "pyproject.toml",
    *sorted(ROOT.glob("*.lock")),
    *PAGES,
]


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def docstrings_in(text: str) -> tuple[str, ...]:
    """Return the docstrings of a module, its classes and functions; the first is that of the module."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, documented))
    return tuple(ast.get_docstring(node) or "" for node in nodes)


@cache
def docstrings(path: Path) -> tuple[str, ...]:
    return docstrings_in(path.read_text())


def test_every_module_says_what_it_is() -> None:
    assert names([path for path in SOURCES if not docstrings(path)[0]]) == []


def test_no_file_is_too_long_to_read() -> None:
    assert names([path for path in SOURCES if len(path.read_text().splitlines()) > LONGEST]) == []


def test_no_room_is_a_drawer() -> None:
    assert names([path for path in SOURCES if NO_ROOMS & {path.stem, *path.relative_to(ROOT).parts}]) == []


def test_nothing_is_left_for_later_in_a_comment() -> None:
    assert names([path for path in SOURCES if re.search(r"\b(TOD[O]|FIXM[E])\b", path.read_text())]) == []


def test_every_module_has_its_test_file() -> None:
    missing = []
    for path in MODULES:
        module = path.relative_to(ROOT / "src" / "reliquary")
        mirror = Path("tests") / module.with_name(f"test_{path.name}")
        if str(module) not in EXEMPT and not (ROOT / mirror).exists():
            missing.append(str(mirror))
    assert missing == []


def test_an_exemption_is_of_a_module_that_exists() -> None:
    assert [name for name in EXEMPT if not (ROOT / "src" / "reliquary" / name).exists()] == []


def test_marks_and_departures_name_what_is_in_the_lists() -> None:
    assert conformance.page(ROOT)  # raises, with the place, for a mark or a departure that is not so


def test_no_path_of_one_machine_is_written_down() -> None:
    one_machine = re.compile(r"(?<![\w.])/(root|home|work|Users|opt)/")
    assert names([path for path in TEXTS if one_machine.search(path.read_text())]) == []


def test_the_locks_name_versions_and_no_addresses() -> None:
    locks = sorted(ROOT.glob("*.lock"))
    assert locks
    assert names([path for path in locks if re.search(r"://|@|--index|--find-links", path.read_text())]) == []


def is_possessive(pattern: str) -> bool:
    plain = re.sub(r"\\.", "x", pattern, flags=re.DOTALL)
    return re.search(r"[*+?}]\+", re.sub(r"\[\^?\]?[^\]]*\]", "x", plain)) is not None


def test_a_possessive_repeat_is_recognised() -> None:
    assert all(map(is_possessive, ["a++", "(?:a|b)*+c", "a{1,2}+", "a?+", r"[a\]]++"]))
    assert not any(map(is_possessive, ["a+", r"a*\+", "[*+]+", "[^]*+]", r"[\]*+]", "(a+)+"]))


def test_no_pattern_has_a_possessive_repeat() -> None:
    """Python before 3.11.5 misreads some of them."""
    found = []
    for path in MODULES:
        if "re.compile(" not in path.read_text() or "spark" in path.relative_to(ROOT).parts:
            continue
        for name, value in vars(importlib.import_module(module_name(path))).items():
            pattern = getattr(value, "__self__", value)  # a module may keep re.compile(...).fullmatch
            if isinstance(pattern, re.Pattern):
                text = pattern.pattern
                found.append((path, name, text if isinstance(text, str) else text.decode("latin-1")))
    assert found
    assert [(path, name) for path, name, text in found if is_possessive(text)] == []


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)


WITH_EXAMPLES = [
    path for path in MODULES if ">>> " in path.read_text() and "spark" not in path.relative_to(ROOT).parts
]
"""Those of the room `spark` need its packages: `tests/spark/test_docstrings.py` has them."""


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=names(WITH_EXAMPLES))
def test_the_examples_in_docstrings_are_true(path: Path) -> None:
    results = doctest.testmod(importlib.import_module(module_name(path)))
    assert results.attempted > 0
    assert results.failed == 0


CITATION = re.compile(r"\[M[CS]-\w+\]|\bHR-[0-9]+|\bSR-[0-9]+")


def test_the_manager_and_the_engine_know_no_protocol_by_its_name() -> None:
    """Only a citation of the specification may name one; what a protocol brings is in its `Protocol`."""
    rooms = [path for path in MODULES if path.relative_to(ROOT / "src" / "reliquary").parts[0] in LOWER_ROOMS]
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in rooms
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"srmp|httpr|mqq[bp]|ws-?rm", CITATION.sub("", line), re.IGNORECASE)
    ]
    assert len(rooms) > 100
    assert found == []


# Ids that code, tests and pages cite, and the page of docs/requirements that defines them.
REQUIREMENTS = ROOT / "docs" / "requirements"
CITED = re.compile(
    r"(?<![\w-])(?:(?:DM|SR|HR|FC|QP|QB|AN)-\d{2,3}|[FGHT]-\d\d|T\d\d|P\d\d?"
    r"|(?<!RFC \d{4} )(?<!\.)[A-J]\.\d{1,2})(?![\w-])"
)
"""Also `B.4`: our pages have no sections with letters, and the one other text with them is an RFC."""
CITED_OF_HTTPR = re.compile(r"(?<![\w-])[FH][1-9]\d?(?![\w-])")
"""`F3` and `H12` are flows and bodies in files of HTTPR; elsewhere they may be bytes."""
DEFINED = re.compile(r"^\| ([A-Z]{1,2}-?\d{1,3})(?: \*)? \|", re.MULTILINE)
PAGE_OF = {
    "srmp": "mqsrm", "pgm": "mqsrm", "multicast": "mqsrm", "httpr": "httpr", "wsrm": "wsrvcrm",
    "mqqp": "mqqp", "rpc": "mqqp", "ndr": "mqqp", "mqqb": "mqqb",
}  # fmt: skip
"""The page that defines F-01, G-01, H-01, P1, T-01 and T01 for files whose path names this protocol."""


def defined() -> dict[str, set[str]]:
    return {path.stem: set(DEFINED.findall(path.read_text())) for path in REQUIREMENTS.glob("*.md")}


def undefined(path: Path, text: str, pages: dict[str, set[str]]) -> list[str]:
    """Return the ids in a text that its page does not define, and without a page those that none defines."""
    words = re.split(r"[/_.]", str(path))
    of_page = [pages[page] for word, page in PAGE_OF.items() if word in words] or list(pages.values())
    everywhere = set().union(*pages.values())
    known = set().union(*of_page)
    found = {*CITED.findall(text), *(CITED_OF_HTTPR.findall(text) if "httpr" in words else ())}
    return [cited for cited in sorted(found) if cited not in (everywhere if cited[1].isalpha() else known)]


def test_an_undefined_id_is_recognised() -> None:
    pages = {"httpr": {"HR-001", "T01"}, "mqqb": {"QB-001", "T-01"}}
    assert undefined(Path("src/httpr/a.py"), "T01 T-01 HR-001 QB-001 QB-002 UTF-16", pages) == [
        "QB-002",
        "T-01",
    ]
    assert undefined(Path("tests/server/a.py"), "T01 T-01 T02 F4", pages) == ["T02"]
    assert undefined(Path("tests/httpr/a.hex"), "F4 H10 H-10 f4 0xF5 H1X", pages) == ["F4", "H-10", "H10"]
    assert undefined(Path("docs/a.md"), "It waits (A.5, D.10), RFC 1320 A.5.", pages) == ["A.5", "D.10"]


def test_every_id_that_is_cited_is_defined_in_the_requirements() -> None:
    pages = defined()
    assert len(set().union(*pages.values())) > 1500
    found = [
        f"{path.relative_to(ROOT)}: {cited}"
        for path in (*SOURCES, *PAGES, *OTHER_TEXTS)
        if path.relative_to(ROOT).parts[:2] not in {("tests", "tools"), ("tests", "test_tidy.py")}
        for cited in undefined(path.relative_to(ROOT), path.read_text(), pages)
    ]
    assert found == []


# Words that names, docstrings, comments and texts do without.
UNWANTED_NAMES = re.compile(
    r"(?:^|_)(?:told|untold|so_many|dear|vouches|nobody|somebody|anybody|whoever|the_same|such|he|his|him|shelf|refuge|bury|buried"
    r"|stirred|belongings|bringer|scenery|graves|tradesmen|weather|believ\w+?|vanish\w*?|swallow\w*?|that_is_none"
    r"|that_cannot_be_is|as_ever|no_harm|at_hand|everybody|fates?|gossip|rumour|librarian|scribe|clerk|cellar)(?:_|$)"
)
"""Words that names of functions, classes, parameters, variables and files do without."""
MAY_BE_UNWANTED = re.compile(
    r"(?i:told|so_many|dear|vouches|nobody|somebody|anybody|whoever|the_same|shelf|refuge|bury|buried|stirred|belongings|bringer"
    r"|scenery|graves|tradesmen|weather|believ|vanish|swallow|that_is_none|that_cannot_be_is|as_ever|no_harm"
    r"|at_hand|everybody|fate|gossip|rumour|librarian|scribe|clerk|cellar)|_(?:he|his|him|such)(?:_|\b)|\b(?:he|his|him|such)(?:_|\s*[=:,)])"
)
MOST_SHORT = 30
SHORT = 4
"""A docstring of up to this number of words is seldom a sentence; there are fewer than `MOST_SHORT`."""


def docstrings_at(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts that stand alone in a source: docstrings, also those of attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings, comments and texts of several words of a source, each with its first line."""
    tree = ast.parse(text)
    alone = set(docstrings_at(tree))
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if node in alone or " " in node.value:
            yield node.lineno, " ".join(node.value.split())
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def test_an_unwanted_word_is_recognised() -> None:
    text = '"""It does\nthe same."""\nx = f"nobody {y}"  # Somebody knows\nz = "nobody"\n'
    assert [unwanted(words) for _, words in prose(text)] == [["the same"], ["nobody"], ["Somebody"]]
    assert not unwanted("a name such as `orders`, the shelter, heard, No such file or directory")


def test_docstrings_comments_and_texts_name_their_nouns() -> None:
    paths = [
        path for path in SOURCES if path.name not in {"plain_words.py", "test_tidy.py", "test_docs_tidy.py"}
    ]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word}"
        for path in paths
        if unwanted(" ".join(path.read_text().split()))  # most files need no parser
        for number, text in prose(path.read_text())
        for word in unwanted(text)
    ]
    assert found == []


def test_programs_of_peers_and_vectors_name_their_nouns() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word}"
        for path in OTHER_TEXTS
        if path.suffix != ".md"  # tests/test_docs_tidy.py reads these
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for word in unwanted(line)
    ]
    assert len(OTHER_TEXTS) > 100
    assert found == []


def snake(name: str) -> str:
    """Return a name in lower case with an underscore between its words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the names that a source defines, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def unwanted_names(text: str) -> list[str]:
    """Return the names with an unwanted word, but for `NO_SUCH_`, which begins names of specifications."""
    return [
        f"{line}: {name}"
        for line, name in named(ast.parse(text))
        if UNWANTED_NAMES.search(snake(name)) and not name.startswith("NO_SUCH_")
    ]


def test_an_unwanted_name_is_recognised() -> None:
    text = (
        "class Told:\n    def f(self, nobody):\n        self.x_told = such_x = toldness = 1\nNO_SUCH_C = 1\n"
    )
    assert unwanted_names(text) == ["1: Told", "2: nobody", "3: x_told", "3: such_x"]


def test_names_are_words_of_the_field() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{name}"
        for path in SOURCES
        if MAY_BE_UNWANTED.search(path.read_text())  # most files need no parser
        for name in unwanted_names(path.read_text())
    ]
    assert found == []
    assert names([path for path in SOURCES if UNWANTED_NAMES.search(path.stem)]) == []


PRONOUN_FIRST = re.compile(r"\bdef (test_(?:it|its|this|that|those|these|they|or|nor|others|one_that)_\w+)")
"""Names of tests whose first word refers to something that the reader of a list of failures does not see."""


def test_a_name_that_begins_with_a_pronoun_is_recognised() -> None:
    text = "def test_it_works():\ndef test_item_works():\ndef test_one_that_waits():\n"
    assert PRONOUN_FIRST.findall(text) == ["test_it_works", "test_one_that_waits"]


def test_names_of_tests_begin_with_their_subject() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        if path.name != "test_tidy.py"
        for name in PRONOUN_FIRST.findall(path.read_text())
    ]
    assert found == []


def test_a_short_docstring_is_recognised() -> None:
    text = '"""A lamp."""\ndef f(): "One two three four five."\nclass C: "Its word."\n'
    assert docstrings_in(text) == ("A lamp.", "One two three four five.", "Its word.")
    assert short_docstrings(text + 'x: int\n"""RemoteQMGuid."""\n...\n') == [
        "A lamp.",
        "RemoteQMGuid.",
        "Its word.",
    ]


def short_docstrings(text: str) -> list[str]:
    """Return the docstrings of up to `SHORT` words, those of attributes among them."""
    every = (node.value for node in docstrings_at(ast.parse(text)))
    return [each for each in every if isinstance(each, str) and 0 < len(each.split()) <= SHORT]


BARE = re.compile(
    r"(?:DM|SR|HR|FC|QP|QB|AN)-\d+|[FGHT]-\d\d|[FHPT]\d\d?|\[[A-Z]+-[A-Z]+\]|\d+(?:\.\d+)+|\b(?:to|and|RFC|section)\b|\W+"
)
"""What a docstring that is an id alone consists of: ids, numbers of sections and what joins them."""


def bare_docstrings(text: str) -> list[str]:
    """Return the docstrings that cite ids or sections, and say nothing about them."""
    every = (node.value for node in docstrings_at(ast.parse(text)))
    return [each for each in every if isinstance(each, str) and each and not BARE.sub("", each)]


def test_a_docstring_that_is_an_id_alone_is_recognised() -> None:
    text = (
        'def f(): "DM-216 to DM-222, DM-307."\ndef g(): "[MS-MQMQ] 2.5.1"\ndef h(): "T65; AN-46: it waits."\n'
    )
    assert bare_docstrings(text) == ["DM-216 to DM-222, DM-307.", "[MS-MQMQ] 2.5.1"]


def test_no_docstring_is_an_id_alone() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {docstring}"
        for path in SOURCES
        for docstring in bare_docstrings(path.read_text())
    ]
    assert found == []


def test_few_docstrings_are_short() -> None:
    assert sum(len(short_docstrings(path.read_text())) for path in SOURCES) < MOST_SHORT


# Commits

FIRST_CHECKED = "2026-11-19T12:00:00+00:00"
"""Subjects of older commits may be longer."""
LONGEST_SUBJECT = 72


def long_subjects(log: str) -> list[str]:
    """Return the subjects of a log that do not fit into one line of `git log`."""
    return [subject for subject in log.splitlines() if len(subject) > LONGEST_SUBJECT]


def test_a_long_subject_is_recognised() -> None:
    assert long_subjects(f"{'x' * 72}\n{'y' * 73}\n") == ["y" * 73]


def test_subjects_of_commits_fit_into_one_line() -> None:
    """A shallow clone has the last commits only, and an archive has none: both are enough."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        return
    command = ["git", "log", "--no-merges", f"--since={FIRST_CHECKED}", "--format=%s"]
    log = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert long_subjects(log.stdout) == []

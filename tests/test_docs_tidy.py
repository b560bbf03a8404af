"""The documentation is kept in order: links lead somewhere, and folders are described in few lines.

What a test here reads is text: no page is built, and no server runs.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.plain_words import unwanted
from tools import links

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "reliquary"
PAGES = sorted(
    path.relative_to(ROOT)
    for path in (
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "deploy").glob("*.md"),
        *(ROOT / "bench").glob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
    )
)
TEXTS = {page: (ROOT / page).read_text() for page in PAGES}
PROSE = [
    page
    for page in PAGES
    if page.parts[0] in {"README.md", "ARCHITECTURE.md"}
    or page.parts[:2] in {("docs", each) for each in ("start", "guides", "topics", "index.md")}
]
WIDEST = 100
MOST_LINES = 10
"""Lines in which a folder says what it is for."""


# -- links and the site


def broken(page: Path, text: str) -> list[str]:
    """Return the links of a page that lead to no file, or to no heading of their page."""
    found = []
    for link in links.links(text):
        if link.leaves:
            continue
        place = links.place(ROOT, page, link)
        if not (ROOT / place).exists():
            found.append(f"{page}: {link.target} is no file")
        elif link.anchor and place.suffix == ".md" and link.anchor not in links.anchors(TEXTS[place]):
            found.append(f"{page}: {link.target} names no heading")
    return found


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    assert sum(len(list(links.links(text))) for text in TEXTS.values()) > 300
    assert [each for page, text in TEXTS.items() for each in broken(page, text)] == []


def test_a_broken_link_is_found() -> None:
    page = Path("docs/guides/queues.md")
    text = "[a](nowhere.md) [b](operate.md#no-such) [c](operate.md#backup) `[d](code.md)`"
    assert broken(page, text) == [
        f"{page}: nowhere.md is no file",
        f"{page}: operate.md#no-such names no heading",
    ]


def test_the_site_lists_every_page_once() -> None:
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    listed = re.findall(r"([\w./-]+\.md)$", nav, re.MULTILINE)
    pages = [page.relative_to("docs").as_posix() for page in PAGES if page.parts[0] == "docs"]
    assert sorted(each for each in listed if not each.startswith("project/")) == sorted(pages)


# -- words


def wide_lines(text: str) -> list[str]:
    """Return lines of prose above the limit; tables, code, links and what a tool writes may be wider."""
    text = re.sub(r"^<!-- peers: `.*?^<!-- peers: end -->$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = []
    for line in re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).splitlines():
        bare = re.sub(r"\]\([^()\s]*\)|<https?://[^>]*>", "", line)
        if len(bare) > WIDEST and not line.startswith(("|", "    ", "<!--")):
            found.append(line)
    return found


@pytest.mark.parametrize("page", PROSE, ids=map(str, PROSE))
def test_no_line_of_prose_is_too_wide_to_read(page: Path) -> None:
    assert wide_lines(TEXTS[page]) == []


def test_a_wide_line_is_found_and_a_link_may_be_long() -> None:
    words, address = "word " * 21, "x" * 90
    text = f"| {words}\n```\n{words}\n```\n[a link](http://{address})\n{words}\n"
    assert wide_lines(text) == [words]


PLAIN_PAGES = [
    *PAGES,
    *sorted(path.relative_to(ROOT) for room in ("src", "tests") for path in (ROOT / room).rglob("*.md")),
]


def unwanted_in_page(text: str) -> list[str]:
    """Return the unwanted words of a page; code and citations in quotation marks may have them."""
    return unwanted(re.sub(r'"[^"\n]*"|`[^`\n]*`', "", text))


@pytest.mark.parametrize("page", PLAIN_PAGES, ids=map(str, PLAIN_PAGES))
def test_pages_name_their_nouns(page: Path) -> None:
    assert unwanted_in_page((ROOT / page).read_text()) == []


def test_an_unwanted_word_of_a_page_is_found() -> None:
    assert unwanted_in_page('Nobody is told, such as "the same" and `the same`.') == ["Nobody", "told"]


NAME_OF_CLASS = re.compile(r"\b[A-Z][a-z]+[A-Z]\w*")
"""A name of two words or more."""


def unknown_names(text: str, known: set[str]) -> list[str]:
    """Return the names of classes in the code of a page that no source has."""
    code = " ".join(re.findall(r"`([^`\n]+)`", text))
    return sorted({name for name in NAME_OF_CLASS.findall(code) if name not in known})


def test_names_in_the_architecture_are_names_of_the_sources() -> None:
    known = {name for path in SOURCE.rglob("*.py") for name in NAME_OF_CLASS.findall(path.read_text())}
    assert unknown_names(TEXTS[Path("ARCHITECTURE.md")], known) == []


def test_an_unknown_name_in_code_is_found() -> None:
    text = "`MessageStored` and `SetTimer`, not MessageKept"
    assert unknown_names(text, {"SetTimer"}) == ["MessageStored"]


# -- the glossary


def is_there(name: str) -> bool:
    """Return whether a dotted name below `reliquary` is a module, a package, or a class or function of it."""
    path = SOURCE.joinpath(*name.split("."))
    if path.with_suffix(".py").exists() or (path / "__init__.py").exists():
        return True
    module = path.parent.with_suffix(".py")
    return module.exists() and any(
        isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == path.name
        for node in ast.parse(module.read_text()).body
    )


GLOSSARY_ROW = re.compile(r"^\| (.+?) \| .+ \| `([\w.]+)`(: no class, \w.*)? \|$", re.MULTILINE)
"""The word, the place, and why the place is no class."""


def glossary_faults(text: str) -> list[str]:
    """Return the rows of a glossary that name no place, no class and no reason, or a word a second time."""
    rows = re.findall(r"^\| (?!Word \|).+$", text, re.MULTILINE)
    found = [f"{row}: not in the form of a row" for row in rows if not GLOSSARY_ROW.fullmatch(row)]
    words: set[str] = set()
    for word, place, reason in GLOSSARY_ROW.findall(text):
        if word.casefold() in words:
            found.append(f"{word}: has two rows")
        words.add(word.casefold())
        if not is_there(place):
            found.append(f"{word}: {place} does not exist")
        elif not place.rpartition(".")[2][0].isupper() and not reason:
            found.append(f"{word}: {place} is no class")
    return found


def test_the_glossary_names_one_class_for_each_word_or_says_why_not() -> None:
    text = (ROOT / "docs/reference/glossary.md").read_text()
    assert len(GLOSSARY_ROW.findall(text)) > 130
    assert glossary_faults(text) == []


def test_a_fault_of_the_glossary_is_found() -> None:
    text = (
        "| Word | What it means | Where |\n| turn | a | `base.turn.Turn` |\n"
        "| Turn | b | `base.turn`: no class, c |\n"
        "| fact | d | `base.turn.NoFact` |\n| rule | e | `base.turn` |\n| draft | f |\n"
    )
    assert glossary_faults(text) == [
        "| draft | f |: not in the form of a row",
        "Turn: has two rows",
        "fact: base.turn.NoFact does not exist",
        "rule: base.turn is no class",
    ]


# -- folders


def said(folder: Path) -> str:
    """Return the words of a folder about itself: the docstring of its package, or its README or ORIGIN."""
    package = folder / "__init__.py"
    if package.exists():
        return ast.get_docstring(ast.parse(package.read_text())) or ""
    pages = [folder / name for name in ("README.md", "ORIGIN.md") if (folder / name).exists()]
    return pages[0].read_text() if pages else ""


def lines(text: str) -> list[str]:
    """Return the lines of a text that are not empty; drawings and lists of modules count too."""
    return [line for line in text.splitlines() if line.strip()]


PACKAGES = [path.parent for path in sorted(SOURCE.rglob("__init__.py"))]
TEST_FOLDERS = [
    path
    for path in sorted((ROOT / "tests").rglob("*"))
    if path.is_dir() and path.name != "__pycache__" and any(each.is_file() for each in path.iterdir())
]


def test_every_package_says_what_it_imports_and_where_to_begin() -> None:
    silent = [
        str(folder.relative_to(ROOT))
        for folder in PACKAGES
        if not re.search(r"\bimports?\b", said(folder))
        or not re.search(r"\b[Bb]egin\s+with\s+`|\bRead `\w+` (?:and `\w+` )?first", said(folder))
    ]
    assert silent == []


def test_a_folder_of_data_is_described_by_the_package_around_it() -> None:
    data = {
        path.parent
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"} and path.parent not in PACKAGES
    }
    assert data
    assert [str(each.relative_to(ROOT)) for each in data if f"`{each.name}`" not in said(each.parent)] == []


def test_a_package_begins_with_a_module_that_exists() -> None:
    wrong = []
    for folder in PACKAGES:
        first = re.search(r"[Bb]egin\s+with\s+`([\w.]+)`", said(folder))
        if first and not is_there(".".join([*folder.relative_to(SOURCE).parts, first[1]])):
            wrong.append(f"{folder.relative_to(ROOT)}: {first[1]}")
    assert wrong == []


def test_every_folder_of_tests_says_what_it_is_for() -> None:
    assert [str(folder.relative_to(ROOT)) for folder in TEST_FOLDERS if not said(folder).strip()] == []


def too_long(folders: list[Path]) -> dict[str, int]:
    return {
        str(folder.relative_to(ROOT)): len(lines(said(folder)))
        for folder in folders
        if not (folder / "ORIGIN.md").exists() and len(lines(said(folder))) > MOST_LINES
    }


def test_no_folder_needs_more_than_ten_lines() -> None:
    assert too_long([*PACKAGES, *TEST_FOLDERS]) == {}


def test_every_line_that_is_not_empty_counts() -> None:
    assert len(lines("One.  Two.\n\n    a --> b\nname   what it does\n# Head\n \nThree.")) == 5

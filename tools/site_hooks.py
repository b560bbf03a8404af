"""What mkdocs does beside its own work: pages from outside `docs`, and links to files that are no pages.

    README.md, ARCHITECTURE.md, ...   --> pages below project/
    [text](../../src/a.py)            --> files/src/a.py.txt, a copy in the site that a browser shows

So every link of the repository works in the site too, without a server of source code.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # mkdocs loads this file by its path
    sys.path.insert(0, str(ROOT))

from tools import links as markdown  # noqa: E402

if TYPE_CHECKING:
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

DOCS: Final = Path("docs")
OUTSIDE: Final = {
    Path("ARCHITECTURE.md"): "project/architecture.md",
    Path("CONTRIBUTING.md"): "project/contributing.md",
    Path("CHANGELOG.md"): "project/changelog.md",
    Path("bench/README.md"): "project/bench.md",
    Path("examples/README.md"): "project/examples.md",
}
"""Pages of the site that do not lie in `docs`, by their places in the project."""
INDEX: Final = {Path("README.md"): "index.md"}
"""Files that have a page in their place."""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside `docs`, and a copy of each file that a page links to."""
    from mkdocs.structure.files import File

    for path, name in OUTSIDE.items():
        files.append(File.generated(config, name, content=(ROOT / path).read_text()))
    copied: set[Path] = set()
    for each in files.documentation_pages():
        source = source_of(each.src_uri)
        for link in markdown.links((ROOT / source).read_text()):
            if not link.leaves:
                copied.add(markdown.place(ROOT, source, link))
    for path in sorted(copied):
        if page_of(path) is None and (ROOT / path).is_file():
            files.append(File.generated(config, copy_of(path), content=(ROOT / path).read_bytes()))
    return files


def on_page_markdown(text: str, page: Page, config: Any, files: Files) -> str:
    """Let each link of a page lead to the place that its target has in the site."""
    return moved(text, page.file.src_uri)


def moved(text: str, name: str) -> str:
    """Return the text of a page with links that work in the site; a link to a folder becomes its text."""
    source = source_of(name)

    def change(link: markdown.Link) -> str:
        if link.leaves or not link.path:
            return f"{link.label}({link.target})"
        path = markdown.place(ROOT, source, link)
        target = page_of(path) or (copy_of(path) if (ROOT / path).is_file() else "")
        if not target:
            return link.label.removeprefix("!")[1:-1]
        anchor = f"#{link.anchor}" if link.anchor else ""
        return f"{link.label}({os.path.relpath(target, os.path.dirname(name) or '.')}{anchor})"

    return markdown.rewritten(text, change)


def source_of(name: str) -> Path:
    """Return the place in the project of a page of the site."""
    return next((path for path, page in OUTSIDE.items() if page == name), DOCS / name)


def page_of(path: Path) -> str | None:
    """Return the page or picture of the site that a file of the project becomes, or None."""
    found = OUTSIDE.get(path) or INDEX.get(path)
    if found is None and path.is_relative_to(DOCS) and path.suffix in {".md", ".svg"}:
        return path.relative_to(DOCS).as_posix()
    return found


def copy_of(path: Path) -> str:
    """Return the name in the site of a copy of a file, which a browser shows as text."""
    return f"files/{path.as_posix()}.txt"

"""The links and the anchors of Markdown pages, read as text; code is passed over.

Two users: the hooks of the site rewrite links, and a test checks that each one leads somewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FENCE: Final = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_LINK: Final = re.compile(r"(!?\[(?:[^][]|\[[^][]*\])*\])\(([^()\s]+)\)")
_HEADING: Final = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_ANCHOR: Final = re.compile(r'<a id="([^"]+)">')
_OUTSIDE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page."""

    label: str
    """The text with its brackets; an exclamation mark stands before it where it is a picture."""
    target: str

    @property
    def path(self) -> str:
        """The target without its anchor; empty for a place on this page."""
        return self.target.partition("#")[0]

    @property
    def anchor(self) -> str:
        """The anchor in the target, or empty."""
        return self.target.partition("#")[2]

    @property
    def leaves(self) -> bool:
        """Return whether the link goes to another site."""
        return _OUTSIDE.match(self.target) is not None


def links(text: str) -> Iterator[Link]:
    """Yield the links of a page in their order."""
    for found in _LINK.finditer(without_code(text)):
        yield Link(found[1], found[2])


def rewritten(text: str, change: Callable[[Link], str]) -> str:
    """Return a page in which each link is replaced by what `change` returns for it."""
    hidden = without_code(text)
    parts, end = [], 0
    for found in _LINK.finditer(hidden):
        label = text[found.start(1) : found.end(1)]
        parts += [text[end : found.start()], change(Link(label, found[2]))]
        end = found.end()
    return "".join([*parts, text[end:]])


def anchors(text: str) -> set[str]:
    """Return the anchors of a page: those of `<a id>`, and one for each heading."""
    found = set(_ANCHOR.findall(text))
    for heading in _HEADING.findall(_FENCE.sub("", text)):
        first = name = slug(heading)
        number = 0
        while name in found:
            number += 1
            name = f"{first}_{number}"
        found.add(name)
    return found


def slug(heading: str) -> str:
    """Return the anchor of a heading.

    >>> slug("Who may do what, and `POST /a`")
    'who-may-do-what-and-post-a'
    """
    words = re.sub(r"\[([^][]*)\]\([^()]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")


def without_code(text: str) -> str:
    """Return a page of equal length in which code is blank, so that places stay where they are."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0])

    # code inside the brackets of a link must stay recognizable as text: only its brackets are hidden
    return _CODE.sub(lambda found: re.sub(r"[][()]", " ", found[0]), _FENCE.sub(blank, text))


def place(root: Path, page: Path, link: Link) -> Path:
    """Return the file that a relative link of a page leads to, relative to the root of the project."""
    target = (root / page).parent / link.path if link.path else root / page
    return Path(target.resolve().relative_to(root.resolve()))

"""Serves the files that pages load: the own style and script, and htmx from a package.

    static/console.css, static/console.js   our own files
    htmx.min.js, htmx-sse.min.js            of the package django-htmx, which `./dev setup` installs; a wheel
                                            of Reliquary has copies of both, with their licence, in packed/

The address of a file has a hash of its content, so a browser caches it permanently and loads a new one
at once. If htmx is not installed, pages work without it and are reloaded manually.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

PREFIX: Final = "/console/static/"
_KINDS: Final = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_OWN: Final = ("console.css", "console.js")
FOREIGN: Final = {
    "htmx.min.js": "static/django_htmx/htmx-2.min.js",
    "htmx-sse.min.js": "static/django_htmx/ext/hx-sse-2.min.js",
}
"""Files of other projects: the name here, and the path in the package."""


class Asset(NamedTuple):
    """A file that is served."""

    name: str
    content: bytes
    kind: str
    path: str
    """The path of its address, with a hash of the content."""


def load() -> dict[str, Asset]:
    """Read all files that are installed, by their names."""
    return {name: _asset(name, content) for name, content in _contents()}


def _contents() -> Iterator[tuple[str, bytes]]:
    here = files(__package__)
    for name in _OWN:
        yield name, (here / "static" / name).read_bytes()
    for name, inside in FOREIGN.items():
        found = next((each for each in (here / "packed" / name, _in_package(inside)) if each.is_file()), None)
        if found is not None:
            yield name, found.read_bytes()


def _in_package(path: str) -> Path:
    """Return the path of a file of the package django-htmx, which is found and not imported."""
    spec = find_spec("django_htmx")
    folder = Path(spec.origin).parent if spec is not None and spec.origin else Path("/nonexistent")
    return folder / path


def _asset(name: str, content: bytes) -> Asset:
    digest = sha256(content).hexdigest()[:16]
    return Asset(name, content, _KINDS[name[name.rindex(".") :]], f"{PREFIX}{digest}/{name}")

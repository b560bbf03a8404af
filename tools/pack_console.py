"""Puts the files of htmx and their licences into the wheel, for pages of the console.

They come from the package django-htmx, which is needed to build a wheel and not to run a server.  An editable
install, as `./dev` makes it, packs nothing: there the console finds the files in that package itself.

That package has its own licence alone.  The licences of htmx 2.0.10 and of its extension for server-sent
events are in tools/licences, so the build refuses another version until a person has looked at its licence.
"""

from __future__ import annotations

from importlib.metadata import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LICENCES = Path(__file__).parent / "licences"
VERSION = "2.0.10"
PACKED = "reliquary/console/web/packed"
FOREIGN = {
    "htmx.min.js": "static/django_htmx/htmx-2.min.js",
    "htmx-sse.min.js": "static/django_htmx/ext/hx-sse-2.min.js",
}
"""The names in the wheel, and the paths in the package; `console/web/assets.py` has an equal table."""


class PackConsole(BuildHookInterface[Any]):
    """The hook that hatchling calls before it builds."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel that is not editable."""
        if version == "editable":
            return
        build_data["force_include"] |= packed(package_folder())


def package_folder() -> Path:
    """Return the folder of the package django-htmx, which is found and not imported."""
    spec = find_spec("django_htmx")
    assert spec is not None, "django-htmx is one of the requirements of the build"
    assert spec.origin is not None, "django-htmx is an ordinary package"
    return Path(spec.origin).parent


def packed(package: Path) -> dict[str, str]:
    """Return the path in the wheel for each file that is added; SystemExit for an unknown version of htmx."""
    if f'version:"{VERSION}"' not in (package / FOREIGN["htmx.min.js"]).read_text(encoding="utf-8"):
        raise SystemExit(
            f"django-htmx does not have htmx {VERSION}: look at the licence of its version, renew "
            "tools/licences, and write the version into tools/pack_console.py"
        )
    added = {str(package / path): f"{PACKED}/{name}" for name, path in FOREIGN.items()}
    for licence in sorted(LICENCES.glob("*.txt")):
        added[str(licence)] = f"{PACKED}/LICENSE-{licence.stem}"
    for each in files("django-htmx") or ():
        if each.name == "LICENSE":
            added[str(each.locate())] = f"{PACKED}/LICENSE-django-htmx"
    return added

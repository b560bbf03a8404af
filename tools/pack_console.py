"""Puts the files of htmx and their licences into the wheel, for pages of the console.

They come from the package django-htmx, which is needed to build a wheel and not to run a server.  An editable
install, as `./dev` makes it, packs nothing: there the console finds the files in that package itself.
"""

from __future__ import annotations

from importlib.metadata import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

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
        spec = find_spec("django_htmx")
        assert spec is not None, "django-htmx is one of the requirements of the build"
        assert spec.origin is not None, "django-htmx is an ordinary package"
        folder = Path(spec.origin).parent
        added = {str(folder / path): f"{PACKED}/{name}" for name, path in FOREIGN.items()}
        for each in files("django-htmx") or ():
            if each.name == "LICENSE":
                added[str(each.locate())] = f"{PACKED}/LICENSE-django-htmx"
        build_data["force_include"] |= added

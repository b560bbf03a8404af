"""Runs a server without the command line around it: `python -m reliquary.server [SETTINGS.toml]`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from reliquary.base.faults import UsageError
from reliquary.server.exits import Exit
from reliquary.server.files import load_checked
from reliquary.server.run import serve


def main(arguments: list[str]) -> int:
    """Run a server with the settings of a file and the environment."""
    if len(arguments) > 1:
        sys.stderr.write("usage: python -m reliquary.server [SETTINGS.toml]\n")
        return Exit.USAGE
    try:
        file = Path(arguments[0]) if arguments else None
        settings = load_checked(file, os.environ)
    except UsageError as why:
        sys.stderr.write(f"reliquary: {why}\n")
        return Exit.USAGE
    return serve(settings, lambda: load_checked(file, os.environ))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

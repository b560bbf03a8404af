"""The last part of the story: the orders as tables of a lake, and the audit of both histories, on Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from reliquary.server.exits import Exit
from tools.story.sites import Site, run_command

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = frozenset({Exit.OK, Exit.AUDIT_REFUTED, Exit.AUDIT_NOT_JUDGED})
"""The exit codes of an audit that came to its end."""


def prepare_spark() -> bool:
    """Install Spark into the environment if it is not there; whether it is there afterwards."""
    command = [sys.executable, str(ROOT / "dev"), "setup", "--spark"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def run_lake(south: Site, folder: Path) -> Path:
    """Read the queues of the south into a lake, and return its folder."""
    lake = folder / "lake"
    run_command(south, "pipeline", "run", "lake", "--queue", "by-*", "--lake", str(lake))
    return lake


def run_audit(sites: list[Site], out: Path) -> str:
    """Judge the histories of all sites into the folder `out`, and return the verdict with its sentence."""
    for site in sites:
        run_command(site, "history", "export")
    histories = [word for site in sites for word in ("--history", str(site.folder / "history"))]
    command = ("pipeline", "run", "audit", *histories, "--out", str(out))
    found = run_command(sites[0], *command, accepted=VERDICTS)
    return f"{found['verdict']}. {found['sentence']}"

"""The last part of the story: the orders as tables of a lake, and the audit of both histories, on Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.story.sites import Site, run_command

ROOT = Path(__file__).resolve().parents[2]


def prepare_spark() -> None:
    """Install Spark into the environment if it is not there."""
    subprocess.run([sys.executable, str(ROOT / "dev"), "setup"], stdout=subprocess.DEVNULL, check=True)


def run_lake(south: Site, folder: Path) -> Path:
    """Read the queues of the south into a lake, and return its folder."""
    lake = folder / "lake"
    run_command(south, "pipeline", "run", "lake", "--queue", "by-*", "--lake", str(lake))
    return lake


def run_audit(sites: list[Site], folder: Path) -> tuple[Path, str]:
    """Judge the histories of all sites; return the report and the verdict."""
    out = folder / "audit"
    for site in sites:
        run_command(site, "history", "export")
    histories = [word for site in sites for word in ("--history", str(site.folder / "history"))]
    done = run_command(sites[0], "pipeline", "run", "audit", *histories, "--out", str(out), check=False)
    return out / "report.html", done

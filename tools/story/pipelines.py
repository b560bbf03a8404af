"""The last part of the story: the orders as tables of a lake, and the audit of both histories, on Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tools.story.sites import Site

ROOT = Path(__file__).resolve().parents[2]


def prepare_spark() -> None:
    """Install Spark into the environment if it is not there."""
    subprocess.run([sys.executable, str(ROOT / "dev"), "setup"], stdout=subprocess.DEVNULL, check=True)


def run_lake(south: Site, folder: Path) -> Path:
    """Read the queues of the south into a lake, and return its folder."""
    lake = folder / "lake"
    _reliquary(south, "pipeline", "run", "lake", "--queue", "by-*", "--lake", str(lake))
    return lake


def duplicates(sites: list[Site]) -> int:
    """Return how many messages came again and were dropped, as both histories say."""
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    import pyarrow.dataset as ds  # type: ignore[import-untyped]

    count = 0
    for site in sites:
        _reliquary(site, "history", "export")
        events = ds.dataset(site.folder / "history", partitioning=None).to_table(columns=["event"])
        count += pc.sum(pc.equal(events["event"].cast("string"), "duplicate")).as_py() or 0
    return count


def run_audit(sites: list[Site], folder: Path) -> tuple[Path, str]:
    """Judge the histories of all sites; return the report and the verdict."""
    out = folder / "audit"
    histories = [word for site in sites for word in ("--history", str(site.folder / "history"))]
    done = _reliquary(sites[0], "pipeline", "run", "audit", *histories, "--out", str(out), check=False)
    return out / "report.html", done


def _reliquary(site: Site, *words: str, check: bool = True) -> str:
    """Run a command of Reliquary for a site, and return what it says in its last line of JSON."""
    program = str(Path(sys.executable).parent / "reliquary")
    command = [program, "--server", site.data, "--control", site.console, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stderr}")
    last = done.stdout.strip().splitlines()[-1:] or ["{}"]
    try:
        return str(json.loads(last[0]).get("verdict", last[0]))
    except ValueError:
        return last[0]

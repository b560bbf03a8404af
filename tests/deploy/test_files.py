"""The files of deploy/: they name commands, settings, exit codes and metrics that exist."""

from __future__ import annotations

import configparser
import json
import re
from pathlib import Path

import pytest

from reliquary.console.metrics import PREFIX
from reliquary.server.exits import Exit
from reliquary.server.loading import NAMES, NOT_OURS
from tools.metrics_reference import declared

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_the_variables_of_unit_and_image_are_settings() -> None:
    known = {f"RELIQUARY_{name.upper()}" for name in NAMES} | NOT_OURS
    for name in ("reliquary.service", "Containerfile"):
        found = set(re.findall(r"RELIQUARY_[A-Z_]+", (DEPLOY / name).read_text()))
        assert found
        assert found <= known


def test_the_unit_does_not_restart_what_a_person_has_to_mend() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string((DEPLOY / "reliquary.service").read_text())
    codes = {int(each) for each in unit["Service"]["RestartPreventExitStatus"].split()}
    assert codes == {
        Exit.USAGE, Exit.STORE_NEWER, Exit.STORE_DAMAGED, Exit.STORE_MISSING, Exit.NO_PERMISSION,
        Exit.STORE_OLDER, Exit.IN_DOUBT,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["grafana.json", "alerts.yml"])
def test_every_query_names_series_that_a_server_has(name: str) -> None:
    """`tests/console/test_metrics.py` shows that the page of a server has what is declared."""
    text = (DEPLOY / name).read_text()
    if name == "grafana.json":
        panels = json.loads(text)["panels"]
        queries = [target["expr"] for panel in panels for target in panel["targets"]]
        assert len({panel["id"] for panel in panels}) == len(panels)
        assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}) == len(panels)
    else:
        queries = re.findall(r"^ +expr: (.+)$", text, re.MULTILINE)
        assert "alerts.yml" in (DEPLOY / "prometheus.yml").read_text()
    wanted = {each for query in queries for each in re.findall(r"reliquary_[a-z_]+", query)}
    known = {
        f"{PREFIX}{each.name}{suffix}"
        for each in declared()
        for suffix in (("_bucket", "_sum", "_count") if each.kind == "histogram" else ("",))
    }
    assert len(wanted) > 8
    assert wanted <= known

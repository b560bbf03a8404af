"""Tests the files of deploy/: they name commands, settings, exit codes and metrics that exist."""

from __future__ import annotations

import configparser
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from reliquary.console.metrics import PREFIX
from reliquary.console.samples import LATE_TICK, SLOW_SYNC
from reliquary.console.web import alarm_kinds
from reliquary.console.web.alarm_kinds import AlarmKind
from reliquary.console.web.alarms import NEARLY_FULL
from reliquary.server.exits import Exit
from reliquary.server.loading import NAMES, NOT_OURS
from tools.metrics_reference import declared

DEPLOY = Path(__file__).parents[2] / "deploy"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "observe.md"


def rules() -> dict[str, dict[str, Any]]:
    """Return the alert rules by their names, in the order of the file."""
    [group] = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"]
    return {each["alert"]: each for each in group["rules"]}


def rule_of(kind: AlarmKind) -> dict[str, Any]:
    return rules()[alarm_kinds.PREFIX + kind.value]


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


@pytest.mark.needs("systemd")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "reliquary.service").read_text()
    [program] = set(re.findall(r"^ExecStart(?:Pre)?=(\S+)", text, re.MULTILINE))
    unit = tmp_path / "reliquary.service"
    unit.write_text(text.replace(f"={program} ", "=/bin/true "))  # it is not installed here
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "reliquary" in line]
    assert (done.returncode, ours) == (0, [])


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
        queries = [each["expr"] for each in rules().values()]
        assert "alerts.yml" in (DEPLOY / "prometheus.yml").read_text()
    wanted = {each for query in queries for each in re.findall(r"reliquary_[a-z_]+", query)}
    known = {
        f"{PREFIX}{each.name}{suffix}"
        for each in declared()
        for suffix in (("_bucket", "_sum", "_count") if each.kind == "histogram" else ("",))
    }
    assert len(wanted) > 8
    assert wanted <= known


def test_the_alert_rules_and_the_alarms_of_the_console_are_one_list() -> None:
    """Only a server that is down has no alarm in its console, because it shows no page."""
    assert list(rules()) == ["ReliquaryDown", *(alarm_kinds.PREFIX + kind.value for kind in AlarmKind)]
    for kind in AlarmKind:
        rule = rule_of(kind)
        assert rule["annotations"]["description"] == kind.advice
        assert rule["labels"] == {"severity": kind.weight.value}
    assert str(NEARLY_FULL) in rule_of(AlarmKind.NEARLY_FULL)["expr"]
    assert rule_of(AlarmKind.SYNCS_ARE_SLOW)["expr"].endswith(f"> {SLOW_SYNC}")
    assert rule_of(AlarmKind.LOOP_IS_BUSY)["expr"].endswith(f"> {LATE_TICK}")


def test_an_alert_rule_says_what_happened_to_which_object() -> None:
    labels = {PREFIX + each.name: set(each.labels) for each in declared()}
    for name, rule in rules().items():
        summary = rule["annotations"]["summary"]
        named = set(re.findall(r"\$labels\.(\w+)", summary))
        assert summary.endswith("."), name
        assert "instance" in named, name
        known = set().union(*(labels.get(each, set()) for each in re.findall(r"reliquary_\w+", rule["expr"])))
        assert named - {"instance"} <= known, name
        assert {"queue", "destination", "consumer", "copy"} & known <= named, name


def test_the_guide_lists_the_alert_rules() -> None:
    assert re.findall(r"^\| `(Reliquary\w+)`", GUIDE.read_text(), re.MULTILINE) == list(rules())

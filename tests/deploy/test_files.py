"""The files of deploy/: they name commands, settings, exit codes and metrics that exist."""

from __future__ import annotations

import configparser
import json
import re
from pathlib import Path

from reliquary.server.exits import Exit
from reliquary.server.loading import NAMES, NOT_OURS
from tests.console.stage import Stage, play

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


def test_every_metric_of_the_dashboard_is_one_of_a_server(tmp_path: Path) -> None:
    board = json.loads((DEPLOY / "grafana.json").read_text())
    wanted = set(re.findall(r"reliquary_[a-z_]+", json.dumps(board["panels"])))
    body = b'{"text": "x"}'

    async def scene(stage: Stage) -> None:
        far = "DIRECT%3DTCP%3A192.0.2.1%5Cprivate$%5Cfar"
        await stage.data.request("POST", f"/api/v1/queues/{far}/messages", body)
        await stage.data.request("POST", "/api/v1/queues/orders/consumers", b'{"name": "lake"}')
        await stage.server.sampler.take()
        text = (await stage.get("/metrics")).body.decode()
        assert wanted <= set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))

    play(tmp_path, scene)

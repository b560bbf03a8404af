"""Tests of the command `reliquary manager`."""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_the_status_is_json_to_a_pipe_and_lines_for_a_person(run: Run) -> None:
    shown = json.loads(run("manager", "status").output)
    assert (shown["state"], shown["online"]) == ("ready", True)
    assert "online                 yes" in run("manager", "status", "--table").output


def test_the_manager_is_set_offline_and_online(run: Run) -> None:
    assert json.loads(run("manager", "offline").output)["online"] is False
    assert json.loads(run("manager", "online").output)["online"] is True

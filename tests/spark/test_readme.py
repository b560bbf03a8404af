"""The Spark program of the README, as it stands there; only the address is replaced."""

from __future__ import annotations

import pytest

from tests.e2e.test_readme import PROGRAMS
from tests.spark.desk import Desk


def test_the_spark_program_of_the_readme_runs(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    *_, program = PROGRAMS
    assert "http://127.0.0.1:8480" in program
    desk.manager.create_queue("orders")
    desk.manager.create_queue("big", transactional=True)
    desk.manager.queue("orders").send(b"two lamps", priority=3)
    desk.manager.queue("orders").send(b"two hundred lamps", priority=5)
    monkeypatch.chdir(desk.folder)
    exec(program.replace("http://127.0.0.1:8480", desk.url), {})  # noqa: S102 - it is ours
    assert desk.bodies("big") == ["two hundred lamps"]
    assert len(desk.bodies("orders")) == 2

"""The Spark programs of the README, as they stand there; only the address and a folder are replaced."""

from __future__ import annotations

from tests.e2e.test_readme import PROGRAMS
from tests.spark.desk import Desk


def test_the_spark_programs_of_the_readme_run(desk: Desk) -> None:
    program = "\n".join(each for each in PROGRAMS if "spark" in each)  # the second one goes on with the first
    here = {"http://127.0.0.1:8480": desk.url, "big.checkpoint": str(desk.folder / "big.checkpoint")}
    for written, replaced in here.items():  # Java does not follow chdir, and a checkpoint outlives the test
        assert written in program
        program = program.replace(written, replaced)
    desk.manager.create_queue("orders")
    desk.manager.create_queue("big", transactional=True)
    desk.manager.queue("orders").send(b"two lamps", priority=3)
    desk.manager.queue("orders").send(b"two hundred lamps", priority=5)
    exec(program, {})  # noqa: S102 - it is ours
    assert desk.bodies("big") == ["two hundred lamps"]
    assert len(desk.bodies("orders")) == 2

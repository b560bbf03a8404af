"""Verify and backup while the server works."""

from __future__ import annotations

import asyncio
from pathlib import Path

from reliquary.protocols.standard import ALL_TABLES
from reliquary.store import RocksDisk
from tests.console.harness import Harness, play


def test_a_store_in_use_is_verified(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b")
        report = await harness.ok("POST", "/store/verify")
        assert (report["damaged"], report["damages"]) == (0, [])
        assert report["rows"]["positions"] == 2
        assert set(report["rows"]) == set(ALL_TABLES)
        assert (await harness.refused("POST", "/store/verify", {"deep": True}))[:2] == (
            400,
            "INVALID_PARAMETER",
        )

    play(tmp_path, scene)


def test_damage_is_reported_and_not_hidden(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        disk = harness.server.opened.disk
        [(key, value)] = disk.range("positions", b"", b"\xff" * 9, limit=9)
        disk._db.get_column_family("positions")[key] = value[:-1] + bytes([value[-1] ^ 1])
        report = await harness.ok("POST", "/store/verify")
        assert report["damaged"] == 1
        assert report["damages"][0]["table"] == "positions"
        assert "fails its checksum" in report["damages"][0]["why"]

    play(tmp_path, scene)


def test_a_backup_is_a_store_of_its_own(tmp_path: Path) -> None:
    target = tmp_path / "backups" / "first"

    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b")
        status, answer = await harness.call("POST", "/store/backup", {"path": str(target)})
        assert (status, answer) == (201, {"path": str(target)})
        await harness.send("orders", "c")
        copy = RocksDisk(target, ALL_TABLES, create=False)
        assert len(copy.range("positions", b"", b"\xff" * 9, limit=9)) == 2
        copy.close()
        refused = await harness.refused("POST", "/store/backup", {"path": str(target)})
        assert refused[:2] == (400, "INVALID_PARAMETER")

    play(tmp_path, scene)


def test_a_backup_to_nowhere_is_refused_and_the_server_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    async def scene(harness: Harness) -> None:
        for path in ("relative", "", "/a\0b"):
            refused = await harness.refused("POST", "/store/backup", {"path": path})
            assert refused[:2] == (400, "INVALID_PARAMETER")
        for place in (tmp_path / "file" / "x", tmp_path / ("x" * 300), tmp_path / "y" / ("x" * 300),
                     tmp_path.joinpath(*["x" * 200] * 25)):  # fmt: skip
            status, code, why = await harness.refused("POST", "/store/backup", {"path": str(place)})
            assert (status, code) == (400, "INVALID_PARAMETER")
            assert why.startswith("no folder can have the path")
            assert len(why) < 400
        assert not (tmp_path / "y").exists()
        await harness.send("orders", "a")

    play(tmp_path, scene)


def test_long_work_runs_beside_messages_and_one_at_a_time(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        work = [
            asyncio.ensure_future(harness.ok("POST", "/store/verify")),
            asyncio.ensure_future(harness.ok("POST", "/store/backup", {"path": str(tmp_path / "b")})),
            asyncio.ensure_future(harness.ok("POST", "/store/verify")),
        ]
        await harness.send("orders", "a")
        assert [report.get("damaged", 0) for report in await asyncio.gather(*work)] == [0, 0, 0]

    play(tmp_path, scene)

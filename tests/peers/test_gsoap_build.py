"""Tests the build of the gSOAP peer: once for all, and again when something changed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.peers import gsoap_build
from tests.peers.gsoap_build import Build, build

pytestmark = pytest.mark.needs("gsoap")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the folders that are built; nothing is compiled."""
    folders: list[Path] = []

    def make(_gsoap: Path, folder: Path, _version: str) -> None:
        folder.mkdir(parents=True)
        folders.append(folder)

    monkeypatch.setattr(gsoap_build, "_build_version", make)
    return folders


def test_there_is_a_program_for_each_version_with_and_without_flow_control(gsoap: Build) -> None:
    programs = [
        gsoap.peer(version, flow_control=flow) for version in gsoap_build.IMPORTS for flow in (False, True)
    ]
    assert len({*programs}) == 4
    assert all(program.stat().st_mode & 0o100 for program in programs)


def test_several_workers_build_once(made: list[Path], tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as workers:
        builds = list(workers.map(build, [tmp_path] * 4))
    assert len({*builds}) == 1
    assert [folder.name for folder in made] == ["rm10", "rm11"]


def test_a_build_of_other_sources_is_replaced(
    made: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(tmp_path)
    monkeypatch.setattr(gsoap_build, "_digest", lambda _gsoap: "other")
    second = build(tmp_path)
    assert second.folder.name == "other"
    assert not first.folder.exists()
    assert len(made) == 4


def test_a_build_that_was_interrupted_is_begun_again(made: list[Path], tmp_path: Path) -> None:
    (tmp_path / "making" / "rm10").mkdir(parents=True)
    assert build(tmp_path).folder.exists()
    assert not (tmp_path / "making").exists()


def test_a_tool_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="a missing file"):
        gsoap_build.run_tool(tmp_path, "sh", "-c", "echo a missing file; exit 1")

"""Tests system packages: installed where that is allowed, named where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import system_packages
from tools.system_packages import Need

HERE = Need("here", "a test", ("here-package",), lambda: True)
GONE = Need("gone", "another test", ("gone-package", "gone-data"), lambda: False)


@pytest.fixture
def apt(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Records the calls of apt-get in place of making them."""
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(system_packages, "_apt_get", lambda *arguments: calls.append(arguments))
    return calls


def may_install(monkeypatch: pytest.MonkeyPatch, answer: bool) -> None:
    monkeypatch.setattr(system_packages, "can_install", lambda: answer)


def test_nothing_is_done_when_all_is_there(
    apt: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert system_packages.provide([HERE]) == []
    assert apt == []
    assert capsys.readouterr().out == ""


def test_without_the_right_to_install_one_line_says_what_to_install(
    apt: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_install(monkeypatch, False)
    said: list[str] = []
    assert system_packages.provide([HERE, GONE], said.append) == [GONE]
    assert said == [
        "missing: gone, for another test; install it with: apt-get install gone-package gone-data"
    ]
    assert apt == []


def test_what_is_missing_is_installed_after_one_update(
    apt: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_install(monkeypatch, True)
    late = Need("late", "a third test", ("late-package",), lambda: len(apt) == 2)
    said: list[str] = []
    assert system_packages.provide([HERE, late], said.append) == []
    assert [call[0] for call in apt] == ["update", "install"]
    assert apt[1][-1] == "late-package"
    assert said == ["installing late-package with apt-get"]


def test_an_installation_that_failed_is_said(
    apt: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_install(monkeypatch, True)
    said: list[str] = []
    assert system_packages.provide([GONE], said.append) == [GONE]
    assert len(apt) == 2
    assert said[-1].startswith("missing: gone")


def test_gsoap_is_there_only_with_its_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "soapcpp2"
    plugin = tmp_path / "share" / "gsoap" / "plugin" / "wsrmapi.c"
    for path in (program, plugin):
        path.parent.mkdir(parents=True)
        path.touch()
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    assert system_packages.gsoap_folder() == tmp_path / "share" / "gsoap"
    assert not system_packages.NEEDED["gsoap"].present()  # the compiler, the library and wsdl2h are missing
    plugin.unlink()
    assert system_packages.gsoap_folder() is None


def test_openpgm_is_there_only_with_its_headers_and_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need = system_packages.NEEDED["openpgm"]
    monkeypatch.setattr(system_packages, "OPENPGM_HEADERS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    compiler = tmp_path / "cc"
    compiler.touch(mode=0o755)
    assert not need.present()
    (tmp_path / "pgm").mkdir()
    (tmp_path / "pgm" / "pgm.h").touch()
    assert need.present()
    compiler.unlink()
    assert not need.present()


def test_every_need_has_a_name_that_a_mark_can_use() -> None:
    assert all(name == need.name and need.apt and need.why for name, need in system_packages.NEEDED.items())

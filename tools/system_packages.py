"""System packages that some tests need, and how they get here.

    a row of NEEDED --> there already?     nothing to do
                    --> root on Debian?    apt-get installs it
                    --> otherwise          one line says what to install, and the tests skip

A test names its need with `@pytest.mark.needs("strace")`; with CI=true a missing package fails it.
Only the standard library is used here: `./dev` imports this file before there is an environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Need:
    """One thing that a test or `./dev` itself cannot do without."""

    name: str
    why: str
    apt: tuple[str, ...]
    present: Callable[[], bool]


def _command(name: str) -> Callable[[], bool]:
    return lambda: shutil.which(name) is not None


def _ensurepip(python: str) -> Callable[[], bool]:
    command = [python, "-c", "import ensurepip"]
    return lambda: subprocess.run(command, capture_output=True, check=False).returncode == 0


def postgres_folder() -> Path | None:
    """Return where PostgreSQL's server programs are: Debian keeps them off the PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next(
        (each for each in folders if (each / "postgres").exists() and (each / "initdb").exists()), None
    )


def gsoap_folder() -> Path | None:
    """Return where gSOAP's imports and plugins are; None where the programs alone are installed."""
    found = shutil.which("soapcpp2")
    folder = Path(found).resolve().parents[1] / "share" / "gsoap" if found else None
    return folder if folder and (folder / "plugin" / "wsrmapi.c").exists() else None


def _gsoap_with_compiler() -> bool:
    programs = all(shutil.which(name) for name in ("soapcpp2", "wsdl2h", "cc"))
    folder = gsoap_folder()
    return programs and folder is not None and (folder.parents[1] / "include" / "stdsoap2.h").exists()


OPENPGM_HEADERS = Path("/usr/include/pgm-5.3")
"""Debian has the headers of OpenPGM in a folder that has its version."""


def _openpgm_with_compiler() -> bool:
    return shutil.which("cc") is not None and (OPENPGM_HEADERS / "pgm" / "pgm.h").exists()


SAMBA_TESTS = Path("/usr/lib/python3/dist-packages/samba/tests/dcerpc/raw_protocol.py")
"""Samba's tests of DCE/RPC servers; they run with the system's own Python."""

NEEDED: dict[str, Need] = {
    need.name: need
    for need in (
        Need(
            "openssl",
            "tests that compare signatures with those of another implementation",
            ("openssl",),
            _command("openssl"),
        ),
        Need("chromium", "tests of the web console in a browser", ("chromium",), _command("chromium")),
        Need("iproute2", "tests in network namespaces", ("iproute2",), _command("ip")),
        Need("tshark", "tests of the Wireshark dissector", ("tshark",), _command("tshark")),
        Need("systemd", "a test of the unit of systemd", ("systemd",), _command("systemd-analyze")),
        Need("strace", "tests of a failing sync and a full disk", ("strace",), _command("strace")),
        Need(
            "postgres",
            "tests of exactly once with PostgreSQL",
            ("postgresql",),
            lambda: postgres_folder() is not None,
        ),
        Need(
            "gsoap",
            "tests of WS-ReliableMessaging with another implementation",
            ("gsoap", "libgsoap-dev", "gcc", "libc6-dev"),
            _gsoap_with_compiler,
        ),
        Need(
            "openpgm",
            "tests of multicast with another implementation",
            ("libpgm-dev", "gcc", "libc6-dev"),
            _openpgm_with_compiler,
        ),
        Need(
            "samba",
            "tests of DCE/RPC with another implementation",
            ("python3-samba",),
            SAMBA_TESTS.exists,
        ),
    )
}


def venv_of(python: str) -> Need:
    """Return the need of the modules that make an environment; on Debian they are a package of their own."""
    return Need(
        "venv", f"making an environment with {python}, without uv", ("python3-venv",), _ensurepip(python)
    )


def missing(needs: Iterable[Need]) -> list[Need]:
    """Return the packages that are not on this machine."""
    return [need for need in needs if not need.present()]


def can_install() -> bool:
    """Return whether this process may call apt-get: root, on Debian or Ubuntu."""
    return os.geteuid() == 0 and Path("/etc/debian_version").exists() and shutil.which("apt-get") is not None


def provide(needs: Iterable[Need], say: Callable[[str], None] = print) -> list[Need]:
    """Install what is missing where that is possible; return what still is, with one line said for each."""
    absent = missing(needs)
    if absent and can_install():
        packages = [package for need in absent for package in need.apt]
        say(f"installing {' '.join(packages)} with apt-get")
        _apt_get("update")
        _apt_get("install", "--yes", "--no-install-recommends", *packages)
        absent = missing(absent)
    for need in absent:
        say(f"missing: {need.name}, for {need.why}; install it with: apt-get install {' '.join(need.apt)}")
    return absent


def _apt_get(*arguments: str) -> None:
    """Run apt-get quietly; whether it worked is seen by what is there afterwards."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        ["apt-get", "-qq", *arguments], env=quiet, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        print(done.stderr.strip() or done.stdout.strip())

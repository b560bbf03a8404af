"""Builds the gSOAP peer of tests/peers/gsoap with the plugins that are in gSOAP's own package.

    <cache>/<digest>/rm11/{soapC,...}.c, peer-plain, peer-wcf      what soapcpp2 makes, and the programs
    <cache>/<digest>/rm10/...

The digest is that of our sources and of gSOAP's plugins, so a build is used until one of them changes.
Workers of one test run wait for each other, and only the first builds: about 3 s for all programs.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from tools.system_packages import gsoap_folder

Version = Literal["1.0", "1.1"]

SOURCES: Final = Path(__file__).with_name("gsoap")
IMPORTS: Final[dict[Version, str]] = {"1.0": "wsrm5.h", "1.1": "wsrm.h"}
PLUGINS: Final = ("plugin/wsrmapi", "plugin/wsaapi", "plugin/threads", "custom/duration")
FLAGS: Final = ("-O0", "-w", "-DWITH_IPV6", "-DWITH_DOM")
"""The flags of the library in the package (gsoap.pc), since they change the layout of its structures."""
FLOW_CONTROL: Final = ("-DWITH_WCF", "-DWITH_WCF_SIM")
"""The flags with which each acknowledgement has BufferRemaining."""
UNFIT: Final = "struct wsrm__TerminateSequenceType *res);"
"""In wsrmapi.h: a prototype for RM 1.0 that contradicts the definition in wsrmapi.c."""


@dataclass(frozen=True)
class Build:
    """The programs, all in one folder."""

    folder: Path

    def peer(self, version: Version, *, flow_control: bool = False) -> Path:
        """Return the program for a version of RM; with flow control it sends BufferRemaining."""
        return self.folder / _room(version) / ("peer-wcf" if flow_control else "peer-plain")


def build(cache: Path) -> Build:
    """Return the programs, built now if the cache does not have them."""
    gsoap = gsoap_folder()
    assert gsoap is not None, "needs a system package"
    folder = cache / _digest(gsoap)
    with _locked(cache / "lock"):
        if not folder.exists():
            for old in cache.glob("*/"):
                shutil.rmtree(old)
            making = cache / "making"
            for version in IMPORTS:
                _build_version(gsoap, making / _room(version), version)
            making.rename(folder)
    return Build(folder)


def run_tool(folder: Path, *command: str | Path) -> str:
    """Run a program in a folder and return what it said; where it fails, the test fails with that."""
    done = subprocess.run(
        command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}:\n{done.stdout}"
    return done.stdout


def copy_plugins(gsoap: Path, folder: Path, version: Version) -> None:
    """Copy the plugins into a folder, as a version of RM needs them."""
    for plugin in PLUGINS:
        for ending in (".c", ".h"):
            shutil.copy((gsoap / plugin).with_suffix(ending), folder)
    if version == "1.0":
        _drop_lines(folder / "wsrmapi.h", UNFIT)


def _room(version: Version) -> str:
    return f"rm{version.replace('.', '')}"


def _digest(gsoap: Path) -> str:
    files = [*sorted(SOURCES.glob("*.[ch]")), *sorted((gsoap / "plugin").glob("ws*api.[ch]")), Path(__file__)]
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _build_version(gsoap: Path, folder: Path, version: Version) -> None:
    folder.mkdir(parents=True)
    copy_plugins(gsoap, folder, version)
    service = f'#import "{IMPORTS[version]}"\n{(SOURCES / "service.h").read_text()}'
    (folder / "imports.h").write_text(service)
    run_tool(
        folder, "soapcpp2", "-c", "-a", "-L", "-w", "-x", f"-I{gsoap / 'import'}", f"-I{gsoap}", "imports.h"
    )
    generated = [folder / f"{name}.c" for name in ("soapC", "soapClient", "soapServer", "wsaapi", "duration")]
    ours = [SOURCES / f"{name}.c" for name in ("peer", "client", "server")]
    compile_c = ("cc", *FLAGS, "-I.", f"-I{SOURCES}", "-c")
    run_tool(folder, *compile_c, *generated, *ours)
    objects = [f"{path.stem}.o" for path in (*generated, *ours)]
    for program, flags in (("peer-plain", ()), ("peer-wcf", FLOW_CONTROL)):
        run_tool(folder, *compile_c, *flags, "wsrmapi.c")
        run_tool(folder, "cc", "-o", program, *objects, "wsrmapi.o", "-lgsoap", "-lpthread")


def _drop_lines(path: Path, ending: str) -> None:
    lines = path.read_text(errors="surrogateescape").splitlines(keepends=True)
    kept = [line for line in lines if not line.rstrip().endswith(ending)]
    assert len(kept) == len(lines) - 1, f"{path.name} has changed: look whether RM 1.0 still needs this"
    path.write_text("".join(kept), errors="surrogateescape")

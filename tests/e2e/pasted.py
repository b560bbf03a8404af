"""The blocks of a guide, and a terminal into which they are pasted one after the other.

    sh, console, python     pasted; `# prints TEXT` behind a command says what it prints, and in `console`
                            all of its output stands below it, where `…` is any text
    any other language      shown only

A comment above a block says why it is not pasted, or not in the short tests:

    <!-- not run: it needs another computer -->        <!-- long: it starts Spark -->
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple

from reliquary.cli.connection import CONTROL_VARIABLE, SERVER_VARIABLE
from tests.ports import free_ports

PASTED: Final = frozenset({"sh", "console", "python"})
SHOWN: Final = frozenset({"text", "toml", "xml", "sql", "c", "csharp", "powershell", "nginx"})
PORTS: Final = ("8480", "8481", "8580", "8581", "2103", "2105", "1801")
"""Ports of the guides: in the tests they are ports that are free."""
BIN: Final = Path(sys.executable).parent
DEV: Final = """#!/bin/sh
case "$1" in
    run) shift 2; exec reliquary serve --first-queue orders "$@" ;;
    setup) mkdir -p .venv/bin && : > .venv/bin/activate ;;
    test) : ;;
    *) exit 2 ;;
esac
"""
"""Stands in the place of `./dev`, which would set up a whole environment."""
_FENCE: Final = re.compile(r"^```(\w*)$")
_REMARK: Final = re.compile(r"^<!-- (not run|long): (.+) -->$")
_PRINTS: Final = re.compile(r"# prints (.+)$", re.MULTILINE)
_PYTHON: Final = """
import sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    path, out = line.split()
    real = sys.stdout
    try:
        with open(path) as file, open(out, "w") as sys.stdout:
            exec(compile(file.read(), path, "exec"), names)
        print("ok", file=real, flush=True)
    except BaseException:
        print(repr(traceback.format_exc()), file=real, flush=True)
    finally:
        sys.stdout = real
"""


class Block(NamedTuple):
    """A block of a guide."""

    line: int
    language: str
    text: str
    remark: str = ""
    """`not run`, `long`, or empty."""


def blocks_of(text: str) -> list[Block]:
    """Return all fenced blocks in their order."""
    found, language, begun, remark = [], None, 0, ""
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        fence = _FENCE.match(line)
        if fence and language is None:
            above = _REMARK.match(lines[number - 2]) if number > 1 else None
            language, begun, remark = fence[1], number, above[1] if above else ""
        elif fence:
            assert language is not None
            found.append(Block(begun, language, "\n".join(lines[begun : number - 1]) + "\n", remark))
            language = None
    assert language is None, f"the block of line {begun} has no end"
    return found


def outside_of_blocks(text: str) -> list[str]:
    """Return lines that Markdown shows as code although no fence says in which language."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\n\n( {4}\S.*)", prose)


class Terminal:
    """A shell and a Python in a new folder, on ports that are free; both remember what was typed before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ports = dict(zip(PORTS, map(str, free_ports(len(PORTS))), strict=True))
        self._count = 0
        (folder / "dev").write_text(DEV)
        (folder / "dev").chmod(0o700)
        self._shell = self._started("bash", "--norc", "--noprofile", "-e")
        self._python = self._started(sys.executable, "-c", _PYTHON)

    def _started(self, *command: str) -> subprocess.Popen[str]:
        mine = {name: value for name, value in os.environ.items() if not name.startswith("RELIQUARY_")}
        data, control, _, _, handshake, read, sessions = self._ports.values()
        chosen = {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "RELIQUARY_DATA_PORT": data,
            "RELIQUARY_CONTROL_PORT": control,
            SERVER_VARIABLE: f"http://127.0.0.1:{data}",
            CONTROL_VARIABLE: f"http://127.0.0.1:{control}",
            "RELIQUARY_MQQP_HANDSHAKE_PORT": handshake,
            "RELIQUARY_MQQP_READ_PORT": read,
            "RELIQUARY_MQQB_PORT": sessions,
        }
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=mine | chosen,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # servers in the background end with it
        )

    def paste(self, block: Block) -> None:
        """Run a block, and compare what it prints with what the guide shows."""
        text = re.sub(rf"(?<!\d)({'|'.join(PORTS)})(?!\d)", lambda each: self._ports[each[1]], block.text)
        if block.language == "python":
            self._run_python(text)
        elif block.language == "console":
            for command, shown in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                printed = self._run_shell(command)
                wanted = ".*".join(map(re.escape, shown.strip().split("…")))
                assert re.fullmatch(wanted, printed.strip()), f"{command}\n{printed}"
        else:
            printed = self._run_shell(text)
            place = 0
            for wanted in _PRINTS.findall(text):
                place = printed.find(wanted, place)
                assert place >= 0, f"{wanted!r} was not printed:\n{text}\n{printed}"
                place += len(wanted)

    def _run_shell(self, text: str) -> str:
        paths = script, out, err = self._files("sh", "out", "err")
        script.write_text(text)
        answer = self._ask(self._shell, "source {} </dev/null >{} 2>{}; echo ok".format(*paths))
        assert answer == "ok\n", f"{text}\n{out.read_text()}{err.read_text()}"
        return out.read_text()

    def _run_python(self, text: str) -> None:
        script, out = self._files("py", "out")
        script.write_text(text)
        answer = self._ask(self._python, f"{script} {out}")
        assert answer == "ok\n", f"{text}\n{answer}"

    def _files(self, *kinds: str) -> Sequence[Path]:
        self._count += 1
        return [self.folder / f"pasted-{self._count}.{kind}" for kind in kinds]

    def _ask(self, process: subprocess.Popen[str], line: str) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        return process.stdout.readline()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in (self._shell, self._python):
            with suppress(ProcessLookupError):  # it failed before, with all that it had started
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                stream.close()

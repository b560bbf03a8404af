"""The gSOAP peer as processes of a test: a server that lists what it accepted, a client that reports."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

PATIENCE: Final = 60
"""Seconds until a wait counts as one without an end."""
NAMESPACE: Final = "urn:reliquary:notes"
NOTE: Final = f"{NAMESPACE}/note"
ASK: Final = f"{NAMESPACE}/ask"
ANSWER: Final = f"{NAMESPACE}/askResponse"


def note(text: str) -> str:
    """Return the body of a one-way message."""
    return f'<n:note xmlns:n="{NAMESPACE}"><text>{text}</text></n:note>'


def ask(text: str) -> str:
    """Return the body of a request."""
    return f'<n:ask xmlns:n="{NAMESPACE}"><text>{text}</text></n:ask>'


def answer(text: str) -> str:
    """Return the body of a response."""
    return f'<n:askResponse xmlns:n="{NAMESPACE}"><answer>{text}</answer></n:askResponse>'


def texts(count: int) -> list[str]:
    """Return what a client sends."""
    return [f"message {number}" for number in range(1, count + 1)]


@dataclass(frozen=True)
class Accepted:
    """One message that the server's application got."""

    sequence: str
    number: int
    kind: str
    text: str


@dataclass(frozen=True)
class Acknowledgement:
    """One SequenceAcknowledgement that came in."""

    sequence: str
    ranges: str
    """The acknowledged ranges, as `1-3,5-5`."""
    final: bool
    room: int | None
    """The value of BufferRemaining, if there is one."""


def acknowledgements_in(lines: Sequence[str]) -> list[Acknowledgement]:
    """Return the acknowledgements that a peer reported, in their order."""
    found = []
    for words in (line.split(" ") for line in lines if line.startswith("acknowledgement ")):
        room = int(words[words.index("room") + 1]) if "room" in words else None
        found.append(Acknowledgement(words[1], words[2], "final" in words, room))
    return found


@dataclass(frozen=True)
class Report:
    """The exit code of a client, and all lines that it printed."""

    code: int
    lines: tuple[str, ...]

    def said(self, word: str) -> list[str]:
        """Return the rest of all lines that begin with a word."""
        return [line.removeprefix(word).strip() for line in self.lines if line.split(" ")[0] == word]

    @property
    def answers(self) -> list[str]:
        """The texts of the responses, in the order in which they came."""
        return [each.split(" ", 2)[2] for each in self.said("answer")]

    @property
    def unacknowledged(self) -> list[int]:
        """The numbers that no acknowledgement had covered at the end."""
        last = self.said("unacknowledged")[-1]
        return [] if last == "-" else [int(number) for number in last.split(",")]

    @property
    def acknowledgements(self) -> list[Acknowledgement]:
        """Return all acknowledgements that came in."""
        return acknowledgements_in(self.lines)


class GsoapClient:
    """A client that has been started; `report` waits for its end."""

    def __init__(self, program: Path, url: str, *arguments: str) -> None:
        command = [str(program), "client", url, *arguments]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    @property
    def has_ended(self) -> bool:
        """Return whether it has done its work, or has failed."""
        return self._process.poll() is not None

    def report(self) -> Report:
        """Wait until it has ended."""
        said, _ = self._process.communicate(timeout=PATIENCE)
        return Report(self._process.returncode, tuple(said.splitlines()))

    def __enter__(self) -> GsoapClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


class GsoapServer:
    """A server while the block runs.  A thread reads what it says, so that it never waits for the test."""

    def __init__(self, program: Path, *arguments: str) -> None:
        self.lines: list[str] = []
        self._news = threading.Condition()
        self._process = subprocess.Popen(
            [program, "server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait_until(self, is_so: Callable[[GsoapServer], bool]) -> None:
        """Wait for something that the server says."""
        with self._news:
            self._news.wait_for(lambda: is_so(self) or self._ended, PATIENCE)
            assert is_so(self), "\n".join(["the gSOAP server said only:", *self.lines])

    @property
    def accepted(self) -> list[Accepted]:
        """The messages that its application got, in their order."""
        found = [line.split(" ", 4) for line in self.lines if line.startswith("accepted ")]
        return [Accepted(sequence, int(number), kind, text) for _, sequence, number, kind, text in found]

    @property
    def heard(self) -> list[str]:
        """The actions of all messages that came in, the plugin's own and repeated ones among them."""
        return [line.split(" ")[1] for line in self.lines if line.startswith("headers ")]

    @property
    def port(self) -> int:
        """The port at which the program listens."""
        return int(next(line.split(" ")[1] for line in self.lines if line.startswith("listening ")))

    @property
    def url(self) -> str:
        """The address of its service."""
        return f"http://127.0.0.1:{self.port}/"

    def __enter__(self) -> GsoapServer:
        self.wait_until(lambda it: any(line.startswith("listening ") for line in it.lines))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        # it would try without end to acknowledge what came from a manager that has gone
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()

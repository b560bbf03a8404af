"""Tests bad days: each gives one clear sentence and a named exit code, and what was acknowledged stays."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from functools import partial
from http.client import HTTPException
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError

import pytest

from reliquary.server.exits import Exit
from tests.e2e import disks
from tests.e2e.process import SERVER, ServerProcess, environment, run_to_its_end

TEXT = Random(1).randbytes(1000).hex()
"""Nothing that compression would hide."""


def call(server: ServerProcess, path: str, body: object = None) -> Any:
    """Send one request to the data plane; an OSError or HTTPException when the server is gone."""
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(f"{server.data}/api/v1/queues/orders/{path}", data) as answer:
        return json.load(answer)


def send(server: ServerProcess, label: str, text: str = "") -> None:
    call(server, "messages", {"text": text, "label": label})


def send_to_the_end(server: ServerProcess, text: str) -> list[str]:
    """Send until the server is gone; what it confirmed."""
    confirmed: list[str] = []
    while len(confirmed) < 1_000_000:
        label = str(len(confirmed))
        try:
            send(server, label, text)
        except (OSError, HTTPException):
            break
        confirmed.append(label)
    return confirmed


def labels(server: ServerProcess) -> list[str]:
    """Return the labels of all messages, page by page: an answer has some megabytes at most."""
    found: list[str] = []
    after = ""
    while page := call(server, f"messages?limit=100{after}")["messages"]:
        found += [each["label"] for each in page]
        after = f"&after={page[-1]['lookup_id']}"
    return found


def must_be_one_sentence(said: str, *words: object) -> None:
    lines = said.splitlines()
    assert len(lines) == 1, said
    assert re.match(r"(\S+Z CRITICAL )?reliquary: ", lines[0]), said
    assert all(str(word) in said for word in words), said


def must_hold(folder: Path, confirmed: list[str]) -> None:
    """Check that all that was confirmed is there; the message that was on its way may be there too."""
    with ServerProcess(folder).wait_until_ready() as server:
        there = labels(server)
        assert server.stop() == Exit.OK
    assert there[: len(confirmed)] == confirmed
    assert there[len(confirmed) :] in ([], [str(len(confirmed))])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def stopped(folder: Path) -> Path:
    """Return a store with ten messages, stopped in order."""
    with ServerProcess(folder, "orders").wait_until_ready() as server:
        for number in range(10):
            send(server, str(number), TEXT)
        assert server.stop() == Exit.OK
    return folder


@pytest.fixture
def killed(folder: Path) -> Path:
    """Return a store with ten messages, left behind by kill -9."""
    with ServerProcess(folder, "orders").wait_until_ready() as server:
        for number in range(10):
            send(server, str(number), TEXT)
        server.kill()
        server.wait()
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a store, without RocksDB's diary and its lock."""
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(("LOG", "LOCK"))
    }


# A folder that another process, version or user has


def test_a_second_process_on_the_folder_is_refused_and_the_first_goes_on(folder: Path) -> None:
    with ServerProcess(folder, "orders").wait_until_ready() as first:
        send(first, "before")
        code, said = run_to_its_end(folder)
        assert code == Exit.STORE_LOCKED
        must_be_one_sentence(said, folder, "in use by another process")
        send(first, "after")
        assert labels(first) == ["before", "after"]
        assert first.stop() == Exit.OK


def test_a_store_of_a_newer_version_is_left_alone(stopped: Path) -> None:
    (stopped / "FORMAT").write_text("reliquary store 99\n")
    before = content(stopped)
    code, said = run_to_its_end(stopped)
    assert code == Exit.STORE_NEWER
    must_be_one_sentence(said, stopped, "version 99")
    assert content(stopped) == before


def test_a_folder_with_other_things_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "000001.log").write_text("the notes of a user")
    code, said = run_to_its_end(folder)
    assert code == Exit.STORE_MISSING
    must_be_one_sentence(said, folder, "000001.log")
    assert content(folder) == {"000001.log": b"the notes of a user"}


@pytest.mark.parametrize(
    ("closed", "mode"), [("store", 0o000), ("store", 0o555), (".", 0o000)], ids=["no", "to look", "above"]
)
def test_a_folder_without_permission_is_reported(closed: str, mode: int) -> None:
    with TemporaryDirectory() as place:  # where every user may come, unlike tmp_path
        folder = Path(place) / "store"
        folder.mkdir()
        Path(place).chmod(0o755)
        Path(place, closed).chmod(mode)
        try:
            code, said = _run_unprivileged(folder)
        finally:
            Path(place, closed).chmod(0o755)
    assert code == Exit.NO_PERMISSION, said
    must_be_one_sentence(said, folder, "permission")


def _run_unprivileged(folder: Path) -> tuple[int, str]:
    """Root may read every file, so root becomes user 65534, once all code is loaded."""
    become = "os.getuid() or os.setresuid(65534, 65534, 65534)"
    script = f"import os, sys; from reliquary.server.__main__ import main; {become}; sys.exit(main([]))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stderr


def test_a_port_that_is_taken_is_reported_and_the_store_released(folder: Path, tmp_path: Path) -> None:
    with ServerProcess(folder, "orders").wait_until_ready() as first:
        taken = first.data.rpartition(":")[2]
        second = subprocess.run(
            SERVER,
            env=environment(tmp_path / "other") | {"RELIQUARY_DATA_PORT": taken},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert second.returncode == Exit.PORT_IN_USE
    must_be_one_sentence(second.stderr, taken)


# A damaged store


def test_a_log_that_was_cut_short_is_damage_and_nothing_is_touched(killed: Path) -> None:
    log = max(killed.glob("*.log"), key=lambda path: path.stat().st_size)
    os.truncate(log, log.stat().st_size - len(TEXT))
    before = content(killed)
    code, said = run_to_its_end(killed)
    assert code == Exit.STORE_DAMAGED
    must_be_one_sentence(said, killed, "damaged")
    assert content(killed) == before


@pytest.mark.parametrize("halved", [False, True], ids=["alone", "and the log is halved"])
def test_a_missing_mark_is_damage_and_nothing_is_touched(killed: Path, halved: bool) -> None:
    (killed / "SYNCED").unlink()
    if halved:
        log = max(killed.glob("*.log"), key=lambda path: path.stat().st_size)
        os.truncate(log, log.stat().st_size // 2)
    before = content(killed)
    code, said = run_to_its_end(killed)
    assert code == Exit.STORE_DAMAGED
    must_be_one_sentence(said, killed, "damaged", "SYNCED")
    assert content(killed) == before


def test_a_missing_file_is_damage(stopped: Path) -> None:
    max(stopped.glob("*.sst"), key=lambda path: path.stat().st_size).unlink()
    code, said = run_to_its_end(stopped)
    assert code == Exit.STORE_DAMAGED
    must_be_one_sentence(said, stopped, "damaged")


def test_a_message_that_rots_on_the_disk_stops_the_server_when_it_is_read(stopped: Path) -> None:
    file = max(stopped.glob("*.sst"), key=lambda path: path.stat().st_size)
    rotten = bytearray(file.read_bytes())
    place = rotten.index(TEXT[:16].encode())
    rotten[place] ^= 1
    file.write_bytes(rotten)
    with ServerProcess(stopped, "orders").wait_until_ready() as server:
        with pytest.raises((OSError, HTTPException)):
            call(server, "receive", {})
        assert server.wait() == Exit.STORE_DAMAGED
        must_be_one_sentence(server.said, "what was acknowledged before is safe")


# A disk that fails


@pytest.mark.needs("strace")
@pytest.mark.parametrize(
    ("error", "code", "words"),
    [("EIO", Exit.DISK_FAILED, "the disk failed"), ("ENOSPC", Exit.DISK_FULL, "is full")],
)
def test_a_sync_that_fails_ends_the_server_before_it_confirms(
    folder: Path, error: str, code: Exit, words: str
) -> None:
    """The system refuses every sync after the first hundred; -D makes the server our child, not strace's."""
    inject = f"inject=fdatasync:error={error}:when=100+"
    strace = ("strace", "-D", "-f", "-q", "-o", os.devnull, "-e", "trace=fdatasync", "-e", inject)
    with ServerProcess(folder, "orders", command=(*strace, *SERVER)).wait_until_ready() as server:
        confirmed = send_to_the_end(server, "")
        assert server.wait() == code
        must_be_one_sentence(server.said, folder, words, "what was acknowledged before is safe")
    assert 10 < len(confirmed) < 250
    must_hold(folder, confirmed)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with disks.small_disk(tmp_path / "disk") as place:
        yield place


def test_a_full_disk_ends_the_server_and_keeps_what_it_confirmed(small_disk: Path, tmp_path: Path) -> None:
    folder = small_disk / "store"
    with ServerProcess(folder, "orders", complaints=tmp_path / "stderr").wait_until_ready() as server:
        confirmed = send_to_the_end(server, "x" * 100_000)
        assert server.wait() == Exit.DISK_FULL
        must_be_one_sentence(server.said, folder, "is full", "what was acknowledged before is safe")
    assert len(confirmed) > 50
    code, said = run_to_its_end(folder)
    assert code == Exit.DISK_FULL
    must_be_one_sentence(said, folder, "is full")
    disks.enlarge(small_disk)
    must_hold(folder, confirmed)


ROOMY = {"LOW_SPACE": "24", "RESERVE": "20"}
"""Settings for a disk of 64 MB."""


def test_messages_are_refused_before_the_disk_is_full_and_a_full_disk_can_be_drained(tmp_path: Path) -> None:
    with disks.small_disk(tmp_path / "disk", 64) as place:
        folder = place / "store"
        life = partial(ServerProcess, folder, "orders", complaints=tmp_path / "stderr", settings=ROOMY)
        with life().wait_until_ready() as server:
            confirmed = send_until_refused(server)
            assert call(server, "receive", {})["messages"][0]["label"] == "0"
            server.kill()
            server.wait()
        filler = disks.fill(place)
        with life().wait_until_ready() as server:
            assert send_until_refused(server) == []
            assert labels(server) == confirmed[1:]
            for label in confirmed[1:]:
                assert call(server, "receive", {})["messages"][0]["label"] == label
            filler.unlink()
            while not send_until_refused(server, most=1):
                os.sched_yield()
            assert labels(server) == ["0"]
            assert server.stop() == Exit.OK
            assert "has too little space for new messages" in server.said


@pytest.mark.long
def test_what_was_drained_makes_room_for_new_messages(tmp_path: Path) -> None:
    """RocksDB must give back the room of messages that are gone, though its memtables are far from full."""
    with disks.small_disk(tmp_path / "disk", 64) as place:
        settings = ROOMY | {"RESERVE": "0"}
        process = ServerProcess(place / "store", "orders", complaints=tmp_path / "said", settings=settings)
        with process.wait_until_ready() as server:
            for label in send_until_refused(server):
                assert call(server, "receive", {})["messages"][0]["label"] == label
            while not send_until_refused(server, most=1):
                os.sched_yield()
            assert server.stop() == Exit.OK


def send_until_refused(server: ServerProcess, most: int = 1_000) -> list[str]:
    """Return the labels of what was confirmed before the server refused a message for want of room."""
    confirmed: list[str] = []
    refusal = 0, ""
    while len(confirmed) < most and not refusal[0]:
        try:
            send(server, str(len(confirmed)), Random(len(confirmed)).randbytes(50_000).hex())
        except HTTPError as why:
            refusal = why.code, json.load(why)["error"]
        else:
            confirmed.append(str(len(confirmed)))
    assert refusal[0] in (0, 507)
    assert "megabytes free" in refusal[1] or not refusal[0]
    return confirmed


def test_a_full_disk_ends_the_server_also_when_it_cannot_say_so(small_disk: Path) -> None:
    """The server's stderr is a file on the full disk, as a log beside the data would be."""
    folder = small_disk / "store"
    with ServerProcess(folder, "orders").wait_until_ready() as server:
        send_to_the_end(server, "x" * 100_000)
        assert server.wait() == Exit.DISK_FULL

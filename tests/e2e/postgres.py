"""A PostgreSQL server in a folder of its own, on a socket in it, reaped whatever happens."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.system_packages import postgres_folder


@contextmanager
def postgres() -> Iterator[str]:
    """Run a server while the block runs, and yield how to connect to it. It refuses to run as root."""
    programs = postgres_folder()
    assert programs is not None, "needs a system package"
    folder = Path(tempfile.mkdtemp(prefix="reliquary-postgres-"))  # the socket's path must be short
    who: Mapping[str, Any] = {}
    if os.geteuid() == 0:
        unprivileged = pwd.getpwnam("nobody")
        os.chown(folder, unprivileged.pw_uid, unprivileged.pw_gid)
        who = {"user": unprivileged.pw_uid, "group": unprivileged.pw_gid, "extra_groups": []}
    data = folder / "data"
    try:
        subprocess.run(
            [programs / "initdb", "--no-sync", "--auth=trust", "--username=test", "--encoding=UTF8", data],
            check=True,
            capture_output=True,
            cwd=folder,
            **who,
        )
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            **who,
        )
        try:
            assert server.stderr is not None
            said = ""
            while "ready to accept connections" not in said:
                line = server.stderr.readline()
                assert line, f"PostgreSQL ended instead of starting: {said}"
                said += line
            yield f"host={folder} user=test dbname=postgres"
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate()
    finally:
        shutil.rmtree(folder)

"""Tests the gSOAP client of the guide: its commands are typed as they stand there, and its message
arrives.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from reliquary import connect
from tests.e2e.process import ServerProcess

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "wsrm.md").read_text()
SECTION = GUIDE.partition("## A gSOAP client\n")[2].partition("\n## ")[0]


@pytest.mark.needs("gsoap")
def test_the_client_of_the_guide_puts_its_message_into_the_queue(tmp_path: Path) -> None:
    (program,) = re.findall(r"```c\n(.+?)```", SECTION, re.DOTALL)
    (commands,) = re.findall(r"```sh\n(.+?)```", SECTION, re.DOTALL)
    work = tmp_path / "client"
    work.mkdir()
    with ServerProcess(tmp_path / "store", "orders").wait_until_ready() as server:
        address = server.data.partition("://")[2]
        (work / "client.c").write_text(program.replace("127.0.0.1:8480", address))
        script = "set -e\n" + commands.replace("127.0.0.1:8480", address)
        done = subprocess.run(
            ["bash", "-c", script], cwd=work, text=True, capture_output=True, check=False, timeout=110
        )
        assert done.returncode == 0, done.stdout + done.stderr
        with connect(server.data) as manager:
            message = manager.queue("orders").receive(timeout=5)
    assert message is not None
    assert message.label == "urn:shop/order"
    assert "two lamps</order>" in (message.text or "")

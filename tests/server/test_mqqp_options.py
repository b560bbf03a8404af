"""Tests the table [mqqp]: every setting from file and environment, each wrong one named."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import seconds
from reliquary.protocols.mqqp.settings import MqqpSettings, ServerSettings
from reliquary.server.loading import load
from reliquary.server.mqqp_options import NAMES, MqqpOptions
from reliquary.wire.rpc.protection import Protection

EVERYTHING = r"""
[[users]]
name = "ada"
nt_hash = "0123456789abcdef0123456789abcdef"
[mqqp]
enabled = true
host = "10.0.0.1"
handshake_port = 12103
read_port = 12105
mapper_port = 135
connections = 1
contexts = 2
calls = 3
idle_time = 4
protection = "Integrity"
queues = 5
pending = 6
open_time = 7
call_time = 8
memory = 9
[[mqqp.servers]]
name = "far"
host = "10.0.0.5"
port = 12103
user = 'CORP\reader'
password = "secret"
protection = "privacy"
[[mqqp.servers]]
name = "*"
"""


def options_of(tmp_path: Path, text: str, **environment: str) -> MqqpOptions:
    file = tmp_path / "settings.toml"
    file.write_text(text)
    return load(file, environment).table(MqqpOptions)


def test_every_setting_can_be_given_in_the_file(tmp_path: Path) -> None:
    found = options_of(tmp_path, EVERYTHING)
    assert found == MqqpOptions(
        enabled=True,
        host="10.0.0.1",
        handshake_port=12103,
        read_port=12105,
        mapper_port=135,
        connections=1,
        contexts=2,
        calls=3,
        idle_time=seconds(4),
        protocol=MqqpSettings(
            protection=Protection.INTEGRITY,
            queues=5,
            pending=6,
            open_time=seconds(7),
            call_time=seconds(8),
            memory=seconds(9),
            servers=(
                ServerSettings(
                    name="far",
                    host="10.0.0.5",
                    port=12103,
                    user="CORP\\reader",
                    password="secret",
                    protection=Protection.PRIVACY,
                ),
                ServerSettings(name="*"),
            ),
        ),
    )
    own = {each.name for each in fields(MqqpOptions)} - {"protocol"}
    assert set(NAMES) == own | {each.name for each in fields(MqqpSettings)} - {"seed"}


def test_mqqp_is_off_and_asks_for_no_protection_by_default(tmp_path: Path) -> None:
    found = options_of(tmp_path, "")
    assert found == MqqpOptions()
    assert not found.enabled
    assert (found.handshake_port, found.read_port, found.mapper_port) == (2103, 2105, None)


def test_a_setting_can_be_given_in_the_environment(tmp_path: Path) -> None:
    found = options_of(tmp_path, "", RELIQUARY_MQQP_PROTECTION="none", RELIQUARY_MQQP_READ_PORT="7")
    assert (found.protocol.protection, found.read_port) == (Protection.NONE, 7)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("read_port = 65536", "read_port is 65536"),
        ("mapper_port = -1", "mapper_port is -1"),
        ("calls = 0", "calls is 0"),
        ("pending = 0", "pending is 0"),
        ("idle_time = 0", "idle_time is 0"),
        ('protection = "some"', "'some'"),
        ('enabled = true\nprotection = "connect"', "no user has an nt_hash"),
        ('servers = [{host = "h"}]', "needs the field name"),
        ('servers = [{name = "h"}, {name = "H"}]', "twice"),
        ('servers = [{name = "h", user = "u"}]', "user and password of h belong together"),
        ('servers = [{name = "h", protection = "much"}]', "'much'"),
        ("seed = 1", "seed"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match="mqqp") as refused:
        options_of(tmp_path, f"[mqqp]\n{text}\n")
    assert why in str(refused.value)

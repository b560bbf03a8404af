"""Tests where settings come from: lines of the file, the environment, the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.loading import load, load_with_origins

TEXT = """\
# the shop
data_port = 9000
queues = [
  "orders",
]

[srmp]
enabled = true
response_time = 5

[[users]]
name = "alice"
token_sha256 = "%s"
""" % ("a" * 64)


def written(folder: Path, text: str) -> Path:
    file = folder / "reliquary.toml"
    file.write_text(text)
    return file


def test_each_setting_knows_its_line_its_variable_or_its_option(tmp_path: Path) -> None:
    file = written(tmp_path, TEXT)
    origins = load_with_origins(file, {"RELIQUARY_QUOTA": "5"}, {"control_port": 1}).origins
    assert origins == {
        ("", "data_port"): f"{file}:2",
        ("", "queues"): f"{file}:3",
        ("", "srmp"): f"{file}:7",
        ("srmp", "enabled"): f"{file}:8",
        ("srmp", "response_time"): f"{file}:9",
        ("", "users"): f"{file}:11",
        ("", "users[0]"): f"{file}:11",
        ("users[0]", "name"): f"{file}:12",
        ("users[0]", "token_sha256"): f"{file}:13",
        ("", "quota"): "environment",
        ("", "control_port"): "command line",
    }


def test_the_later_place_wins(tmp_path: Path) -> None:
    file = written(tmp_path, "data_port = 1")
    loaded = load_with_origins(file, {"RELIQUARY_DATA_PORT": "2"})
    assert (loaded.settings.data_port, loaded.origins["", "data_port"]) == (2, "environment")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        pytest.param("a = 1", 1, "there is no setting 'a'", id="an unknown setting"),
        pytest.param("\n\nquota = 'x'", 3, "quota: Expected `int`", id="another type"),
        pytest.param("quota = 1\ndata_port = 70000", 2, "data_port is 0 to 65535", id="out of its range"),
        pytest.param("[srmp]\nenabled = 1", 2, "srmp.enabled: Expected `bool`", id="in a table"),
        pytest.param("[srmp]\nother = 1", 2, "there is no setting 'other' in [srmp]", id="not in a table"),
        pytest.param("[limits]\nconnections = 0", 2, "limits.connections is 0", id="a table that is refused"),
        pytest.param("srmp = 1", 1, "srmp is a table", id="no table"),
        pytest.param("[mqqb]\nport = 1\nwindow = 0", 3, "mqqb.window is 0", id="refused by a protocol"),
        pytest.param(
            "\n[mqqb]\norder_ack = 11", 2, "mqqb.longest_order_ack is 10 s", id="a default that does not fit"
        ),
        pytest.param(
            "log_level = 'loud'",
            1,
            "log_level: Invalid enum value 'loud'; it is one of debug, info, warning, error, critical",
            id="not one of the words",
        ),
        pytest.param(
            "[[queue]]\nname = 'a'\nprivacy = 'x'",
            3,
            "queue: Invalid enum value 'x' - at `$[0].privacy`; it is one of none, optional, body",
            id="not one of the words, in a row",
        ),
        pytest.param(
            "[[users]]\nname = 'a'\nrole = 'king'",
            3,
            "users: Invalid enum value 'king' - at `$[0].role`; it is one of reader, sender, receiver, ",
            id="not one of the roles",
        ),
        pytest.param(
            "data_port = 7\ncontrol_port = 7",
            2,
            "control_port is 7, and so is data_port",
            id="one port for both planes",
        ),
    ],
)
def test_an_error_names_the_file_and_the_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        load(file)
    assert str(refused.value).startswith(f"{file}:{line}: {said}")


TWO_USERS = """\
[[users]]
name = "a"
token_sha256 = "%s"

[[users]]
name = "b"
""" % ("a" * 64)
TWO_PEERS = """\
[[peers]]
name = "depot"
control = "http://depot:1"

[[peers]]
name = "shop"
"""
ENTRY = """\
[[queue]]
name = "a"

[[queue]]
name = "b"
"""


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        pytest.param("queues = ['a+b']", 1, "queues has the queue 'a+b'", id="a queue by its name"),
        pytest.param(
            "directory_integrated = true\nmachine_sid = 'me'", 2, "machine_sid: a SID looks like", id="a SID"
        ),
        pytest.param(TWO_USERS + "sid = 'me'\nnt_hash = 'x'", 8, "users: nt_hash of b", id="user's hash"),
        pytest.param(TWO_USERS + f"token_sha256 = '{'a' * 64}'", 5, "users: two users have", id="two tokens"),
        pytest.param(TWO_USERS + "token = 'x'", 7, "users: Object contains unknown field", id="user's key"),
        pytest.param(TWO_USERS + "groups = 1", 7, "users: Expected `array`", id="user's type"),
        pytest.param(TWO_PEERS, 5, "peers: Object missing required field", id="no address"),
        pytest.param(TWO_PEERS + "control = 'x'", 7, "peers 'shop': control has 'x'", id="address"),
        pytest.param(TWO_PEERS + "control = 'http://s:1'\nkey = 'x'", 8, "peers 'shop'", id="half a pair"),
        pytest.param(ENTRY + "owner = 'x'", 6, "queue 'b': owner: there is no user", id="owner of a queue"),
        pytest.param(ENTRY + "\naccess = [{user = 'x', rights = []}]", 7, "queue 'b': access of", id="list"),
        pytest.param(ENTRY + "quota = 'x'", 6, "queue: Expected `int`", id="quota of a queue"),
        pytest.param(ENTRY + "[[queue]]\nname = 'A'", 7, "queue 'A': the name is given twice", id="twice"),
        pytest.param(
            "[wsrm]\nwindow = 5\n[wsrm.tokens]\n'x' = 'y'", 3, "wsrm.tokens has 'x'", id="table in a table"
        ),
    ],
)
def test_an_error_in_a_row_names_the_line_of_the_row_and_key(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        load(file)
    assert str(refused.value).startswith(f"{file}:{line}: {said}")


def test_an_error_of_the_environment_or_of_an_option_names_no_line(tmp_path: Path) -> None:
    file = written(tmp_path, "data_port = 1")
    with pytest.raises(UsageError, match=r"^data_port is 0 to 65535, not 70000$"):
        load(file, {}, {"data_port": 70000})

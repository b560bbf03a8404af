"""Tests queues of the settings with options and access lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.loading import load
from reliquary.server.queue_entries import make_entries
from tests.console.harness import Harness, play
from tests.console.test_access import ALICE, BOB, ROOT, USERS, ask

TEXT = """
[[queue]]
name = "made"
transactional = true
quota = 64
label = "L"
access = [{user = "alice", rights = ["receive"]}, {user = "bob", rights = ["send"], deny = true}]

[[queue]]
name = "hers"
owner = "alice"

[[queue]]
name = "plain"
"""


def entries_of(tmp_path: Path, text: str = TEXT) -> Path:
    users = "".join(
        f'[[users]]\nname = "{each.name}"\ntoken_sha256 = "{each.token_sha256}"\n'
        f"groups = {list(each.groups)}\n"
        for each in USERS
    )
    file = tmp_path / "reliquary.toml"
    file.write_text(text + users)
    return file


def test_queues_are_made_with_options_owner_and_list_in_one_step(tmp_path: Path) -> None:
    entries = load(entries_of(tmp_path)).queue

    async def scene(harness: Harness) -> None:
        opened, users = harness.server.opened, harness.server.users
        await make_entries(opened, users, entries)
        made = (await ask(harness.control, ROOT, "GET", "/queues/made"))[1]["settings"]
        assert (made["transactional"], made["quota"], made["label"]) == (True, 64, "L")
        _, access = await ask(harness.control, ROOT, "GET", "/queues/made/access")
        assert access["owner"] == "administrators"
        listed = {(each["user"], each["allow"]): each["rights"] for each in access["entries"]}
        assert listed["bob", False] == ["write-message"]
        assert listed["alice", True] == ["receive-message"]
        assert listed["administrators", True] == ["generic-all"]
        assert (await ask(harness.data, BOB, "POST", "/queues/made/messages", {"text": "x"}))[0] == 403
        assert (await ask(harness.data, ALICE, "POST", "/queues/made/receive"))[0] == 200
        assert (await ask(harness.control, ROOT, "GET", "/queues/hers/access"))[1]["owner"] == "alice"
        plain = (await ask(harness.control, ROOT, "GET", "/queues/plain/access"))[1]
        orders = (await ask(harness.control, ROOT, "GET", "/queues/orders/access"))[1]
        assert plain["entries"] == orders["entries"]
        await ask(harness.control, ROOT, "PATCH", "/queues/made", {"label": "other"})
        await make_entries(opened, users, entries)
        assert (await ask(harness.control, ROOT, "GET", "/queues/made"))[1]["settings"]["label"] == "other"

    play(tmp_path, scene, users=USERS)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("name = 'a;b;c'", "queue 'a;b;c': a subqueue name cannot contain ';'"),
        ("name = 'hers'", "queue 'hers': the name is given twice"),
        ("name = 'x'\nowner = 'missing'", "queue 'x': owner: there is no user or group 'missing'"),
        (
            "name = 'x'\naccess = [{user = 'bob', rights = ['fly']}]",
            "access of 'bob': there is no right 'fly'",
        ),
        (
            "name = 'x'\naccess = [{user = 'bob', rights = []}]",
            "access of 'bob': it names no rights",
        ),
        ("name = 'x'\nsecurity = 'AAAA'", "queue 'x': security is not for the settings"),
        ("name = 'x'\ncolour = 'red'", "unknown field `colour`"),
        ("label = 'x'", "missing required field `name`"),
    ],
)
def test_wrong_entries_are_refused(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(UsageError) as why:
        load(entries_of(tmp_path, f"{TEXT}\n[[queue]]\n{line}\n"))
    assert said in str(why.value)


def test_a_queue_that_the_manager_refuses_is_named(tmp_path: Path) -> None:
    [entry, *_] = load(entries_of(tmp_path)).queue
    bad = type(entry)(name="bad", quota=-1)

    async def scene(harness: Harness) -> None:
        with pytest.raises(UsageError, match="the queue 'bad' cannot be made"):
            await make_entries(harness.server.opened, harness.server.users, [bad])

    play(tmp_path, scene)

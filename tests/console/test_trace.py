"""Tests the way of a message through managers: two servers, a peer that is away, and users who may not
look.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reliquary.net.identity.users import User
from reliquary.queueing.model.security.roles import Role
from reliquary.server.history_options import HistoryOptions
from reliquary.server.peer_entries import PeerEntry
from tests.console.harness import Harness, play, whole
from tests.console.test_access import ask

TOKENS = {"root": Role.ADMINISTRATOR, "looker": Role.READER, "sender": Role.SENDER}
USERS = tuple(
    User(name=name, role=role, token_sha256=sha256(f"{name}-token".encode()).hexdigest())
    for name, role in TOKENS.items()
)


async def first_id(harness: Harness, token: str | None = None, queue: str = "orders") -> str:
    """Return the identifier of the first message of a queue."""
    status, listed = await ask(harness.data, token, "GET", f"/queues/{queue}/messages")
    assert status == 200, listed
    identifier = listed["messages"][0]["id"]
    assert isinstance(identifier, str)
    return identifier


def path_of(identifier: str, more: str = "") -> str:
    return f"/history/trace?message={quote(identifier)}{more}"


def shape(trace: Any) -> list[tuple[str, str, str | None]]:
    return [(each["manager_name"], each["event"], each.get("protocol")) for each in trace["lines"]]


async def sent_on(harness: Harness, token: str | None, url: str) -> str:
    """Send a message to the queue of another server over SRMP; its identifier, when it is there."""
    authority = url.partition("//")[2]
    name = quote(f"DIRECT=HTTP://{authority}/msmq/private$/orders", safe="")
    headers = () if token is None else ((b"authorization", b"Bearer " + token.encode()),)
    body = json.dumps({"text": "two lamps"}).encode()
    answer = await harness.data.request("POST", f"/api/v1/queues/{name}/messages", body, headers)
    assert answer.status == 201, answer.body
    found = json.loads(answer.body)["messages"][0]["id"]
    assert isinstance(found, str)
    return found


def test_the_way_is_joined_from_the_histories_of_two_managers(tmp_path: Path) -> None:
    async def at_depot(depot: Harness) -> None:
        entries = (
            PeerEntry(name="depot", control=depot.control_url),
            PeerEntry(name="nowhere", control="http://127.0.0.1:9"),
        )

        async def at_shop(shop: Harness) -> None:
            identifier = await sent_on(shop, None, depot.url)
            _, taken = await ask(depot.data, None, "POST", "/queues/orders/receive", {"timeout": 10})
            assert [each["id"] for each in taken["messages"]] == [identifier]
            trace = await shop.ok("GET", path_of(identifier))
            found = shape(trace)
            assert found[0] == ("HERE", "queued", "api"), found
            assert found.index(("DEPOT", "arrived", "srmp")) < found.index(("DEPOT", "received", "api"))
            assert [(each["name"], each.get("control", "")) for each in trace["managers"]] == [
                ("HERE", ""),
                ("depot", depot.control_url),
                ("nowhere", "http://127.0.0.1:9"),
            ]
            assert trace["managers"][2]["why"].startswith("it does not answer")
            alone = await shop.ok("GET", path_of(identifier, "&here=true"))
            assert {name for name, _, _ in shape(alone)} == {"HERE"}
            assert len(alone["managers"]) == 1

        await whole(tmp_path / "shop", at_shop, peers=entries)

    play(tmp_path / "depot", at_depot, computer_name="DEPOT")


def test_only_users_who_may_look_at_the_queue_see_its_lines(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        status, _ = await ask(harness.data, "root-token", "POST", "/queues/orders/messages", {"text": "a"})
        assert status == 201
        identifier = await first_id(harness, "root-token")
        for token, expected in (
            ("root-token", 200),
            ("looker-token", 200),
            ("sender-token", 403),
            (None, 403),
        ):
            status, answer = await ask(harness.control, token, "GET", path_of(identifier))
            assert status == expected, (token, answer)
        deny = {"change": "deny", "user": "looker", "rights": ["peek"]}
        assert (await ask(harness.control, "root-token", "POST", "/queues/orders/access", deny))[0] == 200
        assert (await ask(harness.control, "looker-token", "GET", path_of(identifier)))[0] == 403

    play(tmp_path, scene, users=USERS)


def test_peers_are_not_asked_for_a_user_who_may_see_nothing_here(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        unknown = "00000000-0000-0000-0000-000000000001\\7"
        _, answer = await ask(harness.control, "sender-token", "GET", path_of(unknown))
        assert [each["name"] for each in answer["managers"]] == ["HERE"]
        _, answer = await ask(harness.control, "looker-token", "GET", path_of(unknown))
        assert [each["name"] for each in answer["managers"]] == ["HERE", "gone"]

    gone = PeerEntry(name="gone", control="http://127.0.0.1:9", token="secret")
    play(tmp_path, scene, users=USERS, peers=(gone,))


def test_what_is_no_identifier_is_refused_with_one_sentence(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for wrong in ("", "x", "5\\5"):
            status, code, why = await harness.refused("GET", path_of(wrong))
            assert (status, code) == (400, "INVALID_PARAMETER")
            assert why.startswith("message is the id of a message, GUID\\NUMBER")
        assert "here is true or false" in (await harness.refused("GET", path_of("x", "&here=1")))[2]

    play(tmp_path, scene)


def test_a_manager_without_a_history_says_so(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        trace = await harness.ok("GET", path_of(await first_id(harness)))
        assert trace["lines"] == []
        assert "enabled = true" in trace["managers"][0]["why"]

    play(tmp_path, scene, history=HistoryOptions(enabled=False))

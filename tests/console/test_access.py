"""Tests users and access lists on a whole server: who is known, who may, and how lists are changed."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from reliquary.net.http import HttpClient
from reliquary.net.identity.users import User
from tests.console.harness import Harness, play

ROOT, ALICE, BOB = "root-token", "alice-token", "bob-token"
USERS = tuple(
    User(name=name, token_sha256=sha256(token.encode()).hexdigest(), groups=groups)
    for name, token, groups in (
        ("root", ROOT, ("administrators",)),
        ("alice", ALICE, ("clerks",)),
        ("bob", BOB, ()),
    )
)


async def ask(
    client: HttpClient, token: str | None, method: str, path: str, body: object = None
) -> tuple[int, Any]:
    """Send one request as this user and return status and JSON."""
    headers = () if token is None else ((b"authorization", b"Bearer " + token.encode()),)
    data = b"" if body is None else json.dumps(body).encode()
    answer = await client.request(method, "/api/v1" + path, data, headers)
    return answer.status, json.loads(answer.body) if answer.body else None


@pytest.mark.parametrize("plane", ["data", "control"])
def test_a_wrong_token_is_refused_with_one_sentence(tmp_path: Path, plane: str) -> None:
    async def scene(harness: Harness) -> None:
        client = getattr(harness, plane)
        answer = await client.request("GET", "/api/v1/health", b"", ((b"authorization", b"Bearer no"),))
        assert answer.status == 401
        assert json.loads(answer.body) == {
            "error": "the token belongs to no user of this server: check it, or get a new one",
            "code": "UNAUTHENTICATED",
        }
        assert (b"www-authenticate", b'Bearer realm="reliquary"') in tuple(answer.headers)
        assert (await ask(client, ALICE, "GET", "/health"))[0] == 200
        assert (await ask(client, None, "GET", "/health"))[0] == 200

    play(tmp_path, scene, users=USERS)


def test_the_queues_of_the_settings_belong_to_the_administrators(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for token in (None, ALICE):
            for client, method, path, body in (
                (harness.data, "POST", "/queues/orders/messages", {"text": "x"}),
                (harness.data, "POST", "/queues/orders/receive", None),
                (harness.data, "GET", "/queues/orders/messages", None),
                (harness.control, "PATCH", "/queues/orders", {"label": "mine"}),
                (harness.control, "POST", "/queues/orders/purge", None),
                (harness.control, "DELETE", "/queues/orders", None),
            ):
                status, reported = await ask(client, token, method, path, body)
                assert (status, reported["code"]) == (403, "ACCESS_DENIED"), (token, method, path)
        access = (await ask(harness.control, ROOT, "GET", "/queues/orders/access"))[1]
        assert access["owner"] == "administrators"
        assert (await ask(harness.data, ROOT, "POST", "/queues/orders/messages", {"text": "x"}))[0] == 201
        grant = {"change": "grant", "user": "alice", "rights": ["send"]}
        assert (await ask(harness.control, ROOT, "POST", "/queues/orders/access", grant))[0] == 200
        assert (await ask(harness.data, ALICE, "POST", "/queues/orders/messages", {"text": "x"}))[0] == 201

    play(tmp_path, scene, users=USERS)


def test_an_answer_of_the_data_plane_says_whether_a_queue_exists_to_clients_without_rights(
    tmp_path: Path,
) -> None:
    """As the page about security says; `test_strangers` shows that the control plane tells nothing."""

    async def scene(harness: Harness) -> None:
        for token in (None, ALICE):
            for method, part, body in (("POST", "messages", {"text": "x"}), ("POST", "receive", None)):
                for queue, expected in (("orders", (403, "ACCESS_DENIED")), ("no", (404, "QUEUE_NOT_FOUND"))):
                    path = f"/queues/{queue}/{part}"
                    status, reported = await ask(harness.data, token, method, path, body)
                    assert (status, reported["code"]) == expected, (token, path)

    play(tmp_path, scene, users=USERS)


def test_a_head_that_came_before_has_its_user_and_the_rights_of_now(tmp_path: Path) -> None:
    """The user is found once for each head of a connection; the rights are checked every time."""

    async def scene(harness: Harness) -> None:
        async def sent(token: str | None) -> int:
            return (await ask(harness.data, token, "POST", "/queues/orders/messages", {"text": "x"}))[0]

        async def change(kind: str) -> None:
            wanted = {"change": kind, "user": "alice", "rights": ["send"] if kind == "grant" else []}
            assert (await ask(harness.control, ROOT, "POST", "/queues/orders/access", wanted))[0] == 200

        async with HttpClient(harness.url) as harness.data:
            for kind, allowed in (("grant", 201), ("revoke", 403), ("grant", 201)):
                await change(kind)
                for _ in range(2):
                    statuses = [await sent(token) for token in (ALICE, ROOT, None, "nobody's", BOB)]
                    assert statuses == [allowed, 201, 403, 401, 403]

    play(tmp_path, scene, users=USERS)


AWAY = "/queues/DIRECT=HTTP:%2F%2F127.0.0.1:1%2Fmsmq%2Fq/messages"


def test_anonymous_clients_neither_relay_nor_begin_transactions_where_there_are_users(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for path, body in ((AWAY, {"text": "x"}), ("/transactions", {})):
            status, reported = await ask(harness.data, None, "POST", path, body)
            assert (status, reported["code"]) == (403, "ACCESS_DENIED")
            assert "anonymous_may does not name" in reported["error"]
            assert (await ask(harness.data, ALICE, "POST", path, body))[0] == 201

    play(tmp_path, scene, users=USERS)


def test_the_settings_open_what_anonymous_clients_may_do(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await ask(harness.data, None, "POST", AWAY, {"text": "x"}))[0] == 201
        assert (await ask(harness.data, None, "POST", "/transactions", {}))[0] == 403

    play(tmp_path, scene, users=USERS, anonymous_may=("send-elsewhere",))


def test_without_users_every_client_may_do_everything(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await ask(harness.control, "whatever", "POST", "/queues", {"name": "new"}))[0] == 201
        assert (await ask(harness.data, None, "POST", "/queues/new/messages", {"text": "x"}))[0] == 201
        assert (await ask(harness.control, None, "POST", "/store/verify"))[0] == 200
        assert (await ask(harness.control, None, "DELETE", "/queues/new"))[0] == 200

    play(tmp_path, scene)


def test_a_users_queue_is_private_until_its_owner_grants_more(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await ask(harness.control, ALICE, "POST", "/queues", {"name": "hers"}))[0] == 201
        send = ("POST", "/queues/hers/messages", {"text": "x"})
        assert (await ask(harness.data, ALICE, *send))[0] == 201
        status, refused = await ask(harness.data, BOB, *send)
        assert (status, refused["code"]) == (403, "ACCESS_DENIED")
        assert refused["error"].startswith("bob (S-1-5-21-")
        assert refused["error"].endswith("lacks the right WRITE_MESSAGE on private$\\hers")
        assert (await ask(harness.data, None, *send))[0] == 403
        grant = {"change": "grant", "user": "bob", "rights": ["send"]}
        assert (await ask(harness.control, BOB, "POST", "/queues/hers/access", grant))[0] == 403
        status, shown = await ask(harness.control, ALICE, "POST", "/queues/hers/access", grant)
        assert status == 200
        assert shown["owner"] == "alice"
        assert [(each["user"], each["allow"], each["rights"]) for each in shown["entries"]] == [
            ("everyone", True, ["get-queue-properties", "get-queue-permissions"]),
            ("alice", True, ["generic-all"]),
            ("bob", True, ["write-message"]),
        ]
        assert (await ask(harness.data, BOB, *send))[0] == 201
        assert (await ask(harness.data, BOB, "POST", "/queues/hers/receive"))[0] == 403
        assert await ask(harness.control, BOB, "GET", "/queues/hers/access") == (200, shown)

    play(tmp_path, scene, users=USERS)


def test_handles_and_transactions_are_refused_to_others_on_the_data_plane(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await ask(harness.control, ALICE, "POST", "/queues", {"name": "hers"})
        _, opened = await ask(harness.data, ALICE, "POST", "/queues/hers/open", {"access": "receive"})
        assert (await ask(harness.data, BOB, "DELETE", f"/handles/{opened['handle']}"))[0] == 403
        assert (await ask(harness.data, BOB, "POST", f"/handles/{opened['handle']}/cursors"))[0] == 403
        assert (await ask(harness.data, ALICE, "DELETE", f"/handles/{opened['handle']}"))[0] == 204
        _, begun = await ask(harness.data, ALICE, "POST", "/transactions")
        commit = f"/transactions/{begun['transaction']}/commit"
        assert (await ask(harness.data, BOB, "GET", "/transactions"))[1]["transactions"] == []
        assert len((await ask(harness.data, ALICE, "GET", "/transactions"))[1]["transactions"]) == 1
        one = f"/transactions/{begun['transaction']}"
        assert (await ask(harness.data, BOB, "GET", one))[0] == 404
        assert (await ask(harness.data, ALICE, "GET", one))[0] == 200
        assert (await ask(harness.data, ROOT, "GET", one))[0] == 200
        assert (await ask(harness.data, BOB, "POST", commit))[0] == 403
        assert (await ask(harness.data, ALICE, "POST", commit))[0] == 204

    play(tmp_path, scene, users=USERS)


def test_to_administer_needs_a_right_of_the_manager(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for path, body in (("/store/verify", None), ("/store/backup", {"path": "/nowhere/at/all"})):
            assert (await ask(harness.control, ALICE, "POST", path, body))[0] == 403
        assert (await ask(harness.control, ROOT, "POST", "/store/verify"))[0] == 200
        assert (await ask(harness.control, None, "POST", "/queues", {"name": "new"}))[0] == 403
        assert (await ask(harness.control, ALICE, "GET", "/manager"))[0] == 200
        change = {"change": "deny", "user": "clerks", "rights": ["get-machine-properties"]}
        assert (await ask(harness.control, ALICE, "POST", "/access", change))[0] == 403
        assert (await ask(harness.control, ROOT, "POST", "/access", change))[0] == 200
        for path in ("/manager", "/outgoing"):
            assert (await ask(harness.control, ALICE, "GET", path))[0] == 403
            assert (await ask(harness.control, BOB, "GET", path))[0] == 200

    play(tmp_path, scene, users=USERS)


def test_users_create_queues_until_the_list_of_the_manager_takes_that_back(tmp_path: Path) -> None:
    revoke = {"change": "revoke", "user": "authenticated", "rights": ["create-queue"]}

    async def scene(harness: Harness) -> None:
        assert (await ask(harness.control, None, "POST", "/queues", {"name": "a"}))[0] == 403
        assert (await ask(harness.control, ALICE, "POST", "/queues", {"name": "b"}))[0] == 201
        assert (await ask(harness.control, ROOT, "POST", "/access", revoke))[0] == 200
        assert (await ask(harness.control, ALICE, "POST", "/queues", {"name": "c"}))[0] == 403
        assert (await ask(harness.control, ROOT, "POST", "/queues", {"name": "d"}))[0] == 201
        assert (await ask(harness.control, ALICE, "GET", "/manager"))[0] == 200

    play(tmp_path, scene, users=USERS)


def test_a_list_of_queues_has_those_that_one_may_look_at(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await ask(harness.control, ALICE, "POST", "/queues", {"name": "hers"})
        await ask(
            harness.control, ALICE, "POST", "/queues/hers/access", {"change": "revoke", "user": "everyone"}
        )

        async def seen(token: str) -> set[str]:
            _, answer = await ask(harness.control, token, "GET", "/queues")
            return {each["name"] for each in answer["queues"]}

        assert await seen(ALICE) - await seen(BOB) == {"hers"}
        assert (await ask(harness.control, BOB, "GET", "/queues/hers"))[0] == 403
        assert (await ask(harness.control, BOB, "GET", "/queues/hers/access"))[0] == 403
        owner = {"change": "owner", "user": "root"}
        assert (await ask(harness.control, BOB, "POST", "/queues/hers/access", owner))[0] == 403
        assert (await ask(harness.control, ROOT, "POST", "/queues/hers/access", owner))[1]["owner"] == "root"

    play(tmp_path, scene, users=USERS)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"change": "fly", "user": "bob"}, 400, "fly"),
        (
            {"change": "grant", "user": "missing", "rights": ["send"]},
            400,
            "there is no user or group 'missing'",
        ),
        ({"change": "grant", "user": "everyone"}, 400, "grant needs a right"),
        ({"change": "grant", "user": "everyone", "rights": ["fly"]}, 400, "there is no right 'fly'"),
        ({"change": "grant", "user": "bob", "rights": ["send"], "more": 1}, 400, "more"),
    ],
)
def test_an_impossible_change_is_refused(tmp_path: Path, body: object, status: int, words: str) -> None:
    async def scene(harness: Harness) -> None:
        refused = await harness.refused("POST", "/queues/orders/access", body)
        assert refused[0] == status
        assert words in refused[2]

    play(tmp_path, scene)


def test_a_missing_queue_has_no_access_list(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.refused("GET", "/queues/nowhere/access"))[:2] == (404, "QUEUE_NOT_FOUND")
        change = {"change": "owner", "user": "everyone"}
        assert (await harness.refused("POST", "/queues/nowhere/access", change))[:2] == (
            404,
            "QUEUE_NOT_FOUND",
        )
        shown = await harness.ok("GET", "/access")
        assert shown["entries"] == [
            {"user": "everyone", "sid": "S-1-1-0", "allow": True, "rights": ["generic-all"]}
        ]

    play(tmp_path, scene)

"""Tests which requests of the control plane are noted as acts, with what, and that no secret is among it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reliquary.client.records import ActInfo
from reliquary.console.noting import name_of
from reliquary.net.identity.users import User
from reliquary.views.pages import PageWanted
from tests.console.harness import Harness, play
from tests.console.test_access import ALICE, BOB, ROOT, USERS, ask
from tests.console.web.harness import Reader
from tests.net.identity.cheap_hash import cheap_hash

IDENTIFIER = "0f0e0d0c-0b0a-0908-0706-050403020100"
CAROL = User(name="carol", password_hash=cheap_hash("swordfish"), role=None)


async def noted(harness: Harness) -> list[ActInfo]:
    """Return all acts, the first one first."""
    return (await harness.server.reloader.acts.read(PageWanted())).records[::-1]


def short(act: ActInfo) -> tuple[str, str, str, str]:
    return act.who, act.act, act.object, act.outcome


def test_acts_of_the_api_are_noted_with_their_outcome(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        control = harness.control
        await ask(control, ROOT, "POST", "/queues", {"name": "made"})
        await ask(control, ROOT, "PATCH", "/queues/made", {"label": "x"})
        await ask(
            control,
            ROOT,
            "POST",
            "/queues/made/access",
            {"change": "grant", "user": "bob", "rights": ["send"]},
        )
        await ask(control, BOB, "POST", "/queues/made/purge")
        await ask(control, ROOT, "POST", "/queues/made/purge")
        await ask(control, ROOT, "DELETE", "/queues/made")
        await ask(control, ROOT, "POST", "/manager/offline")
        await ask(control, ROOT, "POST", "/streams/7/reset")
        await ask(control, ROOT, "GET", "/queues/orders")
        await ask(control, ROOT, "POST", "/nothing/there")
        found = await noted(harness)
        assert [short(each) for each in found] == [
            ("root", "create-queue", "made", "done"),
            ("root", "change-queue", "made", "done"),
            ("root", "change-access", "made", "done"),
            ("bob", "purge-queue", "made", "refused"),
            ("root", "purge-queue", "made", "done"),
            ("root", "delete-queue", "made", "done"),
            ("root", "take-offline", "", "done"),
            ("root", "reset-stream", "7", "refused"),
        ]
        assert found[2].detail == "grant bob send"
        assert "lacks the right DELETE_MESSAGE" in found[3].why
        assert {each.source for each in found} == {"127.0.0.1"}

    play(tmp_path, scene, users=USERS)


def test_acts_of_the_console_are_noted(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        page = "/console/queues"
        assert (await reader.post(page, "", name="made")).status == 303
        await reader.submit("/console/sign-in", "/console/sign-in", token=ROOT)
        await reader.submit(page, page, name="made")
        await reader.submit("/console/queue?name=made", "/console/queue/purge", name="made", again="made")
        assert (await reader.post(page, "forged", name="other")).status == 403
        await reader.submit("/console", "/console/sign-out")
        assert [short(each) for each in await noted(harness)] == [
            ("anonymous", "create-queue", "", "refused"),
            ("root", "sign-in", "", "done"),
            ("root", "create-queue", "made", "done"),
            ("root", "purge-queue", "made", "done"),
            ("root", "create-queue", "", "refused"),
            ("root", "sign-out", "", "done"),
        ]

    play(tmp_path, scene, users=USERS)


def test_refused_sign_ins_and_wrong_proofs_are_noted_without_what_was_typed(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader, page = Reader(harness), "/console/sign-in"
        await reader.refused(page, page, 401, user="carol", password="my-secret-guess")
        await reader.refused(page, page, 401, user="my-secret-name", password="x")
        await reader.refused(page, page, 401, token="my-secret-token")
        await ask(harness.data, "my-secret-token", "GET", "/health")
        await reader.submit(page, page, user="carol", password="swordfish")
        found = await noted(harness)
        signed = [short(each) for each in found if each.act == "sign-in"]
        assert signed == [
            ("carol", "sign-in", "", "refused"),
            ("unknown", "sign-in", "", "refused"),
            ("anonymous", "sign-in", "", "refused"),
            ("carol", "sign-in", "", "done"),
        ]
        assert {each.source for each in found if each.act == "show-proof"} == {"127.0.0.1"}
        lines = (harness.folder / "acts" / "acts-00000001.jsonl").read_text()
        assert "my-secret" not in lines
        assert "swordfish" not in lines

    play(tmp_path, scene, users=(*USERS, CAROL))


def test_an_answer_leaves_after_its_line_is_on_disk(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.ok("POST", "/queues", {"name": "made"})
        assert '"create-queue"' in (harness.folder / "acts" / "acts-00000001.jsonl").read_text()

    play(tmp_path, scene)


@pytest.mark.parametrize(("token", "status"), [(ROOT, 200), (ALICE, 403), (None, 403)])
def test_only_who_may_change_the_manager_sees_acts(tmp_path: Path, token: str | None, status: int) -> None:
    async def scene(harness: Harness) -> None:
        assert (await ask(harness.control, token, "GET", "/acts"))[0] == status

    play(tmp_path, scene, users=USERS)


def test_changes_that_are_refused_before_rights_are_looked_at_are_counted(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        token = (b"authorization", b"Bearer " + ROOT.encode())
        for field, status in (
            ((b"x-forwarded-for", b"203.0.113.7"), 401),
            ((b"origin", b"https://evil.example"), 403),
            ((b"host", b"evil.example"), 421),
        ):
            headers = (field,) if status == 401 else (token, field)
            await harness.control.request("GET", "/api/v1/queues", b"", headers)
            assert (await harness.control.request("POST", "/api/v1/queues", b"{}", headers)).status == status
        rates = harness.server.reloader.rates
        rates._monotonic = lambda: 0  # no second passes
        rates.change(1, 1)
        statuses = [await ask(harness.control, ROOT, "POST", "/manager/online") for _ in range(3)]
        assert [status for status, _ in statuses] == [200, 429, 429]

    play(tmp_path, scene, users=USERS)  # what was counted is written when the server stops
    lines = (tmp_path / "data" / "acts" / "acts-00000001.jsonl").read_text()
    found = [json.loads(line) for line in lines.splitlines()]
    refused = [
        (
            "anonymous",
            "POST /api/v1/queues: anonymous (S-1-5-7) may not change anything from another computer",
        ),
        ("anonymous", "POST /api/v1/queues: a page of another site may not ask for this"),
        ("anonymous", "POST /api/v1/queues: this server has no name 'evil.example'"),
        ("root", "POST /api/v1/manager/online: this client may send 1 requests a second"),
    ]
    assert [
        (each["who"], each["why"].partition(";")[0]) for each in found if each["act"] == "ask-for-change"
    ] == [*refused, refused[-1]]
    assert {each["outcome"] for each in found if each["act"] == "ask-for-change"} == {"refused"}
    assert len(found) == len(refused) + 2


def test_an_act_is_named_like_its_handler() -> None:
    async def purge_queue() -> None:
        """Do nothing; only the name of this handler is noted."""

    assert name_of(purge_queue) == "purge-queue"


def test_acts_on_consumers_writers_and_stages_over_the_data_plane_are_counted(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        consumers, to = "/queues/orders/consumers", {"name": "lake", "to": "earliest"}
        for method, path, body in (
            ("POST", consumers, {"name": "lake", "at": "earliest"}),
            ("PUT", consumers, {"name": "lake", "paused": True}),
            ("POST", "/queues/orders/reset", to | {"dry_run": True}),
            ("POST", "/queues/orders/reset", to),
            ("DELETE", f"{consumers}?name=lake", None),
            ("POST", "/unstage", {"stages": ["7", "8"]}),
            ("DELETE", "/writers?query=nightly", None),
        ):
            await ask(harness.data, ROOT, method, path, body)

    play(tmp_path, scene, users=USERS)
    lines = (tmp_path / "data" / "acts" / "acts-00000001.jsonl").read_text()
    found = [json.loads(line) for line in lines.splitlines()]
    assert {(each["who"], each["outcome"]) for each in found} == {("root", "asked")}
    assert [(each["act"], each["object"]) for each in found] == [
        ("set-consumer", "lake of orders"),
        ("reset-consumer", "lake of orders to earliest"),
        ("remove-consumer", "lake of orders"),
        ("drop-stages", "7 8"),
        ("forget-writer", "nightly"),
    ]


def test_moves_and_decisions_over_the_data_plane_are_counted(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for _ in range(3):
            await ask(
                harness.data,
                ROOT,
                "POST",
                "/queues/orders/move",
                {"lookup_id": "1", "target": "orders;retry"},
            )
        await ask(harness.data, ROOT, "POST", f"/transactions/{IDENTIFIER}/abort", {})
        await ask(harness.data, ROOT, "POST", f"/transactions/{IDENTIFIER}/commit", {"by": "root"})

    play(tmp_path, scene, users=USERS)  # what was counted is written when the server stops
    lines = (tmp_path / "data" / "acts" / "acts-00000001.jsonl").read_text()
    found = [json.loads(line) for line in lines.splitlines()]
    assert [(each["act"], each["object"], each["who"], each["outcome"]) for each in found] == [
        ("move-message", "orders to orders;retry", "root", "asked"),
        ("commit-transaction", f"{IDENTIFIER} by root", "root", "asked"),
        ("move-message", "orders to orders;retry", "root", "asked"),
    ]
    assert [each.get("times", 1) for each in found] == [1, 1, 2]

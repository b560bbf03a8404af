"""Tests pages of queues: find, create, change, purge and delete."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from types import ModuleType
from urllib.parse import quote, urlencode

import pytest

from reliquary.console import samples
from reliquary.console.web import queues
from reliquary.net.identity.users import User
from reliquary.queueing.model.message import NO_GUID
from reliquary.queueing.model.security.roles import Role
from reliquary.queueing.rules import read
from tests.console.harness import Harness, play
from tests.console.test_access import ROOT, USERS
from tests.console.web.harness import Reader


def test_queues_come_in_pages_and_are_found_by_a_part_of_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "PAGE", 2)

    async def scene(harness: Harness) -> None:
        for name in ("alpha", "beta", "gamma"):
            await harness.ok("POST", "/queues", {"name": name})
        reader, path, seen = Reader(harness), "/console/queues", []
        while path:
            page = await reader.read(path)
            seen += [
                link for link in page.links if link.startswith("/console/queue?") and "system" not in link
            ]
            path = next((link for link in page.links if "after=" in link), "")
        for name in ("alpha", "beta", "gamma", "orders"):
            assert seen.count(f"/console/queue?name={name}") == 1
        found = await reader.read("/console/queues?find=AMM")
        assert "/console/queue?name=gamma" in found.links
        assert "/console/queue?name=alpha" not in found.links
        assert not any("after=" in link for link in found.links)
        path, seen = "/console/queues?find=private", []
        while path:
            page = await reader.read(path)
            seen += [link for link in page.links if link.startswith("/console/queue?")]
            path = next((link for link in page.links if "after=" in link), "")
        assert seen == [f"/console/queue?name={name}" for name in ("alpha", "beta", "gamma", "orders")]
        assert "No queue has zzz in its name" in (await reader.read("/console/queues?find=zzz")).text

    play(tmp_path, scene)


def test_a_queue_is_created_changed_and_deleted_by_forms(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        page = await reader.submit(
            "/console/queues", "/console/queues", name="lamps", label="all lamps", transactional="on"
        )
        assert "The queue lamps was created." in page.text
        shown = await harness.ok("GET", "/queues/lamps")
        assert (shown["settings"]["label"], shown["settings"]["transactional"]) == ("all lamps", True)
        here = "/console/queue?name=lamps"
        await reader.submit(
            here, "/console/queue/settings", name="lamps", label="lamps", poison_limit="3", journaling="on"
        )
        shown = (await harness.ok("GET", "/queues/lamps"))["settings"]
        assert (shown["label"], shown["poison_limit"], shown["journaling"]) == ("lamps", 3, True)
        why = await reader.refused(here, "/console/queue/settings", 400, name="lamps", poison_limit="-1")
        assert "whole number" in why
        await reader.submit(here, "/console/queue/delete", name="lamps", again="lamps")
        assert (await harness.refused("GET", "/queues/lamps"))[0] == 404

    play(tmp_path, scene)


def test_messages_are_deleted_only_after_the_name_was_typed_once_more(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b")
        reader, here = Reader(harness), "/console/queue?name=orders"
        for path in ("/console/queue/purge", "/console/queue/delete"):
            why = await reader.refused(here, path, 400, name="orders", again="order")
            assert "type the name of the queue" in why
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 2
        page = await reader.submit(here, "/console/queue/purge", name="orders", again="orders")
        assert "2 messages were deleted." in page.text

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("module", "name", "limit"),
    [
        pytest.param(queues, "MESSAGES", 2, id="by their number"),
        pytest.param(read, "ANSWER_BYTES", 1, id="by the size of their bodies"),
    ],
)
def test_messages_of_a_queue_come_in_pages(
    module: ModuleType, name: str, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, limit)

    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b", "c")
        reader, path, seen = Reader(harness), "/console/queue?name=orders", []
        while path:
            page = await reader.read(path)
            seen += [link for link in page.links if link.startswith("/console/message?")]
            path = next((link for link in page.links if "after=" in link), "")
        assert len(seen) == len(set(seen)) == 3
        why = (await reader.read("/console/queue?name=orders&after=x", 400)).text
        assert "after is the lookup id" in why

    play(tmp_path, scene)


def test_a_queue_without_messages_says_what_to_do(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        page = await Reader(harness).read("/console/queue?name=orders")
        assert "No message can be seen here now. Send one below" in page.text
        assert "orders;journal" in page.text

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("system$;deadletter", "did not arrive in time"),
        ("system$;DEADXACT", "of a transaction comes here"),
        ("orders;journal", "when a message leaves"),
    ],
)
def test_an_empty_queue_that_no_form_sends_to_says_when_messages_come(
    name: str, why: str, tmp_path: Path
) -> None:
    async def scene(harness: Harness) -> None:
        page = await Reader(harness).read("/console/queue?" + urlencode({"name": name}))
        assert why in page.text
        assert "Send one below" not in page.text
        [current] = [each["href"] for each in page.all("a") if "aria-current" in each]
        assert current == "/console/journals"

    play(tmp_path, scene)


def test_journals_dead_letters_and_poison_have_a_page(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        page = await reader.read("/console/journals")
        assert "system$;deadletter" in page.text
        assert "No queue here keeps copies" in page.text
        await harness.ok("PATCH", "/queues/orders", {"journaling": True})
        await harness.send("orders", "a")
        await harness.data.request("POST", "/api/v1/queues/orders/receive")
        page = await reader.read("/console/journals")
        assert "/console/queue?name=orders%3Bjournal" in page.links

    play(tmp_path, scene)


def test_a_page_of_journals_does_not_hide_the_pages_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "PAGE", 1)

    async def scene(harness: Harness) -> None:
        await harness.ok("POST", "/queues", {"name": "zebra", "journaling": True})
        reader, path, seen = Reader(harness), "/console/journals", []
        while path:
            page = await reader.read(path)
            assert "No queue here keeps copies" not in page.text
            seen.append("None of the queues of this page keeps copies" in page.text)
            path = next((link for link in page.links if "after=" in link), "")
        assert {True, False} == set(seen)

    play(tmp_path, scene)


def test_a_queue_whose_depth_is_not_sampled_has_a_sentence_in_place_of_its_chart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "QUEUES", 1)

    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        await harness.ok("POST", "/queues", {"name": "alpha"})
        for _ in range(2):
            await harness.server.sampler.take()
        assert (await reader.read("/console/queue?name=alpha")).all("svg")
        for name in ("orders", "orders;journal", "system$;deadletter"):
            page = await reader.read(f"/console/queue?name={quote(name)}")
            assert not page.all("svg")
            assert "There is no chart of this queue" in page.text

    play(tmp_path, scene)


SENDER = User(name="sue", token_sha256=sha256(b"sue-token").hexdigest(), role=Role.SENDER)


def test_a_user_sees_of_a_queue_what_the_rights_allow(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader, here = Reader(harness), "/console/queue?name=orders"
        await reader.submit("/console/sign-in", "/console/sign-in", token="sue-token")
        page = await reader.submit(here, "/console/queue/send", name="orders", text="secret body")
        assert (
            "You may not look at its messages, move its messages, change its settings, delete its messages"
            " or delete it: your role and the access list of the queue decide this." in page.text
        )
        assert "1 messages" in page.text
        assert "The messages of this queue are not shown to you" in page.text
        assert "secret body" not in page.text
        forms = [each["action"] for each in page.all("form") if "action" in each]
        assert forms == ["/console/sign-out", "/console/queue/send"]
        assert not page.all("details")
        root = Reader(harness)
        await root.submit("/console/sign-in", "/console/sign-in", token=ROOT)
        page = await root.read(here)
        assert "You may not" not in page.text
        assert "secret body" in page.text
        assert len(page.all("details")) == 2
        poison = await reader.read("/console/queue?name=orders%3Bjournal")
        assert "You may not look at its messages, move its messages or delete its messages:" in poison.text
        assert not poison.all("details")

    play(tmp_path, scene, users=(*USERS, SENDER))


def test_a_list_of_messages_shows_how_their_bodies_begin(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "two\n lamps <b>" + "x" * 100)
        reader = Reader(harness)
        page = await reader.read("/console/queue?name=orders")
        assert "two lamps <b>xxx" in page.text
        assert "x" * 100 not in page.text
        assert "Class" not in page.text
        body = b'{"text": "late", "deadletter": true}'
        await harness.data.request("POST", "/api/v1/queues/orders/messages", body)
        await harness.ok("POST", "/queues/orders/purge")
        assert "Class" in (await reader.read("/console/queue?name=system$%3Bdeadletter")).text

    play(tmp_path, scene)


def test_settings_of_a_queue_are_shown_with_their_units(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        texts = [(await reader.read("/console/queue?name=orders")).text]
        await harness.ok("PATCH", "/queues/orders", {"quota": 7, "retry_delay": 3})
        texts.append((await reader.read("/console/queue?name=orders")).text)
        for text, quota, delay in zip(texts, ("no limit", "7"), ("0", "3"), strict=True):
            assert f"quota in KB{quota}\n" in text
            assert f"retry delay in s{delay}\n" in text
        assert str(NO_GUID) not in texts[0]

    play(tmp_path, scene)

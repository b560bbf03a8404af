"""Tests what all pages share: escaped values, headers, forms of the own session, errors with a way back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from reliquary.console.web.pages import KEYS, MENU, keys_of, section_of, shown
from reliquary.console.web.routes import ROUTES
from reliquary.views.outgoing_queues import outgoing_queues
from tests.console.harness import Harness, play
from tests.console.test_access import USERS
from tests.console.web.harness import Outline, Reader

ELSEWHERE = r"DIRECT=OS:elsewhere\private$\orders"
MESSAGES = "/api/v1/queues/orders/messages"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", "-"),
        (False, "no"),
        ((), "-"),
        ({"a": 1, "b": None}, "a: 1, b: -"),
        (datetime(2026, 11, 18, 4, 5, 6, tzinfo=UTC), "2026-11-18 04:05:06 UTC"),
        (1.5, "1.5"),
    ],
)
def test_values_are_written_for_people(value: object, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize(
    ("path", "query", "section"),
    [
        ("/console/queue", {"name": "orders"}, "/console/queues"),
        ("/console/queue", {"name": "orders;mine"}, "/console/queues"),
        ("/console/queue", {"name": "orders;POISON"}, "/console/journals"),
        ("/console/message", {"queue": "system$;deadxact"}, "/console/journals"),
        ("/console/record/outgoing", {"key": "x;journal"}, "/console/records/outgoing"),
        ("/console/acts", {}, "/console/acts"),
    ],
)
def test_the_menu_marks_the_page_that_leads_to_another_one(
    path: str, query: dict[str, str], section: str
) -> None:
    assert section_of(path, query) == section


def test_every_page_of_the_menu_is_there_and_marks_itself(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        for _, path in MENU:
            page = await reader.read(path)
            assert [each["href"] for each in page.all("a") if "aria-current" in each] == [path]
            assert len(page.all("h1")) == 1
            assert {"main", "nav", "title"} <= {tag for tag, _ in page.tags}

    play(tmp_path, scene)


def test_every_page_of_the_menu_has_a_key_of_its_own_that_the_list_of_keys_shows(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        page = await Reader(harness).read("/console")
        keys = {each["href"]: each["data-key"] for each in page.all("a") if "data-key" in each}
        assert keys == KEYS
        assert len(set(keys.values())) == len(MENU)
        listed = page.text.partition("Keys")[2]
        assert all(
            f"g {key}{name}" in listed.replace("\n", "") for name, path in MENU for key in keys[path] or ""
        )

    play(tmp_path, scene)


def test_keys_do_not_run_out() -> None:
    keys = keys_of([("aaa", str(number)) for number in range(30)])
    assert len(set(keys.values())) == 30


def test_what_users_write_is_text_and_no_markup(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.ok("POST", "/queues", {"name": "<script>", "label": "<b>&"})
        reader = Reader(harness)
        for path in ("/console/queues", "/console/queue?name=%3Cscript%3E", "/console/queue?name=%3Cb%3E"):
            page = await reader.read(path, 404 if path.endswith("b%3E") else 200)
            assert all("src" in each for each in page.all("script"))
            assert not page.all("b")
        assert "<b>&" in (await reader.read("/console/queues")).text
        headers = dict((await reader.get("/console")).headers)
        assert b"script-src 'self'" in headers[b"content-security-policy"]
        assert headers[b"cache-control"] == b"no-store"

    play(tmp_path, scene)


def test_a_form_without_the_value_of_its_session_does_nothing(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        for csrf in ("", "0" * 64):
            answer = await reader.post("/console/queues", csrf, name="made")
            assert answer.status == 403
            assert b"load the page again" in answer.body
        assert (await harness.refused("GET", "/queues/made"))[0] == 404
        page = await reader.submit("/console/queues", "/console/queues", name="made")
        assert "The queue made was created." in page.text

    play(tmp_path, scene)


@pytest.mark.parametrize("path", [each.path for each in ROUTES if "POST" in (each.methods or ())])
def test_no_form_is_taken_without_the_value_of_its_session(tmp_path: Path, path: str) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send(quote(ELSEWHERE), "a")
        await harness.send("orders", "b")
        browsed = json.loads((await harness.data.request("GET", MESSAGES)).body)["messages"]
        lookup_id = str(browsed[0]["lookup_id"])
        fields = {"name": "orders", "again": "orders", "text": "c", "lookup_id": lookup_id, "target": "lamps"}
        here = path.format(plural="outgoing", verb="pause")
        answer = await Reader(harness).post(here, "0" * 64, queue="orders", key=ELSEWHERE, **fields)
        assert answer.status == 403
        assert b"load the page again" in answer.body
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 1
        [outgoing] = outgoing_queues(harness.server.opened.state)
        assert outgoing.state != "on-hold"

    play(tmp_path, scene)


def test_a_form_of_another_site_does_nothing(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        csrf = (await Reader(harness).read("/console/queues")).csrf
        answer = await harness.control.request(
            "POST",
            "/console/queues",
            f"csrf={csrf}&name=made".encode(),
            ((b"origin", b"https://evil.example"),),
        )
        assert answer.status == 403

    play(tmp_path, scene)


def test_an_error_is_a_page_that_says_what_is_wrong(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        page = await reader.read("/console/queue?name=nowhere", 404)
        assert "This was not found" in page.text
        assert "/console" in page.links
        assert "nothing at" in (await reader.read("/console/nothing", 404)).text
        why = await reader.refused("/console/queues", "/console/queues", 400, name=" ")
        assert "is empty" in why
        assert "This was not done" in why
        assert "Nothing was changed" in why

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("method", "field", "status", "why"),
    [
        ("POST", (b"origin", b"https://evil.example"), 403, "a page of another site may not ask for this"),
        ("GET", (b"authorization", b"Bearer no"), 401, "the token belongs to no user of this server"),
        ("GET", (b"host", b"evil.example"), 421, "this server has no name 'evil.example'"),
    ],
)
def test_a_client_that_is_not_admitted_sees_a_page_that_names_no_server(
    tmp_path: Path, method: str, field: tuple[bytes, bytes], status: int, why: str
) -> None:
    async def scene(harness: Harness) -> None:
        for path in ("/console/queues", "/console/nothing"):
            answer = await harness.control.request(method, path, b"", (field,))
            headers = dict(answer.headers)
            assert (answer.status, headers[b"content-type"]) == (status, b"text/html; charset=utf-8")
            assert headers[b"content-security-policy"].startswith(b"default-src 'none'")
            assert (b"www-authenticate" in headers) is (status == 401)
            page = Outline(answer.body.decode())
            assert why in page.text
            assert "HERE" not in page.text
            assert not page.all("nav")
        answer = await harness.control.request(method, "/api/v1/queues", b"", (field,))
        assert answer.status == status
        assert why in json.loads(answer.body)["error"]

    play(tmp_path, scene, users=USERS)


def test_a_page_shows_no_notice_that_a_link_invents(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        csrf = (await reader.read("/console/queues")).csrf
        answer = await reader.post("/console/queues", csrf, name="made")
        location = dict(answer.headers)[b"location"].decode()
        assert "The queue made was created." in (await reader.read(location)).text
        for invented in (
            location.replace("made+was+created", "made+was+lost"),
            location.partition("&seal=")[0],
            "/console?notice=Call+this+number&seal=",
        ):
            text = (await reader.read(invented)).text
            assert "was lost" not in text
            assert "was created" not in text
            assert "Call this number" not in text

    play(tmp_path, scene)

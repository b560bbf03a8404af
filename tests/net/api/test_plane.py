"""Tests what the plane answers before any handler: paths, methods, pages of other sites, stops."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reliquary.net.api.routes import ROUTES
from reliquary.net.identity.admission import Admission
from reliquary.net.identity.shown import Shown
from reliquary.queueing.model.events import CallerGone, StopManager
from reliquary.queueing.model.security.principals import Principal
from tests.net.api.harness import API, Harness, on, play


def test_an_unknown_path_is_reported_in_the_form_of_every_error() -> None:
    async def scene(harness: Harness) -> None:
        for path in ("/", "/queues", "/queues/orders", "/queues/orders/", "/receipts/a/b", "/health/x"):
            status, code, why = await harness.refused("GET", path)
            assert (status, code) == (404, "PATH_NOT_FOUND")
            assert path in why
        assert (await harness.client.request("GET", "/")).status == 404
        root = await harness.client.request("GET", "/")
        assert b"the web console and the metrics are on the control port" in root.body
        other = await harness.client.request("GET", "/api/v2/health")
        assert other.status == 404
        assert b"/api/v1/openapi.json lists its paths" in other.body

    play(scene)


def test_a_method_that_is_not_for_the_path_is_answered_with_those_that_are() -> None:
    async def scene(harness: Harness) -> None:
        for path, methods in {
            "/health": "GET, HEAD, OPTIONS",
            "/transactions": "POST, GET, HEAD, OPTIONS",
            "/queues/orders/receive": "POST, OPTIONS",
            "/cursors/7": "DELETE, OPTIONS",
        }.items():
            answer = await harness.client.request("PUT", API + path)
            assert (answer.status, dict(answer.headers)[b"allow"].decode()) == (405, methods)
            assert json.loads(answer.body)["code"] == "METHOD_NOT_ALLOWED"
            answer = await harness.client.request("OPTIONS", API + path)
            assert (answer.status, dict(answer.headers)[b"allow"].decode()) == (204, methods)

    play(scene)


def test_head_is_get_without_the_body() -> None:
    async def scene(harness: Harness) -> None:
        answer = await harness.client.request("HEAD", API + "/health")
        assert (answer.status, answer.body) == (200, b"")
        assert int(dict(answer.headers)[b"content-length"]) > 0

    play(scene)


def test_health_says_who_answers() -> None:
    async def scene(harness: Harness) -> None:
        manager = str(harness.state.identity().identifier)
        assert await harness.ok("GET", "/health") == {
            "status": "ready",
            "manager": manager,
            "version": "1.2.3",
        }
        assert (await harness.refused("GET", "/health?verbose=1"))[0] == 400

    play(scene)


def test_a_page_of_another_site_may_not_send() -> None:
    async def scene(harness: Harness) -> None:
        path = API + on("orders", "messages")
        for origin, status in ((b"http://evil.example", 403), (b"null", 403), (b"http://127.0.0.1:%d", 201)):
            headers = [(b"origin", origin % harness.port if b"%" in origin else origin)]
            answer = await harness.client.request("POST", path, b"{}", headers)
            assert answer.status == status, origin
        assert len(await harness.texts("orders")) == 1

    play(scene)


def test_who_asks_is_found_out_once_for_each_head(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    admit = Admission.__call__

    def counted(admission: Admission, request: Shown) -> Principal:
        asked.append(request.method)
        return admit(admission, request)

    monkeypatch.setattr(Admission, "__call__", counted)

    async def scene(harness: Harness) -> None:
        for number in range(5):
            await harness.ok("POST", on("orders", "messages"), {"text": "x" * number * 100})
            await harness.ok("POST", on("orders", "receive"), {})
        assert len(asked) == 2
        evil = [(b"origin", b"http://evil.example")]
        for _ in range(3):
            answer = await harness.client.request("POST", API + on("orders", "messages"), b"{}", evil)
            assert answer.status == 403
        assert len(asked) == 5

    play(scene)


def test_a_head_that_came_before_is_refused_once_the_server_stops() -> None:
    async def scene(harness: Harness) -> None:
        send = ("POST", on("orders", "messages"), {"text": "x"})
        await harness.ok(*send)
        harness.plane.stop()
        assert await harness.refused(*send) == (503, "STOPPING", "the server is stopping")

    play(scene)


def test_an_engine_that_has_stopped_is_reported() -> None:
    async def scene(harness: Harness) -> None:
        waiting = asyncio.ensure_future(harness.refused("POST", on("orders", "receive"), {"timeout": None}))
        await harness.wait_for_readers(1)
        harness.engine._accepting = False
        refused = await harness.refused("POST", on("orders", "messages"), {})
        assert refused == (503, "STOPPING", "the server is stopping")
        harness.engine._accepting = True
        harness.engine.submit(StopManager())
        assert (await waiting)[:2] == (409, "OPERATION_CANCELLED")

    play(scene)


# -- whatever comes, an answer goes out and the server goes on

_NAMES = st.sampled_from(
    [
        "orders",
        "none",
        "system$;journal",
        "orders;journal",
        "a;b;c",
        "\\\\",
        ".",
        "x" * 300,
        "%",
        "é",
        "0",
        "-1",
    ]
)
_SHAPES = st.sampled_from(sorted(ROUTES))
_FIELDS = st.sampled_from(
    sorted(
        {
            *("body", "text", "label", "priority", "expires", "reach", "durable", "journal", "deadletter"),
            *("correlation", "tag", "body_type", "extension", "response_queue", "administration_queue"),
            *("count", "timeout", "hold", "acknowledge", "transaction", "handle", "cursor", "next"),
            *("lookup_id", "seek", "peek", "target", "access", "share", "lease", "delete", "lookup_ids"),
            "single_phase",
        }
    )
)
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 9),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(["0", "1", "288230376151711745", "0c44cb60-0000-4000-8000-000000000007", "orders;retry"]),
    st.sampled_from(["receive", "peek", "send", "move", "first", "last", "next", "current", "deny-receive"]),
)
_JSON = st.recursive(
    _SCALARS | st.dictionaries(_FIELDS, _SCALARS, max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_FIELDS, inner, max_size=4),
    max_leaves=10,
)
_ASKED = st.tuples(
    st.sampled_from(["POST", "POST", "POST", "GET", "DELETE", "HEAD", "PATCH"]),
    _SHAPES,
    _NAMES,
    st.sampled_from(
        ["", "", "?transaction=1", "?after=1&limit=2", "?handle=1", "?limit=-1", "?x", "?%ff=%00"]
    ),
    _JSON,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_ASKED, min_size=10, max_size=25), st.lists(st.binary(max_size=30), max_size=3))
def test_nothing_that_is_asked_stops_the_server(
    asked: list[tuple[str, str, str, str, object]], junk: list[bytes]
) -> None:
    async def scene(harness: Harness) -> None:
        await harness.create("orders;retry")
        known = await tickets(harness)
        for number, (method, shape, name, query, body) in enumerate(asked):
            target = known.get(shape.partition("/")[0], name) if number % 2 else name
            path = shape.replace("*", quote(target, safe="")) + query
            await answered(harness, method, f"{API}/{path}", replaced(body, known))
        for data in junk:
            await answered(harness, "POST", API + on("orders", "messages"), data)
        await harness.ok("POST", on("orders", "messages"), {"text": "still here"})

    play(scene)


async def tickets(harness: Harness) -> dict[str, str]:
    """Handles, cursors, receipts and transactions that are good, so that requests get further."""
    await harness.send("orders", "a", "b", "c")
    held = await harness.ok("POST", on("orders", "receive"), {"hold": 60})
    handle = (await harness.ok("POST", on("orders", "open")))["handle"]
    return {
        "receipts": held["receipt"],
        "acknowledge": held["receipt"],
        "handles": handle,
        "handle": handle,
        "cursor": (await harness.ok("POST", f"/handles/{handle}/cursors"))["cursor"],
        "cursors": (await harness.ok("POST", f"/handles/{handle}/cursors"))["cursor"],
        "transactions": (await harness.ok("POST", "/transactions"))["transaction"],
        "transaction": (await harness.ok("POST", "/transactions"))["transaction"],
    }


def replaced(body: object, known: dict[str, str]) -> bytes:
    """Half of the good tickets go in where the body has their names."""
    if isinstance(body, dict) and len(body) % 2:
        body = {name: known.get(name, value) for name, value in body.items()}
    return json.dumps(body).encode()


async def answered(harness: Harness, method: str, path: str, data: bytes) -> None:
    """Check that an answer comes, also because the wait is ended, and that it is no 500."""
    asking = asyncio.ensure_future(harness.client.request(method, path, data))
    while not asking.done():
        for caller in list(harness.state.open.callers):
            harness.engine.submit(CallerGone(caller))
        await asyncio.wait((asking,), timeout=0.005)
    answer = await asking
    assert answer.status < 500 or answer.status == 507, (method, path, data, answer.body)
    if answer.status >= 400 and method != "HEAD":
        assert set(json.loads(answer.body)) == {"error", "code"}

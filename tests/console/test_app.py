"""Tests the control plane as a whole: paths, methods, limits, pages of other sites, a stopped engine."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reliquary.console.context import BODY_LIMIT
from reliquary.net.http.response import SENTENCE_LIMIT
from reliquary.queueing.model.events import FlowControl
from reliquary.queueing.model.queue import ManagerState
from tests.console.harness import Harness, play
from tests.console.test_access import BOB, ROOT, USERS, ask


def test_health_says_who_answers_on_both_planes(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        here = await harness.ok("GET", "/health")
        there = await harness.data.request("GET", "/api/v1/health")
        assert here == json.loads(there.body)
        assert (here["status"], set(here)) == ("ready", {"status", "manager", "version"})

    play(tmp_path, scene)


def test_unknown_paths_and_methods_have_the_form_of_every_error(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for path in ("/nothing", "/store", "/queues/"):
            status, code, _ = await harness.refused("GET", path)
            assert (status, code) in {(404, "PATH_NOT_FOUND"), (400, "INVALID_PARAMETER")}, path
        answer = await harness.control.request("PUT", "/api/v1/manager")
        assert (answer.status, json.loads(answer.body)["code"]) == (405, "METHOD_NOT_ALLOWED")
        for method, path, hint in (
            ("POST", "/queues/orders/messages", "the data plane has it, on the other port"),
            ("PUT", "/queues/orders/receive", "this is the control plane"),
            ("POST", "/transactions", "the data plane has it, on the other port"),
            ("GET", "/queue", "/api/v1/openapi.json lists its paths"),
        ):
            assert hint in (await harness.refused(method, path))[2]
        assert b"GET" in dict(answer.headers)[b"allow"]

    play(tmp_path, scene)


def test_a_body_over_the_limit_is_refused(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        answer = await harness.control.request("POST", "/api/v1/queues", b" " * (BODY_LIMIT + 1))
        assert answer.status == 413
        assert json.loads(answer.body) == {
            "error": f"a body may have {BODY_LIMIT} bytes, this one has more",
            "code": "TOO_LARGE",
        }

    play(tmp_path, scene)


def test_a_page_of_another_site_may_read_and_change_nothing(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        headers = [(b"origin", b"http://evil.example")]
        answer = await harness.control.request("POST", "/api/v1/queues", b'{"name": "x"}', headers)
        assert (answer.status, json.loads(answer.body)["code"]) == (403, "ACCESS_DENIED")
        assert (await harness.control.request("GET", "/api/v1/queues", b"", headers)).status == 200
        assert (await harness.refused("GET", "/queues/x"))[0] == 404

    play(tmp_path, scene)


def test_a_refusal_quotes_a_part_of_what_was_asked(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        long = "x" * 900_000
        status, code, why = await harness.refused("POST", "/queues", {"name": "q", long: 1})
        assert (status, code, len(why)) == (400, "INVALID_PARAMETER", SENTENCE_LIMIT)
        assert why.endswith("…")
        text = f"{long} = 1".encode()
        answer = await harness.control.request("POST", "/api/v1/directory/import", text)
        assert answer.status == 400
        assert len(answer.body) < 2 * SENTENCE_LIMIT
        answer = await harness.data.request("POST", "/api/v1/queues/orders/messages", b'{"%b": 1}' % text)
        assert answer.status == 400
        assert len(answer.body) < 2 * SENTENCE_LIMIT

    play(tmp_path, scene)


def test_json_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for path, body in (
            ("/queues", b'{"name": ' + b"[" * 100_000),
            ("/directory/import", b"a = " + b"[" * 100_000),
            ("/directory/import", b"a = " + b"{b=" * 100_000),
        ):
            answer = await harness.control.request("POST", "/api/v1" + path, body)
            assert (answer.status, json.loads(answer.body)["code"]) == (400, "INVALID_PARAMETER"), path
            assert "nested too deeply" in json.loads(answer.body)["error"]

    play(tmp_path, scene)


def test_rights_are_asked_before_a_long_body_is_decoded(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await ask(harness.control, ROOT, "POST", "/queues", {"name": "mine"})
        denied = {"change": "deny", "user": "bob", "rights": ["send"]}
        assert (await ask(harness.control, ROOT, "POST", "/queues/mine/access", denied))[0] == 200
        for client, path in ((harness.data, "/queues/mine/messages"), (harness.control, "/directory/import")):
            headers = ((b"authorization", b"Bearer " + BOB.encode()),)
            answer = await client.request("POST", f"/api/v1{path}", b"{" * 100_000, headers)
            assert (answer.status, json.loads(answer.body)["code"]) == (403, "ACCESS_DENIED"), path

    play(tmp_path, scene, users=USERS)


def test_a_stopped_engine_is_reported(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        harness.server.opened.engine._accepting = False
        refused = await harness.refused("POST", "/queues", {"name": "x"})
        assert refused == (503, "STOPPING", "the server is stopping")

    play(tmp_path, scene)


_NAMES = st.sampled_from(
    ["name", "quota", "label", "privacy", "type", "journaling", "path", "transactional", "x"]
)
_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=9),
    st.lists(st.integers(), max_size=2),
)
_ASKED = st.tuples(
    st.sampled_from(["GET", "POST", "PATCH", "DELETE", "PUT"]),
    st.sampled_from(
        [
            "/queues",
            "/queues/a",
            "/queues/a/purge",
            "/queues/%00",
            "/queues/;",
            "/manager",
            "/store/verify",
            "/x",
            "/store/backup",
            "/queues/%ff",
            "/queues/.%5Ca",
            "/health",
        ]
    ),
    st.dictionaries(_NAMES, _VALUES, max_size=4) | _VALUES,
)


def test_nothing_that_is_asked_gives_a_500_or_stops_the_server(tmp_path: Path) -> None:
    @settings(max_examples=1, suppress_health_check=list(HealthCheck))
    @given(st.lists(_ASKED, min_size=150, max_size=150))
    def whatever(asked: list[tuple[str, str, object]]) -> None:
        async def scene(harness: Harness) -> None:
            for method, path, body in asked:
                answer = await harness.control.request(method, "/api/v1" + path, json.dumps(body).encode())
                assert answer.status < 500, (method, path, body, answer.body)
            await harness.send("orders", "still here")

        play(tmp_path, scene)

    whatever()


def test_the_server_says_that_it_lives_and_whether_it_takes_messages(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.get("/healthz")).body == b"alive\n"
        assert (await harness.get("/readyz")).status == 200
        harness.server.opened.engine.submit(FlowControl(True, "the disk is full"))
        await harness.server.opened.settled()
        answer = await harness.get("/readyz")
        assert (answer.status, answer.body) == (503, b"the manager accepts no messages now\n")
        assert (await harness.get("/healthz")).status == 200
        manager, before = harness.server.opened.state.manager, harness.server.opened.state.manager.state
        manager.state = ManagerState.INITIALIZING
        answer = await harness.get("/readyz")
        manager.state = before
        assert (answer.status, answer.body) == (503, b"the manager is initializing\n")

    play(tmp_path, scene)

"""Tests the directory through the control plane."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from tests.console.harness import Harness, play
from tests.console.test_access import ALICE, BOB, ROOT, USERS, ask


def test_objects_are_made_shown_changed_listed_and_removed(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        north = await harness.ok("POST", "/directory/site", {"name": "north"})
        south = await harness.ok("POST", "/directory/site", {"name": "south"})
        link = {"site1": north["identifier"], "site2": south["identifier"], "actual_cost": 5}
        made = await harness.ok("POST", "/directory/routing-link", link)
        assert made | link == made
        assert await harness.ok("GET", "/directory/site/north") == north
        assert await harness.ok("GET", f"/directory/site/{north['identifier']}") == north
        changed = await harness.ok("PATCH", "/directory/site/north", {"foreign_site": True})
        assert changed == north | {"foreign_site": True}
        where = f"/directory/routing-link?where={quote('actual_cost<9')}&where={quote('actual_cost>5')}"
        assert await harness.ok("GET", where) == {"objects": []}
        assert len((await harness.ok("GET", "/directory/site"))["objects"]) == 2
        refused = await harness.refused("DELETE", "/directory/site/north")
        assert refused[:2] == (400, "INVALID_PARAMETER")
        assert "remove it first" in refused[2]
        await harness.ok("DELETE", f"/directory/routing-link/{made['identifier']}")
        assert await harness.ok("DELETE", "/directory/site/north") == {"identifier": north["identifier"]}
        assert (await harness.refused("GET", "/directory/site/north"))[:2] == (404, "OBJECT_NOT_FOUND")

    play(tmp_path, scene)


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.ok("POST", "/directory/site", {"name": "north"})
        for method, path, body, status, why in (
            ("GET", "/directory/house", None, 400, "'house' is no type of directory object"),
            ("POST", "/directory/site", {"name": 7}, 400, "name: Expected `str`, got `int`"),
            ("POST", "/directory/site", {}, 400, "name is empty"),
            ("POST", "/directory/site", {"name": "North"}, 409, "has the name 'North' already"),
            ("PATCH", "/directory/site/north", {}, 400, "name an attribute"),
            ("PATCH", "/directory/site/north", {"colour": 1}, 400, "no attribute 'colour'"),
            ("GET", "/directory/site?where=colour%3Dred", None, 400, "no attribute 'colour'"),
            ("PUT", "/directory/site", {}, 405, "PUT is not for this path"),
        ):
            refused = await harness.refused(method, path, body)
            assert refused[0] == status
            assert why in refused[2]

    play(tmp_path, scene)


def test_the_whole_directory_goes_out_and_comes_in_as_a_file(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for name in ("north", "south"):
            await harness.ok("POST", "/directory/site", {"name": name})
        exported = await harness.get("/api/v1/directory/export")
        assert (exported.status, dict(exported.headers)[b"content-type"]) == (200, b"application/toml")
        text = bytes(exported.body)
        await harness.ok("DELETE", "/directory/site/north")
        answer = await harness.control.request("POST", "/api/v1/directory/import", text)
        assert bytes(answer.body) == b'{"objects":2}'
        assert (await harness.get("/api/v1/directory/export")).body == text
        bad = await harness.control.request("POST", "/api/v1/directory/import", text + b"[[site]]\nname = 7")
        assert bad.status == 400
        assert b"line 10: site 3: identifier is missing" in bad.body
        assert (await harness.get("/api/v1/directory/export")).body == text
        garbage = await harness.control.request("POST", "/api/v1/directory/import", b"\xff")
        assert garbage.status == 400

    play(tmp_path, scene)


def test_the_directory_can_be_detached_and_attached(tmp_path: Path) -> None:
    async def detached(harness: Harness) -> None:
        assert (await harness.ok("GET", "/directory"))["attached"] is True
        assert (await harness.ok("POST", "/directory/detach"))["attached"] is False
        assert (await harness.refused("GET", "/directory/site"))[:2] == (503, "NO_DS")
        assert (await harness.refused("POST", "/directory/site", {"name": "a"}))[:2] == (503, "NO_DS")

    async def attached(harness: Harness) -> None:
        assert (await harness.ok("GET", "/directory"))["attached"] is False
        assert (await harness.ok("POST", "/directory/attach"))["attached"] is True
        await harness.ok("POST", "/directory/site", {"name": "a"})

    play(tmp_path, detached)
    play(tmp_path, attached)


def test_a_manager_that_is_integrated_is_in_it_with_its_public_queues(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        status = await harness.ok("GET", "/directory")
        assert (status["integrated"], status["connection"], status["servers"]) == (True, "online", ["dc1"])
        own = await harness.ok("GET", "/directory/queue-manager/here")
        assert own["qualified_computer_name"] == "HERE.shop.example"
        assert len(own["public_encryption_keys"]) == len(own["public_signing_keys"]) == 3
        await harness.ok("POST", "/queues", {"name": ".\\shop", "label": "till"})
        queue = await harness.ok("GET", "/directory/queue/" + quote("HERE\\shop", safe=""))
        assert (queue["label"], queue["queue_manager"]) == ("till", own["identifier"])
        await harness.ok("POST", "/directory/detach")
        refused = await harness.refused("POST", "/queues", {"name": ".\\other"})
        assert refused[:2] == (503, "NO_DS")

    play(tmp_path, scene, directory_integrated=True, domain="shop.example", directory_servers=("dc1",))


def test_looking_at_the_directory_and_changing_it_need_two_rights_of_the_manager(tmp_path: Path) -> None:
    looks = ("/directory", "/directory/site", "/directory/site/north", "/directory/site/south")

    async def scene(harness: Harness) -> None:
        assert (await ask(harness.control, ROOT, "POST", "/directory/site", {"name": "north"}))[0] == 201
        assert (await ask(harness.control, ALICE, "POST", "/directory/site", {"name": "x"}))[0] == 403
        before = [(await ask(harness.control, ALICE, "GET", path))[0] for path in looks]
        assert before == [200, 200, 200, 404]
        change = {"change": "deny", "user": "clerks", "rights": ["get-machine-properties"]}
        assert (await ask(harness.control, ROOT, "POST", "/access", change))[0] == 200
        for path in (*looks, "/directory/export"):
            status, refused = await ask(harness.control, ALICE, "GET", path)
            assert (status, refused["code"]) == (403, "ACCESS_DENIED")
        for method in ("PATCH", "DELETE"):
            status, refused = await ask(
                harness.control, ALICE, method, "/directory/site/south", {"name": "x"}
            )
            assert (status, refused["code"]) == (403, "ACCESS_DENIED"), (
                "the answer does not show that it is missing"
            )
        assert (await ask(harness.control, BOB, "GET", "/directory/site/north"))[0] == 200
        bearer = ((b"authorization", b"Bearer " + BOB.encode()),)
        exported = await harness.control.request("GET", "/api/v1/directory/export", b"", bearer)
        assert (exported.status, b"north" in exported.body) == (200, True)

    play(tmp_path, scene, users=USERS)

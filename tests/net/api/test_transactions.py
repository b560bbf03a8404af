"""Transactions across requests, over a real socket."""

from __future__ import annotations

import asyncio

import pytest

from tests.net.api.harness import Stage, bodies, on, play
from tests.net.http.harness import until

UNKNOWN = "0c44cb60-0000-4000-8000-000000000007"


async def begun(stage: Stage, **how: object) -> str:
    status, answer = await stage.call("POST", "/transactions", how)
    assert status == 201, answer
    transaction = answer["transaction"]
    assert isinstance(transaction, str)
    return transaction


def messages(transaction: str) -> str:
    return f"{on('orders', 'messages')}?transaction={transaction}"


def test_what_a_transaction_sends_shows_when_it_commits() -> None:
    async def scene(stage: Stage) -> None:
        transaction = await begun(stage)
        await stage.ok("POST", messages(transaction), [{"text": "a"}, {"text": "b"}])
        await stage.ok("POST", messages(transaction), {"text": "c"})
        assert await stage.texts("orders") == []
        assert await stage.call("POST", f"/transactions/{transaction}/commit") == (204, None)
        shown = await stage.ok("GET", on("orders", "messages"))
        assert bodies(shown) == ["a", "b", "c"]
        assert {each["transaction"] for each in shown["messages"]} == {transaction}

    play(scene)


def test_what_a_transaction_received_comes_back_when_it_aborts() -> None:
    async def scene(stage: Stage) -> None:
        await stage.send("orders", "a", "b")
        transaction = await begun(stage)
        taken = await stage.ok("POST", on("orders", "receive"), {"transaction": transaction, "count": 2})
        assert bodies(taken) == ["a", "b"]
        assert taken["receipt"] is None
        await stage.ok("POST", messages(transaction), {"text": "c"})
        assert await stage.texts("orders") == []
        assert await stage.call("POST", f"/transactions/{transaction}/abort", {}) == (204, None)
        assert await stage.texts("orders") == ["a", "b"]

    play(scene)


def test_moves_and_lookups_take_part() -> None:
    async def scene(stage: Stage) -> None:
        await stage.create("orders;retry")
        places = await stage.send("orders", "a", "b")
        transaction = await begun(stage)
        within = {"transaction": transaction}
        await stage.ok(
            "POST", on("orders", "move"), within | {"lookup_id": places[0], "target": "orders;retry"}
        )
        await stage.ok("POST", on("orders", "lookup"), within | {"lookup_id": places[1], "peek": False})
        assert await stage.texts("orders;retry") == []
        await stage.ok("POST", f"/transactions/{transaction}/commit")
        assert (await stage.texts("orders"), await stage.texts("orders;retry")) == ([], ["a"])

    play(scene)


def test_a_prepared_transaction_is_listed_until_it_is_decided() -> None:
    async def scene(stage: Stage) -> None:
        transaction = await begun(stage)
        await stage.ok("POST", messages(transaction), {"text": "a"})
        [seen] = (await stage.ok("GET", "/transactions"))["transactions"]
        assert (seen["id"], seen["prepared"], seen["operations"]) == (transaction, False, 1)
        assert seen["bytes"] > 0
        await stage.ok("POST", f"/transactions/{transaction}/prepare", {"single_phase": False})
        await stage.ok("POST", f"/transactions/{transaction}/prepare")
        [seen] = (await stage.ok("GET", "/transactions"))["transactions"]
        assert seen["prepared"]
        refused = await stage.refused("POST", messages(transaction), {"text": "b"})
        assert refused[:2] == (409, "TRANSACTION_SEQUENCE")
        await stage.ok("POST", f"/transactions/{transaction}/commit")
        assert (await stage.ok("GET", "/transactions"))["transactions"] == []
        assert await stage.texts("orders") == ["a"]

    play(scene)


def test_a_transaction_that_is_not_used_is_aborted() -> None:
    async def scene(stage: Stage) -> None:
        await stage.send("orders", "a")
        transaction = await begun(stage, timeout=0.01)
        await stage.ok("POST", on("orders", "receive"), {"transaction": transaction})
        await until(lambda: not stage.state.transactions.open)
        assert await stage.texts("orders") == ["a"]
        refused = await stage.refused("POST", f"/transactions/{transaction}/commit")
        assert refused[:2] == (409, "TRANSACTION_SEQUENCE")

    play(scene)


def test_a_wait_inside_a_transaction_ends_with_it() -> None:
    async def scene(stage: Stage) -> None:
        transaction = await begun(stage)
        waiting = asyncio.ensure_future(
            stage.refused("POST", on("orders", "receive"), {"transaction": transaction, "timeout": 60})
        )
        await stage.wait_for_readers(1)
        await stage.ok("POST", f"/transactions/{transaction}/abort")
        assert (await waiting)[:2] == (409, "TRANSACTION_SEQUENCE")

    play(scene)


@pytest.mark.parametrize("step", ["commit", "abort", "prepare"])
def test_a_transaction_that_never_was_or_has_no_guid(step: str) -> None:
    async def scene(stage: Stage) -> None:
        refused = await stage.refused("POST", f"/transactions/{UNKNOWN}/{step}")
        assert refused[:2] == (409, "TRANSACTION_SEQUENCE")
        status, code, why = await stage.refused("POST", f"/transactions/7/{step}")
        assert (status, code, why) == (400, "INVALID_PARAMETER", "a transaction's id is a GUID, not '7'")
        status, code, why = await stage.refused("POST", f"/transactions/{UNKNOWN}/{step}", {"now": True})
        assert (status, code) == (400, "INVALID_PARAMETER")
        assert "now" in why

    play(scene)


@pytest.mark.parametrize("timeout", [0, -1, 604_801, None, "60"])
def test_a_time_outside_its_range_begins_nothing(timeout: object) -> None:
    async def scene(stage: Stage) -> None:
        refused = await stage.refused("POST", "/transactions", {"timeout": timeout})
        assert refused[:2] == (400, "INVALID_PARAMETER")
        assert not stage.state.transactions.open

    play(scene)


def test_a_receive_is_held_or_in_a_transaction() -> None:
    async def scene(stage: Stage) -> None:
        transaction = await begun(stage)
        status, _, why = await stage.refused(
            "POST", on("orders", "receive"), {"transaction": transaction, "hold": 5}
        )
        assert (status, why) == (400, "a receive is held or in a transaction, not both")

    play(scene)


THEIRS = "0c44cb60-0000-4000-8000-000000000008"


@pytest.mark.spec("DM-186")
def test_a_transaction_may_bring_its_id_and_its_owner() -> None:
    async def scene(stage: Stage) -> None:
        assert await begun(stage, id=THEIRS, owner="billing") == THEIRS
        assert await begun(stage, id=THEIRS, owner="billing") == THEIRS
        refused = await stage.refused("POST", "/transactions", {"id": THEIRS, "owner": "shipping"})
        assert refused[:2] == (409, "TRANSACTION_SEQUENCE")
        assert (await stage.refused("POST", "/transactions", {"id": "7"}))[:2] == (400, "INVALID_PARAMETER")
        refused = await stage.refused("POST", "/transactions", {"owner": "x" * 129})
        assert refused[:2] == (400, "INVALID_PARAMETER")
        await begun(stage)
        [seen] = (await stage.ok("GET", "/transactions?owner=billing"))["transactions"]
        assert (seen["id"], seen["owner"], seen["external"], seen["stage"]) == (
            THEIRS,
            "billing",
            True,
            "active",
        )
        assert seen["begun_at"].endswith("Z")
        assert (seen["prepared_at"], seen["ended_at"]) == (None, None)
        assert len((await stage.ok("GET", "/transactions"))["transactions"]) == 2

    play(scene)


def test_an_outcome_can_be_asked_for_and_reported_again() -> None:
    async def scene(stage: Stage) -> None:
        await begun(stage, id=THEIRS, owner="billing")
        await stage.ok("POST", messages(THEIRS), {"text": "a"})
        await stage.ok("POST", f"/transactions/{THEIRS}/prepare")
        seen = await stage.ok("GET", f"/transactions/{THEIRS}")
        assert (seen["stage"], seen["prepared"], seen["queues"]) == ("prepared", True, ["orders"])
        assert seen["prepared_at"] is not None
        await stage.ok("POST", f"/transactions/{THEIRS}/commit", {"by": "alice"})
        await stage.ok("POST", f"/transactions/{THEIRS}/commit")
        status, code, why = await stage.refused("POST", f"/transactions/{THEIRS}/abort")
        assert (status, code) == (409, "TRANSACTION_SEQUENCE")
        assert why.endswith("by alice")
        seen = await stage.ok("GET", f"/transactions/{THEIRS}")
        assert (seen["stage"], seen["decided_by"], seen["owner"]) == ("committed", "alice", "billing")
        assert (await stage.ok("GET", "/transactions"))["transactions"] == []
        assert (await stage.ok("GET", "/transactions?ended=true"))["transactions"] == [seen]
        assert await stage.texts("orders") == ["a"]

    play(scene)


def test_a_transaction_that_is_not_known_is_not_found() -> None:
    async def scene(stage: Stage) -> None:
        assert (await stage.refused("GET", f"/transactions/{UNKNOWN}"))[:2] == (404, "STATUS_NOT_FOUND")
        assert (await stage.refused("GET", "/transactions?ended=maybe"))[:2] == (400, "INVALID_PARAMETER")

    play(scene)

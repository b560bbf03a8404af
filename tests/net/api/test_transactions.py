"""Tests transactions across requests, over a real socket."""

from __future__ import annotations

import asyncio

import pytest

from tests.net.api.harness import Harness, bodies, on, play
from tests.net.http.harness import until

UNKNOWN = "0c44cb60-0000-4000-8000-000000000007"


async def begun(harness: Harness, **how: object) -> str:
    status, answer = await harness.call("POST", "/transactions", how)
    assert status == 201, answer
    transaction = answer["transaction"]
    assert isinstance(transaction, str)
    return transaction


def messages(transaction: str) -> str:
    return f"{on('orders', 'messages')}?transaction={transaction}"


def test_what_a_transaction_sends_shows_when_it_commits() -> None:
    async def scene(harness: Harness) -> None:
        transaction = await begun(harness)
        await harness.ok("POST", messages(transaction), [{"text": "a"}, {"text": "b"}])
        await harness.ok("POST", messages(transaction), {"text": "c"})
        assert await harness.texts("orders") == []
        assert await harness.call("POST", f"/transactions/{transaction}/commit") == (204, None)
        shown = await harness.ok("GET", on("orders", "messages"))
        assert bodies(shown) == ["a", "b", "c"]
        assert {each["transaction"] for each in shown["messages"]} == {transaction}

    play(scene)


def test_what_a_transaction_received_comes_back_when_it_aborts() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b")
        transaction = await begun(harness)
        taken = await harness.ok("POST", on("orders", "receive"), {"transaction": transaction, "count": 2})
        assert bodies(taken) == ["a", "b"]
        assert taken["receipt"] is None
        await harness.ok("POST", messages(transaction), {"text": "c"})
        assert await harness.texts("orders") == []
        assert await harness.call("POST", f"/transactions/{transaction}/abort", {}) == (204, None)
        assert await harness.texts("orders") == ["a", "b"]

    play(scene)


def test_moves_and_lookups_take_part() -> None:
    async def scene(harness: Harness) -> None:
        await harness.create("orders;retry")
        places = await harness.send("orders", "a", "b")
        transaction = await begun(harness)
        within = {"transaction": transaction}
        await harness.ok(
            "POST", on("orders", "move"), within | {"lookup_id": places[0], "target": "orders;retry"}
        )
        await harness.ok("POST", on("orders", "lookup"), within | {"lookup_id": places[1], "peek": False})
        assert await harness.texts("orders;retry") == []
        await harness.ok("POST", f"/transactions/{transaction}/commit")
        assert (await harness.texts("orders"), await harness.texts("orders;retry")) == ([], ["a"])

    play(scene)


def test_a_prepared_transaction_is_listed_until_it_is_decided() -> None:
    async def scene(harness: Harness) -> None:
        transaction = await begun(harness)
        await harness.ok("POST", messages(transaction), {"text": "a"})
        [seen] = (await harness.ok("GET", "/transactions"))["transactions"]
        assert (seen["id"], seen["prepared"], seen["operations"]) == (transaction, False, 1)
        assert seen["bytes"] > 0
        await harness.ok("POST", f"/transactions/{transaction}/prepare", {"single_phase": False})
        await harness.ok("POST", f"/transactions/{transaction}/prepare")
        [seen] = (await harness.ok("GET", "/transactions"))["transactions"]
        assert seen["prepared"]
        refused = await harness.refused("POST", messages(transaction), {"text": "b"})
        assert refused[:2] == (409, "TRANSACTION_SEQUENCE")
        await harness.ok("POST", f"/transactions/{transaction}/commit")
        assert (await harness.ok("GET", "/transactions"))["transactions"] == []
        assert await harness.texts("orders") == ["a"]

    play(scene)


def test_a_transaction_that_is_not_used_is_aborted() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        transaction = await begun(harness, timeout=0.01)
        await harness.ok("POST", on("orders", "receive"), {"transaction": transaction})
        await until(lambda: not harness.state.transactions.open)
        assert await harness.texts("orders") == ["a"]
        refused = await harness.refused("POST", f"/transactions/{transaction}/commit")
        assert refused[:2] == (409, "TRANSACTION_SEQUENCE")

    play(scene)


def test_a_wait_inside_a_transaction_ends_with_it() -> None:
    async def scene(harness: Harness) -> None:
        transaction = await begun(harness)
        waiting = asyncio.ensure_future(
            harness.refused("POST", on("orders", "receive"), {"transaction": transaction, "timeout": 60})
        )
        await harness.wait_for_readers(1)
        await harness.ok("POST", f"/transactions/{transaction}/abort")
        assert (await waiting)[:2] == (409, "TRANSACTION_SEQUENCE")

    play(scene)


@pytest.mark.parametrize("step", ["commit", "abort", "prepare"])
def test_an_unknown_transaction_and_one_without_a_guid_are_refused(step: str) -> None:
    async def scene(harness: Harness) -> None:
        refused = await harness.refused("POST", f"/transactions/{UNKNOWN}/{step}")
        assert refused[:2] == (409, "TRANSACTION_SEQUENCE")
        status, code, why = await harness.refused("POST", f"/transactions/7/{step}")
        assert (status, code, why) == (400, "INVALID_PARAMETER", "a transaction's id is a GUID, not '7'")
        status, code, why = await harness.refused("POST", f"/transactions/{UNKNOWN}/{step}", {"now": True})
        assert (status, code) == (400, "INVALID_PARAMETER")
        assert "now" in why

    play(scene)


@pytest.mark.parametrize("timeout", [0, -1, 604_801, None, "60"])
def test_a_time_outside_its_range_begins_nothing(timeout: object) -> None:
    async def scene(harness: Harness) -> None:
        refused = await harness.refused("POST", "/transactions", {"timeout": timeout})
        assert refused[:2] == (400, "INVALID_PARAMETER")
        assert not harness.state.transactions.open

    play(scene)


def test_a_receive_is_held_or_in_a_transaction() -> None:
    async def scene(harness: Harness) -> None:
        transaction = await begun(harness)
        status, _, why = await harness.refused(
            "POST", on("orders", "receive"), {"transaction": transaction, "hold": 5}
        )
        assert (status, why) == (400, "a receive is held or in a transaction, not both")

    play(scene)


THEIRS = "0c44cb60-0000-4000-8000-000000000008"


@pytest.mark.spec("DM-186")
def test_a_transaction_may_bring_its_id_and_its_owner() -> None:
    async def scene(harness: Harness) -> None:
        assert await begun(harness, id=THEIRS, owner="billing") == THEIRS
        assert await begun(harness, id=THEIRS, owner="billing") == THEIRS
        refused = await harness.refused("POST", "/transactions", {"id": THEIRS, "owner": "shipping"})
        assert refused[:2] == (409, "TRANSACTION_SEQUENCE")
        assert (await harness.refused("POST", "/transactions", {"id": "7"}))[:2] == (400, "INVALID_PARAMETER")
        refused = await harness.refused("POST", "/transactions", {"owner": "x" * 129})
        assert refused[:2] == (400, "INVALID_PARAMETER")
        await begun(harness)
        [seen] = (await harness.ok("GET", "/transactions?owner=billing"))["transactions"]
        assert (seen["id"], seen["owner"], seen["external"], seen["stage"]) == (
            THEIRS,
            "billing",
            True,
            "active",
        )
        assert seen["begun_at"].endswith("Z")
        assert (seen["prepared_at"], seen["ended_at"]) == (None, None)
        assert len((await harness.ok("GET", "/transactions"))["transactions"]) == 2

    play(scene)


def test_an_outcome_can_be_asked_for_and_reported_again() -> None:
    async def scene(harness: Harness) -> None:
        await begun(harness, id=THEIRS, owner="billing")
        await harness.ok("POST", messages(THEIRS), {"text": "a"})
        await harness.ok("POST", f"/transactions/{THEIRS}/prepare")
        seen = await harness.ok("GET", f"/transactions/{THEIRS}")
        assert (seen["stage"], seen["prepared"], seen["queues"]) == ("prepared", True, ["orders"])
        assert seen["prepared_at"] is not None
        await harness.ok("POST", f"/transactions/{THEIRS}/commit", {"by": "alice"})
        await harness.ok("POST", f"/transactions/{THEIRS}/commit")
        status, code, why = await harness.refused("POST", f"/transactions/{THEIRS}/abort")
        assert (status, code) == (409, "TRANSACTION_SEQUENCE")
        assert why.endswith("by alice")
        seen = await harness.ok("GET", f"/transactions/{THEIRS}")
        assert (seen["stage"], seen["decided_by"], seen["owner"]) == ("committed", "alice", "billing")
        assert (await harness.ok("GET", "/transactions"))["transactions"] == []
        assert (await harness.ok("GET", "/transactions?ended=true"))["transactions"] == [seen]
        assert await harness.texts("orders") == ["a"]

    play(scene)


def test_a_transaction_that_is_not_known_is_not_found() -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.refused("GET", f"/transactions/{UNKNOWN}"))[:2] == (404, "STATUS_NOT_FOUND")
        assert (await harness.refused("GET", "/transactions?ended=maybe"))[:2] == (400, "INVALID_PARAMETER")

    play(scene)

"""Tests managers over both transports: queues made, listed and deleted, the store looked after."""

from __future__ import annotations

from pathlib import Path

import pytest

import reliquary
from reliquary import (
    AsyncManager,
    BadRequest,
    Manager,
    NotFound,
    QueueExists,
    QueueNotFound,
    TransactionEnded,
)
from tests.client.conftest import Play


def test_a_queue_is_made_with_its_settings(qm: Manager) -> None:
    info = qm.create_queue("orders", journaling=True, quota=64, transactional=True, label="L").info()
    assert (info.name, info.kind, info.messages) == ("orders", "private", 0)
    settings = info.settings
    assert (settings.journaling, settings.quota, settings.transactional) == (True, 64, True)
    assert settings.label == "L"


def test_a_name_is_taken_once(qm: Manager) -> None:
    qm.create_queue("orders", label="first")
    with pytest.raises(QueueExists):
        qm.create_queue("Orders")
    assert qm.create_queue("orders", exist_ok=True, label="second").info().settings.label == "first"


def test_queues_are_listed_by_name(qm: Manager) -> None:
    for name in ("b", "a"):
        qm.create_queue(name)
    assert [info.name for info in qm.queues() if info.kind == "private"] == ["a", "b"]


def test_a_deleted_queue_is_gone_with_its_messages(qm: Manager) -> None:
    qm.create_queue("orders").send_many(["a", "b"])
    assert qm.delete_queue("orders") == 2
    with pytest.raises(QueueNotFound) as gone:
        qm.queue("orders").info()
    assert gone.value.code == "QUEUE_NOT_FOUND"
    assert gone.value.sentence == "there is no queue orders"
    with pytest.raises(NotFound):
        qm.delete_queue("orders")


def test_every_request_names_the_queue_that_does_not_exist(qm: Manager) -> None:
    missing = qm.queue("ordres")
    qm.create_queue("orders").send("a")
    place = qm.queue("orders").browse().__next__().lookup_id
    for act in (
        lambda: missing.send("a"),
        missing.receive,
        missing.peek,
        lambda: list(missing.browse()),
        lambda: missing.lookup(1),
        missing.purge,
        lambda: missing.open("peek").__enter__(),
        lambda: missing.move(1, "orders"),
        lambda: qm.queue("orders").move(place, "ordres"),
        lambda: qm.create_queue("ordres;retry"),
    ):
        with pytest.raises(QueueNotFound) as gone:
            act()
        assert gone.value.sentence == "there is no queue ordres"


@pytest.mark.parametrize("name", ["x" * 125, "a+b", "other\\private$\\orders", ""])
def test_a_bad_name_is_refused(qm: Manager, name: str) -> None:
    with pytest.raises(BadRequest):
        qm.create_queue(name)


def test_a_setting_outside_its_range_is_refused(qm: Manager) -> None:
    with pytest.raises(BadRequest, match="quota"):
        qm.create_queue("orders", quota=-1)
    with pytest.raises(BadRequest, match="colour"):
        qm.create_queue("orders", colour="red")  # type: ignore[call-arg]
    with pytest.raises(QueueNotFound):
        qm.queue("orders").info()


def test_names_with_odd_characters_work(qm: Manager) -> None:
    qm.create_queue("a b ü?#%&").send("x")
    message = qm.queue("private$\\a b ü?#%&").receive()
    assert message is not None
    assert message.text == "x"


def test_the_manager_counts_its_queues_and_messages(qm: Manager) -> None:
    before = qm.info()
    qm.create_queue("orders").send("x")
    after = qm.info()
    assert (after.queues - before.queues, after.messages) == (1, 1)
    assert after.id == before.id


def test_a_store_is_verified_and_backed_up_while_in_use(qm: Manager, tmp_path: Path) -> None:
    qm.create_queue("orders").send("kept")
    report = qm.verify()
    assert report.is_sound
    assert report.rows["positions"] == 1
    qm.backup(str(tmp_path / "copy"))
    with reliquary.connect(tmp_path / "copy") as copy:
        message = copy.queue("orders").receive()
        assert message is not None
        assert message.text == "kept"
    with pytest.raises(BadRequest, match="exists"):
        qm.backup(str(tmp_path / "copy"))


def test_a_transaction_that_was_never_begun_cannot_be_ended(qm: Manager) -> None:
    with pytest.raises(TransactionEnded):
        qm.commit("00000000-0000-0000-0000-000000000001")
    with pytest.raises(BadRequest, match="GUID"):
        qm.abort("not an id")


def test_the_async_face_gives_equal_results(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        await qm.create_queue("orders", exist_ok=True)
        assert "orders" in [info.name for info in await qm.queues()]
        assert (await qm.info()).queues > 0
        assert (await qm.verify()).is_sound
        assert await qm.delete_queue("orders") == 0

    play(scene)


def test_messages_for_elsewhere_wait_in_an_outgoing_queue(qm: Manager) -> None:
    destination = "DIRECT=OS:elsewhere\\private$\\orders"
    qm.queue(destination).send("x")
    [shown] = qm.outgoing()
    assert (shown.destination, shown.state, shown.messages) == (destination, "waiting", 1)
    assert qm.pause(destination).state == "on-hold"
    assert qm.outgoing_queue(destination).state == "on-hold"
    assert qm.resume(destination).state == "waiting"
    with pytest.raises(QueueNotFound, match="nothing was ever sent"):
        qm.outgoing_queue("DIRECT=OS:nowhere\\a")
    qm.create_queue("orders")
    with pytest.raises(BadRequest, match="no outgoing queue"):
        qm.pause("orders")
    with pytest.raises(BadRequest):
        qm.outgoing_queue("DIRECT=")


def test_the_uri_of_an_agent_is_a_destination(qm: Manager) -> None:
    uri = "httpr://elsewhere.invalid/httpr/mq#Orders"
    qm.queue(uri).send("x")
    [shown] = qm.outgoing()
    assert shown.destination == "DIRECT=HTTPR://elsewhere.invalid/httpr/mq#Orders"
    assert qm.pause(uri).state == "on-hold"


def test_fields_of_httpr_are_sent_and_seen(qm: Manager) -> None:
    orders = qm.create_queue("orders")
    orders.send("<order/>", httpr={"Content-Type": "text/xml", "app-shop": "berlin"})
    message = orders.receive()
    assert message is not None
    assert message.httpr == {"content-type": "text/xml", "app-shop": "berlin"}
    with pytest.raises(BadRequest, match="an HTTPR field is one of"):
        orders.send("x", httpr={"priority": "9"})
    orders.send("x")
    plain = orders.receive()
    assert plain is not None
    assert plain.httpr is None


def test_the_loop_back_brings_messages_home_while_the_manager_is_online(qm: Manager) -> None:
    orders = qm.create_queue("orders")
    looped = "DIRECT=OS:loopback\\private$\\orders"
    assert not qm.take_offline().online
    qm.queue(looped).send("x")
    assert orders.receive() is None
    assert qm.bring_online().online
    message = orders.receive(timeout=20)
    assert message is not None
    assert message.text == "x"
    assert (qm.outgoing_queue(looped).state, qm.outgoing_queue(looped).delivered) == ("connected", 1)


def test_access_lists_are_shown_and_changed(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        await qm.create_queue("orders")
        # a server lets anonymous senders of SRMP in by an entry of their own
        (everyone,) = (await qm.revoke("anonymous", queue="orders")).entries
        assert (everyone.user, everyone.allow, everyone.rights) == ("everyone", True, ["generic-all"])
        denied = await qm.deny("anonymous", "peek", queue="orders")
        assert [(each.user, each.allow) for each in denied.entries] == [
            ("anonymous", False),
            ("everyone", True),
        ]
        granted = await qm.grant("anonymous", "all", queue="orders")
        assert [each.rights for each in granted.entries] == [["generic-all"], ["generic-all"]]
        assert (await qm.revoke("anonymous", queue="orders")).entries == [everyone]
        owned = await qm.set_owner("S-1-5-21-1-2-3-1001", queue="orders")
        assert (owned.owner, owned.owner_sid) == ("", "S-1-5-21-1-2-3-1001")
        assert (await qm.access()).entries[0].user == "everyone"
        with pytest.raises(NotFound):
            await qm.access("nowhere")
        with pytest.raises(BadRequest, match="there is no user or group 'carol'"):
            await qm.grant("carol", "send", queue="orders")

    play(scene)


def test_a_reply_goes_to_the_response_queue_and_names_its_message(qm: Manager) -> None:
    requests, answers = qm.create_queue("requests"), qm.create_queue("answers")
    requests.send("question", response_queue="answers")
    asked = requests.receive()
    assert asked is not None
    qm.reply(asked, "answer", label="L")
    answer = answers.receive()
    assert answer is not None
    assert (answer.text, answer.label, answer.correlation) == ("answer", "L", asked.id)
    with pytest.raises(BadRequest, match="names no response queue"):
        qm.reply(answer, "thanks")

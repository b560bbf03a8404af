"""Tests of the command `reliquary message`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from reliquary import Manager, Queue
from reliquary.cli.message import ACKNOWLEDGEMENTS
from reliquary.client.message import Acknowledgement
from reliquary.queueing.model import message as machine
from reliquary.server.exits import Exit
from tests.cli.conftest import Run


@pytest.fixture
def orders(qm: Manager) -> Queue:
    return qm.create_queue("orders")


def texts(queue: Queue) -> list[str]:
    return [message.text for message in queue.browse()]


# -- send


def test_send_makes_one_message_of_each_body(run: Run, orders: Queue) -> None:
    result = run("message", "send", "orders", "hello", "world", "--label", "L", "--priority", "5")
    assert result.exit_code == 0
    ids = [json.loads(line)["id"] for line in result.output.splitlines()]
    messages = list(orders.browse())
    assert [message.id for message in messages] == ids
    assert [(message.text, message.label, message.priority) for message in messages] == [
        ("hello", "L", 5),
        ("world", "L", 5),
    ]


@pytest.mark.parametrize("dash", [(), ("-",)], ids=["no body", "a dash"])
def test_send_reads_a_body_from_stdin(run: Run, orders: Queue, dash: tuple[str, ...]) -> None:
    result = run("message", "send", "orders", *dash, "--table", stdin=b"two\nlines\x00\n")
    assert result.output.startswith("sent ")
    message = orders.receive()
    assert message is not None
    assert message.body == b"two\nlines\x00\n"


def test_each_line_is_a_message(run: Run, orders: Queue) -> None:
    stdin = b"".join(b"line %d\n" % number for number in range(1200)) + b"no end"
    result = run("message", "send", "orders", "--lines", "--table", stdin=stdin)
    assert result.output == "sent 1201 messages\n"
    sent = texts(orders)
    assert (len(sent), sent[0], sent[-1]) == (1201, "line 0", "no end")


def test_a_message_is_not_signed_without_a_key(run: Run, orders: Queue) -> None:
    result = run("message", "send", "orders", "hello", "--sign")
    assert result.exit_code == Exit.USAGE
    assert "this manager has no signing key" in result.stderr
    assert texts(orders) == []


def test_all_bodies_go_in_one_transaction(run: Run, qm: Manager) -> None:
    orders = qm.create_queue("orders", transactional=True)
    assert run("message", "send", "orders", "a", "b", "--transaction").exit_code == 0
    assert texts(orders) == ["a", "b"]
    transactions = {message.transaction for message in orders.browse()}
    assert len(transactions) == 1
    assert run("message", "send", "orders", "--lines", "--transaction").exit_code == Exit.USAGE


def test_the_option_lines_is_refused_with_a_body(run: Run, orders: Queue) -> None:
    result = run("message", "send", "orders", "x", "--lines")
    assert result.exit_code == Exit.USAGE
    assert texts(orders) == []


def test_an_error_reports_how_many_lines_were_sent(run: Run) -> None:
    result = run("message", "send", "nowhere", "--lines", stdin=b"x\n")
    assert result.exit_code == Exit.NOT_FOUND
    assert "0 messages were sent before" in result.stderr


def test_the_options_are_received_with_the_message(run: Run, orders: Queue) -> None:
    first = orders.send("first")
    run(
        *("message", "send", "orders", "x", "--expires", "1.5h", "--express", "--journal", "--deadletter"),
        *("--correlation", first.id, "--tag", "7", "--priority", "7"),
    )
    message = orders.receive()
    assert message is not None
    assert (message.expires, message.durable, message.journal, message.deadletter) == (
        5400,
        False,
        True,
        True,
    )
    assert (message.correlation, message.tag) == (first.id, 7)


def test_a_value_outside_its_range_names_the_limit(run: Run, orders: Queue) -> None:
    result = run("message", "send", "orders", "x", "--priority", "9")
    assert (result.exit_code, result.stderr) == (Exit.USAGE, "reliquary: a priority is 0 to 7, not 9\n")


# -- receive


def test_receive_prints_the_text_and_removes_the_message(run: Run, orders: Queue) -> None:
    orders.send_many(["hello", "world"])
    result = run("message", "receive", "orders")
    assert (result.exit_code, result.output) == (0, "hello\n")
    assert texts(orders) == ["world"]
    assert orders.info().locked == 0


def test_receive_has_an_exit_code_for_an_empty_queue(run: Run, orders: Queue) -> None:
    result = run("message", "receive", "orders", "--timeout", "0.01")
    assert (result.exit_code, result.stdout) == (Exit.EMPTY, "")
    assert result.stderr == "reliquary: no message came from 'orders'\n"


def test_receive_returns_the_wanted_number_of_messages(run: Run, orders: Queue) -> None:
    orders.send_many([str(number) for number in range(100)])
    result = run("message", "receive", "orders", "--count", "70")
    assert result.output.splitlines() == [str(number) for number in range(70)]
    assert texts(orders)[0] == "70"
    assert len(run("message", "receive", "orders", "--count", "70").output.splitlines()) == 30


def test_json_shows_text_as_text_and_the_rest_as_base64(run: Run, orders: Queue) -> None:
    orders.send_many(["grüße", b"\xff"], label="L")
    lines = run("message", "receive", "orders", "--count", "2", "--json").output.splitlines()
    first, second = map(json.loads, lines)
    assert (first["text"], first["label"], first["priority"]) == ("grüße", "L", 3)
    assert first["lookup_id"].isdigit()
    assert "body" not in first
    assert second["body"] == "/w=="


def test_one_body_is_written_to_a_file_byte_for_byte(run: Run, orders: Queue, tmp_path: Path) -> None:
    orders.send_many([b"\x00raw", "a", "b"])
    assert run("message", "receive", "orders", "--output", tmp_path / "one").exit_code == 0
    assert (tmp_path / "one").read_bytes() == b"\x00raw"
    run("message", "receive", "orders", "--count", "2", "--output", tmp_path / "two")
    assert (tmp_path / "two").read_bytes() == b"a\nb\n"


def test_a_message_that_cannot_be_printed_stays(run: Run, orders: Queue, tmp_path: Path) -> None:
    orders.send("precious")
    result = run("message", "receive", "orders", "--output", tmp_path / "no" / "such" / "folder")
    assert result.exit_code != 0
    assert texts(orders) == ["precious"]


# -- peek


def test_peek_leaves_the_messages_in_the_queue(run: Run, orders: Queue) -> None:
    orders.send_many(["first", "second", "x" * 100], label="L")
    lines = run("message", "peek", "orders", "--limit", "2").output.splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["first", "second"]
    table = run("message", "peek", "orders", "--table").output.splitlines()
    assert table[0].split()[:3] == ["lookup", "id", "priority"]
    assert table[3].rstrip().endswith("x…")
    assert orders.info().messages == 3


def test_control_characters_of_a_terminal_are_not_printed(run: Run, orders: Queue) -> None:
    orders.send(b"\x1b[31mred\x07", label="[bold]not markup[/bold]")
    output = run("message", "peek", "orders", "--table").output
    assert "\x1b" not in output
    assert "\x07" not in output
    assert "[bold]not markup[/bold]" in output


# -- reject


def test_a_message_is_rejected_and_its_sender_notified(run: Run, qm: Manager, orders: Queue) -> None:
    qm.create_queue("news")
    asked = ("--acknowledge", "full-receive", "--administration-queue", "news")
    run("message", "send", "orders", "bad", "--deadletter", *asked)
    (waiting,) = orders.browse()
    result = run("message", "reject", "orders", str(waiting.lookup_id))
    assert (result.exit_code, result.output) == (0, f"rejected {waiting.lookup_id}\n")
    assert texts(orders) == []
    found = json.loads(run("message", "peek", "news", "--json").output)
    assert (found["class"], found["correlation"]) == ("nack-receive-rejected", waiting.id)
    table = run("message", "peek", "system$;deadletter", "--table").output
    assert "nack-receive-rejected" in table
    assert "orders" in table
    assert run("message", "reject", "orders", str(waiting.lookup_id)).exit_code == Exit.NOT_FOUND


def test_the_command_and_the_client_use_equal_words_for_acknowledgements() -> None:
    assert get_args(Acknowledgement) == ACKNOWLEDGEMENTS
    assert tuple(each.value for each in machine.Acknowledgement) == ACKNOWLEDGEMENTS


# -- resend


def test_resend_sends_dead_letters_to_their_former_queue(run: Run, qm: Manager, orders: Queue) -> None:
    dead_letters = qm.queue("system$;deadletter")
    dead_letters.purge()
    orders.send("expired", expires=0, deadletter=True, label="L", tag=7)
    orders.send("rejected", deadletter=True)
    (waiting,) = orders.browse()
    orders.reject(waiting)
    assert sorted(texts(dead_letters)) == ["expired", "rejected"]
    result = run("message", "resend", "system$;deadletter", "--class", "nack-receive-rejected")
    assert (result.exit_code, result.output) == (0, "sent 1 messages again\n")
    assert (texts(orders), texts(dead_letters)) == (["rejected"], ["expired"])
    (left,) = dead_letters.browse()
    assert run("message", "resend", "system$;deadletter", str(left.lookup_id)).exit_code == 0
    assert [(each.text, each.label, each.tag) for each in orders.browse()][1:] == [("expired", "L", 7)]
    assert texts(dead_letters) == []


def test_dead_letters_of_a_transaction_are_removed_by_the_transaction_that_sends_them(
    run: Run, qm: Manager
) -> None:
    ledger = qm.create_queue("ledger", transactional=True)
    with qm.transaction():
        ledger.send("once", deadletter=True)
    (waiting,) = ledger.browse()
    ledger.reject(waiting)
    assert texts(qm.queue("system$;deadxact")) == ["once"]
    assert run("message", "resend", "system$;deadxact").exit_code == 0
    assert (texts(ledger), texts(qm.queue("system$;deadxact"))) == (["once"], [])


def test_a_dead_letter_that_cannot_be_sent_again_stays(run: Run, qm: Manager, orders: Queue) -> None:
    qm.queue("system$;deadletter").purge()
    orders.send("a", expires=0, deadletter=True)
    assert list(orders.browse()) == []
    orders.delete()
    assert run("message", "resend", "system$;deadletter").exit_code == Exit.NOT_FOUND
    assert texts(qm.queue("system$;deadletter")) == ["a"]

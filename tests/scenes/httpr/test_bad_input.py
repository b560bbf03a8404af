"""What is wrong is answered with its number and an outcome that is true, and changes nothing.

    519        no HTTPR at all: nothing is answered about an unreadable batch
    520        malformed: ROLLBACK of the request's batch, as soon as its header could be read
    all else   by what is asked for: limits, flows, depth, names, sessions, order, version

After each of them that client sends a batch that is right, and that is taken.
"""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.events import Addressed
from tests.queueing.state_checks import check
from tests.scenes.httpr.harness import ScriptedClient, Side, settings
from tests.scenes.httpr.script import to_bytes, to_lines

WHO = ("requester:httpr://myhost/service", "channel:primary", "responder:httpr://yourhost/httpr/service")
BATCH = "transactionid:0000000000000001"
LAST = "payload-disposition:last"
PUSH = ("request:PUSH HTTPR/1.0", *WHO, BATCH)
WHOLE = to_bytes(*PUSH, "<hello>", LAST)
NO_PAIR, ROLLED_BACK, NOTHING_YET = "", "ROLLBACK 1", "COMMIT 0"


def with_header(*changes: tuple[str, str]) -> bytes:
    """Return a PUSH whose header is changed."""
    text = "\n".join(PUSH)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return to_bytes(*text.split("\n"), "<hello>", LAST)


def with_batch(old: bytes, new: bytes) -> bytes:
    """Return a PUSH whose batch is changed."""
    assert old in WHOLE
    return WHOLE.replace(old, new)


def with_field(*fields: str) -> bytes:
    """Return a PUSH whose message has these fields."""
    return to_bytes(*PUSH, "<hello|" + "|".join(fields) + ">", LAST)


def proposing(capabilities: str) -> bytes:
    """Return a PUSH with these capabilities."""
    return to_bytes(*PUSH, f"capabilities:{capabilities}", "<hello>", LAST)


def chunked(data: bytes) -> bytes:
    """Return a PUSH whose message is chunked."""
    return with_batch(b"message-size:5\r\n\r\nhello\r\n", b"message-encoding:chunked\r\n\r\n" + data)


ELEVEN = " ".join(["<hello>"] * 11)
ELSEWHERE = "target-uri:httpr://elsewhere.example/httpr/mq#incoming"

BAD: list[tuple[str, bytes, int, str]] = [
    # -- 519: the first line is not `request:`
    ("nothing", b"", 519, NO_PAIR),
    ("json", b'{"text": "hello"}', 519, NO_PAIR),
    ("another first line", to_bytes(*WHO, "request:PUSH HTTPR/1.0", BATCH, "<hello>", LAST), 519, NO_PAIR),
    ("a blank line first", b"\r\n" + WHOLE, 519, NO_PAIR),
    # -- 520: its header
    ("an unknown command", with_header(("PUSH", "STEAL")), 520, NO_PAIR),
    ("two commands", with_header(("PUSH", "PUSH PULL")), 520, NO_PAIR),
    ("a line without a colon", with_header(("channel:primary", "channel")), 520, NO_PAIR),
    ("a malformed name", with_header(("channel:", "chan nel:")), 520, NO_PAIR),
    ("a header without an end", WHOLE[: WHOLE.index(b"\r\n\r\n") + 2], 520, NO_PAIR),
    ("bare line feeds", WHOLE.replace(b"\r\n", b"\n"), 520, NO_PAIR),
    ("two channels", with_header(("channel:primary", "channel:primary\nchannel:other")), 520, NO_PAIR),
    ("a malformed id", with_header(("0000000000000001", "000000000000000G")), 520, NO_PAIR),
    ("an id beyond 64 bits", with_header(("0000000000000001", "10000000000000000")), 520, NO_PAIR),
    ("an outcome alone", with_header((BATCH, f"{BATCH}\noutcome:COMMIT")), 520, NO_PAIR),
    ("an unknown outcome", with_header((BATCH, f"{BATCH}\noutcome:MAYBE\ncompleted:{0:016X}")), 520, NO_PAIR),
    ("a malformed session", with_header(("\n".join(WHO), "sessionid:not one")), 520, NO_PAIR),
    ("a malformed capability", proposing("maximum_batch_size=x"), 520, NO_PAIR),
    ("no channel", with_header(("channel:primary\n", "")), 520, NO_PAIR),
    ("no requester", with_header((f"{WHO[0]}\n", "")), 520, NO_PAIR),
    ("no transactionid", with_header((f"\n{BATCH}", "")), 520, NO_PAIR),
    ("the id zero", with_header(("0000000000000001", "0000000000000000")), 520, NO_PAIR),
    # -- 520: its batch
    ("no size", with_batch(b"message-size:5\r\n", b"priority:4\r\n"), 520, ROLLED_BACK),
    ("a malformed size", with_batch(b"size:5", b"size:five"), 520, ROLLED_BACK),
    ("a negative size", with_batch(b"size:5", b"size:-5"), 520, ROLLED_BACK),
    ("a size that is too small", with_batch(b"size:5", b"size:4"), 520, ROLLED_BACK),
    ("a size that is too large", with_batch(b"size:5", b"size:6"), 520, ROLLED_BACK),
    ("a size beyond the end", with_batch(b"size:5", b"size:5000"), 520, ROLLED_BACK),
    ("size and chunks", with_field("message-encoding:chunked"), 520, ROLLED_BACK),
    ("another encoding", with_batch(b"message-size:5", b"message-encoding:gzip"), 520, ROLLED_BACK),
    ("a malformed size of a chunk", chunked(b"x\r\nhello\r\n0\r\n\r\n\r\n"), 520, ROLLED_BACK),
    ("a chunk that is longer", chunked(b"4\r\nhello\r\n0\r\n\r\n\r\n"), 520, ROLLED_BACK),
    ("chunks without an end", chunked(b"5\r\nhello\r\n"), 520, ROLLED_BACK),
    ("no terminator", WHOLE.removesuffix(b"payload-disposition:last\r\n"), 520, ROLLED_BACK),
    ("half a terminator", WHOLE[:-4], 520, ROLLED_BACK),
    ("another terminator", with_batch(b":last", b":maybe"), 520, ROLLED_BACK),
    ("something behind the end", WHOLE + b"x", 520, ROLLED_BACK),
    ("a batch behind PULL", with_header(("PUSH", "PULL"), (f"\n{BATCH}", "")), 520, NOTHING_YET),
    # -- 520: a field of a message
    ("a malformed priority", with_field("priority:x"), 520, ROLLED_BACK),
    ("a priority of two digits", with_field("priority:10"), 520, ROLLED_BACK),
    ("a malformed class", with_field("class-of-service:best"), 520, ROLLED_BACK),
    ("a malformed date", with_field("put-time:31 Feb 2023 00:00:00"), 520, ROLLED_BACK),
    ("a date with a zone", with_field("put-time:14 Nov 2023 22:13:20 GMT"), 520, ROLLED_BACK),
    ("a malformed expiry", with_field("expiry:soon"), 520, ROLLED_BACK),
    ("a malformed encoding", with_field("encoding:integer-odd"), 520, ROLLED_BACK),
    ("two priorities", with_field("priority:1", "priority:2"), 520, ROLLED_BACK),
    # -- what is asked for
    ("flows that are none", proposing("flows=PULL"), 524, ROLLED_BACK),
    ("nothing can be sent", proposing("maximum_batch_size=0"), 510, ROLLED_BACK),
    ("another responder", with_header(("yourhost/httpr/service", "yourhost/httpr/other")), 511, ROLLED_BACK),
    ("a responder on another computer", with_header(("yourhost", "hishost")), 511, ROLLED_BACK),
    ("a message that is too large", proposing("maximum_message_size=4"), 521, ROLLED_BACK),
    ("too many messages", to_bytes(*PUSH, ELEVEN, LAST), 522, ROLLED_BACK),
    ("a queue that is not there", with_field("target-uri:httpr://yourhost/httpr/mq#none"), 518, ROLLED_BACK),
    ("another agent's queue", with_field(ELSEWHERE), 518, ROLLED_BACK),
    ("an unknown session", with_header(("\n".join(WHO), "sessionid:NOBODY")), 528, NO_PAIR),
    ("another version", with_header(("HTTPR/1.0", "HTTPR/2.0")), 530, NO_PAIR),
]


def said(side: Side, data: bytes, connection: int = 1) -> tuple[int, str, bool]:
    """Post this: the error, the outcome that goes with it, and whether the session ends."""
    answer = side.response(side.post(data, connection))
    assert answer is not None
    lines = to_lines(answer)
    fields = dict(line.partition(":")[::2] for line in lines)
    assert len(fields) == len(lines)  # no field twice, so one error at most
    number = int(fields.get("error", "0").split(" ")[0])
    outcome = f"{fields['outcome']} {int(fields['completed'], 16)}" if "outcome" in fields else NO_PAIR
    return number, outcome, fields.get("session") == "end"


@pytest.mark.httpr("T34", "T35", "T47", "T07", "T32")
@pytest.mark.spec("HR-083", "HR-084", "HR-086", "HR-090", "HR-104", "HR-119")
@pytest.mark.parametrize(
    ("data", "number", "outcome"), [pytest.param(*case[1:], id=f"{case[2]} {case[0]}") for case in BAD]
)
def test_bad_input_is_refused_and_nothing_is_changed(data: bytes, number: int, outcome: str) -> None:
    side = Side("yourhost")
    assert said(side, data) == (number, outcome, True)
    assert side.bodies("incoming") == []
    assert side.loose == 0
    rows = list(side.httpr.state.channels.values())
    assert all(row.in_doubt == () and row.last_source_id == 0 for row in rows)
    assert [row.last_received_id for row in rows if row.last_received_outcome.value == "COMMIT"] in ([], [0])
    check(side.state)
    right = to_bytes("request:PUSH HTTPR/1.0", *WHO, "transactionid:0000000000000002", "<hello>", LAST)
    assert said(side, right) == (0, "COMMIT 2", False)
    assert side.bodies("incoming") == [b"hello"]


@pytest.mark.spec("HR-084")
@pytest.mark.parametrize(
    ("data", "number"), [pytest.param(*case[1:3], id=f"{case[2]} {case[0]}") for case in BAD]
)
def test_what_was_committed_is_never_called_rolled_back(data: bytes, number: int) -> None:
    """Otherwise the client would send the messages again."""
    side = Side("yourhost")
    assert said(side, WHOLE) == (0, "COMMIT 1", False)
    error, outcome, ended = said(side, data)
    assert (error in (number, 529), ended) == (True, True)
    assert outcome in (NO_PAIR, "COMMIT 1")
    assert said(side, to_bytes("request:REPORT HTTPR/1.0", *WHO)) == (0, "COMMIT 1", False)
    assert side.bodies("incoming") == [b"hello"]


# -- by what the server is, and what happened before


@pytest.mark.httpr("T32")
@pytest.mark.spec("HR-011", "HR-084")
def test_512_a_channel_that_is_not_known_where_they_are_not_open() -> None:
    side = Side("yourhost", chosen=settings(open_channels=False, channels=("secondary",)))
    assert said(side, WHOLE) == (512, ROLLED_BACK, True)
    assert side.httpr.state.channels == {}
    assert said(side, with_header(("primary", "secondary"))) == (0, "COMMIT 1", False)


@pytest.mark.spec("HR-084")
def test_513_a_manager_that_is_not_ready() -> None:
    side = Side("yourhost")
    side.restart(start=False)
    side.handle(Addressed(side.origin, frozenset({side.host})))
    assert said(side, WHOLE) == (513, ROLLED_BACK, True)
    side.start()
    assert side.bodies("incoming") == []


@pytest.mark.httpr("T34")
@pytest.mark.spec("HR-084", "HR-118")
def test_515_a_queue_that_is_full() -> None:
    side = Side("yourhost")
    side.create("full", quota=1)
    to_full = "target-uri:httpr://yourhost/httpr/service#full"
    messages = f"<hello> <hello|{to_full}> <{'x' * 2000}|{to_full}>"
    assert said(side, to_bytes(*PUSH, messages, LAST)) == (515, ROLLED_BACK, True)
    assert (side.bodies("full"), side.bodies("incoming")) == ([], [])


@pytest.mark.httpr("T28", "T45")
@pytest.mark.spec("HR-045", "HR-084")
def test_523_more_batches_in_doubt_than_were_agreed() -> None:
    side = Side("yourhost")
    side.send("outgoing", *[b"%d" % number for number in range(20)])
    pull = to_bytes("request:PULL HTTPR/1.0", *WHO)
    assert said(side, pull) == (0, "COMMIT 0", False)
    assert said(side, pull) == (523, "COMMIT 0", True)
    assert side.channel.in_doubt == (1,)
    report = to_bytes("request:REPORT HTTPR/1.0", *WHO, "outcome:COMMIT", "completed:0000000000000001")
    assert said(side, report) == (0, "COMMIT 0", False)
    assert said(side, pull) == (0, "COMMIT 0", False)
    assert side.channel.in_doubt == (2,)


@pytest.mark.httpr("T14", "H14")
@pytest.mark.spec("HR-055", "HR-082", "HR-084")
def test_529_a_batch_that_comes_again_or_too_late() -> None:
    side = Side("yourhost")
    assert said(side, WHOLE) == (0, "COMMIT 1", False)
    assert said(side, WHOLE) == (529, NO_PAIR, True)
    assert said(side, to_bytes("request:REPORT HTTPR/1.0", *WHO, "last-pushed-id:0000000000000005"))[0] == 0
    late = WHOLE.replace(b"0000000000000001", b"0000000000000005")
    assert said(side, late) == (529, "ROLLBACK 5", True)
    assert side.bodies("incoming") == [b"hello"]


@pytest.mark.httpr("T27", "H15")
@pytest.mark.spec("HR-029", "HR-084")
def test_528_a_session_that_an_error_has_ended() -> None:
    side = Side("yourhost")
    client = ScriptedClient(side)
    client.says("request:GET-RESPONDER-INFO HTTPR/1.0", *WHO, "session:begin")
    in_session = ("request:PUSH HTTPR/1.0", "sessionid:1")
    refused = client.says(*in_session, BATCH, "<a|priority:x>", LAST)
    assert refused == [
        "session:end",
        "outcome:ROLLBACK",
        "completed:0000000000000001",
        "error:520 HTTP-R-PROTOCOL-ERROR",
        "app-reliquary-reason:a priority is one digit, not 'x'",
    ]
    assert client.says(*in_session, "transactionid:0000000000000002", "<b>", LAST)[:2] == [
        "session:end",
        "error:528 SESSION-IDENTIFIER-NOT-RECOGNISED",
    ]
    assert side.bodies("incoming") == []


# -- what is begun and not ended


LARGE = b"x" * 3_000_000


@pytest.mark.httpr("T16", "H6", "H7")
@pytest.mark.spec("HR-057", "HR-115", "HR-116")
@pytest.mark.parametrize("body", [b"hello", LARGE], ids=["small", "large"])
def test_what_is_aborted_leaves_no_trace(body: bytes) -> None:
    side = Side("yourhost")
    said(side, to_bytes("request:REPORT HTTPR/1.0", *WHO))
    before, channel = side.bodies("incoming"), side.channel
    side.happened()
    aborted = b"message-size:%d\r\n\r\n%b\r\npayload-disposition:abort\r\n" % (len(body), body)
    assert said(side, to_bytes(*PUSH) + aborted) == (0, ROLLED_BACK, False)
    assert side.happened() == ["<-- ROLLBACK 1"]
    assert (side.bodies("incoming"), side.channel, side.loose) == (before, channel, 0)
    check(side.state)
    assert said(side, WHOLE) == (0, "COMMIT 1", False)  # the id was not used up


@pytest.mark.parametrize("wrong", [b"message-size:x\r\n\r\n", b"payload-disposition:never\r\n"])
def test_large_bodies_of_a_batch_that_turns_out_wrong_are_not_kept(wrong: bytes) -> None:
    side = Side("yourhost")
    message = b"message-size:%d\r\n\r\n%b\r\n" % (len(LARGE), LARGE)
    refused = side.post(to_bytes(*PUSH) + message, 1)
    assert side.answer_to(refused).header.error.number == 520
    assert said(side, to_bytes(*PUSH) + message + wrong) == (520, ROLLED_BACK, True)
    check(side.state)
    assert (side.bodies("incoming"), side.loose) == ([], 0)

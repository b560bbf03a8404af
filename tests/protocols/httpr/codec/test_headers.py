"""Tests headers of requests and responses, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec import headers
from reliquary.protocols.httpr.codec.capabilities import said, text_of
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.headers import (
    MOST_BYTES,
    MOST_FIELDS,
    encode_request,
    encode_response,
    read_request,
    read_response,
)
from reliquary.protocols.httpr.codec.values import (
    FLOWS,
    Capabilities,
    Command,
    Error,
    ErrorNumber,
    Outcome,
    RequestHeader,
    ResponseHeader,
    SessionMark,
)
from tests.protocols.httpr.codec.strategies import requests, responses
from tests.protocols.httpr.codec.vector import REQUESTS, RESPONSES, VECTORS

PUSH = b"request:PUSH HTTPR/1.0\r\nsessionid:1\r\ntransactionid:0000000000000001\r\n"
TEXTS = {
    510: "INCOMPATIBLE",
    511: "RESPONDER-INVALID",
    512: "CHANNEL-INVALID",
    513: "RESOURCE-MANAGER-UNAVAILABLE",
    514: "RESOURCE-MANAGER-TERMINATING",
    515: "RESOURCE-MANAGER-CAN-NOT-STORE",
    516: "ADMINISTRATOR-CLOSED",
    517: "DISCONNECT-TIMEOUT-EXPIRED",
    518: "SINK-NOT-KNOWN",
    519: "NOT-HTTP-R",
    520: "HTTP-R-PROTOCOL-ERROR",
    521: "MAXIMUM-MESSAGE-SIZE-EXCEEDED",
    522: "MAXIMUM-BATCH-SIZE-EXCEEDED",
    523: "MAXIMUM-PIPELINE-DEPTH-EXCEEDED",
    524: "INVALID-FLOW",
    525: "AGENT-SECURITY",
    526: "USERID-SECURITY",
    527: "USER-MODULE-CLOSED",
    528: "SESSION-IDENTIFIER-NOT-RECOGNISED",
    529: "OUT-OF-SEQUENCE-TRANSACTION-DISCARDED",
    530: "HTTP-R-VERSION-NOT-SUPPORTED",
}


def refusal(block: bytes) -> int:
    with pytest.raises(HttprFault) as refused:
        read_request(block)
    assert refused.value.status == 200
    assert refused.value.why
    return int(refused.value.number)


# -- the vectors


@pytest.mark.httpr("H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H11", "H12", "H13", "H14", "H15")
@pytest.mark.httpr("H16", "H17")
def test_the_vectors_are_as_long_as_the_list_says() -> None:
    assert {name: len(each.data) for name, each in VECTORS.items()} == {
        name: each.length for name, each in VECTORS.items()
    }
    assert len(VECTORS["H3"].block) == 181


@pytest.mark.httpr("H5", "H6", "H8", "H12", "H16")
@pytest.mark.spec("HR-003", "HR-105")
@pytest.mark.parametrize("name", [name for name in REQUESTS if name not in {"H1", "H3"}])
def test_a_request_is_written_as_in_the_vectors(name: str) -> None:
    header = REQUESTS[name].header
    assert isinstance(header, RequestHeader)
    assert encode_request(header) == REQUESTS[name].block


@pytest.mark.httpr("H1", "H3")
@pytest.mark.parametrize("name", ["H1", "H3"])
def test_a_request_with_capabilities_is_written_as_in_the_vectors_but_for_defaults(name: str) -> None:
    """The vectors name some that have their default; we do not."""
    header, block = REQUESTS[name].header, REQUESTS[name].block
    assert isinstance(header, RequestHeader)
    line = next(line for line in block.split(b"\r\n") if line.startswith(b"capabilities:"))
    ours = b"capabilities:session_support=SESSION\r\n" if name == "H1" else b""
    assert encode_request(header) == block.replace(line + b"\r\n", ours)
    text = line.removeprefix(b"capabilities:").decode()
    assert text_of(said(text)) == text


@pytest.mark.httpr("H2", "H4", "H7", "H9", "H11", "H13", "H14", "H15", "H17")
@pytest.mark.spec("HR-079")
@pytest.mark.parametrize("name", RESPONSES)
def test_a_response_is_written_as_in_the_vectors(name: str) -> None:
    header = RESPONSES[name].header
    assert isinstance(header, ResponseHeader)
    assert encode_response(header) == RESPONSES[name].block


@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors_are_read(name: str) -> None:
    vector = VECTORS[name]
    read = read_request if name in REQUESTS else read_response
    assert read(vector.block) == vector.header


# -- both ways


@settings(max_examples=60)
@given(requests())
def test_a_request_goes_both_ways(header: RequestHeader) -> None:
    assert read_request(encode_request(header)) == header


@settings(max_examples=60)
@given(responses())
def test_a_response_goes_both_ways(header: ResponseHeader) -> None:
    assert read_response(encode_response(header)) == header


def test_a_header_is_written_in_the_order_of_the_grammar() -> None:
    header = RequestHeader(
        command=Command.REPORT,
        requester="a",
        channel="b",
        responder="c",
        session=SessionMark.END,
        capabilities=Capabilities(max_latency=1),
        outcome=Outcome.COMMIT,
        completed=10,
        last_pushed_id=11,
        forget=12,
        agent_type="d.e",
        error=Error(516, "ADMINISTRATOR-CLOSED"),
        product=(("app-f", "g"),),
    )
    assert encode_request(header).decode() == (
        "request:REPORT HTTPR/1.0\r\nrequester:a\r\nchannel:b\r\nresponder:c\r\nsession:end\r\n"
        "capabilities:max_latency=1\r\noutcome:COMMIT\r\ncompleted:000000000000000A\r\n"
        "last-pushed-id:000000000000000B\r\nforget:000000000000000C\r\nagent-type:d.e\r\n"
        "error:516 ADMINISTRATOR-CLOSED\r\napp-f:g\r\n\r\n"
    )
    begin = RequestHeader(command=Command.GET_RESPONDER_INFO, agent_type="d.e", outcome=Outcome.COMMIT)
    assert b"\r\nagent-type:d.e\r\noutcome:COMMIT\r\n" in encode_request(begin)
    answer = ResponseHeader(responder="r", last_pulled_id=0, agent_type="d.e", outcome=Outcome.COMMIT)
    assert b"\r\nagent-type:d.e\r\noutcome:COMMIT\r\n" in encode_response(answer)
    pulled = ResponseHeader(transaction_id=1, agent_type="d.e", outcome=Outcome.COMMIT, completed=0)
    assert b"\r\ncompleted:0000000000000000\r\nagent-type:d.e\r\n\r\n" in encode_response(pulled)


@given(requests(sorted(FLOWS, key=str)))
def test_a_usual_header_is_read_like_any_other(header: RequestHeader) -> None:
    usual = RequestHeader(
        command=header.command,
        session_id="ABC123",
        transaction_id=header.transaction_id,
        outcome=None if header.completed is None else Outcome.COMMIT,
        completed=header.completed,
    )
    block = encode_request(usual)
    assert headers._USUAL_REQUEST(block) is not None
    assert read_request(block) == read_request(b"REQUEST" + block[len(b"request") :]) == usual


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"transactionid:", b"transactionid: "),
        (b"0001\r\n", b"000a\r\n"),
        (b"0001\r\n", b"1\r\n"),
        (b"0001\r\n", b"00001\r\n"),
        (b"sessionid:1\r\n", b"sessionid:1\r\nx:1\r\n"),
        (b"PUSH ", b"push "),
    ],
)
def test_an_almost_usual_header_is_read_too(old: bytes, new: bytes) -> None:
    block = (PUSH + b"\r\n").replace(old, new)
    assert block != PUSH + b"\r\n"
    assert headers._USUAL_REQUEST(block) is None
    assert read_request(block).session_id == "1"


def test_a_response_that_says_nothing_is_a_blank_line() -> None:
    assert encode_response(ResponseHeader()) == b"\r\n"
    assert read_response(b"\r\n") == ResponseHeader()
    assert read_response(b"HTTPR/1.0\r\n\r\n") == ResponseHeader(version="HTTPR/1.0")


@pytest.mark.spec("HR-083", "HR-119")
@pytest.mark.parametrize("number", ErrorNumber, ids=str)
def test_every_error_has_its_number_and_text(number: ErrorNumber) -> None:
    header = ResponseHeader(session=SessionMark.END, error=Error.of(number))
    block = encode_response(header)
    assert block == f"session:end\r\nerror:{number.value} {TEXTS[number]}\r\n\r\n".encode()
    assert read_response(block) == header
    asked = replace(read_request(PUSH + b"\r\n"), error=Error.of(number))
    assert read_request(encode_request(asked)) == asked


def test_no_error_is_missing() -> None:
    assert {each.value: Error.of(each).text for each in ErrorNumber} == TEXTS


# -- tolerance


@pytest.mark.httpr("T02")
@pytest.mark.spec("HR-002", "HR-004", "HR-106")
def test_any_case_order_and_folding_is_read() -> None:
    block = (
        b"REQUEST\t:\r\n\tpush\r\n  httpr/1.0  \r\nCOMPLETED : 0000000000000007\r\nX-Unknown:\tyes: 1 \r\n"
        b"OutCome:\r\n commit\r\nTransactionID:  00000000\r\n 000000ab\r\nSESSIONID:Ab1\r\nApp-Empty:\r\n\r\n"
    )
    assert read_request(block) == RequestHeader(
        command=Command.PUSH,
        session_id="Ab1",
        transaction_id=0xAB,
        outcome=Outcome.COMMIT,
        completed=7,
        product=(("x-unknown", "yes: 1"), ("app-empty", "")),
    )


def test_the_samples_of_the_specification_are_read() -> None:
    sample = b"Request: PUSH\r\nsessionid: 1\r\ntransactionid: 1\r\n\r\n"
    assert read_request(sample, lenient=True) == read_request(PUSH + b"\r\n")
    report = (
        b"Request: REPORT HTTPR/1.0\r\nsessionid: 1\r\nforget: 000000000000000002\r\nsessionid:1\r\n"
        b"session:end\r\napp-ibm-mqseries-accountingtoken: 00000001\r\nagent-type:ibm.MQSeries\r\n\r\n"
    )
    assert read_request(report) == RequestHeader(
        command=Command.REPORT,
        session_id="1",
        session=SessionMark.END,
        forget=2,
        agent_type="ibm.MQSeries",
        product=(("app-ibm-mqseries-accountingtoken", "00000001"),),
    )
    begin = b"request:GET-RESPONDER-INFO HTTPR/1.0\r\nrequester:me\r\nchannel:primary\r\nresponder:you\r\n"
    read = read_request(begin + b"capabilities:xxx\r\nsession:begin\r\n\r\n")
    assert read.capabilities == Capabilities(product=(("xxx", ""),))
    answer = read_response(b"last-pulled-id: 00000000000000000\r\nsession:end\r\n\r\n")
    assert answer == ResponseHeader(session=SessionMark.END, last_pulled_id=0)


@pytest.mark.spec("HR-086")
def test_a_missing_version_is_read_only_where_that_was_allowed() -> None:
    block = b"request:PULL\r\nsessionid:1\r\n\r\n"
    assert read_request(block, lenient=True).command is Command.PULL
    assert refusal(block) == 520


@pytest.mark.httpr("T35")
@pytest.mark.spec("HR-086")
@pytest.mark.parametrize("version", ["HTTPR/2.0", "HTTPR/1.1", "httpr/0.9", "HTTPR/10.0"])
def test_another_version_is_refused_in_every_header(version: str) -> None:
    assert refusal(f"request:NEGOTIATE {version}\r\nwhatever:it is\r\n\r\n".encode()) == 530
    with pytest.raises(HttprFault) as refused:
        read_response(f"{version}\r\n\r\n".encode())
    assert refused.value.number == 530


def test_the_version_may_open_any_response() -> None:
    assert read_response(b"httpr/1.0 \r\nresponder:r\r\n\r\n").responder == "r"


@pytest.mark.parametrize("name", ["httpr-user-module-data", "hhttpr-user-module-data"])
def test_the_data_of_a_user_module_is_read_with_and_without_the_misprint(name: str) -> None:
    block = f"error:527 USER-MODULE-CLOSED\r\n{name}: bye\r\nsession:end\r\n\r\n".encode()
    assert read_response(block).product == (("httpr-user-module-data", "bye"),)


@pytest.mark.parametrize("value", ["528", "528 ", "528 Whatever it is"])
def test_the_text_of_an_error_is_anything(value: str) -> None:
    assert read_response(f"error:{value}\r\n\r\n".encode()).error == Error(528, value[4:])


# -- refusals


@pytest.mark.httpr("T47")
@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\r\n\r\n",
        b"<html>\r\n\r\n",
        b"requester:me\r\n\r\n",
        b"channel:c\r\nrequest:PUSH HTTPR/1.0\r\n\r\n",
    ],
)
def test_what_does_not_begin_with_a_request_is_not_httpr(block: bytes) -> None:
    assert refusal(block) == 519


@pytest.mark.spec("HR-003")
@pytest.mark.parametrize(
    "line",
    ["", "PUSH", "PUSHHTTPR/1.0", "PUSH HTTPR", "PUSH HTTP/1.1", "PUSH HTTPR/1.0 x", "STEAL HTTPR/1.0"],
)
def test_a_request_is_a_command_and_a_version(line: str) -> None:
    assert refusal(f"request:{line}\r\nsessionid:1\r\ntransactionid:1\r\n\r\n".encode()) == 520


@pytest.mark.httpr("T07")
@pytest.mark.spec("HR-061")
@pytest.mark.parametrize(
    "block",
    [
        b"request:PULL HTTPR/1.0\r\n\r\n",
        b"request:PULL HTTPR/1.0\r\nrequester:me\r\n\r\n",
        b"request:PULL HTTPR/1.0\r\nchannel:c\r\n\r\n",
        b"request:PULL HTTPR/1.0\r\nsessionid:1\r\nrequester:me\r\nchannel:c\r\n\r\n",
        b"request:PUSH HTTPR/1.0\r\nsessionid:1\r\n\r\n",
        b"request:EXCHANGE HTTPR/1.0\r\nsessionid:1\r\n\r\n",
        b"request:GET-RESPONDER-INFO HTTPR/1.0\r\nrequester:me\r\nchannel:c\r\n\r\n",
        b"request:GET-RESPONDER-INFO HTTPR/1.0\r\nrequester:me\r\nchannel:c\r\nsession:end\r\n\r\n",
        b"request:GET-RESPONDER-INFO HTTPR/1.0\r\nsessionid:1\r\nsession:begin\r\n\r\n",
    ],
)
def test_a_command_has_what_it_cannot_do_without(block: bytes) -> None:
    assert refusal(block) == 520


@pytest.mark.parametrize(
    "line",
    [
        *(
            b"nonsense",
            b":x",
            b" folded:no",
            b"two words:x",
            b"a(b):x",
            b"\xe9:x",
            b"app-x:\x00",
            b"app-x:a\rb",
        ),
        *(b"app-x:a\nb", b"app-x:\x7f", b"outcome:COMMIT", b"completed:1", b"outcome:", b"outcome:MAYBE"),
        *(b"session:middle", b"sessionid:1234567890123", b"sessionid:a-b", b"sessionid:", b"agent-type:"),
        *(b"transactionid:", b"transactionid:xyz", b"forget:10000000000000000", b"last-pushed-id:-1"),
        *(b"error:", b"error:ABC", b"error:1234567890 x", b"capabilities:flows="),
    ],
)
def test_a_malformed_field_is_refused(line: bytes) -> None:
    assert refusal(PUSH.replace(b"\r\n", b"\r\n" + line + b"\r\n", 1) + b"\r\n") == 520


@pytest.mark.parametrize("line", ["a" * 1_000_000, "a" + " " * 1_000_000 + "b", f"a:{' x' * 500_000}\0"])
def test_the_time_to_read_a_field_grows_no_faster_than_its_length(line: str) -> None:
    """A pattern that begins again at each of a million characters would outlast the test's timeout."""
    with pytest.raises(HttprFault, match="is not a field"):
        headers.read_field(line)
    assert not headers.is_request(b"request" + b"\r\n " * 300_000 + line.encode())


@pytest.mark.spec("HR-119")
@pytest.mark.parametrize(
    ("same", "other"),
    [
        (b"sessionid:1", b"sessionid:2"),
        (b"transactionid:1", b"transactionid:2"),
        (b"REQUEST:push httpr/1.0", b"request:PULL HTTPR/1.0"),
        (b"error:510 A\r\nerror:510 A", b"error:510 A\r\nerror:511 B"),
        (b"agent-type:a\r\nagent-type: a", b"agent-type:a\r\nagent-type:b"),
    ],
)
def test_a_field_may_stand_twice_with_an_equal_value(same: bytes, other: bytes) -> None:
    assert read_request(PUSH + same + b"\r\n\r\n").transaction_id == 1
    assert refusal(PUSH + other + b"\r\n\r\n") == 520


def test_a_header_has_limits() -> None:
    full = PUSH + b"app-x:1\r\n" * (MOST_FIELDS - 3) + b"\r\n"
    assert len(read_request(full).product) == MOST_FIELDS - 3
    assert refusal(full[:-2] + b"app-x:1\r\n\r\n") == 520
    room = MOST_BYTES - len(PUSH) - len(b"app-x:\r\n\r\n")
    assert read_request(PUSH + b"app-x:" + bytes(room).replace(b"\0", b"y") + b"\r\n\r\n").product
    assert refusal(PUSH + b"app-x:" + bytes(room + 1).replace(b"\0", b"y") + b"\r\n\r\n") == 520
    folds = PUSH + b"app-x:1" + b"\r\n " * (MOST_BYTES // 3)
    assert refusal(folds + b"\r\n\r\n") == 520
    with pytest.raises(HttprFault):
        read_response(b"app-x:" + bytes(MOST_BYTES).replace(b"\0", b"y") + b"\r\n\r\n")


@pytest.mark.parametrize("block", [PUSH, PUSH[:-2], PUSH + b"\r\n\r\n", b"request:PUSH HTTPR/1.0"])
def test_a_header_ends_with_its_only_blank_line(block: bytes) -> None:
    assert refusal(block) == 520


# -- our own mistakes


@pytest.mark.spec("HR-124")
@pytest.mark.parametrize(
    "field", [("", ""), ("app-x", ""), ("app-x", " "), ("", "x"), ("a b", "x"), ("a\r\n", "x")]
)
def test_a_product_specific_field_is_never_blank(field: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="is not a field"):
        encode_response(ResponseHeader(product=(field,)))


@pytest.mark.parametrize("value", ["a\r\nb", "a\nb", "a\rb", "\0", "\u20ac"])
def test_a_value_that_no_line_can_hold_is_the_callers_mistake(value: str) -> None:
    with pytest.raises(UsageError, match="header"):
        encode_request(RequestHeader(command=Command.PULL, requester=value, channel="c"))

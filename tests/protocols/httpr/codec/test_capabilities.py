"""Tests what is proposed, granted and agreed."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import asdict, replace

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec.capabilities import (
    KNOWN,
    agreed,
    granted,
    lowered,
    read_capabilities,
    said,
    text_of,
)
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.lexical import LARGEST_NUMBER
from reliquary.protocols.httpr.codec.values import FLOWS, Capabilities, Command
from reliquary.protocols.httpr.settings import OFFERED, PROPOSED
from tests.protocols.httpr.codec.strategies import lines, vectors

NUMBERS = [name for name in KNOWN if name not in {"flows", "session_support"}]


# -- text


def test_missing_capabilities_have_their_defaults() -> None:
    assert read_capabilities("") == Capabilities()
    assert asdict(Capabilities()) == {
        "idle_session_interval": 10,
        "empty_batch_delay": 10_000,
        "max_latency": 100,
        "max_wait_next": 100,
        "max_wait_batch": 100,
        "maximum_message_size": 100_000_000,
        "maximum_batch_size": 10,
        "maximum_pipeline_depth": 1,
        "flows": {Command.PUSH, Command.PULL, Command.EXCHANGE},
        "sessions": False,
        "sessionless": True,
        "product": (),
    }


@settings(max_examples=60)
@given(vectors())
def test_a_vector_goes_both_ways(vector: Capabilities) -> None:
    assert read_capabilities(text_of(vector)) == vector


def test_the_text_has_what_differs_from_the_defaults_in_the_order_of_the_grammar() -> None:
    assert text_of(Capabilities()) == ""
    vector = Capabilities(
        flows=frozenset({Command.EXCHANGE, Command.PUSH}), sessions=True, max_latency=1, product=(("x", "1"),)
    )
    assert text_of(vector) == "max_latency=1,flows=PUSH+EXCHANGE,session_support=SESSIONLESS+SESSION,x=1"
    assert text_of((("flows", "PUSH"), ("app-x", "a b"), ("app-y", ""))) == 'flows=PUSH,app-x="a b",app-y'


@pytest.mark.spec("HR-002", "HR-121", "HR-122")
def test_a_list_is_read_in_any_case_with_blanks_and_either_separator() -> None:
    text = ' ,; MAXIMUM_batch_size = 005 ;; flows = pull + +Push,, max_latency="7" , App-X="a,\\"b",app-y,'
    assert said(text) == (
        ("max_latency", "7"),
        ("maximum_batch_size", "5"),
        ("flows", "PUSH+PULL"),
        ("app-x", 'a,"b'),
        ("app-y", ""),
    )


def test_the_printed_example_is_read() -> None:
    text = (
        "disconnect_interval=15,batch_interval=31,max_message_size=10000,batch_size=5,"
        "flows=PUSH+PULL,session_support=SESSION"
    )
    assert read_capabilities(text) == Capabilities(
        maximum_message_size=10_000,
        maximum_batch_size=5,
        flows=frozenset({Command.PUSH, Command.PULL}),
        sessions=True,
        sessionless=False,
        product=(("disconnect_interval", "15"), ("batch_interval", "31")),
    )
    assert read_capabilities("max_batch_limit=7").maximum_batch_size == 7
    assert read_capabilities("xxx").product == (("xxx", ""),)


def test_a_product_may_write_its_capability_as_a_field() -> None:
    assert said("app-x: 1") == (("app-x", "1"),)


def test_a_number_of_any_length_is_no_limit() -> None:
    assert read_capabilities(f"maximum_message_size={'9' * 99}").maximum_message_size == LARGEST_NUMBER


def test_a_capability_may_be_named_twice_with_an_equal_value() -> None:
    assert said("max_latency=5,MAX_LATENCY=05") == (("max_latency", "5"),)
    assert said("batch_size=5,maximum_batch_size=5") == (("maximum_batch_size", "5"),)


@pytest.mark.spec("HR-121")
@pytest.mark.parametrize(
    "text",
    [
        *("max_latency", "max_latency=", "max_latency=-1", "max_latency=1s", "max_latency=1 0"),
        *("flows", "flows=", "flows=+", "flows=PUSH+REPORT", "flows=PUSH PULL"),
        *("session_support=", "session_support=PIPELINED", "session_support=se\xdfion"),
        *("max_latency=5,max_latency=6", "batch_size=5,max_batch_limit=6", "app-x=1,app-x=2"),
        *("=5", "a b=5", "(x)", 'x="1', 'x="1"2"'),
    ],
)
def test_invalid_capabilities_are_refused(text: str) -> None:
    with pytest.raises(HttprFault) as refused:
        read_capabilities(text)
    assert refused.value.number == 520


# -- negotiation


def no_more(low: Capabilities, high: Capabilities) -> bool:
    return (
        all(getattr(low, name) <= getattr(high, name) for name in NUMBERS)
        and low.flows <= high.flows
        and low.sessions <= high.sessions
        and set(low.product) <= set(high.product)
    )


@pytest.mark.spec("HR-037", "HR-091", "HR-123")
@settings(max_examples=60)
@given(vectors(), vectors())
def test_the_granted_capabilities_are_the_highest_of_both_sides(
    proposed: Capabilities, offered: Capabilities
) -> None:
    grant = granted(proposed, offered)
    assert no_more(grant, proposed)
    assert no_more(grant, offered)
    for name in NUMBERS:
        assert getattr(grant, name) in {getattr(proposed, name), getattr(offered, name)}
    assert grant.flows == proposed.flows & offered.flows
    assert grant.sessions == (proposed.sessions and offered.sessions)


@pytest.mark.spec("HR-037", "HR-064", "HR-092")
@settings(max_examples=60)
@given(vectors(), vectors())
def test_client_and_server_agree_on_one_result(proposed: Capabilities, offered: Capabilities) -> None:
    grant = granted(proposed, offered)
    if grant.flows and (grant.sessions or grant.sessionless):
        answer = lowered(proposed, grant)
        assert agreed(proposed, answer) == grant
        assert answer is None or said(text_of(answer)) == answer


@pytest.mark.httpr("H2")
@pytest.mark.spec("HR-064")
def test_a_response_says_only_what_it_lowers() -> None:
    proposed = read_capabilities("maximum_batch_size=10,flows=PUSH+PULL+EXCHANGE,session_support=SESSION")
    offered = replace(OFFERED, maximum_batch_size=5)
    assert lowered(proposed, granted(proposed, offered)) == (("maximum_batch_size", "5"),)
    assert lowered(proposed, granted(proposed, OFFERED)) is None


@pytest.mark.spec("HR-065")
def test_a_server_without_sessions_says_so_even_to_a_client_that_wants_nothing_else() -> None:
    proposed = Capabilities(sessions=True, sessionless=False)
    grant = granted(proposed, Capabilities())
    answer = lowered(proposed, grant)
    assert answer == (("session_support", "SESSIONLESS"),)
    assert agreed(proposed, answer) == grant == Capabilities()


def test_nothing_in_common_has_no_text() -> None:
    proposed, offered = (Capabilities(flows=frozenset({flow})) for flow in (Command.PUSH, Command.PULL))
    grant = granted(proposed, offered)
    assert grant.flows == frozenset()
    with pytest.raises(UsageError, match="510"):
        lowered(proposed, grant)


@pytest.mark.spec("HR-092", "HR-123")
def test_a_capability_beyond_the_specification_holds_only_where_both_name_it() -> None:
    proposed = Capabilities(product=(("app-x", "1"), ("app-y", "2")))
    offered = Capabilities(product=(("app-y", "2"), ("app-z", "3")))
    grant = granted(proposed, offered)
    assert grant.product == (("app-y", "2"),)
    assert lowered(proposed, grant) == (("app-y", "2"),)
    assert agreed(proposed, None).product == ()
    assert agreed(proposed, (("app-z", "3"), ("app-y", "2"))).product == (("app-y", "2"),)


@pytest.mark.spec("HR-037", "HR-091")
@pytest.mark.parametrize(
    ("proposed", "answer"),
    [
        *[({}, ((name, str(getattr(Capabilities(), name) + 1)),)) for name in NUMBERS],
        ({"flows": frozenset({Command.PUSH})}, (("flows", "PUSH+PULL"),)),
        ({}, (("session_support", "SESSION"),)),
        ({}, (("session_support", "SESSIONLESS+SESSION"),)),
        ({"sessions": True, "sessionless": False}, (("session_support", "SESSIONLESS+SESSION"),)),
    ],
)
def test_a_response_that_grants_more_than_was_proposed_is_refused(proposed: Any, answer: Any) -> None:
    with pytest.raises(HttprFault, match=answer[0][0]) as refused:
        agreed(Capabilities(**proposed), answer)
    assert refused.value.number == 520


def test_our_own_ends_agree_on_sessions_and_all_flows() -> None:
    grant = granted(PROPOSED, OFFERED)
    assert (grant.sessions, grant.flows) == (True, FLOWS)
    assert no_more(grant, PROPOSED)


def test_text_is_never_of_an_empty_list() -> None:
    with pytest.raises(UsageError, match="flows"):
        text_of(Capabilities(flows=frozenset()))


@given(lines)
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(HttprFault):
        fields = said(text)
        assert said(text_of(fields)) == fields

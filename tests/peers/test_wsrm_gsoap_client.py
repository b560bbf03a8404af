"""gSOAP's client sends to our endpoint, plain and through a proxy that loses and repeats messages.

gSOAP's client sends each message once and does not heed BufferRemaining.  So a request that is lost stays a
gap, unless the application sends it again before it closes the sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from reliquary import SequenceInfo
from tests.e2e.sites import Site
from tests.peers.gsoap_build import Build
from tests.peers.gsoap_peer import ANSWER, ASK, NOTE, GsoapClient, Report, answer, texts
from tests.peers.http_proxy import HttpProxy, Plan, ProxyAction, pass_all, scripted
from tests.peers.wsrm_sites import (
    LONG_VARIANTS,
    SHORT,
    VARIANTS,
    Variant,
    endpoint,
    received,
    running,
    settings,
    text_in,
)

pytestmark = [pytest.mark.needs("gsoap"), pytest.mark.xdist_group("wsrm-gsoap-client")]

COUNT = 6
OF_MESSAGES = b">message "
"""Bytes that only requests with a message of the application have."""
NARROW = 'endpoints = [{name = "narrow", queue = "narrow", window = 4, bounded = true}]'
_numbers = count(1)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Yield our manager, for all tests of this file; each has a queue of its own."""
    made = Site(tmp_path_factory.mktemp("site") / "manager")
    made.file = settings(made, NARROW)
    with running(made):
        yield made


@pytest.fixture
def queue(site: Site) -> str:
    """Create a queue and return its name."""
    name = f"orders{next(_numbers)}"
    with site.connect() as manager:
        manager.create_queue(name)
    return name


def arguments(variant: Variant, *more: str) -> list[str]:
    given = ["--count", str(COUNT), "--soap", str(variant.soap), *(["--duplex"] if variant.duplex else [])]
    return [*given, *more]


def send(
    gsoap: Build, site: Site, queue: str, variant: Variant, *more: str, plan: Plan = pass_all
) -> tuple[Report, HttpProxy]:
    """Let a client send its messages through a proxy, to its end."""
    program = gsoap.peer(variant.version, flow_control=variant.flow)
    with (
        HttpProxy(int(site.data_port), plan) as proxy,
        GsoapClient(program, f"{proxy.url}/wsrm/{queue}", *arguments(variant, *more)) as client,
    ):
        report = client.report()
    assert report.code == 0, "\n".join(report.lines)
    assert report.said("terminated") == [""]
    return report, proxy


def unacknowledged(report: Report) -> list[int]:
    """Return messages without an acknowledgement; RM 1.0's client ignores that of its LastMessage."""
    return [number for number in report.unacknowledged if number <= COUNT]


def sequence(site: Site, report: Report) -> SequenceInfo:
    """Return our record of the client's sequence."""
    with site.connect() as manager:
        found = [each for each in manager.sequences() if each.identifier == report.said("sequence")[0]]
    assert len(found) == 1
    return found[0]


# -- one-way messages


@pytest.mark.parametrize("variant", VARIANTS)
def test_messages_arrive_in_order_and_are_acknowledged(
    gsoap: Build, site: Site, queue: str, variant: Variant
) -> None:
    report, _ = send(gsoap, site, queue, variant)
    assert received(site, queue, COUNT) == texts(COUNT)
    assert unacknowledged(report) == []
    with site.connect() as manager:
        assert {message.label for message in manager.queue(queue).browse()} == {NOTE}


@pytest.mark.spec("FC-014")
@pytest.mark.parametrize("variant", SHORT, ids=str)
def test_every_acknowledgement_says_how_much_room_there_is(
    gsoap: Build, site: Site, queue: str, variant: Variant
) -> None:
    report, _ = send(gsoap, site, queue, variant)
    rooms = [each.room for each in report.acknowledgements]
    assert rooms
    assert all(room is not None and 0 <= room <= 8 for room in rooms)


@pytest.mark.parametrize("variant", LONG_VARIANTS)
def test_a_request_that_is_lost_is_a_gap_that_both_sides_report(
    gsoap: Build, site: Site, queue: str, variant: Variant
) -> None:
    plan = scripted({3: ProxyAction.LOSE_REQUEST}, OF_MESSAGES)
    report, proxy = send(gsoap, site, queue, variant, "--patience", "2", plan=plan)
    assert proxy.counts[ProxyAction.LOSE_REQUEST] == 1
    assert received(site, queue, COUNT - 1) == [each for each in texts(COUNT) if each != "message 3"]
    assert unacknowledged(report) == [3]
    seen = sequence(site, report)
    assert (seen.state, seen.gaps) == ("ended", "3")


@pytest.mark.parametrize("variant", LONG_VARIANTS)
def test_a_gap_that_is_filled_before_the_end_is_none(
    gsoap: Build, site: Site, queue: str, variant: Variant
) -> None:
    plan = scripted({3: ProxyAction.LOSE_REQUEST}, OF_MESSAGES)
    report, _ = send(gsoap, site, queue, variant, "--patience", "2", "--resend", plan=plan)
    assert received(site, queue, COUNT) == texts(COUNT)
    # the client passes over responses to what it sends again, and RM 1.0 has no CloseSequenceResponse
    stays = variant.version == "1.0" and not variant.duplex
    assert unacknowledged(report) == ([3] if stays else [])
    assert sequence(site, report).gaps == ""


@pytest.mark.parametrize("variant", LONG_VARIANTS)
def test_a_response_that_is_lost_loses_no_message(
    gsoap: Build, site: Site, queue: str, variant: Variant
) -> None:
    plan = scripted({3: ProxyAction.LOSE_RESPONSE}, OF_MESSAGES)
    report, proxy = send(gsoap, site, queue, variant, plan=plan)
    assert proxy.counts[ProxyAction.LOSE_RESPONSE] == 1
    assert received(site, queue, COUNT) == texts(COUNT)
    assert unacknowledged(report) == []


@pytest.mark.parametrize("variant", LONG_VARIANTS)
def test_what_comes_twice_is_delivered_once(gsoap: Build, site: Site, queue: str, variant: Variant) -> None:
    plan = scripted({2: ProxyAction.REPEAT, 5: ProxyAction.REPEAT}, OF_MESSAGES)
    report, proxy = send(gsoap, site, queue, variant, plan=plan)
    assert proxy.counts[ProxyAction.REPEAT] == 2
    assert received(site, queue, COUNT) == texts(COUNT)
    assert unacknowledged(report) == []
    assert sequence(site, report).duplicates == 2


@pytest.mark.parametrize("variant", LONG_VARIANTS)
def test_a_conversation_in_which_everything_comes_twice(
    gsoap: Build, site: Site, queue: str, variant: Variant
) -> None:
    report, proxy = send(gsoap, site, queue, variant, plan=lambda _request: ProxyAction.REPEAT)
    assert proxy.counts[ProxyAction.PASS] == 0
    assert received(site, queue, COUNT) == texts(COUNT)
    assert unacknowledged(report) == []


@pytest.mark.spec("FC-015", "FC-016")
def test_a_bounded_endpoint_takes_what_it_has_room_for(gsoap: Build, site: Site) -> None:
    with site.connect() as manager:
        manager.create_queue("narrow")
    report, _ = send(gsoap, site, "narrow", Variant("1.1", 2, True, False))
    assert received(site, "narrow", 4) == texts(4)
    assert unacknowledged(report) == [5, 6]
    assert [each.room for each in report.acknowledgements][:COUNT] == [3, 2, 1, 0, 0, 0]


def test_a_message_to_a_queue_that_does_not_exist_is_refused(gsoap: Build, site: Site) -> None:
    with GsoapClient(gsoap.peer("1.1"), endpoint(site, "nowhere"), "--soap", "2") as client:
        report = client.report()
    assert "DestinationUnreachable" in report.said("fault")[0]
    assert report.unacknowledged == [1]


# -- requests and replies


def converse(
    gsoap: Build, site: Site, queue: str, variant: Variant, *more: str, plan: Plan = pass_all
) -> tuple[Report, list[str]]:
    """Let a client ask while an application answers; what both have seen."""
    program = gsoap.peer(variant.version, flow_control=variant.flow)
    given = arguments(variant, "--ask", "--offer", *more)
    asked = []
    with (
        HttpProxy(int(site.data_port), plan) as proxy,
        GsoapClient(program, f"{proxy.url}/wsrm/{queue}", *given) as client,
        site.connect() as manager,
    ):
        while not client.has_ended:
            message = manager.queue(queue).receive(timeout=0.1)
            if message is not None:
                assert message.label == ASK
                asked.append(text_in(message.text))
                manager.reply(message, answer(f"re: {asked[-1]}"), label=ANSWER)
        report = client.report()
    assert report.code == 0, "\n".join(report.lines)
    return report, asked


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("more", [(), ("--reply-to",)], ids=["no ReplyTo", "ReplyTo"])
def test_requests_are_answered_by_an_application(
    gsoap: Build, site: Site, queue: str, variant: Variant, more: tuple[str, ...]
) -> None:
    report, asked = converse(gsoap, site, queue, variant, *more)
    assert asked == texts(COUNT)
    assert report.answers == [f"re: {each}" for each in texts(COUNT)]
    numbers = [int(each.split(" ")[1]) for each in report.said("answer")]
    assert numbers == [*range(1, COUNT + 1)]  # in the sequence that the client offered
    assert unacknowledged(report) == []


@pytest.mark.parametrize("variant", LONG_VARIANTS)
def test_a_request_that_comes_twice_is_answered_once(
    gsoap: Build, site: Site, queue: str, variant: Variant
) -> None:
    plan = scripted({2: ProxyAction.REPEAT, 5: ProxyAction.REPEAT}, OF_MESSAGES)
    report, asked = converse(gsoap, site, queue, variant, plan=plan)
    assert asked == texts(COUNT)
    assert report.answers == [f"re: {each}" for each in texts(COUNT)]

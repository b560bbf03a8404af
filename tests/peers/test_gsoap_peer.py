"""The gSOAP peer's client and server work with each other in every variant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers.gsoap_build import Build, Version
from tests.peers.gsoap_peer import GsoapClient, GsoapServer, Report, acknowledgements_in, texts
from tests.peers.http_proxy import HttpProxy, Plan, ProxyAction, every, scripted
from tests.peers.wsrm_sites import ALL, SHORT

pytestmark = pytest.mark.needs("gsoap")

VARIANTS = [
    pytest.param(
        each.version,
        each.soap,
        each.flow,
        each.duplex,
        id=str(each),
        marks=[] if each in SHORT else [pytest.mark.long],
    )
    for each in ALL
]


def converse(program: Path, server: GsoapServer, soap: int, duplex: bool, *more: str) -> Report:
    """Let a client send five messages; the report of it, which must be a good one."""
    given = ["--count", "5", "--soap", str(soap), *(["--duplex"] if duplex else []), *more]
    with GsoapClient(program, server.url, *given) as client:
        report = client.report()
    assert report.code == 0, "\n".join([*report.lines, "server:", *server.lines])
    assert report.said("terminated") == [""]
    server.wait_until(lambda it: len(it.accepted) == 5)
    return report


def unacknowledged(report: Report) -> list[int]:
    """Return the messages without an acknowledgement.

    The server answers LastMessage of RM 1.0, the sixth, before it takes it, so the end may come before.
    """
    return [number for number in report.unacknowledged if number <= 5]


@pytest.mark.parametrize(("version", "soap", "flow", "duplex"), VARIANTS)
def test_one_way_messages_arrive_and_are_acknowledged(
    gsoap: Build, version: Version, soap: int, flow: bool, duplex: bool
) -> None:
    program = gsoap.peer(version, flow_control=flow)
    with GsoapServer(program) as server:
        report = converse(program, server, soap, duplex)
        accepted = sorted(server.accepted, key=lambda each: each.number)  # each comes in a thread of its own
        assert [(each.number, each.text) for each in accepted] == list(enumerate(texts(5), 1))
    assert unacknowledged(report) == []
    assert {each.room for each in report.acknowledgements} == {8 if flow else None}


@pytest.mark.parametrize(("version", "soap", "flow", "duplex"), VARIANTS)
def test_requests_are_answered_in_the_offered_sequence(
    gsoap: Build, version: Version, soap: int, flow: bool, duplex: bool
) -> None:
    program = gsoap.peer(version, flow_control=flow)
    with GsoapServer(program) as server:
        report = converse(program, server, soap, duplex, "--ask", "--offer")
        assert sorted(each.text for each in server.accepted) == texts(5)
        of_answers = acknowledgements_in(server.lines)
    assert sorted(report.answers) == texts(5)  # those of a duplex client come in threads of their own
    assert sorted(int(each.split(" ")[1]) for each in report.said("answer")) == [1, 2, 3, 4, 5]
    assert of_answers
    assert unacknowledged(report) == []


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_server_that_acknowledges_one_way_messages_does_so_on_each_response(
    gsoap: Build, version: Version
) -> None:
    program = gsoap.peer(version)
    with GsoapServer(program, "--acknowledge") as server:
        report = converse(program, server, 1, False)
    assert report.said("unacknowledged")[0] == "-"
    assert [each.ranges for each in report.acknowledgements][:5] == ["1-1", "1-2", "1-3", "1-4", "1-5"]


# -- what tests with our own parts have to know of this peer


def through(gsoap: Build, plan: Plan, *more: str) -> tuple[Report, list[str]]:
    """Let a client send through a proxy; what it reported, and what the server accepted."""
    program = gsoap.peer("1.1")
    with GsoapServer(program) as server:
        with (
            HttpProxy(server.port, plan) as proxy,
            GsoapClient(program, proxy.url + "/", "--count", "5", *more) as client,
        ):
            report = client.report()
        server.wait_until(lambda it: any(each.endswith("/TerminateSequence") for each in it.heard))
        return report, sorted(each.text for each in server.accepted)  # its threads print in any order


def test_the_client_sends_each_message_once_and_the_server_drops_what_comes_too_early(gsoap: Build) -> None:
    report, accepted = through(gsoap, scripted({3: ProxyAction.LOSE_REQUEST}, b">message "))
    assert report.said("failed") == ["3"]
    assert accepted == texts(2)
    assert report.unacknowledged == [3, 4, 5]


def test_an_application_can_let_the_client_send_again(gsoap: Build) -> None:
    report, accepted = through(gsoap, scripted({3: ProxyAction.LOSE_REQUEST}, b">message "), "--resend")
    assert accepted == texts(5)
    assert unacknowledged(report) == []


def test_the_server_drops_duplicates(gsoap: Build) -> None:
    report, accepted = through(gsoap, every(1, ProxyAction.REPEAT, b">message "))
    assert accepted == texts(5)
    assert unacknowledged(report) == []


def test_a_lost_response_costs_the_client_nothing(gsoap: Build) -> None:
    report, accepted = through(gsoap, scripted({3: ProxyAction.LOSE_RESPONSE}, b">message "))
    assert report.said("failed") == ["3"]
    assert accepted == texts(5)
    assert unacknowledged(report) == []


def test_without_an_end_the_sequence_stays_open(gsoap: Build) -> None:
    program = gsoap.peer("1.1")
    with (
        GsoapServer(program) as server,
        GsoapClient(program, server.url, "--count", "2", "--no-close", "--no-terminate") as client,
    ):
        report = client.report()
    assert report.code == 0
    assert report.unacknowledged == [1, 2]
    assert not any("CloseSequence" in action or "TerminateSequence" in action for action in server.heard)


def test_a_client_without_a_server_fails(gsoap: Build) -> None:
    program = gsoap.peer("1.1")
    with GsoapServer(program) as server:
        url = server.url
    with GsoapClient(program, url) as client:
        report = client.report()
    assert report.code == 1
    assert report.said("fault")

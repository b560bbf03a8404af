"""Tests that format names are converted to the addresses of a packet and back."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.queueing.packets.names import (
    Hosts,
    administration_address,
    destination_address,
    host_of,
    listed,
    name_of,
    names_of,
    response_address,
)
from reliquary.wire.packet.addresses import NOWHERE, Address, AddressKind
from reliquary.wire.packet.multi import ListedKind, ListedQueue
from tests.queueing.full_messages import DESTINATION, OTHER, SOURCE, private, public

NO_GUID = UUID(int=0)
DIRECT = "DIRECT=OS:host\\private$\\orders"


def hosts() -> Hosts:
    return Hosts(SOURCE, DESTINATION)


@pytest.mark.spec("DM-277")
@pytest.mark.parametrize(
    ("text", "address", "manager"),
    [
        ("", NOWHERE, DESTINATION),
        (public(OTHER), Address(AddressKind.PUBLIC, guid=OTHER), DESTINATION),
        (private(OTHER, 31), Address(AddressKind.PRIVATE_ON_DESTINATION, 31), OTHER),
        (DIRECT, Address(AddressKind.DIRECT, direct="OS:host\\private$\\orders"), NO_GUID),
        (
            "DIRECT=HTTPR://host/httpr/mq#a%2Cb",
            Address(AddressKind.DIRECT, direct="HTTPR://host/httpr/mq#a%2Cb"),
            NO_GUID,
        ),
        (
            "direct=os:host\\orders;retry",
            Address(AddressKind.DIRECT, direct="OS:host\\orders;retry"),
            NO_GUID,
        ),
    ],
)
def test_a_destination_and_the_manager_that_the_packet_is_for(
    text: str, address: Address, manager: UUID
) -> None:
    where = hosts()
    assert destination_address(text, where) == address
    assert where.destination == manager


@pytest.mark.spec("DM-277")
@pytest.mark.parametrize(
    ("text", "word", "address"),
    [
        ("", AddressKind.DIRECT, NOWHERE),
        (public(OTHER), AddressKind.NONE, Address(AddressKind.PUBLIC, guid=OTHER)),
        (private(SOURCE, 5), AddressKind.NONE, Address(AddressKind.PRIVATE_ON_SOURCE, 5)),
        (private(SOURCE, 5), AddressKind.PRIVATE, Address(AddressKind.PRIVATE, 5, SOURCE)),
        (private(DESTINATION, 5), AddressKind.NONE, Address(AddressKind.PRIVATE_ON_DESTINATION, 5)),
        (private(OTHER, 5), AddressKind.PRIVATE_ON_SOURCE, Address(AddressKind.PRIVATE, 5, OTHER)),
    ],
)
def test_an_administration_queue_takes_the_form_that_its_host_allows(
    text: str, word: AddressKind, address: Address
) -> None:
    where = hosts()
    assert administration_address(text, where, word) == address
    assert name_of(address, hosts()) == text


@pytest.mark.spec("DM-277")
def test_a_response_queue_may_be_at_the_manager_of_the_administration_queue() -> None:
    where = hosts()
    administration_address(private(OTHER, 5), where, AddressKind.NONE)
    found = response_address(private(OTHER, 6), where, AddressKind.PRIVATE_ON_ADMIN, private(OTHER, 5))
    assert found == Address(AddressKind.PRIVATE_ON_ADMIN, 6)
    again = hosts()
    again.admin = host_of(Address(AddressKind.PRIVATE, 5, OTHER), again)
    assert name_of(found, again) == private(OTHER, 6)


@pytest.mark.spec("DM-277")
@pytest.mark.parametrize(
    ("text", "administration", "kind"),
    [
        (DIRECT, DIRECT, AddressKind.SAME_AS_ADMIN),
        ("", DIRECT, AddressKind.SAME_AS_ADMIN),
        (public(OTHER), DIRECT, AddressKind.PUBLIC),
        (DIRECT, "", AddressKind.DIRECT),
        ("", "", AddressKind.NONE),
    ],
)
def test_a_response_queue_may_be_the_administration_queue_itself(
    text: str, administration: str, kind: AddressKind
) -> None:
    assert response_address(text, hosts(), AddressKind.SAME_AS_ADMIN, administration).kind is kind


def test_a_host_that_is_not_known_is_no_host() -> None:
    nil = private(NO_GUID, 5)
    found = administration_address(nil, Hosts(NO_GUID, NO_GUID), AddressKind.PRIVATE_ON_SOURCE)
    assert found == Address(AddressKind.PRIVATE, 5, NO_GUID)


def test_a_path_name_is_a_direct_name_of_this_computer() -> None:
    here = Hosts(SOURCE, DESTINATION, "pc")
    assert destination_address("orders", here).direct == "OS:pc\\private$\\orders"
    with pytest.raises(UsageError, match="'orders' is no format name"):
        destination_address("orders", hosts())


@pytest.mark.parametrize(
    "text",
    [
        f"MACHINE={OTHER};DEADLETTER",
        f"CONNECTOR={OTHER}",
        f"DL={OTHER}",
        "MULTICAST=224.1.1.1:8001",
        f"{public(OTHER)};JOURNAL",
        f"{private(OTHER, 5)};JOURNAL",
        f"{DIRECT},{DIRECT}",
    ],
)
def test_a_name_without_a_form_is_the_callers_mistake(text: str) -> None:
    with pytest.raises(UsageError):
        destination_address(text, hosts())


@pytest.mark.spec("DM-277")
def test_lists_of_names_is_encoded_and_decoded() -> None:
    names = (public(OTHER), private(OTHER, 31), DIRECT, f"DL={str(OTHER).upper()}")
    queues = listed(names)
    assert [queue.kind for queue in queues] == list(ListedKind)
    assert queues[1] == ListedQueue(ListedKind.PRIVATE, OTHER, 31)
    assert names_of(queues) == names


def test_a_name_that_a_list_does_not_know_is_left_out() -> None:
    assert names_of(listed(("MULTICAST=224.1.1.1:8001", DIRECT, f"CONNECTOR={OTHER}"))) == (DIRECT,)

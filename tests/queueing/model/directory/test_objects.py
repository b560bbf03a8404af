"""Tests directory objects: every attribute with its default and its range."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

import msgspec
import pytest

from reliquary.base.faults import UsageError
from reliquary.queueing.model.directory.objects import (
    COST_LIMIT,
    KINDS,
    LIST_LIMIT,
    TEXT_LIMIT,
    TYPES,
    ConnectedNetwork,
    DirectoryObject,
    DistributionList,
    Enterprise,
    InternalCertificate,
    ManagerObject,
    ObjectKind,
    QueueObject,
    RoutingLink,
    Site,
    User,
    check_object,
    kind_of,
    name_of,
)
from reliquary.queueing.model.queue import DirectoryServerType, QueueManagerRecord, QueueSettings
from reliquary.queueing.model.security.rights import EnterpriseRight, NetworkRight, SiteRight
from reliquary.wire.security import Ace, AceKind, SecurityDescriptor, encode_descriptor, parse_sid

ONE, TWO = UUID(int=1), UUID(int=2)
CERTIFICATE = b"a certificate"
MANY = tuple(UUID(int=number) for number in range(LIST_LIMIT + 1))
DIGEST = hashlib.md5(CERTIFICATE, usedforsecurity=False).digest()

GOOD: list[DirectoryObject] = [
    Enterprise(name="all"),
    Site(name="north"),
    RoutingLink(site1=ONE, site2=TWO),
    ConnectedNetwork(name="mainframe"),
    ManagerObject(computer_name="OTHER"),
    QueueObject(pathname="OTHER\\orders"),
    User(security_identifier="S-1-5-21-1-2-3-1001"),
    DistributionList(name="all shops", format_names=("DIRECT=OS:a\\private$\\x", f"DL={ONE}")),
]


@pytest.mark.parametrize("subject", GOOD, ids=[kind_of(each).value for each in GOOD])
def test_a_good_object_of_each_type_is_taken_and_reads_back(subject: DirectoryObject) -> None:
    check_object(subject)
    assert name_of(subject) or isinstance(subject, RoutingLink)
    encoded = msgspec.json.encode(subject)
    assert msgspec.json.decode(encoded, type=DirectoryObject) == subject


def test_each_kind_has_its_type() -> None:
    assert set(TYPES) == set(ObjectKind)
    assert {kind_of(each) for each in GOOD} == set(ObjectKind) == set(KINDS.values())


@pytest.mark.spec("DM-003", "DM-020")
def test_the_directory_attributes_are_those_that_a_manager_and_a_queue_have() -> None:
    own = set(QueueManagerRecord.__struct_fields__)
    assert set(ManagerObject.__struct_fields__) <= own
    assert own - set(ManagerObject.__struct_fields__) >= {"last_domain", "directory_servers"}
    ours = {"journal_required", "poison_limit", "retry_delay", "longest_retry_delay", "keep_refused"}
    assert set(QueueSettings.__struct_fields__) - set(QueueObject.__struct_fields__) == ours
    assert QueueObject(pathname="A\\b", label="l", quota=7).settings == QueueSettings(label="l", quota=7)


BAD: list[tuple[DirectoryObject, str]] = [
    (RoutingLink(site1=ONE, site2=TWO, actual_cost=0), f"actual_cost is 1 to {COST_LIMIT}, not 0"),
    (RoutingLink(site1=ONE, site2=TWO, actual_cost=COST_LIMIT + 1), "actual_cost"),
    (RoutingLink(site1=ONE, actual_cost=3), "site2 is missing"),
    (RoutingLink(site1=ONE, site2=ONE), "joins two sites"),
    (RoutingLink(site1=ONE, site2=TWO, site_gates=(ONE, ONE)), "site_gates names an entry twice"),
    (Site(), "name is empty: a site has a name"),
    (Enterprise(), "an enterprise has a name"),
    (Site(name="x" * (TEXT_LIMIT + 1)), f"name has at most {TEXT_LIMIT}"),
    (Site(name="a\nb"), "control characters"),
    (Site(name="a", intra_site_replication_seconds=-1), "intra_site_replication_seconds is 0 to"),
    (ManagerObject(), "computer_name has 1 to"),
    (ManagerObject(computer_name="A", site_identifiers=MANY), "site_identifiers has at most"),
    (QueueObject(pathname="orders"), "pathname is COMPUTER"),
    (QueueObject(pathname="A\\private$\\b"), "for a public queue"),
    (QueueObject(pathname="A\\b", quota=-1), "quota is 0 to"),
    (QueueObject(pathname="A\\b", base_priority=40_000), "base priority"),
    (User(security_identifier="me"), "security_identifier: a SID looks like"),
    (User(security_identifier="S-1-5-1", certificate_digests=(b"short",)), "16 bytes each, not 5"),
    (DistributionList(), "a distribution list has a name"),
    (DistributionList(name="a", format_names=("nonsense",)), "nonsense"),
]


@pytest.mark.spec("DM-034", "DM-035")
@pytest.mark.parametrize(("subject", "why"), BAD, ids=[why for _, why in BAD])
def test_what_is_out_of_range_is_refused_by_name(subject: DirectoryObject, why: str) -> None:
    with pytest.raises(UsageError, match=why.replace("$", r"\$")):
        check_object(subject)


@pytest.mark.spec("DM-012")
def test_a_directory_server_type_is_for_directory_servers_only() -> None:
    controller: dict[str, Any] = {
        "computer_name": "A",
        "directory_server_type": DirectoryServerType.PRIMARY_SITE_CONTROLLER,
    }
    check_object(ManagerObject(directory_server=True, **controller))
    with pytest.raises(UsageError, match="means nothing unless directory_server"):
        check_object(ManagerObject(**controller))
    assert len(DirectoryServerType) == 4


@pytest.mark.spec("DM-037")
def test_a_certificate_digest_is_the_md5_of_a_certificate() -> None:
    known: dict[str, Any] = {"security_identifier": "S-1-5-1", "certificates": (CERTIFICATE,)}
    check_object(User(certificate_digests=(DIGEST,), **known))
    with pytest.raises(UsageError, match="the MD5 of none"):
        check_object(User(certificate_digests=(bytes(16),), **known))


@pytest.mark.spec("DM-072")
def test_an_internal_certificate_has_one_certificate_and_its_user() -> None:
    user = User(security_identifier="S-1-5-1")
    assert InternalCertificate(CERTIFICATE, user) == InternalCertificate(certificate=CERTIFICATE, user=user)


def described(mask: int) -> bytes:
    everyone = Ace(AceKind.ALLOWED, mask, parse_sid("S-1-1-0"))
    return encode_descriptor(SecurityDescriptor(dacl=(everyone,)))


@pytest.mark.spec("DM-036")
@pytest.mark.parametrize(
    ("subject", "right", "stray"),
    [
        (Enterprise(name="a"), EnterpriseRight.CREATE_SITE, 0x8),
        (Site(name="a"), SiteRight.CREATE_MACHINE, 0x8),
        (ConnectedNetwork(name="a"), NetworkRight.OPEN_CONNECTOR, 0x2),
    ],
)
def test_a_list_names_rights_that_the_type_has(subject: Any, right: int, stray: int) -> None:
    check_object(msgspec.structs.replace(subject, security=described(right)))
    with pytest.raises(UsageError, match=f"security: the mask {stray:#x} has no meaning"):
        check_object(msgspec.structs.replace(subject, security=described(stray)))
    with pytest.raises(UsageError, match="security: the security descriptor is damaged"):
        check_object(msgspec.structs.replace(subject, security=b"\1"))

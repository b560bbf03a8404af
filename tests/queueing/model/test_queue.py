"""Tests queue and QueueManager: every attribute of [MS-MQDMPR] 3.1.1.1 and 3.1.1.2 with its default."""

from __future__ import annotations

from enum import Enum
from operator import attrgetter
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.queueing.model.message import FOREVER, NO_GUID
from reliquary.queueing.model.queue import (
    BASE_PRIORITY_LIMIT,
    KILOBYTE,
    QUEUE_LABEL_LIMIT,
    DirectoryServerType,
    ManagerState,
    OperatingSystemType,
    Queue,
    QueueManagerRecord,
    QueuePrivacy,
    QueueSettings,
    QueueType,
    Scope,
    check_settings,
    exceeds,
)
from reliquary.queueing.model.queue_state import QueueState, Readers
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import MANAGER, ONLY, QUEUES, queue_key
from tests.queueing.manager_harness import COMPUTER, DOMAIN_NAME, NOON, OPEN_LIST, Bench

GIVEN = object()
"""No default: it is said when the thing is made."""

SETTINGS: dict[str, tuple[str, Any]] = {
    "Label": ("label", ""),
    "Type": ("type", NO_GUID),
    "Journaling": ("journaling", False),
    "Quota": ("quota", 0xFFFFFFFF),
    "JournalQuota": ("journal_quota", 0xFFFFFFFF),
    "Authentication": ("authentication", False),
    "PrivacyLevel": ("privacy", QueuePrivacy.OPTIONAL),
    "Transactional": ("transactional", False),
    "MulticastAddress": ("multicast_address", None),
    "Security": ("security", b""),
    "BasePriority": ("base_priority", 0),
}
"""What a caller may choose, with the values of Set Queue Defaults, 3.1.7.1.33."""

QUEUE: dict[str, tuple[str, Any]] = {
    "Identifier": ("identifier", GIVEN),
    "CreateTime": ("create_time", GIVEN),
    "ModifyTime": ("modify_time", GIVEN),
    "Pathname": ("pathname", GIVEN),
    "QualifiedPathname": ("qualified_pathname", GIVEN),
    "PrivateQueueNumber": ("number", GIVEN),
    "QueueType": ("kind", GIVEN),
    "FullPath": ("full_path", ""),
    "DirectoryPath": ("directory_path", ""),
    "Scope": ("scope", Scope.ENTERPRISE),
    "JournalQueueReference": ("journal", None),
}
"""What the manager sets, 3.1.1.2."""

WHILE_WE_RUN = {
    "Active": "active",
    "TotalBytes": "total_bytes",
    "SubqueueCollection": "subqueues",
    "MessagePositionList": "order",
    "OpenQueueDescriptorCollection": "readers.descriptors",
}
"""Fields of `QueueState` and its parts that are not kept, or kept as rows of their own.

IncomingTransactionalTransferInfoCollection is with the protocol that fills it, `streams.incoming.Incoming`.
"""

MANAGER_ATTRIBUTES: dict[str, tuple[str, Any]] = {
    "Identifier": ("identifier", GIVEN),
    "ComputerName": ("computer_name", GIVEN),
    "QualifiedComputerName": ("qualified_computer_name", GIVEN),
    "CreateTime": ("create_time", GIVEN),
    "ModifyTime": ("modify_time", GIVEN),
    "QueueManagerVersion": ("queue_manager_version", ""),
    "OperatingSystemVersion": ("operating_system_version", ""),
    "OperatingSystemType": ("operating_system_type", OperatingSystemType.OTHER),
    "QueueManagerQuota": ("quota", 0x00100000),
    "JournalQuota": ("journal_quota", 0xFFFFFFFF),
    "ForeignSystem": ("foreign_system", False),
    "FullPath": ("full_path", ""),
    "SiteIdentifierList": ("site_identifiers", ()),
    "ConnectedNetworkIdentifierList": ("connected_network_identifiers", ()),
    "OutRoutingServerIdentifierList": ("out_routing_servers", ()),
    "InRoutingServerIdentifierList": ("in_routing_servers", ()),
    "DirectoryServer": ("directory_server", False),
    "RemoteAccessServer": ("remote_access_server", False),
    "RoutingServer": ("routing_server", False),
    "SupportingServer": ("supporting_server", False),
    "DirectoryServerType": ("directory_server_type", DirectoryServerType.STANDALONE),
    "PublicEncryptionKeyList": ("public_encryption_keys", ()),
    "PublicSigningKeyList": ("public_signing_keys", ()),
    "Security": ("security", b""),
    "Clustered": ("clustered", False),
    "LastDomain": ("last_domain", None),
    "DirectoryServerList": ("directory_servers", ()),
    "DirectoryIntegrated": ("directory_integrated", False),
    "SrmpHttpSupport": ("http_support", False),
    "SrmpPgmSupport": ("pgm_support", False),
    "HardenedSecurity": ("hardened_security", False),
    "InitializationRetryTimerDuration": ("initialization_retry_seconds", 120),
}
"""What outlives the process, 3.1.1.1."""

OF_THE_STATE: dict[str, tuple[str, Any]] = {
    "Throttled": ("manager.throttled", False),
    "QueueManagerState": ("manager.state", ManagerState.STOPPED),
    "QueueCollection": ("queues", {}),
    "TransactionCollection": ("transactions.open", {}),
    "SequentialID": ("numbers.sequence", 0),
}
"""Fields of the parts of `State`; the last two are kept as rows of their own."""

WORDS: dict[type[Enum], str] = {
    QueueType: "PRIVATE PUBLIC SYSTEM CONNECTOR",
    QueuePrivacy: "NONE OPTIONAL BODY",
    Scope: "SITE ENTERPRISE",
    OperatingSystemType: "FOREIGN WIN95 WIN_CLIENT WIN_SERVER WIN_ENT OTHER",
    DirectoryServerType: (
        "STANDALONE BACKUP_SITE_CONTROLLER PRIMARY_SITE_CONTROLLER PRIMARY_ENTERPRISE_CONTROLLER"
    ),
    ManagerState: "STOPPED INITIALIZING READY STOPPING",
}


def default_of(record: type[msgspec.Struct], name: str) -> object:
    [field] = [field for field in msgspec.structs.fields(record) if field.name == name]
    return GIVEN if field.default is msgspec.NODEFAULT else field.default


# -- attributes


@pytest.mark.spec("DM-283")
@pytest.mark.parametrize(("name", "default"), SETTINGS.values(), ids=SETTINGS)
def test_every_setting_of_a_queue_is_there_with_its_default(name: str, default: object) -> None:
    assert default_of(QueueSettings, name) == default


@pytest.mark.spec("DM-025")
@pytest.mark.parametrize(("name", "default"), QUEUE.values(), ids=QUEUE)
def test_every_attribute_of_a_queue_is_there_with_its_default(name: str, default: object) -> None:
    assert default_of(Queue, name) == default


@pytest.mark.parametrize("name", WHILE_WE_RUN.values(), ids=WHILE_WE_RUN)
def test_what_a_queue_has_only_while_we_run_is_on_its_state(name: str) -> None:
    *part, attribute = name.split(".")
    assert hasattr(Readers if part == ["readers"] else QueueState, attribute)
    assert attribute not in Queue.__struct_fields__


@pytest.mark.spec("DM-009", "DM-010", "DM-011", "DM-017")
@pytest.mark.parametrize(("name", "default"), MANAGER_ATTRIBUTES.values(), ids=MANAGER_ATTRIBUTES)
def test_every_attribute_of_the_manager_is_there_with_its_default(name: str, default: object) -> None:
    assert default_of(QueueManagerRecord, name) == default


@pytest.mark.spec("DM-015")
@pytest.mark.parametrize(("name", "default"), OF_THE_STATE.values(), ids=OF_THE_STATE)
def test_what_the_manager_has_only_while_we_run_begins_with_its_default(name: str, default: object) -> None:
    state = Bench(start=False).state
    assert isinstance(state, State)
    assert attrgetter(name)(state) == default


def test_every_attribute_of_queues_and_managers_is_explained() -> None:
    chosen = {name for name, _ in SETTINGS.values()}
    ours = {"journal_required", "poison_limit", "retry_delay", "longest_retry_delay", "keep_refused"}
    assert set(QueueSettings.__struct_fields__) == chosen | ours
    ours = {"settings", "parent", "is_journal", "deleting", "outgoing"}
    assert set(Queue.__struct_fields__) == {name for name, _ in QUEUE.values()} | ours
    explained = {name for name, _ in MANAGER_ATTRIBUTES.values()} | {"directory_detached", "era"}
    assert set(QueueManagerRecord.__struct_fields__) == explained


@pytest.mark.spec("DM-008", "DM-015", "DM-023", "DM-025", "DM-027")
@pytest.mark.parametrize(("kind", "words"), WORDS.items(), ids=[kind.__name__ for kind in WORDS])
def test_an_enumeration_has_the_listed_values_and_no_others(kind: type[Enum], words: str) -> None:
    assert list(kind.__members__) == words.split()


@pytest.mark.spec("DM-022", "DM-083", "DM-138", "DM-139")
def test_a_new_queue_has_what_was_chosen_and_what_the_manager_sets() -> None:
    bench = Bench()
    chosen = QueueSettings(label="the orders", quota=5, transactional=True, type=UUID(int=7))
    queue = bench.create("new", **msgspec.structs.asdict(chosen)).queue
    assert queue.settings == msgspec.structs.replace(chosen, security=OPEN_LIST)
    assert queue.pathname == f"{COMPUTER}\\private$\\new"
    assert queue.qualified_pathname == f"{DOMAIN_NAME}\\private$\\new"
    assert queue.create_time == queue.modify_time == NOON // 1_000_000
    assert queue.kind is QueueType.PRIVATE


# -- on disk


@pytest.mark.spec("DM-002")
@given(
    st.builds(
        QueueSettings,
        label=st.text(),
        type=st.uuids(),
        quota=st.integers(0, FOREVER),
        privacy=st.sampled_from(QueuePrivacy),
        transactional=st.booleans(),
        multicast_address=st.one_of(st.none(), st.text()),
        security=st.binary(),
        base_priority=st.integers(-BASE_PRIORITY_LIMIT, BASE_PRIORITY_LIMIT),
    )
)
def test_a_queue_is_unchanged_after_the_disk(settings: QueueSettings) -> None:
    queue = Queue(
        number=3,
        identifier=UUID(int=1),
        pathname="a",
        qualified_pathname="b",
        kind=QueueType.PUBLIC,
        settings=settings,
        create_time=1,
        modify_time=2,
        journal=4,
    )
    key = queue_key(3)
    assert QUEUES.decode(key, QUEUES.encode(key, queue)) == queue


@pytest.mark.spec("DM-002")
def test_the_manager_is_unchanged_after_the_disk() -> None:
    record = QueueManagerRecord(
        identifier=UUID(int=1),
        computer_name="a",
        qualified_computer_name="a.example",
        create_time=1,
        modify_time=2,
        quota=77,
        site_identifiers=(UUID(int=2), UUID(int=3)),
        public_signing_keys=(b"key",),
        last_domain=UUID(int=4),
        directory_server_type=DirectoryServerType.PRIMARY_SITE_CONTROLLER,
        operating_system_type=OperatingSystemType.FOREIGN,
    )
    assert MANAGER.decode(ONLY, MANAGER.encode(ONLY, record)) == record


# -- limits


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        pytest.param(
            {"label": "x" * 125}, "a queue's label has at most 124 characters, this one has 125", id="label"
        ),
        pytest.param({"quota": -1}, f"a quota is 0 to {FOREVER} kilobytes, not -1", id="quota"),
        pytest.param(
            {"journal_quota": FOREVER + 1},
            f"a journal quota is 0 to {FOREVER} kilobytes, not {FOREVER + 1}",
            id="journal quota",
        ),
        pytest.param(
            {"base_priority": 32768}, "a base priority is -32767 to 32767, not 32768", id="base priority"
        ),
        pytest.param(
            {"base_priority": -32768}, "a base priority is -32767 to 32767, not -32768", id="low priority"
        ),
    ],
)
def test_a_setting_outside_its_range_is_refused_with_the_limit_and_the_value(
    settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        check_settings(QueueSettings(**settings))
    assert str(refusal.value) == sentence


def test_settings_at_their_limits_are_taken() -> None:
    check_settings(QueueSettings(label="x" * QUEUE_LABEL_LIMIT, quota=0, journal_quota=FOREVER))
    check_settings(QueueSettings(base_priority=-BASE_PRIORITY_LIMIT))


@pytest.mark.spec("DM-188")
@given(st.integers(0, FOREVER - 1), st.integers(0, 2**50))
def test_a_quota_is_in_kilobytes_and_may_be_used_up(quota: int, size: int) -> None:
    assert exceeds(quota, size) == (size > quota * KILOBYTE)
    assert not exceeds(quota, quota * KILOBYTE)
    assert not exceeds(FOREVER, size)

"""Tests rights, the evaluation of an access list, and the list of a new queue."""

from __future__ import annotations

from enum import IntFlag

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.queueing.model.security.principals import (
    ADMINISTRATORS,
    ANONYMOUS,
    ANONYMOUS_USER,
    AUTHENTICATED_USERS,
    EVERYONE,
    MANAGER,
    Principal,
)
from reliquary.queueing.model.security.rights import (
    EVERYTHING,
    MANAGER_LIST,
    EnterpriseRight,
    ManagerRight,
    NetworkRight,
    QueueRight,
    SiteRight,
    check_descriptor,
    check_mask,
    default_descriptor,
    granted,
    names_of,
    right_named,
    walk,
)
from reliquary.wire.security import (
    INHERIT_ONLY,
    Ace,
    AceKind,
    OtherAce,
    SecurityDescriptor,
    Sid,
    decode_descriptor,
    encode_descriptor,
    parse_sid,
)

ALICE, BOB = parse_sid("S-1-5-21-1-2-3-1001"), parse_sid("S-1-5-21-1-2-3-1002")
GUEST = parse_sid("S-1-5-21-1-2-3-501")
CLERKS = parse_sid("S-1-5-21-1-2-3-2001")
MACHINE = parse_sid("S-1-5-21-9-9-9-1100")
alice = Principal(ALICE, (CLERKS,), "alice")

READ, WRITE = int(QueueRight.PEEK_MESSAGE), int(QueueRight.WRITE_MESSAGE)


def allow(sid: Sid, mask: int, flags: int = 0) -> Ace:
    return Ace(AceKind.ALLOWED, mask, sid, flags)


def deny(sid: Sid, mask: int) -> Ace:
    return Ace(AceKind.DENIED, mask, sid)


def described(*aces: Ace | OtherAce, owner: Sid | None = None) -> SecurityDescriptor:
    return SecurityDescriptor(owner=owner, dacl=aces)


# -- masks


@pytest.mark.spec("DM-013", "DM-024", "DM-036")
@pytest.mark.parametrize(
    ("kind", "printed"),
    [
        (QueueRight, {"WRITE_MESSAGE": 4, "RECEIVE_MESSAGE": 3, "RECEIVE_JOURNAL_MESSAGE": 0xA,
                      "GENERIC_READ": 0x2002B, "GENERIC_WRITE": 0x20024, "GENERIC_ALL": 0xF003F}),
        (ManagerRight, {"CREATE_QUEUE": 4, "RECEIVE_DEADLETTER_MESSAGE": 3,
                        "RECEIVE_JOURNAL_QUEUE_MESSAGE": 0xC0, "WORLD_RIGHTS": 0x20020,
                        "GENERIC_READ": 0x200E3, "GENERIC_WRITE": 0x20024, "GENERIC_ALL": 0xF00F7}),
        (EnterpriseRight, {"CREATE_USER": 1, "GENERIC_READ": 0x20021, "GENERIC_WRITE": 0x20027,
                           "GENERIC_ALL": 0xF0037}),
        (SiteRight, {"CREATE_MACHINE": 4, "GENERIC_READ": 0x20020, "GENERIC_WRITE": 0x20024,
                     "GENERIC_ALL": 0xF0037}),
        (NetworkRight, {"OPEN_CONNECTOR": 1, "GENERIC_READ": 0x20020, "GENERIC_ALL": 0xF0031}),
    ],
)  # fmt: skip
def test_the_masks_are_those_of_the_specification(kind: type[IntFlag], printed: dict[str, int]) -> None:
    assert {name: kind[name].value for name in printed} == printed
    single = 0
    for each in kind:
        single |= each.value
    assert single == kind["GENERIC_ALL"].value


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("send", QueueRight.WRITE_MESSAGE),
        ("write-message", QueueRight.WRITE_MESSAGE),
        ("MQSEC_PEEK_MESSAGE", QueueRight.PEEK_MESSAGE),
        ("receive", QueueRight.RECEIVE_MESSAGE),
        ("read", QueueRight.GENERIC_READ),
        ("all", QueueRight.GENERIC_ALL),
        ("delete_queue", QueueRight.DELETE_QUEUE),
    ],
)
def test_a_right_is_named_in_every_spelling(name: str, right: QueueRight) -> None:
    assert right_named(QueueRight, name) is right


def test_a_name_of_no_right_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"there is no right 'fly'; these are .*write-message"):
        right_named(QueueRight, "fly")


@pytest.mark.parametrize(
    ("mask", "names"),
    [
        (3, ["RECEIVE_MESSAGE"]),
        (4, ["WRITE_MESSAGE"]),
        (5, ["DELETE_MESSAGE", "WRITE_MESSAGE"]),
        (0xF003F, ["GENERIC_ALL"]),
    ],
)
def test_a_mask_is_shown_in_words(mask: int, names: list[str]) -> None:
    assert names_of(QueueRight(mask)) == names


@pytest.mark.spec("DM-013", "DM-024")
@pytest.mark.parametrize(("mask", "stray"), [(0, "0x0"), (0x40, "0x40"), (0x80000003, "0x80000000")])
def test_a_bit_that_is_no_right_is_refused(mask: int, stray: str) -> None:
    with pytest.raises(UsageError, match=f"for a queue: {stray} is no right"):
        check_mask(mask, QueueRight)


@pytest.mark.spec("DM-024")
def test_a_descriptor_that_says_what_we_do_not_know_is_refused() -> None:
    with pytest.raises(UsageError, match="damaged at byte 0"):
        check_descriptor(b"\x01", QueueRight)
    with pytest.raises(UsageError, match="0x100000 is no right"):
        check_descriptor(encode_descriptor(described(allow(ALICE, 0x100001))), QueueRight)
    with pytest.raises(UsageError, match="entries of kind 5 are not known"):
        check_descriptor(encode_descriptor(described(OtherAce(5, 0, b""))), QueueRight)
    whole = SecurityDescriptor(owner=ALICE, sacl=(OtherAce(2, 0, b""),), dacl=(allow(BOB, WRITE),))
    assert check_descriptor(encode_descriptor(whole), QueueRight) == whole


# -- the walk


@pytest.mark.parametrize(
    ("aces", "mask"),
    [
        ((), 0),
        ((allow(ALICE, WRITE),), WRITE),
        ((allow(BOB, WRITE),), 0),
        ((allow(CLERKS, WRITE), allow(EVERYONE, READ)), READ | WRITE),
        ((allow(AUTHENTICATED_USERS, READ),), READ),
        ((deny(ALICE, WRITE), allow(EVERYONE, READ | WRITE)), READ),
        ((deny(CLERKS, WRITE), allow(ALICE, READ | WRITE)), READ),
        ((allow(ALICE, WRITE), deny(EVERYONE, READ | WRITE), allow(EVERYONE, READ)), WRITE),
        ((deny(BOB, WRITE), allow(ALICE, WRITE)), WRITE),
        ((allow(ALICE, WRITE, INHERIT_ONLY),), 0),
        ((OtherAce(5, 0, b""), allow(ALICE, WRITE)), WRITE),
    ],
)
def test_the_first_entry_that_names_a_right_decides(aces: tuple[Ace, ...], mask: int) -> None:
    assert walk(described(*aces), alice) == mask


entries = st.builds(
    Ace,
    st.sampled_from(AceKind),
    st.integers(0, 15),
    st.sampled_from([ALICE, BOB, CLERKS, EVERYONE, ANONYMOUS_USER]),
)


@given(st.lists(entries, max_size=8), st.sampled_from([alice, ANONYMOUS]), st.integers(1, 15))
def test_the_walk_is_the_one_of_the_specification(aces: list[Ace], by: Principal, wanted: int) -> None:
    """[MS-DTYP] 2.5.3.2: what is wanted shrinks entry by entry, until it is all allowed or one denies."""
    left, verdict = wanted, False
    for ace in aces:
        if ace.sid not in by.sids:
            continue
        if ace.kind is AceKind.DENIED and ace.mask & left:
            break
        if ace.kind is AceKind.ALLOWED:
            left &= ~ace.mask
        if not left:
            verdict = True
            break
    assert (walk(described(*aces), by) & wanted == wanted) is verdict


def test_without_a_list_all_users_may_do_all_and_with_an_empty_one_nothing() -> None:
    assert walk(SecurityDescriptor(), ANONYMOUS) == EVERYTHING
    assert walk(SecurityDescriptor(dacl=()), ANONYMOUS) == 0


def test_an_owner_may_always_read_and_change_the_list() -> None:
    everything = deny(EVERYONE, 0xF003F)
    rights = QueueRight.GET_QUEUE_PERMISSIONS | QueueRight.CHANGE_QUEUE_PERMISSIONS
    assert walk(described(everything, owner=ALICE), alice) == rights
    assert walk(described(everything, owner=CLERKS), alice) == rights
    assert walk(described(everything, owner=BOB), alice) == 0


def test_what_the_anonymous_user_owns_has_no_owner() -> None:
    assert walk(described(owner=ANONYMOUS_USER), ANONYMOUS) == 0


def test_an_administrator_may_always_take_what_no_other_user_can_reach() -> None:
    root = Principal(BOB, (ADMINISTRATORS,))
    assert walk(described(deny(EVERYONE, 0xF003F), owner=ALICE), root) == QueueRight.TAKE_QUEUE_OWNERSHIP


def test_the_manager_itself_and_an_old_row_are_not_limited() -> None:
    closed = encode_descriptor(described())
    assert granted(closed, MANAGER) == EVERYTHING
    assert granted(closed, alice) == 0
    assert granted(b"", ANONYMOUS) == EVERYTHING


def test_a_verdict_is_found_and_not_walked_again() -> None:
    security = encode_descriptor(described(allow(ALICE, WRITE), owner=BOB))
    granted(security, alice)
    before = granted.cache_info()
    assert granted(security, alice) == WRITE
    assert granted.cache_info().hits == before.hits + 1
    assert granted.cache_info().misses == before.misses


# -- the default list

LOOK = int(QueueRight.GET_QUEUE_PROPERTIES | QueueRight.GET_QUEUE_PERMISSIONS)
ALL = int(QueueRight.GENERIC_ALL)


@pytest.mark.spec("DM-149", "DM-150", "DM-151", "DM-152")
def test_a_users_queue_lets_others_look_and_send_and_its_owner_do_all() -> None:
    """T12, default descriptor for a domain user: four entries in the order of the text."""
    made = default_descriptor(None, ALICE, machine=MACHINE, http_support=True)
    assert made.owner == ALICE
    assert made.dacl == (
        allow(EVERYONE, LOOK | WRITE),
        allow(ANONYMOUS_USER, WRITE),
        allow(MACHINE, LOOK),
        allow(ALICE, ALL),
    )


@pytest.mark.spec("DM-149", "DM-152")
def test_without_srmp_and_without_a_machine_two_entries_are_left() -> None:
    assert default_descriptor(None, ALICE).dacl == (allow(EVERYONE, LOOK), allow(ALICE, ALL))


@pytest.mark.spec("DM-148", "DM-149")
@pytest.mark.parametrize("user", [ANONYMOUS_USER, MANAGER.user])
def test_a_queue_without_an_owner_is_open_to_all(user: Sid) -> None:
    """T13, default descriptor for another owner: one entry that allows every user everything."""
    made = default_descriptor(None, user)
    assert made.owner == ANONYMOUS_USER
    assert made.dacl == (allow(EVERYONE, 0xF003F),)


@pytest.mark.spec("DM-149")
def test_a_queue_of_a_guest_is_open_to_everyone() -> None:
    made = default_descriptor(None, GUEST)
    assert made.owner == GUEST
    assert made.dacl == (allow(EVERYONE, ALL),)


@pytest.mark.spec("DM-147")
def test_a_list_that_was_supplied_is_kept_unchanged() -> None:
    """T14, a descriptor with a list of its own: the list is kept."""
    supplied = SecurityDescriptor(owner=BOB, sacl=(OtherAce(2, 0, b"...."),), dacl=(deny(ALICE, WRITE),))
    assert default_descriptor(supplied, ALICE, machine=MACHINE, http_support=True) == supplied
    empty = SecurityDescriptor(dacl=())
    assert default_descriptor(empty, ALICE) == SecurityDescriptor(owner=ALICE, dacl=())


@pytest.mark.spec("DM-147", "DM-149")
def test_an_owner_that_was_supplied_gets_its_own_list() -> None:
    made = default_descriptor(SecurityDescriptor(owner=BOB), ALICE)
    assert (made.owner, made.dacl) == (BOB, (allow(EVERYONE, LOOK), allow(BOB, ALL)))


@pytest.mark.spec("DM-013")
def test_a_manager_with_users_lets_all_look_users_create_and_administrators_do_all() -> None:
    check_descriptor(MANAGER_LIST, ManagerRight)
    root = Principal(BOB, (ADMINISTRATORS,))
    assert walk(decode_descriptor(MANAGER_LIST), ANONYMOUS) == ManagerRight.WORLD_RIGHTS
    assert walk(decode_descriptor(MANAGER_LIST), alice) == ManagerRight.GENERIC_WRITE
    assert walk(decode_descriptor(MANAGER_LIST), root) == ManagerRight.GENERIC_ALL

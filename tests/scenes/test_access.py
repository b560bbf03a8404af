"""Scenes of the access list that a new queue gets."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.security.principals import ANONYMOUS_USER, EVERYONE
from reliquary.queueing.model.security.rights import QueueRight, default_descriptor
from reliquary.wire.security import Ace, AceKind, SecurityDescriptor, Sid

OWNER, MACHINE = Sid(5, (21, 1, 2, 3, 1001)), Sid(5, (21, 1, 2, 3, 1002))
LOOK = int(QueueRight.GET_QUEUE_PROPERTIES | QueueRight.GET_QUEUE_PERMISSIONS)
WRITE, ALL = int(QueueRight.WRITE_MESSAGE), int(QueueRight.GENERIC_ALL)


def allow(sid: Sid, mask: int) -> Ace:
    return Ace(AceKind.ALLOWED, mask, sid)


@pytest.mark.scene("T12")
@pytest.mark.spec("DM-149", "DM-150", "DM-151", "DM-152")
def test_a_users_queue_has_its_entries_in_their_order() -> None:
    made = default_descriptor(None, OWNER, machine=MACHINE, http_support=True)
    assert made.dacl == (
        allow(EVERYONE, LOOK | WRITE),
        allow(ANONYMOUS_USER, WRITE),
        allow(MACHINE, LOOK),
        allow(OWNER, ALL),
    )


@pytest.mark.scene("T13")
@pytest.mark.spec("DM-148", "DM-149")
def test_what_has_no_owner_is_open_to_all() -> None:
    made = default_descriptor(None, ANONYMOUS_USER)
    assert made.dacl == (allow(EVERYONE, 0xF003F),)
    assert str(EVERYONE) == "S-1-1-0"


@pytest.mark.scene("T14")
@pytest.mark.spec("DM-147")
def test_a_list_that_is_given_is_kept() -> None:
    given = (Ace(AceKind.DENIED, WRITE, OWNER),)
    assert default_descriptor(SecurityDescriptor(dacl=given), OWNER, http_support=True).dacl == given

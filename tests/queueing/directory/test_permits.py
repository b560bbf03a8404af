"""Tests that a look at the directory and a change of it need rights on the manager."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.queueing.directory import events
from reliquary.queueing.model.directory.objects import ObjectKind, Site
from reliquary.queueing.model.events import Request
from reliquary.queueing.model.security.rights import ManagerRight
from tests.queueing.security.users import check_manager_right

SITE = Site(identifier=UUID(int=1), name="north")
LOOKS = (
    events.ReadDirectory(0, ObjectKind.QUEUE),
    events.ReadDirectoryBegin(0, ObjectKind.QUEUE),
    events.ReadDirectoryNext(0, 1),
    events.ReadDirectoryEnd(0, 1),
    events.CheckDirectoryOnline(0),
)
CHANGES = (
    events.CreateDirectoryObject(0, SITE),
    events.DeleteDirectoryObject(0, ObjectKind.SITE, SITE.identifier),
    events.WriteDirectory(0, SITE),
    events.SwitchDirectory(0, attached=False),
    events.ImportDirectory(0, (SITE,)),
)


@pytest.mark.spec("DM-013")
@pytest.mark.parametrize(
    ("request_", "right"),
    [(each, ManagerRight.GET_MACHINE_PROPERTIES) for each in LOOKS]
    + [(each, ManagerRight.SET_MACHINE_PROPERTIES) for each in CHANGES],
    ids=[type(each).__name__ for each in LOOKS + CHANGES],
)
def test_a_request_needs_one_right_on_the_manager(request_: Request, right: ManagerRight) -> None:
    check_manager_right(lambda _: request_, right)

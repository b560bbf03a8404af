"""Check that a user may read or change the directory."""

from __future__ import annotations

from typing import Final

from reliquary.queueing.directory import events
from reliquary.queueing.model.events import Request
from reliquary.queueing.model.feature import Permit
from reliquary.queueing.rules.permission import lacks_to_administer, lacks_to_look

PERMITS: Final[dict[type[Request], Permit]] = {
    events.ReadDirectory: lacks_to_look,
    events.ReadDirectoryBegin: lacks_to_look,
    events.ReadDirectoryNext: lacks_to_look,
    events.ReadDirectoryEnd: lacks_to_look,
    events.CheckDirectoryOnline: lacks_to_look,
    events.CreateDirectoryObject: lacks_to_administer,
    events.DeleteDirectoryObject: lacks_to_administer,
    events.WriteDirectory: lacks_to_administer,
    events.SwitchDirectory: lacks_to_administer,
    events.ImportDirectory: lacks_to_administer,
}

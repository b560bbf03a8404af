"""Find, write and remove the objects of the directory.

Before an object is written, it is checked against the other objects: a name that must be unique is unique,
and the sites that a routing link names exist.  Whether the directory is connected is checked by the callers
in `operations`.
"""

# DEPARTS from 2.3 (SR-117): the directory's objects are kept here, not read from Active Directory over LDAP,
# because a queue would be out of reach whenever a server of another party is.

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import msgspec

from reliquary.base.chance import new_guid
from reliquary.base.faults import UsageError
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.directory.paths import with_paths
from reliquary.queueing.directory.results import DirectoryAnswer, DirectoryResult, answer_of
from reliquary.queueing.model import facts
from reliquary.queueing.model.directory.holdings import Directory, own_name
from reliquary.queueing.model.directory.objects import (
    DirectoryObject,
    DistributionList,
    ManagerObject,
    ObjectKind,
    QueueObject,
    RoutingLink,
    Site,
    check_object,
    kind_of,
    name_of,
)
from reliquary.queueing.model.message import NO_GUID
from reliquary.queueing.model.state import State


def resolve_list(state: State, identifier: UUID) -> tuple[str, ...] | None:
    """Resolve Distribution List: return the format names of the list's members; None if it is unknown."""
    found = state.directory.get(DistributionList, identifier)
    return found.format_names if found else None


def create(state: State, subject: DirectoryObject, now: Instant) -> DirectoryAnswer:
    """Add a new object to the directory; an object without an Identifier gets a new one."""
    if subject.identifier == NO_GUID:
        subject = msgspec.structs.replace(subject, identifier=new_guid(state.chance))
    if isinstance(subject, ManagerObject | QueueObject) and not subject.create_time:
        moment = in_whole_seconds(now)
        subject = msgspec.structs.replace(subject, create_time=moment, modify_time=moment)
    subject = with_paths(subject, state.identity().qualified_computer_name)
    check_object(subject)
    if subject.identifier in state.directory.objects[kind_of(subject)]:
        return answer_of(
            DirectoryResult.OBJECT_ALREADY_EXISTS,
            f"the directory has the {_word(subject)} {subject.identifier} already",
        )
    if clash := _clash(state.directory, subject):
        return answer_of(DirectoryResult.OBJECT_ALREADY_EXISTS, clash)
    _check_references(state.directory, subject)
    apply(state, facts.DirectoryObjectWritten(subject))
    return answer_of(DirectoryResult.SUCCESS, subject=subject)


def write(
    state: State, subject: DirectoryObject, attributes: Sequence[str] | None, now: Instant
) -> DirectoryAnswer:
    """Change an object's named attributes, or all of them if `attributes` is None."""
    before = state.directory.objects[kind_of(subject)].get(subject.identifier)
    if before is None:
        return _unknown(kind_of(subject), subject.identifier)
    if attributes is not None:
        subject = msgspec.structs.replace(before, **{name: getattr(subject, name) for name in attributes})
    if isinstance(subject, ManagerObject | QueueObject):
        subject = msgspec.structs.replace(subject, modify_time=in_whole_seconds(now))
    check_object(subject)
    if clash := _clash(state.directory, subject):
        return answer_of(DirectoryResult.OBJECT_ALREADY_EXISTS, clash)
    _check_references(state.directory, subject)
    apply(state, facts.DirectoryObjectWritten(subject))
    return answer_of(DirectoryResult.SUCCESS, subject=subject)


def delete(state: State, kind: ObjectKind, identifier: UUID) -> DirectoryAnswer:
    """Remove an object from the directory, unless it is a site that a routing link joins."""
    found = state.directory.objects[kind].get(identifier)
    if found is None:
        return _unknown(kind, identifier)
    if isinstance(found, Site):
        for link in state.directory.every(RoutingLink):
            if identifier in (link.site1, link.site2):
                raise UsageError(
                    f"the routing link {link.identifier} still joins the site {found.name!r}: remove it first"
                )
    apply(state, facts.DirectoryObjectRemoved(kind, identifier))
    return answer_of(DirectoryResult.SUCCESS, subject=found)


def take_in(state: State, subjects: Sequence[DirectoryObject]) -> DirectoryAnswer:
    """Write all these objects or none; the error sentence names the object that is wrong."""
    after = state.directory.copy()
    for place, subject in enumerate(subjects):
        if subject.identifier == NO_GUID:
            raise UsageError(f"{_place(place, subject)}: identifier is missing")
        try:
            check_object(subject)
        except UsageError as why:
            raise UsageError(f"{_place(place, subject)}: {why}") from why
        if clash := _clash(after, subject):
            raise UsageError(f"{_place(place, subject)}: {clash}")
        after.put(subject)
    for place, subject in enumerate(subjects):
        try:
            _check_references(after, subject)
        except UsageError as why:
            raise UsageError(f"{_place(place, subject)}: {why}") from why
    for subject in subjects:
        if state.directory.objects[kind_of(subject)].get(subject.identifier) != subject:
            apply(state, facts.DirectoryObjectWritten(subject))
    return answer_of(DirectoryResult.SUCCESS)


def _place(place: int, subject: DirectoryObject) -> str:
    name = name_of(subject)
    return f"object {place + 1}, the {_word(subject)} {name or subject.identifier}"


def _word(subject: DirectoryObject) -> str:
    return kind_of(subject).value.replace("-", " ")


def _unknown(kind: ObjectKind, identifier: UUID) -> DirectoryAnswer:
    word = kind.value.replace("-", " ")
    return answer_of(DirectoryResult.OBJECT_NOT_FOUND, f"the directory has no {word} {identifier}")


def _clash(directory: Directory, subject: DirectoryObject) -> str:
    """Return an error sentence if another object has this object's name, else an empty text (DM-033)."""
    name = own_name(subject)
    if name is None:
        return ""
    other = directory.names.get((kind_of(subject), name))
    if other in (None, subject.identifier):
        return ""
    return f"the {_word(subject)} {other} has the name {name_of(subject)!r} already"


def _check_references(directory: Directory, subject: DirectoryObject) -> None:
    """Raise UsageError if a routing link names a site that does not exist (DM-035)."""
    if isinstance(subject, RoutingLink):
        for attribute in ("site1", "site2"):
            identifier = getattr(subject, attribute)
            if directory.get(Site, identifier) is None:
                raise UsageError(
                    f"{attribute} is {identifier}, and the directory has no site with this identifier"
                )


def sites_of(directory: Directory, link: RoutingLink) -> tuple[Site | None, Site | None]:
    """Return Site1Reference and Site2Reference of a routing link (DM-035)."""
    return directory.get(Site, link.site1), directory.get(Site, link.site2)


def gates_of(directory: Directory, link: RoutingLink) -> dict[UUID, ManagerObject]:
    """Return SiteGateCollection of a link: the known managers of its SiteGateIdentifierList (DM-035)."""
    found = {identifier: directory.get(ManagerObject, identifier) for identifier in link.site_gates}
    return {identifier: each for identifier, each in found.items() if each is not None}

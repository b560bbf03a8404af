"""Make the distinguished names that objects have in a directory of MSMQ (FullPath, DirectoryPath)."""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.queueing.model.directory.objects import (
    DirectoryObject,
    ManagerObject,
    QueueObject,
    RoutingLink,
    Site,
)

SPECIAL: Final = ',+"\\<>;=#'


def with_paths(subject: DirectoryObject, manager: str) -> DirectoryObject:
    """Return the object with paths, if it has none; `manager` is this manager's qualified name."""
    path = _path(subject, _domain(manager))
    match subject:
        case ManagerObject() | Site() | RoutingLink() if not subject.full_path:
            return msgspec.structs.replace(subject, full_path=path)
        case QueueObject() if not subject.full_path:
            return msgspec.structs.replace(subject, full_path=path, directory_path=f"LDAP://{path}")
        case _:
            return subject


def _path(subject: DirectoryObject, domain: str) -> str:
    match subject:
        case ManagerObject():
            return f"CN=msmq,CN={escape(subject.computer_name)},CN=Computers{domain}"
        case QueueObject():
            computer, _, name = subject.pathname.partition("\\")
            return f"CN={escape(name)},CN=msmq,CN={escape(computer)},CN=Computers{domain}"
        case Site():
            return f"CN={escape(subject.name)},CN=Sites,CN=Configuration{domain}"
        case RoutingLink():
            return f"CN={subject.identifier},CN=MsmqServices,CN=Services,CN=Configuration{domain}"
        case _:
            return ""


def _domain(qualified_name: str) -> str:
    """Return the domain as the end of a distinguished name: `,DC=bench,DC=example` for host.bench.example."""
    return "".join(f",DC={escape(label)}" for label in qualified_name.split(".")[1:] if label)


def escape(text: str) -> str:
    r"""Return a value with the special characters of a distinguished name escaped, RFC 4514.

    >>> escape("orders, new")
    'orders\\, new'
    """
    escaped = "".join(f"\\{character}" if character in SPECIAL else character for character in text)
    if escaped.startswith(" "):
        escaped = f"\\{escaped}"
    return f"{escaped[:-1]}\\ " if escaped.endswith(" ") and len(escaped) > 1 else escaped

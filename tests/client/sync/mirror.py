"""Compares a blocking class with its asynchronous one: methods and arguments must be equal."""

from __future__ import annotations

import inspect


def public(kind: type) -> set[str]:
    """Return the names a caller may use."""
    return {name for each in kind.__mro__[:-1] for name in vars(each) if not name.startswith("_")}


def differences(sync: type, asynchronous: type, *, inside: set[str]) -> list[str]:
    """Return what one has and the other has not; `inside` is for the two faces themselves."""
    found = sorted(public(sync) ^ (public(asynchronous) - inside))
    for name in sorted(public(sync) & public(asynchronous)):
        ours, theirs = (inspect.getattr_static(kind, name) for kind in (sync, asynchronous))
        if inspect.isfunction(ours) and inspect.isfunction(theirs):
            here, there = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
            if here != there:
                found.append(f"{name}: {here} / {there}")
    return found

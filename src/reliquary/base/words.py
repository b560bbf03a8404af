"""Defines enumerations whose members are keys of tables."""

from __future__ import annotations

from enum import Enum


class Word(Enum):
    """An enumeration whose members are looked up for every message.

    Enum hashes a member by its name, in Python.  There is only one instance of each member, so its identity
    serves as well, and is much quicker.
    """

    __hash__ = object.__hash__

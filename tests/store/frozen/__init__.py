"""Stores as releases wrote them, packed: the format on disk is frozen, and each of these must open.

`python -m tests.store.frozen` writes the store of the current format anew.  It is needed only when the number
in `reliquary.store.format` goes up; then the older file stays, and `reliquary store upgrade` is tested on it.
"""

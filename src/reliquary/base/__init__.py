"""The foundation of all rooms: turns, time, ids, rows, number ranges and classes of errors.

It imports no other room.  Begin with `turn`.
"""

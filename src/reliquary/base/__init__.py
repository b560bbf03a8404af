"""Contains what all rooms use: turns, time, ids, rows, number ranges and the classes of errors.

It imports no other room.  Begin with `turn`.
"""

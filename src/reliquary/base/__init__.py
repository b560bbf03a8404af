"""What every room stands on: turns, time, ids, rows, number ranges, the kinds of wrong.

It imports nothing of the house.  Begin with `turn`.
"""

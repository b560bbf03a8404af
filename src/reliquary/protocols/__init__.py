"""Contains a room for each protocol: its codec, events, faults and machines.  No protocol imports another.

They import `streams`, `queueing`, `wire` and `base`.  Begin with `httpr.machine`; `standard` lists them all.
"""

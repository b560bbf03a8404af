"""The protocols, each in a room of its own: codec, events, faults, machines.  No room knows another.

They import `streams`, `queueing`, `wire` and `base`.  Begin with `httpr.machine`; `standard` lists them all.
"""

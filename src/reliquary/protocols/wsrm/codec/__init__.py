"""Bytes to values and back, without state.

It may import `queueing`, `wire` and `base`.  Begin with `values`.
"""

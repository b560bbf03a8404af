"""Encodes and decodes envelopes, without state.

It may import `queueing`, `wire` and `base`.  Begin with `values`.
"""

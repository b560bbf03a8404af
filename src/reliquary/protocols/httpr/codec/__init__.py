"""HTTPR's bytes: command headers, message headers and batches, read while they arrive.

It may import `queueing`, `wire` and `base`.  Begin with `reader`.
"""

"""Encodes and decodes HTTPR's command headers, message headers and batches, while their bytes arrive.

It may import `queueing`, `wire` and `base`.  Begin with `reader`.
"""

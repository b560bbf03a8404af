"""Converts between SRMP's bytes (SOAP envelope and MIME parts) and values.

It may import `queueing`, `wire` and `base`.  Begin with `decode`.
"""

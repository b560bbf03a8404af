"""Bytes of the referenced specifications: each codec knows its layout and nothing of queues.

It imports `base`.  Begin with `mime` or `packet`.
"""

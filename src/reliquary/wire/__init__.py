"""Encodes and decodes the formats of the specifications; a codec knows a format and no queues.

It imports `base`.  Begin with `mime` or `packet`.
"""

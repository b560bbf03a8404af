"""SRMP's bytes: SOAP envelope and MIME parts on one side, values and `Message` on the other.

It may import `queueing`, `wire` and `base`.  Begin with `decode`.
"""

"""Implements SRMP, [MC-MQSRM]: messages over HTTP as SOAP with attachments, exactly once and in order.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.
Begin with `machine`, which lists the modules.

Neither role imports the other.
"""

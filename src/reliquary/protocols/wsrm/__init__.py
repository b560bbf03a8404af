"""Implements WS-ReliableMessaging 1.0, 1.1 and 1.2 with [MS-WSRVCRM] flow control: source and destination.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.  Begin with `machine`.
"""

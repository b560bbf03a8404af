"""Implements MQQB's sender, [MS-MQQB] 3.1.7.1 and 3.1.7.12: messages of outgoing queues go to their peers.

It may import what `protocols.mqqb` may import, and its shared modules, and not `receiver`.  Begin with
`sending`, which lists the modules.
"""

"""Implements the RM destination: it receives sequences, acknowledges messages and reports the free room.

It may import what `protocols.wsrm` may import, and its shared modules, and not `source`.  Begin with
`phases`.
"""

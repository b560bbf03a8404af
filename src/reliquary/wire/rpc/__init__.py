"""Encodes the PDUs of DCE/RPC 5.0 over a connection, C706 chapter 12 and [MS-RPCE] 2.2.2.

It may import `base` and other modules of `wire`.  Begin with `header`, which lists the modules.
"""

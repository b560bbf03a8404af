"""Implements connection-oriented DCE/RPC 5.0 without I/O, C706 chapters 9 to 12 and [MS-RPCE] 3.3.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.
Begin with `phases`, which lists the modules.

It knows only the interfaces `mgmt` and `epm`; `net/rpc` names the others, and performs their calls.
"""

"""DCE/RPC 5.0 over a connection without I/O, C706 chapters 9 to 12 and [MS-RPCE] 3.3.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.
Begin with `phases`, which lists the modules.

It knows no interface but the last two: `net/rpc` names those that there are, and takes the calls away.
"""

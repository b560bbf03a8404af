"""[MS-MQQP]: queues of other managers are read over DCE/RPC, with the part of [MS-MQMP] that opens them.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.  Begin with `machine`.

    codec      stubs <--> values, both transfer syntaxes
    server     our queues are opened, read, purged by managers elsewhere
    client     queues elsewhere, for applications of ours: `queueing/travel/remote.py`

A message that is read stays locked at its manager until the reader has acknowledged it.
"""
